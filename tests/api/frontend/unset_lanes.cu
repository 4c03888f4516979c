// A value that one lane has set and a function hands to a shuffle: the other lanes stay where they are.
#include <cuda_runtime.h>
#pragma clang diagnostic ignored "-Wsometimes-uninitialized"

__device__ int fromFirst(int value) { return __shfl_sync(0xffffffff, value, 0); }

// CHECK-LABEL: .entry _Z5leadsPi
// CHECK: setp.{{(ne|eq)}}.s32 [[FIRST:%p[0-9]+]], %r{{[0-9]+}}, 0;
// CHECK: @[[FIRST]] bra
// CHECK: atom.global.add
__global__ void leads(int* counter) {
  int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(counter, 32);
  counter[1 + fromFirst(ticket) + threadIdx.x] = 1;
}
