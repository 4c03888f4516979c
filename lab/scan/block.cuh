// Scans of one tile in shared memory, by all threads of a block: the algorithms that the kernels of tiles.cuh are made
// from. An algorithm is a struct with
//
//   kPerThread               elements of a tile for each thread
//   words(threads)           words of shared memory for a block of so many threads
//   place(i)                 where element i of the tile lies
//   scan(data, tile, tally)  after a barrier; leaves the answers, and ends with a barrier
//   inclusive(data, i)       reads answer i
//
// A tally counts additions and steps. `NoTally` costs nothing; `Tally` is for the comparison of complexities.
#pragma once

struct NoTally {
  __device__ void operation() {}
  __device__ void step() {}
};

struct Tally {
  unsigned operations = 0;
  unsigned steps = 0;
  __device__ void operation() { ++operations; }
  __device__ void step() { ++steps; }
};

/// One element for each thread, at its own place: what all but Blelloch's tree share.
struct Flat {
  static constexpr unsigned kPerThread = 1;
  static unsigned words(unsigned threads) { return threads; }
  __device__ static unsigned place(unsigned i) { return i; }
  __device__ static unsigned inclusive(const unsigned* data, unsigned i) { return data[i]; }
};

/// Horn's scan as it is often printed: in place, with one barrier at the end of a step. Deliberately wrong: a thread
/// may read its neighbour before or after the neighbour's own addition of the same step.
struct HornRacy : Flat {
  template <class T>
  __device__ static void scan(unsigned* data, unsigned tile, T& tally) {
    const unsigned i = threadIdx.x;
    for (unsigned distance = 1; distance < tile; distance *= 2) {
      if (i >= distance) {
        data[i] += data[i - distance];
        tally.operation();
      }
      tally.step();
      __syncthreads();
    }
  }
};

/// Horn's scan in place, right: everybody reads, a barrier, everybody writes, a barrier.
struct HornTwoBarriers : Flat {
  template <class T>
  __device__ static void scan(unsigned* data, unsigned tile, T& tally) {
    const unsigned i = threadIdx.x;
    for (unsigned distance = 1; distance < tile; distance *= 2) {
      unsigned sum = data[i];
      if (i >= distance) {
        sum += data[i - distance];
        tally.operation();
      }
      tally.step();
      __syncthreads();
      data[i] = sum;
      __syncthreads();
    }
  }
};

/// Horn's scan with two buffers: a step reads one and writes the other, so one barrier is enough. The answers are
/// copied to the first buffer if the last step left them in the second.
struct HornDoubleBuffer : Flat {
  static unsigned words(unsigned threads) { return 2 * threads; }

  template <class T>
  __device__ static void scan(unsigned* data, unsigned tile, T& tally) {
    const unsigned i = threadIdx.x;
    unsigned* from = data;
    unsigned* to = data + tile;
    for (unsigned distance = 1; distance < tile; distance *= 2) {
      unsigned sum = from[i];
      if (i >= distance) {
        sum += from[i - distance];
        tally.operation();
      }
      to[i] = sum;
      tally.step();
      __syncthreads();
      unsigned* const written = to;
      to = from;
      from = written;
    }
    if (from == data) return;
    data[i] = from[i];
    __syncthreads();
  }
};

/// Blelloch's balanced tree: sums go up, prefixes come down. 2(n-1) additions instead of n log n. Two elements for each
/// thread; tiles are powers of two. The tree leaves exclusive prefixes; the total is kept behind them, so that the
/// inclusive prefix i is the exclusive prefix i+1. The strides of the tree are powers of two and meet in the same
/// banks; `Padded` inserts a word after each 32 and spreads them.
template <bool Padded>
struct Blelloch {
  static constexpr unsigned kPerThread = 2;
  static unsigned words(unsigned threads) { return (2 * threads + 1) + (Padded ? (2 * threads + 1) / 32 : 0); }
  __device__ static unsigned place(unsigned i) { return Padded ? i + i / 32 : i; }
  __device__ static unsigned inclusive(const unsigned* data, unsigned i) { return data[place(i + 1)]; }

  template <class T>
  __device__ static void scan(unsigned* data, unsigned tile, T& tally) {
    up(data, tile, tally);
    if (threadIdx.x == 0) {
      data[place(tile)] = data[place(tile - 1)];
      data[place(tile - 1)] = 0;
    }
    __syncthreads();
    down(data, tile, tally);
  }

 private:
  /// Thread t has node t of the level: its right end is at (t+1) * 2 * stride - 1.
  template <class T>
  __device__ static void up(unsigned* data, unsigned tile, T& tally) {
    for (unsigned stride = 1; stride < tile; stride *= 2) {
      const unsigned right = (threadIdx.x + 1) * 2 * stride - 1;
      if (right < tile) {
        data[place(right)] += data[place(right - stride)];
        tally.operation();
      }
      tally.step();
      __syncthreads();
    }
  }

  template <class T>
  __device__ static void down(unsigned* data, unsigned tile, T& tally) {
    for (unsigned stride = tile / 2; stride > 0; stride /= 2) {
      const unsigned right = (threadIdx.x + 1) * 2 * stride - 1;
      if (right < tile) {
        const unsigned left = data[place(right - stride)];
        data[place(right - stride)] = data[place(right)];
        data[place(right)] += left;
        tally.operation();
      }
      tally.step();
      __syncthreads();
    }
  }
};

/// The inclusive prefix over the lanes of a full warp, without shared memory.
__device__ inline unsigned scanWarp(unsigned sum) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += before;
  }
  return sum;
}

/// Each warp scans its 32 elements with shuffles, the first warp scans the totals of the warps. Three barriers whatever
/// the block's size; blocks are multiples of 32.
struct Shuffled : Flat {
  static unsigned words(unsigned threads) { return threads + 32; }

  template <class T>
  __device__ static void scan(unsigned* data, unsigned tile, T& tally) {
    unsigned* totals = data + tile;
    const unsigned lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    const unsigned prefix = scanWarp(data[threadIdx.x]);
    if (lane == 31) totals[warp] = prefix;
    tally.step();
    __syncthreads();
    if (warp == 0) totals[lane] = scanWarp(lane < tile / 32 ? totals[lane] : 0);
    tally.step();
    __syncthreads();
    data[threadIdx.x] = warp == 0 ? prefix : prefix + totals[warp - 1];
    tally.operation();
    tally.step();
    __syncthreads();
  }
};
