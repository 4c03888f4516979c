// Loads and stores with cache operators, vector types, read-only loads.
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z6memoryPfP6float4PhPK5uint2
// CHECK-DAG: ld.global.nc.f32
// CHECK-DAG: ld.global.cs.f32
// CHECK-DAG: ld.global.cg.v4.f32
// CHECK-DAG: ld.global.cv.u8
// CHECK-DAG: ld.global.ca.v2.u32
// CHECK-DAG: st.global.cg.f32
// CHECK-DAG: st.global.cs.v4.f32
// CHECK-DAG: st.global.wt.u8
// CHECK-DAG: isspacep.param
__global__ void memory(float* f, float4* v, unsigned char* b, const uint2* u) {
  f[0] = __ldg(f + 1) + __ldcs(f + 2);
  float4 x = __ldcg(v);
  __stcs(v + 1, make_float4(x.w, x.z, x.y, x.x));
  __stcg(f + 3, x.x);
  __stwt(b, __ldcv(b + 1));
  const uint2 y = __ldca(u);
  f[4] = static_cast<float>(y.x + y.y + __isGridConstant(f));
}
static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && alignof(float4) == 16 && alignof(double2) == 16);
static_assert(sizeof(dim3) == 12 && alignof(longlong4) == 16 && alignof(uchar4) == 4 && sizeof(short3) == 6);
