// Says how the first call ends: with an unknown ORDITO_GPU there is no device.
#include <cstdio>

int main() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  std::printf("%s\n", cudaGetErrorName(error));
  return error == cudaSuccess && count > 0 ? 0 : 1;
}
