// Reductions over the lanes of a mask in one instruction: each operation, whole warps and parts of one.
#include <initializer_list>

#include "expect.hpp"

constexpr int kLanes = 32, kResults = 9;

__device__ int valueOf(int lane) { return (lane * 37 + 11) % 64 - 20; }

__global__ void reduce(unsigned mask, int* results) {
  const int lane = static_cast<int>(threadIdx.x);
  if ((mask >> lane & 1u) == 0) return;
  const int value = valueOf(lane);
  const auto bits = static_cast<unsigned>(value);
  int* mine = results + lane * kResults;
  mine[0] = __reduce_add_sync(mask, value);
  mine[1] = __reduce_min_sync(mask, value);
  mine[2] = __reduce_max_sync(mask, value);
  mine[3] = static_cast<int>(__reduce_add_sync(mask, bits));
  mine[4] = static_cast<int>(__reduce_min_sync(mask, bits));
  mine[5] = static_cast<int>(__reduce_max_sync(mask, bits));
  mine[6] = static_cast<int>(__reduce_and_sync(mask, bits));
  mine[7] = static_cast<int>(__reduce_or_sync(mask, bits));
  mine[8] = static_cast<int>(__reduce_xor_sync(mask, bits));
}

/// The same in a loop of the host's, from the values that a kernel writes.
__global__ void values(int* all) { all[threadIdx.x] = valueOf(static_cast<int>(threadIdx.x)); }

void expected(unsigned mask, const int* all, int* want) {
  bool first = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    const int v = all[lane];
    const auto u = static_cast<unsigned>(v);
    const auto least = static_cast<unsigned>(want[4]), most = static_cast<unsigned>(want[5]);
    const int next[kResults] = {want[0] + v,
                                v < want[1] ? v : want[1],
                                v > want[2] ? v : want[2],
                                want[3] + v,
                                u < least ? v : want[4],
                                u > most ? v : want[5],
                                want[6] & v,
                                want[7] | v,
                                want[8] ^ v};
    for (int i = 0; i < kResults; ++i) want[i] = first ? v : next[i];
    first = false;
  }
}

void check(unsigned mask) {
  int *results, *all, want[kResults] = {};
  EXPECT_OK(cudaMallocManaged(&results, kLanes * kResults * sizeof(int)));
  EXPECT_OK(cudaMallocManaged(&all, kLanes * sizeof(int)));
  values<<<1, kLanes>>>(all);
  reduce<<<1, kLanes>>>(mask, results);
  EXPECT_OK(cudaDeviceSynchronize());
  expected(mask, all, want);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    for (int i = 0; i < kResults; ++i) EXPECT(results[lane * kResults + i] == want[i]);
  }
  EXPECT_OK(cudaFree(results));
  EXPECT_OK(cudaFree(all));
}

int main() {
  for (const unsigned mask : {0xffffffffu, 0x0000ffffu, 0x80000001u, 0x55555555u, 0x00000004u}) check(mask);
  return finish();
}
