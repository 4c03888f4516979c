// Half precision: PTX's own f16 instructions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// CHECK-LABEL: .entry _Z6halvesP6__halfP7__half2Pf
// CHECK-DAG: add.f16
// CHECK-DAG: mul.f16x2
// CHECK-DAG: fma.rn.f16
// CHECK-DAG: fma.rn.f16x2
// CHECK-DAG: max.f16
// CHECK-DAG: setp.{{gt|leu}}.f16
// CHECK-DAG: cvt.rn.f16.f32
// CHECK-DAG: cvt.f32.f16
// CHECK-DAG: atom.add.noftz.f16
// CHECK-DAG: shfl.sync.down.b32
__global__ void halves(half* a, half2* b, float* f) {
  const int i = threadIdx.x;
  half x = a[i];
  const half y = __float2half(f[i]);
  x = __hadd(x, y);
  a[i + 1] = __hfma(x, y, x);
  if (x > y) a[i + 2] = __hmax(x, a[i + 3]);
  b[i] = __hmul2(b[i], b[i + 1]);
  b[i + 2] = __hfma2(b[i], b[i], b[i]);
  atomicAdd(a, x);
  a[i + 4] = __shfl_down_sync(0xffffffffu, x, 2);
  f[i] = __half2float(hsqrt(x)) + static_cast<float>(a[i + 5]) + __low2float(b[i]);
}

__global__ void brains(__nv_bfloat16* a, float* f) {
  f[0] = __bfloat162float(__hfma(a[0], a[1], a[2]) + __float2bfloat16(f[1]));
}

int main() {
  half h = 1.5f;
  h += half(2);
  const half2 pair = __floats2half2_rn(1.0f, 2.0f) + __float2half2_rn(0.5f);
  // 1 + 2^-11 lies halfway between two halves.
  const float tie = 1.0f + 1.0f / 2048;
  const bool right = static_cast<float>(h) == 3.5f && __high2float(pair) == 2.5f &&
                     __float2half_ru(tie) > __float2half_rd(tie) && __float2half(tie) == half(1.0f) &&
                     __half_as_ushort(__float2half_rz(1e9f)) == 0x7bff &&
                     __bfloat162float(__float2bfloat16(3.0f)) == 3.0f;
  return right ? 0 : 1;
}
