// A fault names the line of the source and the calls that were inlined around it.
#include "expect.hpp"

__device__ __forceinline__ int read(const int* from, int i) { return from[i]; }

__global__ void kernel(int* out, const int* nowhere) { *out = read(nowhere, 3); }

int main() {
  int* out = nullptr;
  EXPECT_OK(cudaMalloc(&out, sizeof(int)));
  kernel<<<1, 1>>>(out, nullptr);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  return finish();
}
