// A process that was forked by one that uses CUDA cannot use it: it is told so, ends without hanging, and the one that
// forked it goes on.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "expect.hpp"

__global__ void count(int* counter) { atomicAdd(counter, 1); }

int main() {
  int* counter = nullptr;
  EXPECT(cudaMallocManaged(&counter, sizeof *counter) == cudaSuccess);
  *counter = 0;
  count<<<2, 32>>>(counter);
  const pid_t child = fork();
  if (child == 0) {
    void* memory = nullptr;
    EXPECT(cudaMalloc(&memory, 4) == cudaErrorInitializationError);
    EXPECT(cudaDeviceSynchronize() == cudaErrorInitializationError);
    count<<<1, 1>>>(counter);
    EXPECT(cudaGetLastError() == cudaErrorInitializationError);
    std::exit(finish());
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  count<<<1, 32>>>(counter);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(*counter == 96);
  EXPECT(cudaDeviceReset() == cudaSuccess);
  return finish();
}
