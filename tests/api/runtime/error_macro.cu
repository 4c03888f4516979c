// The macro that courses put around every call: file, line, the call, the error's name and its description, and the end
// of the program. What fails here is the allocation of more than there is, on the host and on the device.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                   \
  do {                                                                                                                \
    const cudaError_t got = (call);                                                                                   \
    if (got != cudaSuccess) {                                                                                         \
      std::printf("%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorName(got), cudaGetErrorString(got)); \
      std::exit(EXIT_FAILURE);                                                                                        \
    }                                                                                                                 \
  } while (0)

int main() {
  volatile size_t tooMuch = size_t{1} << 62;
  void* volatile host = std::malloc(tooMuch);  // volatile: a compiler may leave out what nobody looks at
  if (host == nullptr) std::printf("the host has no %zu bytes\n", size_t{tooMuch});
  std::free(host);
  host = nullptr;
  std::free(host);
  int* device = nullptr;
  CHECK(cudaMalloc(&device, 16));
  CHECK(cudaFree(device));
  device = nullptr;
  CHECK(cudaFree(device));
  CHECK(cudaMalloc(&device, tooMuch));
  std::printf("not reached\n");
}
