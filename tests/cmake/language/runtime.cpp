// A C++ file with the runtime, shared or static, and no compiler of ours.
#include <cuda_runtime.h>

int main() {
  void* memory = nullptr;
  return cudaMalloc(&memory, 4) == cudaSuccess && memory != nullptr ? 0 : 1;
}
