// bfloat16: the instruction of the fused step, of which sums and products are made before sm_90.
// OPTIONS: -arch=sm_80
#include <cuda_bf16.h>

// CHECK-LABEL: .entry _Z4sumsP13__nv_bfloat16
// CHECK: fma.rn.bf16
// CHECK: fma.rn.bf16
// CHECK: fma.rn.bf16
// CHECK: div.approx.f32
__global__ void sums(__nv_bfloat16* a) { a[0] = (a[0] + a[1] - a[2]) * a[3] / a[4]; }

// CHECK-LABEL: .entry _Z5pairsP14__nv_bfloat162
// CHECK: fma.rn.bf16x2
__global__ void pairs(__nv_bfloat162* a) { a[0] = a[0] + a[1]; }
