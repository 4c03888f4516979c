// A kernel frees what a child of its still writes to: a fault that says so.
#include "expect.hpp"

__global__ void child(int* p) { p[threadIdx.x] = 1; }

__global__ void parent() {
  int* p = nullptr;
  cudaMalloc(&p, 32 * sizeof(int));
  p[0] = 1;
  child<<<1, 32>>>(p);
  cudaFree(p);
}

int main() {
  parent<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  return finish();
}
