// A kernel that faults breaks its context: the error is sticky until the device is reset.
#include "expect.hpp"

__global__ void write(int* where, int value) { where[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void stop() { asm volatile("trap;"); }

template <class Launch>
void expectSticky(cudaError_t expected, Launch launch) {
  launch();
  EXPECT(cudaDeviceSynchronize() == expected);
  EXPECT(cudaGetLastError() == expected);
  EXPECT(cudaGetLastError() == expected);
  EXPECT(cudaPeekAtLastError() == expected);
  int* pointer = nullptr;
  EXPECT(cudaMalloc(&pointer, 4) == expected);
  EXPECT(cudaDeviceReset() == cudaSuccess);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT_OK(cudaMalloc(&pointer, 4));
  write<<<1, 1>>>(pointer, 7);
  EXPECT_OK(cudaDeviceSynchronize());
  int value = 0;
  EXPECT_OK(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 7);
}

int main() {
  expectSticky(cudaErrorIllegalAddress, [] { write<<<1, 32>>>(nullptr, 1); });
  expectSticky(cudaErrorIllegalAddress, [] { write<<<4, 64>>>(reinterpret_cast<int*>(0x10), 1); });
  expectSticky(cudaErrorLaunchFailure, [] { stop<<<1, 1>>>(); });
  return finish();
}
