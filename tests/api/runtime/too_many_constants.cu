// 64 KiB of constants and one word more: there is no such memory, and the program is told which variable was too much.
#include "expect.hpp"

__constant__ char large[65536];
__constant__ int word = 1;

__global__ void read(int* out) { *out = word + large[threadIdx.x]; }

int main() {
  int* out;
  EXPECT_OK(cudaMalloc(&out, sizeof(int)));
  read<<<1, 1>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidPtx);
  return finish();
}
