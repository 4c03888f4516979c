// An MPI program that hands pointers of the device to MPI: a ring of messages, short and long, and a sum over all. And
// one whose ranks open each other's memory, whose handles MPI carries.
#include <mpi.h>

#include <vector>

#include "expect.hpp"

__global__ void fill(float* cells, int count, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) cells[i] = value + static_cast<float>(i % 7);
}

void testRing(int rank, int size, int count) {
  float *mine = nullptr, *theirs = nullptr, *sum = nullptr;
  const size_t bytes = count * sizeof(float);
  EXPECT_OK(cudaMalloc(&mine, bytes));
  EXPECT_OK(cudaMalloc(&theirs, bytes));
  EXPECT_OK(cudaMalloc(&sum, bytes));
  fill<<<(count + 255) / 256, 256>>>(mine, count, static_cast<float>(rank));
  EXPECT_OK(cudaDeviceSynchronize());  // MPI knows nothing of streams
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  EXPECT(MPI_Sendrecv(mine, count, MPI_FLOAT, next, 0, theirs, count, MPI_FLOAT, previous, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_Allreduce(mine, sum, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  std::vector<float> received(count), total(count);
  EXPECT_OK(cudaMemcpy(received.data(), theirs, bytes, cudaMemcpyDeviceToHost));
  EXPECT_OK(cudaMemcpy(total.data(), sum, bytes, cudaMemcpyDeviceToHost));
  bool isRight = true;
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<float>(i % 7);
    isRight = isRight && received[i] == previous + place && total[i] == size * (size - 1) / 2 + size * place;
  }
  EXPECT(isRight);
  for (float* memory : {mine, theirs, sum}) EXPECT_OK(cudaFree(memory));
}

__global__ void add(const float* theirs, float* mine, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) mine[i] += theirs[i];
}

/// What a rank shares: its memory, and when it is filled.
struct Shared {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t filled;
};

/// Every rank adds the memory of the one before to its own sum, in a kernel, when that one's kernel is done.
void testSharedMemory(int rank, int size) {
  constexpr int kCount = 30000;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  float *mine = nullptr, *theirs = nullptr, *sum = nullptr;
  cudaStream_t stream;
  cudaEvent_t filled, theirsFilled;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
  EXPECT_OK(cudaMalloc(&mine, kCount * sizeof(float)));
  EXPECT_OK(cudaMalloc(&sum, kCount * sizeof(float)));
  EXPECT_OK(cudaMemsetAsync(sum, 0, kCount * sizeof(float), stream));
  Shared own, other;
  EXPECT_OK(cudaIpcGetMemHandle(&own.memory, mine));
  EXPECT_OK(cudaIpcGetEventHandle(&own.filled, filled));
  EXPECT(MPI_Sendrecv(&own, sizeof own, MPI_BYTE, next, 1, &other, sizeof other, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT_OK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&theirs), other.memory, cudaIpcMemLazyEnablePeerAccess));
  EXPECT_OK(cudaIpcOpenEventHandle(&theirsFilled, other.filled));
  fill<<<(kCount + 255) / 256, 256, 0, stream>>>(mine, kCount, static_cast<float>(rank));
  EXPECT_OK(cudaEventRecord(filled, stream));
  MPI_Barrier(MPI_COMM_WORLD);  // every rank has recorded its event
  EXPECT_OK(cudaStreamWaitEvent(stream, theirsFilled, 0));
  add<<<(kCount + 255) / 256, 256, 0, stream>>>(theirs, sum, kCount);
  EXPECT_OK(cudaStreamSynchronize(stream));
  std::vector<float> result(kCount);
  EXPECT_OK(cudaMemcpy(result.data(), sum, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  bool isRight = true;
  for (int i = 0; i < kCount; ++i) isRight = isRight && result[i] == static_cast<float>(previous + i % 7);
  EXPECT(isRight);
  // MPI reads and writes the other rank's memory, too: the first rank sends what belongs to the last.
  if (rank == 0) EXPECT(MPI_Send(theirs, kCount, MPI_FLOAT, 1, 2, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (rank == 1) {
    EXPECT(MPI_Recv(sum, kCount, MPI_FLOAT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT_OK(cudaMemcpy(result.data(), sum, kCount * sizeof(float), cudaMemcpyDeviceToHost));
    EXPECT(result[0] == size - 1 && result[8] == size);
  }
  EXPECT_OK(cudaIpcCloseMemHandle(theirs));
  MPI_Barrier(MPI_COMM_WORLD);  // nobody has it open
  for (float* memory : {mine, sum}) EXPECT_OK(cudaFree(memory));
  for (const cudaEvent_t event : {filled, theirsFilled}) EXPECT_OK(cudaEventDestroy(event));
  EXPECT_OK(cudaStreamDestroy(stream));
}

int main(int count, char** arguments) {
  EXPECT(MPI_Init(&count, &arguments) == MPI_SUCCESS);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(size == 3);
  for (const int n : {5, 1000, 1 << 20}) testRing(rank, size, n);
  testSharedMemory(rank, size);
  const int result = finish();
  MPI_Finalize();
  return result;
}
