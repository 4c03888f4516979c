// Cooperative groups against sums done by hand: tiles up to the whole block, partitions, reductions and scans.

// As headers of CUB and Thrust do since release 3, which name groups without including them.
namespace cooperative_groups {
namespace __v1 {
class thread_block;
template <unsigned int Size, typename Parent>
class thread_block_tile;
}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <vector>

#include "expect.hpp"

namespace cg = cooperative_groups;

struct Pair {
  int sum;
  float product;
};
struct Both {
  __device__ Pair operator()(const Pair& a, const Pair& b) const { return {a.sum + b.sum, a.product * b.product}; }
};

template <unsigned Size>
__device__ unsigned tileErrors(const cg::thread_block& block) {
  const auto tile = cg::tiled_partition<Size>(block);
  const int rank = static_cast<int>(tile.thread_rank()), group = static_cast<int>(tile.meta_group_rank());
  const int n = static_cast<int>(Size);
  unsigned errors = 0;
  auto check = [&](bool ok) { errors += !ok; };
  check(tile.num_threads() == Size && rank == static_cast<int>(threadIdx.x) % n);
  check(static_cast<int>(threadIdx.x) / n == group && tile.meta_group_size() == blockDim.x / Size);
  check(cg::reduce(tile, rank + group, cg::plus<int>()) == n * (n - 1) / 2 + n * group);
  check(cg::reduce(tile, rank * 7 % n, cg::greater<int>()) == n - 1);
  check(cg::inclusive_scan(tile, rank) == rank * (rank + 1) / 2);
  check(cg::exclusive_scan(tile, 3) == 3 * rank);
  const Pair pair = cg::reduce(tile, Pair{1, rank == n - 1 ? 2.0f : 1.0f}, Both());
  check(pair.sum == n && pair.product == 2.0f);
  check(tile.shfl(rank + 100 * group, Size - 1) == n - 1 + 100 * group);
  check(tile.any(rank == n - 1) && !tile.any(rank < 0));
  check(tile.all(rank >= 0) && !tile.all(rank > 0));
  tile.sync();
  return errors;
}

template <unsigned Block, unsigned Size>
__global__ void tiles(unsigned* errors) {
  __shared__ cg::block_tile_memory<Block> memory;
  const unsigned found = tileErrors<Size>(cg::this_thread_block(memory));
  if (found) atomicAdd(errors, found);
}

/// Tiles of two sizes at a time.
__global__ void twoSizes(unsigned* errors) {
  __shared__ cg::block_tile_memory<256> memory;
  const auto block = cg::this_thread_block(memory);
  const auto small = cg::tiled_partition<64>(block);
  const auto large = cg::tiled_partition<128>(block);
  const int sum = cg::reduce(small, 1, cg::plus<int>()) + cg::reduce(large, 1, cg::plus<int>());
  if (sum != 192) atomicAdd(errors, 1);
}

/// A group that functions take by default: the thread alone.
__device__ unsigned ranksAndSizes(const cg::thread_group& group = cg::this_thread()) {
  group.sync();
  return 100 * group.thread_rank() + group.size();
}

__global__ void partitions(unsigned* errors) {
  unsigned found = 0;
  auto check = [&](bool ok) { found += !ok; };
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned lane = warp.thread_rank();
  const auto labeled = cg::labeled_partition(warp, lane % 3);
  check(labeled.size() == (lane % 3 == 2 ? 10 : 11) && labeled.thread_rank() == lane / 3);
  check(labeled.meta_group_size() == 3 && labeled.meta_group_rank() == lane % 3);
  check(cg::reduce(labeled, static_cast<int>(lane), cg::less<int>()) == static_cast<int>(lane % 3));
  const auto inner = cg::tiled_partition<4>(warp);
  check(inner.meta_group_rank() == lane / 4 && inner.meta_group_size() == 8);
  if (lane % 2) {
    const auto odd = cg::coalesced_threads();
    check(odd.size() == 16 && odd.thread_rank() == lane / 2);
    check(cg::inclusive_scan(odd, 1) == static_cast<int>(odd.thread_rank()) + 1);
    check(odd.ballot(lane < 16) == 0xff);
    const auto quarter = cg::tiled_partition(odd, 4);
    check(quarter.size() == 4 && quarter.meta_group_size() == 4);
    check(quarter.thread_rank() == odd.thread_rank() % 4 && quarter.meta_group_rank() == odd.thread_rank() / 4);
    const auto half = cg::binary_partition(odd, lane < 8);
    check(half.size() == (lane < 8 ? 4 : 12));
    check(half.shfl(static_cast<int>(lane), 0) == (lane < 8 ? 1 : 9));
  }
  warp.sync();
  check(cg::invoke_one_broadcast(warp, [&] { return 42 + static_cast<int>(lane); }) == 42);
  const auto alone = cg::this_thread();
  check(ranksAndSizes() == 1 && alone.shfl(lane, 0) == lane && alone.ballot(true) == 1);
  if (lane % 5 == 2) check(ranksAndSizes(alone) == 1 && cg::reduce(alone, lane, cg::plus<unsigned>()) == lane);
  if (found) atomicAdd(errors, found);
}

int main() {
  unsigned *errors = nullptr, found = 1;
  EXPECT_OK(cudaMalloc(&errors, sizeof found));
  EXPECT_OK(cudaMemset(errors, 0, sizeof found));
  auto check = [&] {
    EXPECT_OK(cudaMemcpy(&found, errors, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found == 0);
  };
  tiles<64, 8><<<3, 64>>>(errors);
  tiles<64, 32><<<3, 64>>>(errors);
  tiles<64, 64><<<3, 64>>>(errors);
  tiles<256, 64><<<2, 256>>>(errors);
  tiles<512, 128><<<2, 512>>>(errors);
  tiles<1024, 64><<<1, 1024>>>(errors);  // sixteen of them
  twoSizes<<<2, 256>>>(errors);
  check();
  partitions<<<2, 64>>>(errors);
  check();
  return finish();
}
