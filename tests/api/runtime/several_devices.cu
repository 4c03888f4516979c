// Three GPUs in one process, two of them alike: each with its own description, memory, streams, variables and errors.
// On a machine with fewer devices the program says so.
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"

__device__ int counter = 10;
__managed__ int shared = 1;
__global__ void count(int* out, int by) {
  counter += by;
  *out = counter;
}
__global__ void fill(int* values, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = value + i;
}
__global__ void add(int* to, const int* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
__global__ void touch() { shared += 1; }
__global__ void fault() { *reinterpret_cast<volatile int*>(8) = 1; }

constexpr int kCount = 3, kN = 1000;

static void descriptions() {
  cudaDeviceProp first, second, third;
  EXPECT_OK(cudaGetDeviceProperties(&first, 0));
  EXPECT_OK(cudaGetDeviceProperties(&second, 1));
  EXPECT_OK(cudaGetDeviceProperties(&third, 2));
  EXPECT(std::strcmp(first.name, second.name) != 0 && std::strcmp(second.name, third.name) == 0);
  EXPECT(first.major != second.major && first.totalGlobalMem > second.totalGlobalMem);
  EXPECT(std::memcmp(&second.uuid, &third.uuid, sizeof second.uuid) != 0);
  EXPECT(second.pciBusID != third.pciBusID);
  char bus[32];
  int device = -1;
  EXPECT_OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 2));
  EXPECT_OK(cudaDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 2);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(kCount));
  cudaDeviceProp wish = {};
  wish.totalGlobalMem = first.totalGlobalMem;
  EXPECT_OK(cudaChooseDevice(&device, &wish));
  EXPECT(device == 0);
}

static void memoryAndVariables() {
  size_t before[kCount], after[kCount], total;
  int* values[kCount];
  for (int d = 0; d < kCount; ++d) {
    EXPECT_OK(cudaSetDevice(d));
    EXPECT_OK(cudaMemGetInfo(&before[d], &total));
  }
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaMalloc(&values[1], 1 << 20));
  for (int d = 0; d < kCount; ++d) {
    EXPECT_OK(cudaSetDevice(d));
    EXPECT_OK(cudaMemGetInfo(&after[d], &total));
    EXPECT((after[d] < before[d]) == (d == 1));
  }
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, values[1]));
  EXPECT(attributes.device == 1 && attributes.type == cudaMemoryTypeDevice);
  EXPECT_OK(cudaFree(values[1]));  // by another device's thread
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaMemGetInfo(&after[1], &total));
  EXPECT(after[1] == before[1]);

  for (int d = 0; d < kCount; ++d) {
    EXPECT_OK(cudaSetDevice(d));
    EXPECT_OK(cudaMalloc(&values[d], sizeof(int)));
    count<<<1, 1>>>(values[d], d + 1);
    int got = 0;
    EXPECT_OK(cudaMemcpy(&got, values[d], sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == 10 + d + 1);  // each has a variable of its own
    EXPECT_OK(cudaMemcpyFromSymbol(&got, counter, sizeof got));
    EXPECT(got == 10 + d + 1);
    touch<<<1, 1>>>();
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT(shared == d + 2);  // and all share the managed one
    EXPECT_OK(cudaFree(values[d]));
  }
}

