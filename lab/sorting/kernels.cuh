// Bitonic sort and radix sort on the device.
#pragma once

constexpr unsigned kTile = 1024;  // elements that a block of kTile / 2 threads sorts in shared memory
constexpr unsigned kRadixBlock = 256;

__device__ inline void putInOrder(unsigned& a, unsigned& b, bool upwards) {
  if ((a > b) == upwards) {
    const unsigned kept = a;
    a = b;
    b = kept;
  }
}

/// The index of the first of the two elements that comparator `i` of a column compares.
__device__ inline unsigned firstOf(unsigned i, unsigned distance) { return 2 * i - (i & (distance - 1)); }

/// One column in global memory: a thread for each comparator.
__global__ void sortingColumn(unsigned* keys, unsigned comparators, unsigned stage, unsigned distance) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= comparators) return;
  const unsigned first = firstOf(i, distance);
  putInOrder(keys[first], keys[first + distance], (first & stage) == 0);
}

/// All columns from `firstStage` to `lastStage` whose distance is less than a tile, in shared memory. The direction
/// depends on the index in the whole array, or, of `Runs` that each are sorted upwards, on that in the tile.
template <bool Runs>
__global__ void sortingTile(unsigned* keys, unsigned firstStage, unsigned lastStage) {
  __shared__ unsigned tile[kTile];
  const unsigned base = blockIdx.x * kTile;
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = keys[base + i];
  for (unsigned stage = firstStage; stage <= lastStage; stage *= 2) {
    for (unsigned distance = min(stage, kTile) / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned first = firstOf(threadIdx.x, distance);
      putInOrder(tile[first], tile[first + distance], (((Runs ? 0 : base) + first) & stage) == 0);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) keys[base + i] = tile[i];
}

/// How many of a block's keys have each digit of four bits: counts[digit * blocks + block], so that a scan of all
/// counts gives each block's place among the keys with that digit.
__global__ void sortingCount(const unsigned* keys, unsigned n, unsigned shift, unsigned* counts) {
  __shared__ unsigned mine[16];
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&mine[keys[i] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

/// Sums of all counts before each one, by one block.
__global__ void sortingScan(unsigned* counts, unsigned length) {
  __shared__ unsigned sums[kRadixBlock];
  __shared__ unsigned before;
  if (threadIdx.x == 0) before = 0;
  for (unsigned begin = 0; begin < length; begin += kRadixBlock) {
    const unsigned i = begin + threadIdx.x;
    const unsigned own = i < length ? counts[i] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (unsigned distance = 1; distance < kRadixBlock; distance *= 2) {
      const unsigned other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < length) counts[i] = before + sums[threadIdx.x] - own;
    __syncthreads();
    if (threadIdx.x == 0) before += sums[kRadixBlock - 1];
    __syncthreads();
  }
}

/// Moves each key to its place. Keys with the same digit keep their order: within a warp by the lanes before, between
/// warps by counts of each warp.
__global__ void sortingScatter(const unsigned* keys, unsigned n, unsigned shift, const unsigned* places,
                               unsigned* sorted) {
  __shared__ unsigned ofWarp[kRadixBlock / 32][16];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  if (lane < 16) ofWarp[warp][lane] = 0;
  __syncwarp();
  const unsigned key = i < n ? keys[i] : 0;
  const unsigned digit = key >> shift & 15;
  unsigned same = __ballot_sync(0xffffffffu, i < n);
  for (unsigned bit = 0; bit < 4; ++bit) {
    const unsigned set = __ballot_sync(0xffffffffu, (digit >> bit & 1) != 0);
    same &= (digit >> bit & 1) != 0 ? set : ~set;
  }
  const unsigned before = __popc(same & ((1u << lane) - 1));
  if (i < n && before == 0) ofWarp[warp][digit] = __popc(same);
  __syncthreads();
  if (i >= n) return;
  unsigned place = places[digit * gridDim.x + blockIdx.x] + before;
  for (unsigned w = 0; w < warp; ++w) place += ofWarp[w][digit];
  sorted[place] = key;
}
