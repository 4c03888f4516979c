// Copies, kernels and the host in order: a launch returns before its kernel has ended, a copy does not; a copy on a
// stream waits for the kernels before it, and only for those of its own stream.
#include <atomic>
#include <vector>

#include "expect.hpp"

constexpr int kCount = 1000;

/// Goes on when the host says so.
__global__ void waitAndDouble(volatile int* go, int* values, int count) {
  while (*go == 0) {
  }
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] *= 2;
}

struct Buffers {
  int *go, *device, *other;
  std::vector<int> host, back;

  Buffers() : host(kCount), back(kCount) {
    EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&go), sizeof(int), cudaHostAllocMapped));
    EXPECT_OK(cudaMalloc(&device, kCount * sizeof(int)));
    EXPECT_OK(cudaMalloc(&other, kCount * sizeof(int)));
    for (int i = 0; i < kCount; ++i) host[i] = i + 1;
    *go = 0;
  }
  ~Buffers() {
    EXPECT_OK(cudaFree(device));
    EXPECT_OK(cudaFree(other));
    EXPECT_OK(cudaFreeHost(go));
  }
  size_t bytes() const { return kCount * sizeof(int); }
  /// Lets the kernel go. It has not ended before, or the host would not be here.
  void release() { reinterpret_cast<std::atomic<int>*>(go)->store(1); }
};

/// Copy, kernel, function of the host, copy: the third runs while the second waits for it.
static void defaultStream() {
  Buffers b;
  EXPECT_OK(cudaMemcpy(b.device, b.host.data(), b.bytes(), cudaMemcpyHostToDevice));
  b.host.assign(kCount, -1);  // the copy has ended, so this changes nothing
  waitAndDouble<<<1, 128>>>(b.go, b.device, kCount);
  EXPECT_OK(cudaGetLastError());
  EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  b.release();
  EXPECT_OK(cudaMemcpy(b.back.data(), b.device, b.bytes(), cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaStreamQuery(nullptr));
  for (int i = 0; i < kCount; ++i) EXPECT(b.back[i] == 2 * (i + 1));
}

/// From pinned memory a copy on a stream returns at once, waits for the kernel before it, and runs beside another
/// stream's kernel.
static void streams() {
  Buffers b;
  cudaStream_t busy, idle;
  EXPECT_OK(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking));
  int* pinned;
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&pinned), b.bytes()));
  for (int i = 0; i < kCount; ++i) pinned[i] = i;
  EXPECT_OK(cudaMemcpyAsync(b.device, pinned, b.bytes(), cudaMemcpyHostToDevice, busy));
  waitAndDouble<<<1, 128, 0, busy>>>(b.go, b.device, kCount);
  EXPECT_OK(cudaMemcpyAsync(pinned, b.device, b.bytes(), cudaMemcpyDeviceToHost, busy));
  EXPECT(cudaStreamQuery(busy) == cudaErrorNotReady);
  // Beside it: pinned and pageable memory, there and back.
  EXPECT_OK(cudaMemcpyAsync(b.other, b.host.data(), b.bytes(), cudaMemcpyHostToDevice, idle));
  EXPECT_OK(cudaMemcpyAsync(b.back.data(), b.other, b.bytes(), cudaMemcpyDeviceToHost, idle));
  // A copy to pageable memory has ended when the call returns (CUDA runtime API, "API synchronization behavior").
  EXPECT(b.back == b.host);
  EXPECT_OK(cudaStreamSynchronize(idle));
  EXPECT(cudaStreamQuery(busy) == cudaErrorNotReady);
  EXPECT(pinned[kCount - 1] == kCount - 1);
  b.release();
  EXPECT_OK(cudaStreamSynchronize(busy));
  for (int i = 0; i < kCount; ++i) EXPECT(pinned[i] == 2 * i);
  EXPECT_OK(cudaFreeHost(pinned));
  EXPECT_OK(cudaStreamDestroy(busy));
  EXPECT_OK(cudaStreamDestroy(idle));
}

/// Memory of a C++ program that CUDA has not pinned may be changed as soon as the call is back.
static void pageableIsStaged() {
  Buffers b;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaMemcpyAsync(b.device, b.host.data(), b.bytes(), cudaMemcpyHostToDevice, stream));
  b.host.assign(kCount, -1);
  EXPECT_OK(cudaMemcpyAsync(b.back.data(), b.device, b.bytes(), cudaMemcpyDeviceToHost, stream));
  EXPECT(b.back[0] == 1 && b.back[kCount - 1] == kCount);
  EXPECT_OK(cudaStreamDestroy(stream));
}

int main() {
  defaultStream();
  streams();
  pageableIsStaged();
  return finish();
}
