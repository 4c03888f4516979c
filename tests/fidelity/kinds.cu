// Instructions of several kinds, some of which do not run: what `ordito run --fidelity` must say of them.
#include <cstdio>

__global__ void kinds(float* sum, double* d, unsigned limit) {
  const unsigned i = threadIdx.x;
  atomicAdd(sum, sinf(static_cast<float>(i)));
  d[i] = d[i] * 2.0 + 1.0;
  if (i > limit) sum[1] = static_cast<float>(clock());  // never
}

__global__ void exact(unsigned* n) {
  n[threadIdx.x] += threadIdx.x;
  atomicAdd(&n[threadIdx.x % 8], 1u);  // in any order
}

int main() {
  float* sum = nullptr;
  double* d = nullptr;
  unsigned* n = nullptr;
  cudaMalloc(&sum, 8);
  cudaMalloc(&d, 64 * sizeof(double));
  cudaMalloc(&n, 64 * sizeof(unsigned));
  cudaMemset(d, 0, 64 * sizeof(double));
  kinds<<<1, 64>>>(sum, d, 100);
  exact<<<2, 32>>>(n);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

// CHECK: Against a GPU's results:
// CHECK-DAG: exact {{ *[0-9]+}} places
// CHECK-DAG: nan-payload {{ *}}1 places {{ *}}2 warp instructions
// CHECK-DAG: order {{ *}}1 places {{ *}}2 warp instructions
// CHECK-DAG: bounded {{ *}}1 places {{ *}}2 warp instructions
// CHECK-NOT: machine
// CHECK: bounded: __nv_sinf: within 1 units in the last place
// CHECK-NEXT: kinds.cu:6{{.*}}call{{.*}} in kinds(float*, double*, unsigned int), 2 times
// CHECK: nan-payload:
// CHECK-NEXT: kinds.cu:7: fma.rn.f64 in kinds
// CHECK: order: floats are added
// CHECK-NEXT: kinds.cu:6{{.*}}add.f32 in kinds
// CHECK-NOT: in exact
