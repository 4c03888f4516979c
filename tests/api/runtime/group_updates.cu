// Cooperative groups: scans that go on from an atomic variable, reductions into one, and a cluster of one block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "expect.hpp"

namespace cg = cooperative_groups;

/// What cuda::atomic_ref gives, as far as the groups ask for it.
struct Counter {
  int* place;
  __device__ int fetch_add(int value) { return atomicAdd(place, value); }
  __device__ void store(int value) { *place = value; }
};

__global__ void update(int* counters, int* inclusive, int* exclusive) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  Counter first{counters}, second{counters + 1}, sum{counters + 2}, stored{counters + 3};
  const int i = static_cast<int>(threadIdx.x);
  inclusive[i] = cg::inclusive_scan_update(tile, first, i);
  exclusive[i] = cg::exclusive_scan_update(tile, second, i, cg::plus<int>());
  cg::reduce_update_async(tile, sum, i, cg::plus<int>());
  cg::reduce_store_async(tile, stored, i, cg::greater<int>());
}

__global__ void cluster(int* out) {
  const cg::cluster_group group = cg::this_cluster();
  __shared__ int mine;
  if (group.thread_rank() == 0) mine = 5;
  group.sync();
  auto token = group.barrier_arrive();
  group.barrier_wait(static_cast<decltype(token)&&>(token));
  out[threadIdx.x] =
      *group.map_shared_rank(&mine, 0) + static_cast<int>(group.num_blocks() * 100 + group.block_rank() * 10);
  if (group.query_shared_rank(&mine) != 0 || group.num_threads() != blockDim.x) out[threadIdx.x] = -1;
}

int main() {
  int *counters = nullptr, *inclusive = nullptr, *exclusive = nullptr;
  EXPECT_OK(cudaMallocManaged(&counters, 4 * sizeof(int)));
  EXPECT_OK(cudaMallocManaged(&inclusive, 32 * sizeof(int)));
  EXPECT_OK(cudaMallocManaged(&exclusive, 32 * sizeof(int)));
  counters[0] = 1000, counters[1] = 2000, counters[2] = 7, counters[3] = 0;
  update<<<1, 32>>>(counters, inclusive, exclusive);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(counters[0] == 1496 && counters[1] == 2496 && counters[2] == 503 && counters[3] == 31);
  for (int i = 0; i < 32; ++i) EXPECT(inclusive[i] == 1000 + i * (i + 1) / 2 && exclusive[i] == 2000 + i * (i - 1) / 2);
  cluster<<<2, 32>>>(inclusive);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT(inclusive[i] == 105);
  return finish();
}
