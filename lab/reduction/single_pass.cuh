// The best known reduction: one launch, one value. Each thread keeps four loads of 16 bytes on their way, blocks add up
// with shuffles, and the block that finishes last adds the partial sums of all others, so that neither the host nor a
// second launch is needed. (The last block is found as in NVIDIA's sample "threadFenceReduction".)
#pragma once

#include "shared.cuh"

__device__ inline int sumOfQuad(const int4& quad) { return quad.x + quad.y + quad.z + quad.w; }

/// The sum over the block, in its first thread. Blocks are multiples of 32.
__device__ inline int sumOfBlock(int sum) {
  __shared__ int warps[32];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  sum = sumOfWarp(sum);
  if (lane == 0) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) sum = sumOfWarp(lane < blockDim.x / 32 ? warps[lane] : 0);
  __syncthreads();  // `warps` may be used again
  return sum;
}

/// partials[0 .. gridDim.x-1] receives the blocks' sums and partials[gridDim.x] the total. `finished` is zero before
/// the first launch, and zero again after each.
__global__ void reduceSinglePass(const int* in, int* partials, unsigned* finished, unsigned n) {
  constexpr unsigned kLoads = 4;
  __shared__ bool last;
  const unsigned threads = gridDim.x * blockDim.x;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int4* quads = reinterpret_cast<const int4*>(in);
  const unsigned count = n / 4;
  int sum = 0;
  unsigned q = thread;
  for (; q + (kLoads - 1) * threads < count; q += kLoads * threads) {
    int4 held[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) held[k] = quads[q + k * threads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) sum += sumOfQuad(held[k]);
  }
  for (; q < count; q += threads) sum += sumOfQuad(quads[q]);
  if (thread < n % 4) sum += in[n - n % 4 + thread];

  sum = sumOfBlock(sum);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
    __threadfence();  // the partial sum is seen before the count that announces it
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  int total = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) total += *static_cast<volatile int*>(partials + i);
  total = sumOfBlock(total);
  if (threadIdx.x == 0) {
    partials[gridDim.x] = total;
    *finished = 0;
  }
}
