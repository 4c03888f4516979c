// The last error: set by any failing call, kept over successful ones, cleared by cudaGetLastError only, one for each
// host thread.
#include <cstring>
#include <thread>

#include "expect.hpp"

__global__ void nothing() {}

int main() {
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaPeekAtLastError() == cudaSuccess);

  EXPECT(cudaMalloc(nullptr, 4) == cudaErrorInvalidValue);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
  EXPECT(cudaFree(nullptr) == cudaSuccess);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
  std::thread([] { EXPECT(cudaPeekAtLastError() == cudaSuccess); }).join();
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaSuccess);

  // A launch reports through the last error, and a bad launch spoils nothing.
  nothing<<<1, 100000>>>();
  EXPECT(cudaGetLastError() == kBadConfiguration);
  nothing<<<1, 32>>>();
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT_OK(cudaDeviceSynchronize());

  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(1000));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(-1));
  int on_the_stack = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(&on_the_stack));

  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code") == 0);
  return finish();
}
