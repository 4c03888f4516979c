// Who sees which memory, and for how long: registers and local arrays a thread, shared memory a block, global, constant
// and texture memory everybody; variables of the device outlive kernels. And what a block takes of shared memory says
// how many fit.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "expect.hpp"

__constant__ int offsets[4] = {1, 20, 300, 4000};
__device__ int launches = 0;

/// All six memories in one sum.
__global__ void everyMemory(cudaTextureObject_t texture, const int* global, int* out) {
  __shared__ int words[64];
  int own[8];
  const int i = threadIdx.x;
  for (int k = 0; k < 8; ++k) own[(i + k) % 8] = k;
  words[i] = global[i];
  __syncthreads();
  const int inRegister = words[63 - i];
  out[blockIdx.x * 64 + i] = inRegister + own[(i * 5) % 8] + offsets[i % 4] + tex1Dfetch<int>(texture, i);
}

/// Blocks write the same words of shared memory with numbers of their own, over and over; each reads only its own.
__global__ void isolated(int* wrong) {
  extern __shared__ int words[];
  for (int round = 0; round < 20; ++round) {
    words[threadIdx.x] = blockIdx.x * 1000 + round;
    __syncthreads();
    if (words[blockDim.x - 1 - threadIdx.x] != static_cast<int>(blockIdx.x) * 1000 + round) atomicAdd(wrong, 1);
    __syncthreads();
  }
}

__global__ void count() { ++launches; }

static void sixMemories() {
  const int blocks = 3;
  std::vector<int> in(64), back(64 * blocks);
  for (int i = 0; i < 64; ++i) in[i] = 7 * i + 1;
  int *global, *out;
  EXPECT_OK(cudaMalloc(&global, 64 * sizeof(int)));
  EXPECT_OK(cudaMalloc(&out, 64 * blocks * sizeof(int)));
  EXPECT_OK(cudaMemcpy(global, in.data(), 64 * sizeof(int), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = global;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 64 * sizeof(int);
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  everyMemory<<<blocks, 64>>>(texture, global, out);
  EXPECT_OK(cudaMemcpy(back.data(), out, 64 * blocks * sizeof(int), cudaMemcpyDeviceToHost));
  const int constants[4] = {1, 20, 300, 4000};
  for (int i = 0; i < 64 * blocks; ++i) {
    const int t = i % 64, local = ((t * 5) % 8 - t % 8 + 8) % 8;
    EXPECT(back[i] == in[63 - t] + local + constants[t % 4] + in[t]);
  }
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFree(global));
  EXPECT_OK(cudaFree(out));
}

static void sharedIsABlocksOwn() {
  int *wrong, got = -1;
  EXPECT_OK(cudaMalloc(&wrong, sizeof(int)));
  EXPECT_OK(cudaMemset(wrong, 0, sizeof(int)));
  isolated<<<64, 128, 128 * sizeof(int)>>>(wrong);
  EXPECT_OK(cudaMemcpy(&got, wrong, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got == 0);
  EXPECT_OK(cudaFree(wrong));
  cudaDeviceProp properties;
  EXPECT_OK(cudaGetDeviceProperties(&properties, 0));
  int last = 1 << 20;
  for (size_t bytes = 4096; bytes <= properties.sharedMemPerBlock; bytes *= 2) {
    int blocks = 0;
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, isolated, 32, bytes));
    EXPECT(blocks >= 1 && blocks <= last && blocks * bytes <= properties.sharedMemPerMultiprocessor);
    last = blocks;
  }
  EXPECT(static_cast<size_t>(last) <= properties.sharedMemPerMultiprocessor / 32768);
  isolated<<<1, 32, properties.sharedMemPerBlock + 1>>>(wrong);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

static void variablesStay() {
  int got = -1;
  for (int i = 0; i < 5; ++i) count<<<1, 1>>>();
  EXPECT_OK(cudaMemcpyFromSymbol(&got, launches, sizeof got));
  EXPECT(got == 5);
  EXPECT_OK(cudaDeviceReset());  // and begin anew with their context
  EXPECT_OK(cudaMemcpyFromSymbol(&got, launches, sizeof got));
  EXPECT(got == 0);
}

/// Wishes for the split of L1 and shared memory: all are taken.
static void split() {
  for (const cudaFuncCache wish :
       {cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual}) {
    cudaFuncCache got = cudaFuncCachePreferNone;
    EXPECT_OK(cudaDeviceSetCacheConfig(wish));
    EXPECT_OK(cudaDeviceGetCacheConfig(&got));
    EXPECT(got == wish);
    EXPECT_OK(cudaFuncSetCacheConfig(count, wish));
  }
  EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)));
}

/// Goes on when the host says so.
__global__ void waitFor(volatile int* go) {
  while (*go == 0) {
  }
}

/// The same wish again waits for nothing.
static void aSwitchWaits() {
  int* go;
  cudaStream_t stream;
  EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&go), sizeof(int), cudaHostAllocMapped));
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  *go = 0;
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  waitFor<<<1, 1, 0, stream>>>(go);
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
  std::thread releaser([go] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    reinterpret_cast<std::atomic<int>*>(go)->store(1);
  });
  EXPECT_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  EXPECT_OK(cudaStreamQuery(stream));
  releaser.join();
  EXPECT_OK(cudaStreamDestroy(stream));
  EXPECT_OK(cudaFreeHost(go));
}

int main() {
  sixMemories();
  sharedIsABlocksOwn();
  split();
  aSwitchWaits();
  variablesStay();
  return finish();
}
