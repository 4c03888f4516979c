// OPTIONS: -std=c++11
// Cooperative groups in C++11.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// CHECK: .visible .entry _Z6kernelPi
__global__ void kernel(int* p) {
  cg::thread_block block = cg::this_thread_block();
  block.sync();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  p[0] = tile.shfl_down(p[0], 1) + static_cast<int>(cg::thread_rank(block) + cg::group_size(tile));
  cg::coalesced_group active = cg::coalesced_threads();
  p[1] = static_cast<int>(active.size() + cg::this_grid().size());
}
