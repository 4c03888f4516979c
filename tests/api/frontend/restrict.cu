// Pointers that do not overlap. Both const and __restrict__: the load may take the read-only path. Only one of the two,
// or neither: it may not.
// CHECK-LABEL: .entry _Z4bothPKfPf
// CHECK: ld.global.nc.f32
// CHECK: st.global.f32
// CHECK-LABEL: .entry _Z6eitherPKfPf
// CHECK-NOT: ld.global.nc
// CHECK: ld.global.f32
// CHECK-LABEL: .entry _Z7writtenPf
// CHECK-NOT: ld.global.nc
// CHECK: ld.global.f32
__global__ void both(const float* __restrict__ in, float* __restrict__ out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void either(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void written(float* __restrict__ data) { data[threadIdx.x] += data[threadIdx.x + 32]; }
