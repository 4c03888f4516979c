// OPTIONS: -DNDEBUG
// Groups of a grid in a release build, where <assert.h> declares nothing.
#include <cooperative_groups.h>

// CHECK: .entry {{.*}}meet
// CHECK: __assertfail
__global__ void meet(int* out) {
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = 1;
}
