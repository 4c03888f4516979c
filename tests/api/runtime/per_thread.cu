// -default-stream per-thread: stream 0 is the thread's own, so the threads of a program do not wait for one another.
#include <atomic>
#include <chrono>
#include <thread>

#include "expect.hpp"

__global__ void add(int* where, int value) { *where += value; }

static void waitFor(void* data) {
  while (!*static_cast<std::atomic<bool>*>(data)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int main() {
  int *device = nullptr, value = 0;
  EXPECT_OK(cudaMalloc(&device, 2 * sizeof(int)));
  EXPECT_OK(cudaMemset(device, 0, 2 * sizeof(int)));
  add<<<1, 1>>>(device, 0);
  EXPECT_OK(cudaStreamSynchronize(0));

  // This thread's stream is held; another thread's is not.
  std::atomic<bool> open{false};
  EXPECT_OK(cudaLaunchHostFunc(0, waitFor, &open));
  add<<<1, 1>>>(device, 5);
  EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
  std::thread([&] {
    int mine = 0;
    add<<<1, 1>>>(device + 1, 7);
    EXPECT_OK(cudaMemcpy(&mine, device + 1, sizeof mine, cudaMemcpyDeviceToHost));
    EXPECT(mine == 7);
  }).join();
  EXPECT(!open);
  open = true;
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 5);
  EXPECT_OK(cudaFree(device));
  return finish();
}
