// An MPI program that hands pointers of the device to MPI: a ring of messages, short and long, and a sum over all.
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

int main(int count, char** arguments) {
  EXPECT(MPI_Init(&count, &arguments) == MPI_SUCCESS);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(size == 3);
  for (const int n : {5, 1000, 1 << 20}) testRing(rank, size, n);
  const int result = finish();
  MPI_Finalize();
  return result;
}
