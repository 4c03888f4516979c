// A call into each library that CMake has a target for.
#include <cuda.h>
#include <curand.h>
#include <nvtx3/nvToolsExt.h>

int main() {
  nvtxRangePushA("all");
  int count = 0;
  curandGenerator_t generator = nullptr;
  const bool driver = cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
  const bool random = curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS;
  nvtxRangePop();
  return driver && random ? 0 : 1;
}
