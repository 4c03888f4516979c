// OPTIONS: -arch=sm_60 -std=c++17
// Groups for a GPU that is too old for the atomics that their header brings along.
#include <cooperative_groups.h>

// CHECK: .entry {{.*}}meet
// CHECK: bar.sync
__global__ void meet(int* out) {
  cooperative_groups::this_thread_block().sync();
  out[threadIdx.x] = 1;
}
