// -use_fast_math: approximate functions, flushed denormals.
// OPTIONS: -use_fast_math
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z4fastPf
// CHECK-DAG: sqrt.approx.ftz.f32
// CHECK-DAG: div.approx.ftz.f32
// CHECK-DAG: sin.approx.ftz.f32
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: fma.rn.ftz.f32
// CHECK-NOT: call
__global__ void fast(float* a) {
  a[0] = sqrtf(a[0]);
  a[1] = a[1] / a[2];
  a[3] = sinf(a[3]);
  a[4] = expf(a[4]);
  a[5] = a[5] * a[6] + a[7];
}

// CHECK-LABEL: .entry _Z4morePf
// CHECK-NOT: call
// CHECK-DAG: tanh.approx.f32
// CHECK-DAG: cos.approx.ftz.f32
// CHECK-DAG: lg2.approx.ftz.f32
// CHECK-NOT: call
// CHECK: ret;
__global__ void more(float* a) {
  a[0] = tanhf(a[0]);
  a[1] = tanf(a[1]);
  a[2] = powf(a[2], a[3]);
  a[4] = exp2f(a[4]);
  a[5] = log10f(a[5]);
}
