// Warp primitives, with and without _sync.
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z4warpPiPfPdPjPy
// CHECK-DAG: shfl.sync.down.b32
// CHECK-DAG: shfl.sync.bfly.b32
// CHECK-DAG: shfl.sync.up.b32
// CHECK-DAG: shfl.sync.idx.b32
// CHECK-DAG: vote.sync.any.pred
// CHECK-DAG: vote.sync.all.pred
// CHECK-DAG: vote.sync.ballot.b32
// CHECK-DAG: match.any.sync.b32
// CHECK-DAG: match.all.sync.b64
// CHECK-DAG: redux.sync.add.u32
// CHECK-DAG: activemask.b32
// CHECK-DAG: bar.warp.sync
// CHECK-DAG: bar.red.popc.u32
// CHECK-DAG: bar.red.and.pred
// CHECK-DAG: bar.red.or.pred
__global__ void warp(int* i, float* f, double* d, unsigned* u, unsigned long long* l) {
  const unsigned all = 0xffffffffu;
  f[0] = __shfl_down_sync(all, f[0], 16);
  d[0] = __shfl_xor_sync(all, d[0], 8);
  i[0] = __shfl_up_sync(all, i[0], 1);
  l[0] = __shfl_sync(all, l[0], 3, 16);
  i[1] = __any_sync(all, i[1]) + __all_sync(all, i[2]);
  u[0] = __ballot_sync(all, i[3]) + __activemask();
  u[1] = __match_any_sync(all, i[4]);
  u[2] = __match_all_sync(all, d[1], i + 5);
  u[3] = __reduce_add_sync(all, u[3]);
  __syncwarp();
  i[6] = __syncthreads_count(i[6]) + __syncthreads_and(i[7]) + __syncthreads_or(i[8]);
  // Programs from before Volta.
  f[1] = __shfl_down(f[1], 4) + __shfl(f[2], 0) + __shfl_xor(f[3], 1);
  i[9] = __any(i[9]) + __all(i[10]);
  u[4] = __ballot(i[11]);
}
