// The best known radix sort: four passes of eight bits, each of which reads and writes every key once. All digits are
// counted beforehand in one reading. In a pass, a block ranks a tile of keys, publishes for each of the 256 digits how
// many it has, *looks back* over the tiles before it for how many they had, and writes its keys, ordered in shared
// memory, to 256 places in runs.
//
// After A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", arXiv:2206.01784,
// 2022. Tiles are numbered by a counter, in the order in which blocks begin: a block waits only for blocks that run
// already, so it cannot wait for ever.
#pragma once

constexpr unsigned kDigits = 256;
constexpr unsigned kDigitPasses = 4;
constexpr unsigned kDigitThreads = 256;

// What a tile has published of a digit: a state in the two upper bits, a count in the others.
constexpr unsigned kOwnCount = 1u << 30;    // of this tile
constexpr unsigned kWholeCount = 2u << 30;  // of this tile and of all before it
constexpr unsigned kCountBits = kOwnCount - 1;

constexpr unsigned kOnesweepLargest = kOwnCount - 1;  // keys

__host__ __device__ constexpr unsigned onesweepTile(unsigned warps, unsigned each) { return warps * 32 * each; }

/// Words that a pass over n keys publishes in, with its counter of tiles before them; zero before the launch.
constexpr std::size_t onesweepWords(unsigned n, unsigned tile) {
  return 1 + std::size_t{kDigits} * ((n + std::size_t{tile} - 1) / tile);
}

__device__ inline unsigned digitOf(unsigned key, unsigned pass) { return key >> (8 * pass) & (kDigits - 1); }

/// Adds to counts[pass * kDigits + digit] how many keys have that digit in that pass.
__global__ void __launch_bounds__(kDigitThreads) sortingDigits(const unsigned* keys, unsigned n, unsigned* counts) {
  __shared__ unsigned mine[kDigitPasses * kDigits];
  for (unsigned i = threadIdx.x; i < kDigitPasses * kDigits; i += kDigitThreads) mine[i] = 0;
  __syncthreads();
  const unsigned stride = gridDim.x * kDigitThreads * 4;
  for (unsigned i = (blockIdx.x * kDigitThreads + threadIdx.x) * 4; i < n; i += stride) {
    unsigned some[4];
    const unsigned end = min(n - i, 4u);
    if (end == 4) {
      const uint4 quad = *reinterpret_cast<const uint4*>(keys + i);
      some[0] = quad.x, some[1] = quad.y, some[2] = quad.z, some[3] = quad.w;
    } else {
      for (unsigned k = 0; k < end; ++k) some[k] = keys[i + k];
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      if (k >= end) break;
#pragma unroll
      for (unsigned pass = 0; pass < kDigitPasses; ++pass) {
        atomicAdd(&mine[pass * kDigits + digitOf(some[k], pass)], 1u);
      }
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kDigitPasses * kDigits; i += kDigitThreads) {
    if (mine[i] != 0) atomicAdd(&counts[i], mine[i]);
  }
}

/// The sum of the values of the threads before this one, in a block of kDigits threads or more, of which the first
/// kDigits have a value; the others call it for its barriers.
__device__ inline unsigned sumBefore(unsigned value, unsigned* sums) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned upTo = value;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, upTo, distance);
    if (lane >= distance) upTo += other;
  }
  if (lane == 31 && warp < kDigits / 32) sums[warp] = upTo;
  __syncthreads();
  unsigned before = 0;
#pragma unroll
  for (unsigned w = 0; w < kDigits / 32; ++w) before += w < warp ? sums[w] : 0;
  return before + upTo - value;
}

/// Where the keys of each digit begin, for each pass: a block of kDigits threads for each.
__global__ void __launch_bounds__(kDigits) sortingStarts(unsigned* counts) {
  __shared__ unsigned sums[kDigits / 32];
  unsigned* mine = counts + blockIdx.x * kDigits;
  const unsigned count = mine[threadIdx.x];
  mine[threadIdx.x] = sumBefore(count, sums);
}

/// The lanes of the warp whose key has the same digit as mine.
__device__ inline unsigned lanesAlike(unsigned digit) {
  unsigned alike = 0xffffffffu;
#pragma unroll
  for (unsigned bit = 0; bit < 8; ++bit) {
    const bool set = (digit >> bit & 1) != 0;
    const unsigned with = __ballot_sync(0xffffffffu, set);
    alike &= set ? with : ~with;
  }
  return alike;
}

/// Keys with `digit` in all tiles before this one. Volatile: each round reads memory anew.
__device__ inline unsigned countBefore(const unsigned* tiles, unsigned tile, unsigned digit) {
  unsigned count = 0;
  while (tile-- > 0) {
    const volatile unsigned* word = tiles + std::size_t{tile} * kDigits + digit;
    unsigned seen = *word;
    while (seen < kOwnCount) seen = *word;
    count += seen & kCountBits;
    if (seen >= kWholeCount) break;
  }
  return count;
}

