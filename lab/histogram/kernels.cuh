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
