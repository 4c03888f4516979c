// Launches that fail before anything runs, on a stream that is no more: one kernel's error is asked for, the other's
// never, and the process says so once when it ends.
#include "expect.hpp"

__global__ void checked() {}
__global__ void unseen() {}

int main() {
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamDestroy(stream));
  checked<<<1, 1, 0, stream>>>();
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  unseen<<<1, 1, 0, stream>>>();
  unseen<<<1, 1, 0, stream>>>();
  return finish();
}