/// One pass: keys go from `from` to `to`, ordered by their digit, those alike in the order in which they stood.
/// `starts` has the first place of each digit; `words` has onesweepWords(n, tile) words of zero; the grid is the number
/// of tiles, blocks have 32 * Warps threads, at least kDigits of them.
template <unsigned Warps, unsigned Each>
__global__ void __launch_bounds__(32 * Warps) sortingOnesweep(const unsigned* from, unsigned* to, unsigned n,
                                                              unsigned pass, const unsigned* starts, unsigned* words) {
  constexpr unsigned kThreads = 32 * Warps;
  constexpr unsigned kTileKeys = onesweepTile(Warps, Each);
  static_assert(kThreads >= kDigits, "a thread for each digit");
  // First a count of each digit for each warp, then, when all keys know their rank, the keys.
  __shared__ unsigned shared[kTileKeys > Warps * kDigits ? kTileKeys : Warps * kDigits];
  __shared__ unsigned placeOf[kDigits];  // of the tile's first key with the digit, less its rank in the tile
  __shared__ unsigned sums[kDigits / 32];
  __shared__ unsigned tileShared;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) tileShared = atomicAdd(words, 1u);
  unsigned* const counts = shared + warp * kDigits;
  for (unsigned d = lane; d < kDigits; d += 32) counts[d] = 0;
  __syncthreads();
  const unsigned tile = tileShared;
  unsigned* const tiles = words + 1;

  // Places behind the end are filled with the largest key. They stand behind all others, before the pass and after.
  const unsigned base = tile * kTileKeys;
  unsigned key[Each];
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned i = base + warp * 32 * Each + 32 * k + lane;
    key[k] = i < n ? from[i] : ~0u;
  }
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) atomicAdd(&counts[digitOf(key[k], pass)], 1u);
  __syncthreads();

  const unsigned digit = threadIdx.x;  // of the first kDigits threads
  unsigned ofTile = 0;
  if (digit < kDigits) {
#pragma unroll
    for (unsigned w = 0; w < Warps; ++w) {
      const unsigned ofWarp = shared[w * kDigits + digit];
      shared[w * kDigits + digit] = ofTile;
      ofTile += ofWarp;
    }
    volatile unsigned* word = tiles + std::size_t{tile} * kDigits + digit;
    *word = (tile == 0 ? kWholeCount : kOwnCount) | ofTile;
  }
  const unsigned rankOfFirst = sumBefore(ofTile, sums);
  if (digit < kDigits) {
#pragma unroll
    for (unsigned w = 0; w < Warps; ++w) shared[w * kDigits + digit] += rankOfFirst;
  }
  __syncthreads();

  unsigned rank[Each];
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned own = digitOf(key[k], pass);
    const unsigned alike = lanesAlike(own);
    const unsigned before = __popc(alike & ((1u << lane) - 1));
    const unsigned first = counts[own];
    __syncwarp();
    if (before == 0) counts[own] = first + __popc(alike);
    __syncwarp();
    rank[k] = first + before;
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) shared[rank[k]] = key[k];

  if (digit < kDigits) {
    const unsigned before = countBefore(tiles, tile, digit);
    if (tile != 0) {
      volatile unsigned* word = tiles + std::size_t{tile} * kDigits + digit;
      *word = kWholeCount | (before + ofTile);
    }
    placeOf[digit] = starts[digit] + before - rankOfFirst;
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned i = threadIdx.x + kThreads * k;
    const unsigned sorted = shared[i];
    if (base + i < n) to[placeOf[digitOf(sorted, pass)] + i] = sorted;
  }
}

/// Sorts n keys from `in` to `out`, which may be the same; `other` has as many places. `counts` has
/// kDigitPasses * kDigits words and `words` kDigitPasses times onesweepWords of them; both are zero.
template <unsigned Warps, unsigned Each>
void launchOnesweep(const unsigned* in, unsigned* out, unsigned* other, unsigned n, unsigned counting, unsigned* counts,
                    unsigned* words) {
  constexpr unsigned kTileKeys = onesweepTile(Warps, Each);
  const unsigned tiles = (n + kTileKeys - 1) / kTileKeys;
  sortingDigits<<<counting, kDigitThreads>>>(in, n, counts);
  sortingStarts<<<kDigitPasses, kDigits>>>(counts);
  for (unsigned pass = 0; pass < kDigitPasses; ++pass) {
    const unsigned* const from = pass == 0 ? in : pass % 2 == 0 ? out : other;
    unsigned* const to = pass % 2 == 0 ? other : out;
    sortingOnesweep<Warps, Each>
        <<<tiles, 32 * Warps>>>(from, to, n, pass, counts + pass * kDigits, words + pass * onesweepWords(n, kTileKeys));
  }
}
