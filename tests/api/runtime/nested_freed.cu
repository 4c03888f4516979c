// A kernel frees what a child of its still writes to: a fault that says so. The child waits for that, or it could be
// done before.
#include "expect.hpp"

__device__ volatile int isFreed = 0;

__global__ void child(int* p) {
  while (isFreed == 0) {
  }
  p[threadIdx.x] = 1;
}

__global__ void parent() {
  int* p = nullptr;
  cudaMalloc(&p, 32 * sizeof(int));
  p[0] = 1;
  child<<<1, 32>>>(p);
  cudaFree(p);
  __threadfence();
  isFreed = 1;
}

int main() {
  parent<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  return finish();
}
