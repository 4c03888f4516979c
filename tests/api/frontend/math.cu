// Math: one instruction where PTX has one, a call where the engine has the function.
#include <cuda_runtime.h>
#include <math_constants.h>

#include <cmath>

// CHECK-LABEL: .entry _Z7correctPf
// CHECK-DAG: sqrt.rn.f32
// CHECK-DAG: div.rn.f32
// CHECK-DAG: fma.rn.f32
// CHECK-DAG: rsqrt.approx.f32
// CHECK-DAG: sin.approx.f32
// CHECK-DAG: div.approx.f32
// CHECK-DAG: cvt.sat.f32.f32
// CHECK-DAG: fma.rz.f32
// CHECK-DAG: cvt.rmi.f32.f32
// CHECK-DAG: max.f32
__global__ void correct(float* a) {
  a[0] = sqrtf(a[0]);
  a[1] = a[1] / a[2];
  a[3] = a[3] * a[4] + a[5];
  a[6] = rsqrt(a[6]);
  a[7] = __sinf(a[7]);
  a[8] = __fdividef(a[8], 3.0f);
  a[9] = __saturatef(a[9]);
  a[10] = __fmaf_rz(a[10], a[1], a[2]);
  a[11] = std::floor(a[11]);
  a[12] = max(a[12], 1.0f) + min(a[13], 0.5f) + CUDART_PI_F;
}

// CHECK-LABEL: .entry _Z5callsPfPd
// CHECK-DAG: __nv_powf
// CHECK-DAG: __nv_sinf
// CHECK-DAG: __nv_cosf
// CHECK-DAG: __nv_log
// CHECK-NOT: __nv_sincosf
__global__ void calls(float* a, double* d) {
  a[0] = std::pow(a[1], a[2]);
  sincosf(a[3], a + 4, a + 5);
  d[0] = log(d[0]) + fabs(d[1]) + fmax(d[2], d[3]);
}

// CHECK-LABEL: .entry _Z11exponentialPf
// CHECK-DAG: fma.rn.f32
// CHECK-NOT: __nv_expf
__global__ void exponential(float* a) { a[0] = expf(a[0]); }

// CHECK-LABEL: .entry _Z8integersPiPj
// CHECK-DAG: popc.b32
// CHECK-DAG: clz.b32
// CHECK-DAG: brev.b32
// CHECK-DAG: prmt.b32
// CHECK-DAG: mul24.lo.s32
// CHECK-DAG: mul.hi.u32
// CHECK-DAG: sad.s32
// CHECK-DAG: cvt.rni.s32.f32
// CHECK-DAG: dp4a.s32.s32
// CHECK-DAG: shf.l.wrap.b32
__global__ void integers(int* a, unsigned* u) {
  a[0] = __popc(u[0]) + __ffs(a[1]);
  a[2] = __clz(a[2]);
  u[3] = __brev(u[3]);
  u[4] = __byte_perm(u[4], u[5], u[6]);
  a[7] = __mul24(a[7], a[8]);
  u[9] = __umulhi(u[9], u[10]);
  u[11] = __sad(a[11], a[12], u[13]);
  a[14] = __float2int_rn(__int_as_float(a[15]));
  a[16] = __dp4a(a[17], a[18], a[19]);
  u[20] = __funnelshift_l(u[21], u[22], u[23]);
  a[24] = min(a[24], a[25]) + max(a[26], 3) + abs(a[27]);
  u[28] = min(u[28], 7u);
}

int main() {
  // The host has CUDA's own functions too.
  const bool right = min(3, 4) == 3 && max(2.0f, 1.0f) == 2.0f && rsqrtf(4.0f) == 0.5f && sinpi(0.5) == 1.0 &&
                     std::fabs(erfinv(erf(0.3)) - 0.3) < 1e-12 && std::fabs(normcdf(normcdfinv(0.2)) - 0.2) < 1e-12;
  return right ? 0 : 1;
}
