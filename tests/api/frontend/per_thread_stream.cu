// -default-stream per-thread: every call has the other name, and launches too.
// OPTIONS: -default-stream per-thread
#include <cuda_runtime.h>
// CHECK: .entry _Z1kv
__global__ void k() {}
#define TEXT(x) #x
#define NAME(x) TEXT(x)
static_assert(sizeof(NAME(cudaMemcpyAsync)) == sizeof("cudaMemcpyAsync_ptsz"));
int main() {
  k<<<1, 1>>>();
  return cudaStreamSynchronize(0);
}
