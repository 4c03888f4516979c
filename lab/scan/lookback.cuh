// The best known scan: one pass over the data, 2n words moved instead of 4n. A block scans a tile in registers,
// publishes the tile's total, and *looks back* over what the tiles before it have published: totals are added up until
// a tile is met that knows its whole prefix. Nobody waits for a chain of all predecessors, and the array is read once
// and written once.
//
// After D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA Technical Report
// NVR-2016-002. Tiles are numbered by a counter, in the order in which blocks begin: a block waits only for blocks that
// run already, so it cannot wait for ever.
#pragma once

#include "block.cuh"

/// Elements of a tile: each thread has `Quads` loads of 16 bytes.
__host__ __device__ constexpr unsigned lookbackTile(unsigned warps, unsigned quads) { return warps * 32 * 4 * quads; }

/// Words of 8 bytes that the tiles of n elements publish in, with the counter before them; zero before the launch.
constexpr unsigned lookbackWords(unsigned n, unsigned tile) { return 1 + (n + tile - 1) / tile; }

// What a tile has published: a state in the upper half of a word and a sum in the lower, so that one store changes
// both.
constexpr unsigned long long kTotalKnown = 1ULL << 32;   // the sum of this tile
constexpr unsigned long long kPrefixKnown = 2ULL << 32;  // the sum of this tile and of all before it

__device__ inline unsigned stateOf(unsigned long long word) { return static_cast<unsigned>(word >> 32); }

/// Waits until the tile has published something. Volatile: each round reads memory anew.
__device__ inline unsigned long long published(const unsigned long long* tiles, int tile) {
  if (tile < 0) return kPrefixKnown;  // before the first tile there is nothing: a prefix of zero
  const volatile unsigned long long* word = tiles + tile;
  unsigned long long value = *word;
  while (stateOf(value) == 0) value = *word;
  return value;
}

/// The sum of all tiles before `tile`, by one warp: each lane looks at one of the 32 predecessors.
__device__ inline unsigned lookBack(const unsigned long long* tiles, int tile) {
  const unsigned lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    const unsigned long long word = published(tiles, nearest - static_cast<int>(lane));
    const unsigned known = __ballot_sync(0xffffffffu, stateOf(word) == 2);
    const unsigned last = known == 0 ? 31 : __ffs(static_cast<int>(known)) - 1;  // the nearest whole prefix
    unsigned part = lane <= last ? static_cast<unsigned>(word) : 0;
    for (int distance = 16; distance > 0; distance /= 2) part += __shfl_xor_sync(0xffffffffu, part, distance);
    sum += part;
    if (known != 0) return sum;
  }
}

/// The elements of a thread: quad k is element 128k + 4 lane of its warp's part, so that every load and store of a
/// warp is 512 consecutive bytes.
template <unsigned Count>
struct QuadsOf {
  uint4 quad[Count];

  __device__ void load(const unsigned* in, unsigned first, unsigned n) {
#pragma unroll
    for (unsigned k = 0; k < Count; ++k) {
      const unsigned i = first + 128 * k;
      if (i + 4 <= n) {
        quad[k] = *reinterpret_cast<const uint4*>(in + i);
      } else {
        quad[k] = make_uint4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
      }
    }
  }

  __device__ void store(unsigned* out, unsigned first, unsigned n) const {
#pragma unroll
    for (unsigned k = 0; k < Count; ++k) {
      const unsigned i = first + 128 * k;
      if (i + 4 <= n) {
        *reinterpret_cast<uint4*>(out + i) = quad[k];
      } else {
        if (i < n) out[i] = quad[k].x;
        if (i + 1 < n) out[i + 1] = quad[k].y;
        if (i + 2 < n) out[i + 2] = quad[k].z;
      }
    }
  }

  /// Inclusive prefixes within the warp's part; returns the part's total.
  __device__ unsigned scan() {
    const unsigned lane = threadIdx.x % 32;
    unsigned before = 0;
#pragma unroll
    for (unsigned k = 0; k < Count; ++k) {
      uint4& q = quad[k];
      q.y += q.x;
      q.z += q.y;
      q.w += q.z;
      const unsigned upTo = scanWarp(q.w);
      const unsigned left = __shfl_up_sync(0xffffffffu, upTo, 1);
      add(k, before + (lane == 0 ? 0 : left));
      before += __shfl_sync(0xffffffffu, upTo, 31);
    }
    return before;
  }

  __device__ void add(unsigned k, unsigned value) {
    quad[k].x += value;
    quad[k].y += value;
    quad[k].z += value;
    quad[k].w += value;
  }
};

/// `words` has lookbackWords(n, tile) words of zero; the grid is the number of tiles, blocks have 32 * Warps threads.
template <unsigned Warps, unsigned Quads>
__global__ void __launch_bounds__(32 * Warps)
    scanLookback(const unsigned* in, unsigned* out, unsigned long long* words, unsigned n) {
  __shared__ unsigned totals[Warps];
  __shared__ unsigned tileShared;
  __shared__ unsigned prefixShared;
  unsigned long long* tiles = words + 1;
  if (threadIdx.x == 0) tileShared = atomicAdd(reinterpret_cast<unsigned*>(words), 1u);
  __syncthreads();
  const unsigned tile = tileShared;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned first = tile * lookbackTile(Warps, Quads) + warp * lookbackTile(1, Quads) + 4 * lane;

  QuadsOf<Quads> mine;
  mine.load(in, first, n);
  const unsigned total = mine.scan();
  if (lane == 0) totals[warp] = total;
  __syncthreads();

  unsigned before = 0;  // of the warps before mine
  unsigned all = 0;
#pragma unroll
  for (unsigned w = 0; w < Warps; ++w) {
    if (w < warp) before += totals[w];
    all += totals[w];
  }
  if (warp == 0) {
    volatile unsigned long long* mineToSee = tiles + tile;
    if (lane == 0) *mineToSee = (tile == 0 ? kPrefixKnown : kTotalKnown) | all;
    const unsigned prefix = tile == 0 ? 0 : lookBack(tiles, static_cast<int>(tile));
    if (lane == 0) {
      if (tile != 0) *mineToSee = kPrefixKnown | (prefix + all);
      prefixShared = prefix;
    }
  }
  __syncthreads();
  before += prefixShared;
#pragma unroll
  for (unsigned k = 0; k < Quads; ++k) mine.add(k, before);
  mine.store(out, first, n);
}
