// Launches from kernels become the calls of the device runtime that nvcc makes of them too.
#include <cuda_runtime.h>

__global__ void child(char letter, double* numbers, float3 vector);

// CHECK-LABEL: .entry _Z6parentPd
// CHECK: mov.u64 [[KERNEL:%rd[0-9]+]], _Z5childcPd6float3;
// CHECK: st.param.b64 {{[[]}}param0+0], [[KERNEL]];
// CHECK: __cudaCDP2GetParameterBufferV2
// CHECK: ld.param.b64 [[BUFFER:%rd[0-9]+]], [retval0+0];
// CHECK: setp.eq.s64 %p{{[0-9]+}}, [[BUFFER]], 0;
// CHECK: st.u8 {{[[]}}[[BUFFER]]]
// CHECK: __cudaCDP2LaunchDeviceV2
// CHECK-NOT: __cudaPushCallConfiguration
__global__ void parent(double* numbers) { child<<<dim3(2, 3), 32, 64, 0>>>('x', numbers, make_float3(1, 2, 3)); }

__global__ void child(char letter, double* numbers, float3 vector) { numbers[threadIdx.x] = letter + vector.x; }

int main() {
  parent<<<1, 1>>>(nullptr);
  return 0;
}
