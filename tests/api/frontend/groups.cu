// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ int blockSum(cg::thread_group group, int* scratch, int value) {
  const int rank = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < i) value += scratch[rank + i];
    group.sync();
  }
  return value;
}

// CHECK-LABEL: .entry _Z6groupsPi
// CHECK-DAG: shfl.sync.bfly.b32
// CHECK-DAG: activemask.b32
// CHECK-DAG: bar.warp.sync
// CHECK-DAG: bar.sync
// CHECK-DAG: atom.global.add.u32
__global__ void groups(int* p) {
  __shared__ int scratch[256];
  cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);  // the type without its parent
  int value = p[block.thread_rank()];
  value = cg::reduce(tile, value, cg::plus<int>()) + blockSum(block, scratch, value);
  value += blockSum(cg::tiled_partition(block, 8), scratch, value) + cg::inclusive_scan(tile, value);
  struct Wide {
    char letters[6];
    double number;
  } wide = {{1, 2, 3, 4, 5, 6}, 1.0 * value};
  wide = tile.shfl_xor(wide, 1);  // any type of bytes
  value += wide.letters[5] + static_cast<int>(wide.number);
  if (value & 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(p, static_cast<int>(active.size()));
  }
  cg::this_grid().sync();
  p[block.thread_rank()] = value + static_cast<int>(tile.ballot(value > 3));
}
