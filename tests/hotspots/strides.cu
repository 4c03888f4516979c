// One access by neighbours and one by a column, in a kernel of known size: what `ordito profile --hotspots` says of it
// can be counted by hand (hotspots_test.py).
#include <cstdio>

__device__ float twice(const float* from) {
  return 2 * *from;  // line 6: the load, inlined
}

__global__ void column(float* to, const float* from) {
  __shared__ float tile[32];
  tile[threadIdx.x] = twice(from + threadIdx.x);
  __syncthreads();
  to[threadIdx.x * 8] = tile[31 - threadIdx.x];  // line 13
}

int main() {
  float *to = nullptr, *from = nullptr;
  cudaMalloc(&to, 32 * 8 * sizeof(float));
  cudaMalloc(&from, 32 * sizeof(float));
  for (int round = 0; round < 3; ++round) column<<<1, 32>>>(to, from);
  const bool isRight = cudaDeviceSynchronize() == cudaSuccess;
  cudaDeviceReset();  // writes the report, which is written once more at the end
  return !isRight;
}
