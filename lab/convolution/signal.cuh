// Convolution of a signal: y(i) = sum over k of h(k) x(i + r - k), with a mask h of 2r+1 elements around its middle.
// The mask is turned round, as the word means it: the answer to a single 1 is the mask itself.
#pragma once

#include "border.hpp"

constexpr int kLargestRadius = 64;

__constant__ float constantMask[2 * kLargestRadius + 1];

template <Border Policy>
__device__ inline float elementOf(const float* x, int i, int n) {
  const int inside = insideIndex<Policy>(i, n);
  return inside < 0 ? 0.0f : x[inside];
}

/// Everything from global memory, mask and signal.
template <Border Policy>
__global__ void convolveDirect(const float* x, const float* mask, float* y, int n, int radius) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += mask[k] * elementOf<Policy>(x, i + radius - k, n);
  y[i] = sum;
}

/// The mask from constant memory: all lanes want the same element, which is what constant memory is made for.
template <Border Policy>
__global__ void convolveConstant(const float* x, float* y, int n, int radius) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += constantMask[k] * elementOf<Policy>(x, i + radius - k, n);
  y[i] = sum;
}

/// Who loads what: the block's part of the signal and a halo of r elements on both sides are more than there are
/// threads; with a large mask even the halo alone is. So the block is laid over the region like a tile, again and
/// again.
template <class Load>
__device__ inline void shareLoads(int region, Load load) {
  for (int position = threadIdx.x; position < region; position += blockDim.x) load(position);
}

/// The region of a block in shared memory (blockDim.x + 2r floats), each element of it read from global memory once.
template <Border Policy>
__global__ void convolveTiled(const float* x, float* y, int n, int radius) {
  extern __shared__ float region[];
  const int first = blockIdx.x * blockDim.x - radius;
  shareLoads(blockDim.x + 2 * radius,
             [&](int position) { region[position] = elementOf<Policy>(x, first + position, n); });
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += constantMask[k] * region[threadIdx.x + 2 * radius - k];
  y[i] = sum;
}

/// The same sharing, only written down: loader[block * region + position] is the thread that loads the position.
__global__ void convolveWhoLoads(int* loader, int radius) {
  const int region = blockDim.x + 2 * radius;
  shareLoads(region, [&](int position) { loader[blockIdx.x * region + position] = threadIdx.x; });
}
