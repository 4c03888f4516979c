// A volatile word is read and written each time that the program says so; another may stay in a register.
// CHECK-LABEL: .entry _Z8everyonePVfS0_
// CHECK: st.volatile.global.
// CHECK: st.volatile.global.
// CHECK: ld.volatile.global.f32
// CHECK: ld.volatile.global.f32
// CHECK-LABEL: .entry _Z8ordinaryPfS_
// CHECK-COUNT-1: ld.global.f32
// CHECK-NOT: ld.global.f32
// CHECK-LABEL: .entry _Z6sharedPf
// CHECK: st.volatile.shared.f32
// CHECK-COUNT-4: ld.volatile.shared.f32
// CHECK: ret;
__global__ void everyone(volatile float* x, volatile float* y) {
  x[0] = 1;
  x[0] = 2;
  y[0] = x[1] + x[1];
}
__global__ void ordinary(float* x, float* y) {
  x[0] = 1;
  x[0] = 2;
  y[0] = x[1] + x[1];
}
__global__ void shared(float* out) {
  __shared__ volatile float words[64];
  words[threadIdx.x] = out[threadIdx.x];
  words[threadIdx.x] += words[threadIdx.x + 1];
  words[threadIdx.x] += words[threadIdx.x + 1];
  out[threadIdx.x] = words[0];
}
