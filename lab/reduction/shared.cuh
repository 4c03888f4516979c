// The reductions that leave their input alone: the tree works in shared memory, in registers, or both.
#pragma once

#include "in_place.cuh"

/// 7. Template and shared memory: global memory is read once, and written once for each block.
template <unsigned Block>
__global__ void reduceTemplateShared(const int* in, int* out, unsigned n) {
  __shared__ int data[Block];
  const unsigned tid = threadIdx.x;
  data[tid] = sumOf8Chunks(in, blockIdx.x * Block * 8 + tid, Block, n);
  __syncthreads();

  if (Block >= 1024 && tid < 512) data[tid] += data[tid + 512];
  __syncthreads();
  if (Block >= 512 && tid < 256) data[tid] += data[tid + 256];
  __syncthreads();
  if (Block >= 256 && tid < 128) data[tid] += data[tid + 128];
  __syncthreads();
  if (Block >= 128 && tid < 64) data[tid] += data[tid + 64];
  __syncthreads();
  if (tid < 32) foldLastWarp(data, tid);
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// One element per thread, neighbored pairs in shared memory of blockDim.x integers.
__global__ void reduceSharedNeighbored(const int* in, int* out, unsigned n) {
  extern __shared__ int data[];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  data[tid] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned partner = tid + stride;
    if (tid % (2 * stride) == 0 && partner < blockDim.x) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// The same with a halving distance: whole warps stop, and only the last one diverges.
__global__ void reduceSharedInterleaved(const int* in, int* out, unsigned n) {
  extern __shared__ int data[];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  data[tid] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, blockDim.x)) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// Butterfly: after log2(blockDim.x) exchanges every thread holds the block's total. Blocks are powers of two.
/// `all` receives what each thread ended with.
__global__ void reduceButterfly(const int* in, int* out, int* all, unsigned n) {
  extern __shared__ int data[];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  data[tid] = i < n ? in[i] : 0;
  __syncthreads();

  for (unsigned bit = blockDim.x / 2; bit > 0; bit >>= 1) {
    const int sum = data[tid] + data[tid ^ bit];
    __syncthreads();
    data[tid] = sum;
    __syncthreads();
  }
  if (i < n) all[i] = data[tid];
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// Algorithm cascading: each thread first adds `chunks` elements one after the other, then the block's tree follows.
__global__ void reduceCascading(const int* in, int* out, unsigned n, unsigned chunks) {
  extern __shared__ int data[];
  const unsigned tid = threadIdx.x;
  const unsigned first = blockIdx.x * blockDim.x * chunks + tid;
  int sum = 0;
  for (unsigned k = 0; k < chunks; ++k) {
    const unsigned i = first + k * blockDim.x;
    if (i < n) sum += in[i];
  }
  data[tid] = sum;
  __syncthreads();

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, blockDim.x)) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

__device__ inline int sumOfWarp(int sum) {
  for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  return sum;
}

/// The best known form: 16-byte loads in a grid-stride loop, then shuffles; shared memory only for one value per warp.
/// Blocks are multiples of 32. (After J. Luitjens, "Faster Parallel Reductions on Kepler" and "CUDA Pro Tip: Increase
/// Performance with Vectorized Memory Access", NVIDIA developer blog, 2014 and 2013.)
__global__ void reduceShuffle(const int* in, int* out, unsigned n) {
  __shared__ int warps[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned threads = gridDim.x * blockDim.x;
  const int4* quads = reinterpret_cast<const int4*>(in);
  int sum = 0;
  for (unsigned q = i; q < n / 4; q += threads) {
    const int4 quad = quads[q];
    sum += quad.x + quad.y + quad.z + quad.w;
  }
  if (i < n % 4) sum += in[n - n % 4 + i];

  sum = sumOfWarp(sum);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  if (lane == 0) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = sumOfWarp(lane < blockDim.x / 32 ? warps[lane] : 0);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}

// ------------------------------------------------------------------------------------------------- other operators
// An operator is an associative and commutative `combine` with its identity, and `map`, what it does to an element
// first.

struct Maximum {
  static constexpr int kIdentity = -2147483647 - 1;
  __host__ __device__ static int map(int x) { return x; }
  __host__ __device__ static int combine(int a, int b) { return a > b ? a : b; }
};

struct Minimum {
  static constexpr int kIdentity = 2147483647;
  __host__ __device__ static int map(int x) { return x; }
  __host__ __device__ static int combine(int a, int b) { return a < b ? a : b; }
};

/// Modulo 2^32, over the odd numbers 2x+1: a product that neither overflows undefinedly nor collapses to zero.
struct Product {
  static constexpr int kIdentity = 1;
  __host__ __device__ static int map(int x) { return 2 * x + 1; }
  __host__ __device__ static int combine(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
  }
};

struct Addition {
  static constexpr int kIdentity = 0;
  __host__ __device__ static int map(int x) { return x; }
  __host__ __device__ static int combine(int a, int b) { return a + b; }
};

template <class Operator>
__global__ void reduceOperator(const int* in, int* out, unsigned n) {
  extern __shared__ int data[];
  const unsigned tid = threadIdx.x;
  int value = Operator::kIdentity;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) {
    value = Operator::combine(value, Operator::map(in[i]));
  }
  data[tid] = value;
  __syncthreads();

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, blockDim.x)) data[tid] = Operator::combine(data[tid], data[partner]);
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}
