// A parent cannot wait for its children since CUDA 12, and the compiler says what to do instead.
// FAILS
#include <cuda_runtime.h>

__global__ void child() {}
// CHECK: nested_synchronize.cu:[[@LINE+4]]:{{.*}} error: call to 'cudaDeviceSynchronize' declared with 'error'
// CHECK-SAME: launch what comes after the child grids into cudaStreamTailLaunch
__global__ void parent() {
  child<<<1, 1>>>();
  cudaDeviceSynchronize();
}
