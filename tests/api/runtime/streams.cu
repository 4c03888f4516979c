// Streams run behind the host's back, in order inside, and wait for one another only through events and the legacy
// default stream.
#include <atomic>
#include <chrono>
#include <thread>

#include "expect.hpp"

__global__ void add(int* where, int value) { *where = *where * 10 + value; }

struct Gate {
  std::atomic<bool> open{false};
  std::atomic<int> passed{0};
};
static void waitAtGate(void* data) {
  Gate& gate = *static_cast<Gate*>(data);
  while (!gate.open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ++gate.passed;
}
static void callback(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) ++static_cast<Gate*>(data)->passed;
}

int main() {
  int *device = nullptr, value = 0;
  EXPECT_OK(cudaMalloc(&device, 2 * sizeof(int)));
  EXPECT_OK(cudaMemset(device, 0, 2 * sizeof(int)));
  cudaStream_t first, second, free_stream;
  EXPECT_OK(cudaStreamCreate(&first));
  EXPECT_OK(cudaStreamCreate(&second));
  EXPECT_OK(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking));
  cudaEvent_t event, before, after;
  EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_OK(cudaEventCreate(&before));
  EXPECT_OK(cudaEventCreate(&after));

  // Loading a kernel may wait for the whole device, so it is loaded before anything blocks.
  add<<<1, 1>>>(device, 0);
  EXPECT_OK(cudaDeviceSynchronize());

  // A host function holds the stream; the host goes on, and so does a stream that does not depend on it.
  Gate gate;
  EXPECT_OK(cudaLaunchHostFunc(first, waitAtGate, &gate));
  add<<<1, 1, 0, first>>>(device, 1);
  EXPECT_OK(cudaEventRecord(event, first));
  EXPECT(cudaStreamQuery(first) == cudaErrorNotReady);
  EXPECT(cudaEventQuery(event) == cudaErrorNotReady);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT_OK(cudaStreamWaitEvent(second, event, 0));
  add<<<1, 1, 0, second>>>(device, 2);
  add<<<1, 1, 0, free_stream>>>(device + 1, 9);
  EXPECT_OK(cudaStreamSynchronize(free_stream));
  EXPECT(gate.passed == 0);
  gate.open = true;
  EXPECT_OK(cudaStreamSynchronize(second));
  EXPECT(gate.passed == 1);
  EXPECT_OK(cudaEventQuery(event));
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 12);
  EXPECT_OK(cudaMemcpy(&value, device + 1, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 9);

  // The legacy default stream waits for blocking streams and they for it.
  add<<<1, 1, 0, first>>>(device, 3);
  add<<<1, 1>>>(device, 4);
  add<<<1, 1, 0, second>>>(device, 5);
  EXPECT_OK(cudaStreamAddCallback(second, callback, &gate, 0));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(gate.passed == 2);
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 12345);

  // Asynchronous copies keep their place.
  int* pinned = nullptr;
  EXPECT_OK(cudaMallocHost((void**)&pinned, sizeof(int)));
  *pinned = 0;
  EXPECT_OK(cudaMemsetAsync(device, 0, sizeof(int), first));
  add<<<1, 1, 0, first>>>(device, 8);
  EXPECT_OK(cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, first));
  EXPECT_OK(cudaStreamSynchronize(first));
  EXPECT(*pinned == 8);

  // Timing.
  EXPECT_OK(cudaEventRecord(before));
  add<<<1, 1>>>(device, 1);
  EXPECT_OK(cudaEventRecord(after));
  EXPECT_OK(cudaEventSynchronize(after));
  float milliseconds = -1;
  EXPECT_OK(cudaEventElapsedTime(&milliseconds, before, after));
  EXPECT(milliseconds >= 0);
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, before, event));
  cudaEvent_t never;
  EXPECT_OK(cudaEventCreate(&never));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, before, never));

  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
  EXPECT_OK(cudaEventSynchronize(never));

  void* pooled = nullptr;
  EXPECT_OK(cudaMallocAsync(&pooled, 256, first));
  EXPECT_OK(cudaMemsetAsync(pooled, 1, 256, first));
  EXPECT_OK(cudaFreeAsync(pooled, first));
  EXPECT_OK(cudaStreamSynchronize(first));

  int least = -1, greatest = 1;
  EXPECT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= least);
  unsigned flags = 0;
  EXPECT_OK(cudaStreamGetFlags(free_stream, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaEventDestroy(before));
  EXPECT_OK(cudaEventDestroy(after));
  EXPECT_OK(cudaEventDestroy(never));
  EXPECT_OK(cudaStreamDestroy(first));
  EXPECT_OK(cudaStreamDestroy(second));
  EXPECT_OK(cudaStreamDestroy(free_stream));
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaFree(device));
  return finish();
}
