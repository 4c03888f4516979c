// Nobody reads what the kernel prints for longer than threads may wait for each other: that is slow, and no deadlock.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "expect.hpp"

__global__ void talk() {
  printf("%4u, and then a line so long that a thousand of them are more than a pipe takes before somebody reads\n",
         threadIdx.x);
}

int main() {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  const int terminal = dup(1);
  dup2(ends[1], 1);
  size_t read = 0;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    char text[4096];
    for (ssize_t got; (got = ::read(ends[0], text, sizeof text)) > 0;) read += got;
  });
  talk<<<1, 1024>>>();
  const cudaError_t end = cudaDeviceSynchronize();
  fflush(stdout);
  dup2(terminal, 1), close(ends[1]);
  reader.join();
  EXPECT(end == cudaSuccess);
  EXPECT(read == 1024 * 103);
  return finish();
}
