// A graph with a node on another device than that of the default stream on which it is launched: it is in order with
// the default stream of that device. This is Ordito's own, not CUDA's: on a GPU short work is done soon enough, but a
// program may not rely on that.
#include <thread>

#include "gate.hpp"

__global__ void take(int* to, const volatile int* from) { *to = *from; }

struct Numbers {
  int written, taken, zero;
};

/// A graph whose one kernel is the second device's.
static cudaGraphExec_t graphOf(Numbers* numbers) {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t executable;
  int* to = &numbers->taken;
  const volatile int* from = &numbers->written;
  void* arguments[] = {&to, &from};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(take);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  EXPECT_OK(cudaGraphDestroy(graph));
  return executable;
}

static void launchAndWait(cudaGraphExec_t executable) {
  EXPECT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaGraphLaunch(executable, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
}

static void writeLater(void* number) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  *static_cast<volatile int*>(number) = 7;
}

int main() {
  Numbers* numbers = nullptr;
  EXPECT_OK(cudaHostAlloc(&numbers, sizeof *numbers, cudaHostAllocMapped | cudaHostAllocPortable));
  *numbers = {0, -1, 0};
  cudaGraphExec_t executable = graphOf(numbers);
  launchAndWait(executable);
  EXPECT(numbers->taken == 0);

  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaLaunchHostFunc(nullptr, writeLater, &numbers->written));
  launchAndWait(executable);
  EXPECT(numbers->taken == 7);

  // Nor does what comes later go ahead of it.
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaLaunchHostFunc(nullptr, writeLater, &numbers->written));
  numbers->written = 8;
  EXPECT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaGraphLaunch(executable, nullptr));
  EXPECT_OK(cudaSetDevice(1));
  take<<<1, 1>>>(&numbers->written, &numbers->zero);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(numbers->taken == 7 && numbers->written == 0);
  EXPECT_OK(cudaGraphExecDestroy(executable));
  EXPECT_OK(cudaFreeHost(numbers));
  return finish();
}
