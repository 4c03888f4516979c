// Launch configurations: what is refused before it runs, and with which error.
#include "expect.hpp"

__global__ void mark(int* where) { where[0] = blockDim.x * gridDim.x; }
__global__ void dynamicShared(int* where) {
  extern __shared__ int words[];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  where[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}
__global__ __launch_bounds__(64) void small(int* where) { where[0] = 1; }

int main() {
  int* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, 1024 * sizeof(int)));
  int value = 0;
  void* arguments[] = {&device};

  EXPECT_ERROR(kBadConfiguration, cudaLaunchKernel((const void*)mark, dim3(0), dim3(32), arguments, 0, 0));
  EXPECT_ERROR(kBadConfiguration, cudaLaunchKernel((const void*)mark, dim3(1), dim3(0), arguments, 0, 0));
  EXPECT_ERROR(kBadConfiguration, cudaLaunchKernel((const void*)mark, dim3(1), dim3(1025), arguments, 0, 0));
  EXPECT_ERROR(kBadConfiguration, cudaLaunchKernel((const void*)mark, dim3(1), dim3(32, 32, 2), arguments, 0, 0));
  EXPECT_ERROR(kBadConfiguration, cudaLaunchKernel((const void*)mark, dim3(1), dim3(1, 1, 65), arguments, 0, 0));
  EXPECT_ERROR(kBadConfiguration, cudaLaunchKernel((const void*)mark, dim3(1, 65536), dim3(32), arguments, 0, 0));
  EXPECT_ERROR(kNotAKernel, cudaLaunchKernel((const void*)main, dim3(1), dim3(1), arguments, 0, 0));

  EXPECT_ERROR(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, 0));
  EXPECT_ERROR(cudaErrorCooperativeLaunchTooLarge,
               cudaLaunchCooperativeKernel((const void*)mark, dim3(1000000), dim3(1024), arguments, 0, 0));

  EXPECT_OK(cudaLaunchKernel((const void*)mark, dim3(3), dim3(32), arguments, 0, 0));
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 96);

  // Shared memory: 48 KB by default, more by request, never more than the device has.
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaLaunchKernel((const void*)dynamicShared, dim3(1), dim3(32), arguments, 49 * 1024, 0));
  int most = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFuncSetAttribute((const void*)dynamicShared,
                                                           cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1024));
  if (most >= 64 * 1024) {
    EXPECT_OK(cudaFuncSetAttribute((const void*)dynamicShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    EXPECT_OK(cudaLaunchKernel((const void*)dynamicShared, dim3(1), dim3(32), arguments, 60 * 1024, 0));
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value == 31);
  }

  cudaFuncAttributes attributes;
  EXPECT_OK(cudaFuncGetAttributes(&attributes, (const void*)small));
  EXPECT(attributes.maxThreadsPerBlock == 64);
  EXPECT(cudaLaunchKernel((const void*)small, dim3(1), dim3(128), arguments, 0, 0) != cudaSuccess);
  cudaGetLastError();
  EXPECT_ERROR(kNotAKernel, cudaFuncGetAttributes(&attributes, (const void*)main));

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(16);
  EXPECT_OK(cudaLaunchKernelExC(&config, (const void*)mark, arguments));
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 32);
  EXPECT_OK(cudaFree(device));
  return finish();
}
