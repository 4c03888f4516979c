// Scans of any length from scans of tiles: every block scans one tile and leaves its total; the totals are scanned (by
// the same means, if one block is not enough); then every block but the first adds the total of all tiles before its
// own. Adding only the total of the *preceding* tile, as one course says, is right for two tiles and wrong for three.
#pragma once

#include "block.cuh"

/// Scans tile blockIdx.x of `in`; beyond n there are zeros. `totals` may be null if there is only one tile.
template <class Algorithm, bool Exclusive>
__global__ void scanTiles(const unsigned* in, unsigned* out, unsigned* totals, unsigned n) {
  extern __shared__ unsigned shared[];
  const unsigned tile = blockDim.x * Algorithm::kPerThread;
  const unsigned first = blockIdx.x * tile;
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) {
    shared[Algorithm::place(i)] = first + i < n ? in[first + i] : 0;
  }
  __syncthreads();
  NoTally nothing;
  Algorithm::scan(shared, tile, nothing);
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) {
    if (first + i >= n) break;
    out[first + i] = !Exclusive ? Algorithm::inclusive(shared, i) : i == 0 ? 0 : Algorithm::inclusive(shared, i - 1);
  }
  if (threadIdx.x == 0 && totals != nullptr) totals[blockIdx.x] = Algorithm::inclusive(shared, tile - 1);
}

/// `totals` holds the inclusive scan of the tiles' totals. The first tile needs nothing.
__global__ void scanAddTotals(unsigned* out, const unsigned* totals, unsigned n, unsigned tile) {
  const unsigned first = (blockIdx.x + 1) * tile;
  const unsigned before = totals[blockIdx.x];
  for (unsigned i = first + threadIdx.x; i < n && i < first + tile; i += blockDim.x) out[i] += before;
}

/// One block scans one tile and counts: counts[0] additions of all threads, counts[1] steps.
template <class Algorithm>
__global__ void scanCounted(const unsigned* in, unsigned* out, unsigned* counts) {
  extern __shared__ unsigned shared[];
  const unsigned tile = blockDim.x * Algorithm::kPerThread;
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) shared[Algorithm::place(i)] = in[i];
  __syncthreads();
  Tally tally;
  Algorithm::scan(shared, tile, tally);
  for (unsigned i = threadIdx.x; i < tile; i += blockDim.x) out[i] = Algorithm::inclusive(shared, i);
  atomicAdd(&counts[0], tally.operations);
  if (threadIdx.x == 0) counts[1] = tally.steps;
}
