// A kernel that faults breaks its context: the error is sticky until the device is reset.
#include "expect.hpp"

__global__ void write(int* where, int value) { where[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void stop() { asm volatile("trap;"); }

/// False if the device cannot be used again: a GPU's driver answers so, Ordito gives a fresh context.
bool recovered() {
  EXPECT(cudaDeviceReset() == cudaSuccess);
  cudaGetLastError();
  int *pointer = nullptr, value = 0;
  if (cudaMalloc(&pointer, 4) == cudaErrorDevicesUnavailable) return false;
  write<<<1, 1>>>(pointer, 7);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 7);
  return true;
}

template <class Launch>
bool expectSticky(cudaError_t expected, Launch launch) {
  launch();
  EXPECT(cudaDeviceSynchronize() == expected);
  EXPECT(cudaPeekAtLastError() == expected);
  EXPECT(cudaGetLastError() == expected);
  EXPECT(cudaGetLastError() == cudaSuccess);
  int *pointer = nullptr, device = -1;
  EXPECT(cudaMalloc(&pointer, 4) == expected);
  EXPECT(cudaGetLastError() == expected);
  write<<<1, 1>>>(pointer, 1);
  EXPECT(cudaGetLastError() == expected);
  EXPECT_OK(cudaGetDevice(&device));
  return recovered();
}

int main() {
  if (!expectSticky(cudaErrorIllegalAddress, [] { write<<<1, 32>>>(nullptr, 1); })) return finish();
  if (!expectSticky(cudaErrorIllegalAddress, [] { write<<<4, 64>>>(reinterpret_cast<int*>(0x10), 1); }))
    return finish();
  expectSticky(cudaErrorLaunchFailure, [] { stop<<<1, 1>>>(); });
  return finish();
}
