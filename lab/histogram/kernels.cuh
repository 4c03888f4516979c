// How often each of the 256 byte values occurs in a text: a race, global atomics, and a private histogram for each
// block.
#pragma once

constexpr unsigned kBins = 256;

/// Deliberately wrong: read, add and write of different threads interleave, and most increments are lost.
__global__ void histogramRace(const unsigned char* text, unsigned n, unsigned* bins) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) bins[text[i]]++;
}

/// Atomic additions in global memory: right, but the whole grid competes for 256 words.
__global__ void histogramAtomic(const unsigned char* text, unsigned n, unsigned* bins) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[text[i]], 1u);
  }
}

/// Privatisation: every block counts in its own shared memory and adds its 256 numbers to the result at the end.
/// The loops over the bins stride by the block, so any block size is right.
__global__ void histogramPrivate(const unsigned char* text, unsigned n, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[text[i]], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], mine[bin]);
}

constexpr unsigned kLanes = 32;
constexpr unsigned kLanesBlock = 512;
constexpr unsigned kLanesBlocksPerProcessor = 4;

__device__ inline void countWord(unsigned* mine, unsigned word) {
  atomicAdd(&mine[(word & 0xff) * kLanes], 1u);
  atomicAdd(&mine[(word >> 8 & 0xff) * kLanes], 1u);
  atomicAdd(&mine[(word >> 16 & 0xff) * kLanes], 1u);
  atomicAdd(&mine[(word >> 24) * kLanes], 1u);
}

/// The best form that we know: the block keeps a copy of the histogram for each lane, bin by bin, so that lane k only
/// ever touches bank k. However often a text repeats a character, the lanes of a warp never wait for each other; warps
/// share the copies through atomics. Characters are read 16 at a time. Adding up the copies, thread t begins with copy
/// t, which again keeps lanes in different banks. (After the private histograms of J. Gomez-Luna et al., "An optimized
/// approach to histogram computation on GPU", Machine Vision and Applications 24, 2013.)
__global__ void __launch_bounds__(kLanesBlock) histogramLanes(const unsigned char* text, unsigned n, unsigned* bins) {
  __shared__ unsigned copies[kBins * kLanes];
  for (unsigned i = threadIdx.x; i < kBins * kLanes; i += blockDim.x) copies[i] = 0;
  __syncthreads();
  unsigned* mine = copies + threadIdx.x % kLanes;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4* quads = reinterpret_cast<const uint4*>(text);
  for (unsigned q = thread; q < n / 16; q += gridDim.x * blockDim.x) {
    const uint4 quad = quads[q];
    countWord(mine, quad.x);
    countWord(mine, quad.y);
    countWord(mine, quad.z);
    countWord(mine, quad.w);
  }
  const unsigned rest = n - n % 16 + thread;
  if (rest < n) atomicAdd(&mine[text[rest] * kLanes], 1u);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned k = 0; k < kLanes; ++k) sum += copies[bin * kLanes + (bin + k) % kLanes];
    if (sum != 0) atomicAdd(&bins[bin], sum);
  }
}
