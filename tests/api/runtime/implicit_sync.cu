// Allocations while a stream is held: with ORDITO_IMPLICIT_SYNC they wait until it is not, otherwise they return. What
// a GPU's driver does depends on its version, so this test is Ordito's alone.
#include <cstdlib>

#include "expect.hpp"
#include "gate.hpp"

int main() {
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  void* memory[3] = {};
  const auto allocate = [&] { EXPECT_OK(cudaMalloc(&memory[0], 16)); };
  const auto allocatePinned = [&] { EXPECT_OK(cudaMallocHost(&memory[1], 16)); };
  size_t pitch = 0;
  const auto allocateRows = [&] { EXPECT_OK(cudaMallocPitch(&memory[2], &pitch, 16, 2)); };
  if (std::getenv("ORDITO_IMPLICIT_SYNC") != nullptr) {
    waits(stream, allocate);
    waits(stream, allocatePinned);
    waits(stream, allocateRows);
  } else {
    Gate gate(stream);
    allocate();
    allocatePinned();
    allocateRows();
    EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
    gate.open();
  }
  EXPECT_OK(cudaFree(memory[0]));
  EXPECT_OK(cudaFreeHost(memory[1]));
  EXPECT_OK(cudaFree(memory[2]));
  EXPECT_OK(cudaStreamDestroy(stream));
  return finish();
}
