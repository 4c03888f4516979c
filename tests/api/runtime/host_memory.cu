// Kinds of memory, and what their allocation promises: pinned, mapped, managed; device memory that does not fit; errors
// in words; everything back to the beginning.
#include <cstdint>
#include <cstring>
#include <vector>

#include "expect.hpp"

__global__ void addOne(int* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] += 1;
}

constexpr int kCount = 1000;

static void deviceMemory() {
  for (size_t bytes : {size_t{1}, size_t{100}, size_t{4097}}) {
    void* memory;
    EXPECT_OK(cudaMalloc(&memory, bytes));
    EXPECT(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
    EXPECT_OK(cudaFree(memory));
  }
  size_t available, total;
  EXPECT_OK(cudaMemGetInfo(&available, &total));
  EXPECT(available <= total);
  void* memory;
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&memory, total + 1));
}

/// Pinned memory is known as the host's; what a kernel writes through its device address is there without a copy.
static void pinnedMemory() {
  cudaPointerAttributes attributes;
  for (unsigned flags : {unsigned{cudaHostAllocDefault}, unsigned{cudaHostAllocMapped},
                         unsigned{cudaHostAllocMapped | cudaHostAllocWriteCombined}, unsigned{cudaHostAllocPortable}}) {
    int *host, *device;
    unsigned got = 0;
    EXPECT_OK(cudaHostAlloc(reinterpret_cast<void**>(&host), kCount * sizeof(int), flags));
    EXPECT_OK(cudaPointerGetAttributes(&attributes, host));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == host);
    EXPECT_OK(cudaHostGetFlags(&got, host));
    EXPECT((got & flags) == flags);
    std::memset(host, 0, kCount * sizeof(int));
    EXPECT_OK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0));
    addOne<<<4, 256>>>(device, kCount);
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < kCount; ++i) EXPECT(host[i] == 1);
    EXPECT_OK(cudaFreeHost(host));
  }
  int *host, ordinary[4];
  EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&host), sizeof(int)));
  EXPECT_OK(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  EXPECT_OK(cudaFreeHost(host));
  EXPECT_OK(cudaPointerGetAttributes(&attributes, ordinary));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFreeHost(ordinary));
}

static void managedMemory() {
  cudaPointerAttributes attributes;
  for (unsigned flags : {unsigned{cudaMemAttachGlobal}, unsigned{cudaMemAttachHost}}) {
    int *values, *plain;
    EXPECT_OK(cudaMallocManaged(&values, kCount * sizeof(int), flags));
    EXPECT_OK(cudaMalloc(&plain, kCount * sizeof(int)));
    EXPECT_OK(cudaPointerGetAttributes(&attributes, values));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    EXPECT_OK(cudaMemset(plain, 0, kCount * sizeof(int)));
    for (int i = 0; i < kCount; ++i) values[i] = i;
    if (flags == cudaMemAttachGlobal) {
      addOne<<<4, 256>>>(values, kCount);
      addOne<<<4, 256>>>(plain, kCount);
    }
    EXPECT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < kCount; ++i) EXPECT(values[i] == i + (flags == cudaMemAttachGlobal));
    EXPECT_OK(cudaFree(values));
    EXPECT_OK(cudaFree(plain));
  }
  int* none;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocManaged(&none, 4, 0));
}

/// Every error that has a name has words for it.
static void errorsInWords() {
  int named = 0;
  for (int code = 0; code < 1000; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    if (std::strcmp(cudaGetErrorName(error), "unrecognized error code") == 0) continue;
    ++named;
    EXPECT(std::strlen(cudaGetErrorString(error)) > 0 &&
           std::strcmp(cudaGetErrorString(error), "unrecognized error code") != 0);
  }
  EXPECT(named > 80);
}

static void reset() {
  int* memory;
  EXPECT_OK(cudaMalloc(&memory, sizeof(int)));
  EXPECT_OK(cudaDeviceReset());
  EXPECT(cudaFree(memory) != cudaSuccess);
  cudaGetLastError();
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceMapHost));
  EXPECT_OK(cudaMalloc(&memory, sizeof(int)));  // and it all begins anew
  EXPECT_OK(cudaMemset(memory, 0, sizeof(int)));
  addOne<<<1, 1>>>(memory, 1);
  int value;
  EXPECT_OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 1);
  EXPECT_OK(cudaFree(memory));
}

int main() {
  EXPECT_OK(cudaSetDeviceFlags(cudaDeviceMapHost));
  deviceMemory();
  pinnedMemory();
  managedMemory();
  errorsInWords();
  reset();
  return finish();
}