static void streamsAndEvents() {
  cudaStream_t streams[kCount];
  cudaEvent_t events[kCount];
  int* values[kCount];
  for (int d = 0; d < kCount; ++d) {
    EXPECT_OK(cudaSetDevice(d));
    EXPECT_OK(cudaStreamCreate(&streams[d]));
    EXPECT_OK(cudaEventCreate(&events[d]));
    EXPECT_OK(cudaMalloc(&values[d], kN * sizeof(int)));
    int device = -1;
    EXPECT_OK(cudaStreamGetDevice(streams[d], &device));
    EXPECT(device == d);
  }
  // Each waits for the one before, and adds what that has computed.
  for (int d = 0; d < kCount; ++d) {
    EXPECT_OK(cudaSetDevice(d));
    fill<<<8, 128, 0, streams[d]>>>(values[d], d * 1000, kN);
    if (d > 0) {
      EXPECT_OK(cudaStreamWaitEvent(streams[d], events[d - 1], 0));
      add<<<8, 128, 0, streams[d]>>>(values[d], values[d - 1], kN);
    }
    EXPECT_OK(cudaEventRecord(events[d], streams[d]));
  }
  EXPECT_OK(cudaSetDevice(0));
  std::vector<int> result(kN);
  EXPECT_OK(cudaMemcpyAsync(result.data(), values[2], kN * sizeof(int), cudaMemcpyDeviceToHost, streams[2]));
  EXPECT_OK(cudaStreamSynchronize(streams[2]));
  for (int i = 0; i < kN; i += 111) EXPECT(result[i] == 3000 + 3 * i);
  // What belongs to one device only (CUDA C++ guide, "Stream and Event Behavior").
  EXPECT_OK(cudaEventQuery(events[2]));
  fill<<<1, 1, 0, streams[1]>>>(values[1], 0, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(events[0], streams[1]));
  float milliseconds = 0;
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, events[0], events[1]));
  for (int d = 0; d < kCount; ++d) {
    EXPECT_OK(cudaStreamDestroy(streams[d]));
    EXPECT_OK(cudaEventDestroy(events[d]));
    EXPECT_OK(cudaFree(values[d]));
  }
}

/// The host's memory, too, is of the device that was current.
static void owners() {
  int *managed = nullptr, *pinned = nullptr;
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaMallocManaged(&managed, 64));
  EXPECT_OK(cudaMallocHost(&pinned, 64));
  EXPECT_OK(cudaSetDevice(0));
  for (const int* memory : {managed, pinned}) {
    cudaPointerAttributes attributes;
    EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
    EXPECT(attributes.device == 1);
  }
  EXPECT_OK(cudaFree(managed));
  EXPECT_OK(cudaFreeHost(pinned));
}

static void peers() {
  int can = 0;
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can == 1);
  EXPECT_OK(cudaDeviceCanAccessPeer(&can, 1, 1));
  EXPECT(can == 0);
  EXPECT_OK(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 2));
  EXPECT(can == 1);
  EXPECT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_ERROR(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  int *here = nullptr, *there = nullptr;
  EXPECT_OK(cudaMalloc(&here, kN * sizeof(int)));
  EXPECT_OK(cudaSetDevice(1));
  EXPECT_OK(cudaMalloc(&there, kN * sizeof(int)));
  fill<<<8, 128>>>(there, 7, kN);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaMemcpyPeer(here, 0, there, 1, kN * sizeof(int)));
  add<<<8, 128>>>(here, there, kN);
  int got = 0;
  EXPECT_OK(cudaMemcpy(&got, here + 5, sizeof got, cudaMemcpyDefault));
  EXPECT(got == 2 * (7 + 5));
  EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_ERROR(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  EXPECT_OK(cudaFree(here));
  EXPECT_OK(cudaFree(there));
}

static void threadsAndFaults() {
  std::vector<std::thread> all;
  for (int d = 0; d < kCount; ++d)
    all.emplace_back([d] {
      int device = -1;
      EXPECT_OK(cudaGetDevice(&device));
      EXPECT(device == 0);  // whatever the thread that made it has chosen
      EXPECT_OK(cudaSetDevice(d));
      int* values = nullptr;
      EXPECT_OK(cudaMallocAsync(&values, kN * sizeof(int), nullptr));
      for (int round = 0; round < 50; ++round) fill<<<8, 128>>>(values, round + d, kN);
      int got = 0;
      EXPECT_OK(cudaMemcpy(&got, values + 9, sizeof got, cudaMemcpyDeviceToHost));
      EXPECT(got == 49 + d + 9);
      EXPECT_OK(cudaFreeAsync(values, nullptr));
    });
  for (auto& thread : all) thread.join();
  // A device that has failed is no concern of the others.
  EXPECT_OK(cudaSetDevice(1));
  fault<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT_OK(cudaSetDevice(0));
  cudaGetLastError();
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaSetDevice(1));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT_OK(cudaDeviceReset());
  cudaGetLastError();
  EXPECT_OK(cudaDeviceSynchronize());
}

int main() {
  int count = 0;
  EXPECT_OK(cudaGetDeviceCount(&count));
  if (count < kCount) {
    std::printf("skipped: %d devices\n", count);
    return 77;
  }
  descriptions();
  memoryAndVariables();
  streamsAndEvents();
  owners();
  peers();
  threadsAndFaults();
  return finish();
}
