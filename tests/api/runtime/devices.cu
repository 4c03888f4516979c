// Devices, properties, attributes, limits, versions and occupancy.
#include <cstring>

#include "expect.hpp"

__global__ void light(int* where) { where[threadIdx.x] = threadIdx.x; }
__global__ void heavy(int* where) {
  __shared__ int words[4096];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  where[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int count = 0, device = -1;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT_OK(cudaSetDevice(count - 1));
  EXPECT_OK(cudaGetDevice(&device));
  EXPECT(device == count - 1);
  EXPECT_OK(cudaSetDevice(0));

  cudaDeviceProp properties;
  std::memset(&properties, 0xff, sizeof properties);
  EXPECT_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(std::strlen(properties.name) > 0 && properties.warpSize == 32 && properties.maxThreadsPerBlock >= 512);
  EXPECT(properties.major >= 1 && properties.multiProcessorCount > 0 && properties.totalGlobalMem > 0);
  EXPECT(properties.sharedMemPerBlock >= 16384 && properties.unifiedAddressing == 1);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, count));
  int value = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == properties.multiProcessorCount);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));
  cudaDeviceProp wish = {};
  wish.major = 1;
  EXPECT_OK(cudaChooseDevice(&device, &wish));
  EXPECT(device >= 0 && device < count);

  int runtime = 0, driver = 0;
  EXPECT_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_OK(cudaDriverGetVersion(&driver));
  EXPECT(runtime >= 12000 && driver >= runtime);

  size_t limit = 0;
  EXPECT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  EXPECT_OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit >= 16 << 20);
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  EXPECT_OK(cudaFuncSetCacheConfig(light, cudaFuncCachePreferShared));
  EXPECT_OK(cudaFree(0));

  int blocks = 0, more = 0;
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 256, 0));
  EXPECT(blocks >= 1 && blocks * 256 <= properties.maxThreadsPerMultiProcessor);
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&more, heavy, 256, 0));
  EXPECT(more >= 1 && static_cast<size_t>(more) * 16384 <= properties.sharedMemPerMultiprocessor);
  int grid = 0, block = 0;
  EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, light, 0, 0));
  EXPECT(block > 0 && block <= properties.maxThreadsPerBlock && grid >= properties.multiProcessorCount);
  size_t room = 0;
  EXPECT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, light, 1, 256));
  EXPECT(room > 0);
  EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 2000, 0));
  EXPECT(blocks == 0);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, light, 0, 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, light, 256, 0));

  // Not there yet, and says so.
  cudaGraph_t graph;
  EXPECT(cudaGraphCreate(&graph, 0) == cudaSuccess || cudaGetLastError() == cudaErrorNotSupported);
  return finish();
}
