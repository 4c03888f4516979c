// Many host threads at once: first use of the same kernel and variable, own streams, allocations and errors.
#include <thread>
#include <vector>

#include "expect.hpp"

__device__ unsigned long long total;

__global__ void add(int* values, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += value;
  if (i == 0) atomicAdd(&total, 1ULL);
}

static void work(int seed) {
  constexpr int kCount = 1000;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int round = 0; round < 10; ++round) {
    int* device = nullptr;
    std::vector<int> host(kCount, seed);
    EXPECT_OK(cudaMalloc(&device, kCount * sizeof(int)));
    EXPECT_OK(cudaMemcpyAsync(device, host.data(), kCount * sizeof(int), cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 5; ++i) add<<<4, 256, 0, stream>>>(device, kCount, i);
    EXPECT_OK(cudaMemcpyAsync(host.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT(host[0] == seed + 10 && host[kCount - 1] == seed + 10);
    EXPECT_OK(cudaFree(device));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(&host));
  }
  EXPECT_OK(cudaStreamDestroy(stream));
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i * 100);
  for (std::thread& thread : threads) thread.join();
  unsigned long long launches = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&launches, total, sizeof launches));
  EXPECT(launches == 8 * 10 * 5);
  return finish();
}
