// What scans are for: keeping some elements of an array in their order (compaction), sorting by one bit after the other
// (radix sort), and turning counts into a cumulative distribution.
#pragma once

/// 1 where the element is kept, here the multiples of 3; the exclusive scan of the flags says where each one goes.
__global__ void scanFlagKept(const unsigned* in, unsigned* flags, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = in[i] % 3 == 0 ? 1 : 0;
}

/// `places` is the inclusive scan of the flags, so a kept element goes to place - 1.
__global__ void scanScatterKept(const unsigned* in, const unsigned* places, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) out[places[i] - 1] = in[i];
}

/// 1 where the given bit of the key is 0.
__global__ void scanFlagZeroBit(const unsigned* keys, unsigned* flags, unsigned bit, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = (keys[i] >> bit & 1) ^ 1;
}

/// One pass of the sort: keys whose bit is 0 come first, each group in its old order. `zeros` is the inclusive scan of
/// the flags; a key with bit 1 goes behind all zeros, as far as there are ones before it.
__global__ void scanSplitByBit(const unsigned* keys, const unsigned* zeros, unsigned* out, unsigned bit, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned zerosUpToHere = zeros[i];
  const bool one = (keys[i] >> bit & 1) != 0;
  out[one ? zeros[n - 1] + i - zerosUpToHere : zerosUpToHere - 1] = keys[i];
}

/// How often each value below `bins` occurs.
__global__ void scanCount(const unsigned* in, unsigned* counts, unsigned bins, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[in[i] % bins], 1u);
  }
}
