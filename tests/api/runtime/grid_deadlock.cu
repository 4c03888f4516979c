// A cooperative grid of which one block never comes to grid.sync(): it ends as a deadlock that says who waits where.
#include <cooperative_groups.h>

#include "expect.hpp"

__device__ void meet() { cooperative_groups::this_grid().sync(); }

__global__ void kernel(int* out) {
  meet();
  if (blockIdx.x == 1) return;
  meet();
  out[blockIdx.x] = 1;
}

int main() {
  int* out = nullptr;
  EXPECT_OK(cudaMalloc(&out, 4 * sizeof(int)));
  void* arguments[] = {&out};
  EXPECT_OK(cudaLaunchCooperativeKernel((const void*)kernel, dim3(4), dim3(64), arguments, 0, nullptr));
  EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  return finish();
}
