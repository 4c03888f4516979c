// alignas behind __shared__, which nvcc takes; and launches written with blanks between their angle brackets.
#include <cuda_runtime.h>

// CHECK-DAG: .shared .align 128 .b8 {{.*}}table
// CHECK-DAG: .extern .shared .align 32 .b8 rest[]
extern __shared__ alignas(32) char rest[];
__global__ void aligned(int* p) {
  __shared__ alignas(128) int table[32];
  table[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = table[31 - threadIdx.x] + rest[threadIdx.x];
}

void launch(int* p) { aligned<<<1, 32, 32>>>(p); }
