// -fmad=false: a product and a sum stay two roundings. -prec-div=false: the full-range approximation.
// OPTIONS: -fmad=false -prec-div=false -prec-sqrt=false
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z5plainPf
// CHECK-NOT: fma.rn
// CHECK-DAG: mul.rn.f32
// CHECK-DAG: add.rn.f32
// CHECK-DAG: div.full.f32
// CHECK-DAG: sqrt.approx.f32
__global__ void plain(float* a) {
  a[0] = a[1] * a[2] + a[3];
  a[4] = a[4] / a[5];
  a[6] = sqrtf(a[6]);
}
