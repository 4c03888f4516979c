// Memory and events shared by two processes: each writes what the other reads, in the order that events give.
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "expect.hpp"

constexpr int kCount = 5000;  // no multiple of a page

struct Meeting {
  sem_t toChild, toParent;
  cudaIpcMemHandle_t memory, inner, freed;
  cudaIpcEventHandle_t ready, answered;
};

__global__ void set(int* data, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) data[i] = value + i;
}

__global__ void spin(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {
  }
}

bool holds(const int* device, int value) {
  static int copy[kCount];
  if (cudaMemcpy(copy, device, sizeof copy, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  for (int i = 0; i < kCount; ++i)
    if (copy[i] != value + i) return false;
  return true;
}

int child(Meeting& meeting) {
  sem_wait(&meeting.toChild);
  int *data = nullptr, *again = nullptr;
  void* nothing = nullptr;
  EXPECT_OK(cudaIpcOpenMemHandle((void**)&data, meeting.memory, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_OK(cudaIpcOpenMemHandle((void**)&again, meeting.memory, cudaIpcMemLazyEnablePeerAccess));
  EXPECT(data == again);
  EXPECT_OK(cudaIpcCloseMemHandle(again));
  EXPECT(holds(data, 100));  // written before it was shared
  // What is no handle, or one of what is gone.
  cudaIpcMemHandle_t bad;
  std::memset(&bad, 7, sizeof bad);
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaIpcOpenMemHandle(&nothing, bad, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_ERROR(cudaErrorMapBufferObjectFailed,
               cudaIpcOpenMemHandle(&nothing, meeting.freed, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(data));  // it is the other process's

  cudaEvent_t ready, answered;
  EXPECT_OK(cudaIpcOpenEventHandle(&ready, meeting.ready));
  EXPECT_OK(cudaIpcOpenEventHandle(&answered, meeting.answered));
  sem_post(&meeting.toParent);
  sem_wait(&meeting.toChild);  // the other process has put its kernel and the record into its stream
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  static int seen[kCount];
  EXPECT_OK(cudaStreamWaitEvent(stream, ready, 0));
  EXPECT_OK(cudaMemcpyAsync(seen, data, sizeof seen, cudaMemcpyDeviceToHost, stream));
  set<<<(kCount + 255) / 256, 256, 0, stream>>>(data, 300);
  EXPECT_OK(cudaEventRecord(answered, stream));
  sem_post(&meeting.toParent);
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(seen[0] == 200 && seen[kCount - 1] == 200 + kCount - 1);
  sem_wait(&meeting.toChild);  // the other process has seen the answer
  EXPECT_OK(cudaIpcCloseMemHandle(data));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcCloseMemHandle(data));
  EXPECT_OK(cudaEventDestroy(ready));
  return finish();
}

void parent(Meeting& meeting) {
  int *data = nullptr, *freed = nullptr;
  EXPECT_OK(cudaMalloc(&data, kCount * sizeof(int)));
  EXPECT_OK(cudaMalloc(&freed, 64));
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  set<<<(kCount + 255) / 256, 256, 0, stream>>>(data, 100);
  EXPECT_OK(cudaIpcGetMemHandle(&meeting.memory, data));
  EXPECT_OK(cudaIpcGetMemHandle(&meeting.freed, freed));
  EXPECT_OK(cudaFree(freed));
  // What cannot be shared.
  void* pinned = nullptr;
  cudaEvent_t own, ready, answered;
  cudaIpcEventHandle_t unused;
  EXPECT_OK(cudaMallocHost(&pinned, 64));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaIpcGetMemHandle(&meeting.inner, pinned));
  EXPECT_OK(cudaEventCreate(&own));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&unused, own));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaEventCreateWithFlags(&ready, cudaEventInterprocess));
  void* here = nullptr;
  EXPECT(cudaIpcOpenMemHandle(&here, meeting.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
  EXPECT(cudaGetLastError() != cudaSuccess);

  EXPECT_OK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming | cudaEventInterprocess));
  EXPECT_OK(cudaEventCreateWithFlags(&answered, cudaEventDisableTiming | cudaEventInterprocess));
  EXPECT_OK(cudaIpcGetEventHandle(&meeting.ready, ready));
  EXPECT_OK(cudaIpcGetEventHandle(&meeting.answered, answered));
  sem_post(&meeting.toChild);
  sem_wait(&meeting.toParent);
  spin<<<1, 1, 0, stream>>>(1000000);
  set<<<(kCount + 255) / 256, 256, 0, stream>>>(data, 200);
  EXPECT_OK(cudaEventRecord(ready, stream));
  sem_post(&meeting.toChild);
  sem_wait(&meeting.toParent);  // the answer is on its way
  EXPECT_OK(cudaEventSynchronize(answered));
  EXPECT_OK(cudaEventQuery(answered));
  EXPECT(holds(data, 300));
  sem_post(&meeting.toChild);
}

int main() {
  auto* meeting = (Meeting*)mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sem_init(&meeting->toChild, 1, 0);
  sem_init(&meeting->toParent, 1, 0);
  const pid_t other = fork();  // before either uses CUDA
  if (other == 0) return child(*meeting);
  parent(*meeting);
  int status = -1;
  EXPECT(waitpid(other, &status, 0) == other && status == 0);
  return finish();
}
