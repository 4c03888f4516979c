// bfloat16 since sm_90: an instruction each. Without .rn, so that a product and a sum may be fused.
// OPTIONS: -arch=sm_90
#include <cuda_bf16.h>

// CHECK-LABEL: .entry _Z4sumsP13__nv_bfloat16
// CHECK: add.bf16 %
// CHECK: sub.bf16 %
// CHECK: mul.bf16 %
// CHECK: div.approx.f32
__global__ void sums(__nv_bfloat16* a) { a[0] = (a[0] + a[1] - a[2]) * a[3] / a[4]; }

// CHECK-LABEL: .entry _Z5pairsP14__nv_bfloat162
// CHECK: add.bf16x2
__global__ void pairs(__nv_bfloat162* a) { a[0] = a[0] + a[1]; }
