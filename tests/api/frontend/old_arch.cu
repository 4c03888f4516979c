// Programs guard their own atomicAdd(double) by the architecture; one that is too old for clang becomes the closest.
// OPTIONS: -arch=sm_35 -Xcompiler -Wno-deprecated-declarations
#include <cuda_runtime.h>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) {
  unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
#endif
// CHECK: .target sm_50
// CHECK-LABEL: .entry _Z3addPd
// CHECK: atom.global.cas.b64
__global__ void add(double* p) { atomicAdd(p, 1.0); }
int main() {
  // Names that CUDA 12 and 13 removed.
  cudaThreadSynchronize();
  cudaThreadExit();
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return properties.deviceOverlap + properties.clockRate;
}
