// The ladder of reductions that work in place in global memory: each block folds its own part of `in` and its thread 0
// writes one partial sum to `out[blockIdx.x]`; the host adds the partial sums.
//
// Three ways to be right for every n, one per group of kernels:
//  * neighbored, less divergent, interleaved: the tree's own condition also asks whether the partner exists
//    (tid + stride < length of this block's part), so every thread stays for every barrier and nothing is padded;
//  * unroll 2 and 4: the host pads the array with zeros to whole groups of blocks, so the additions need no test;
//  * unroll 8 and its descendants: a group that lies wholly inside the array is added without tests, only the last one
//    tests each element. The array must have room for whole groups, since a thread's sum is stored even beyond n.
//
// What a profiler counts as branches per warp with 512 threads, 9 steps of the tree: the test before the loop (1), the
// loop's back edge (9) and the `if` of each step (9) make 19; unroll 8 has its group test on top. `if (tid == 0)` at
// the end of a kernel guards nothing but the exit, which is a predicated exit and not a branch.
#pragma once

/// The largest power of two below `size`, the first distance of an interleaved tree; 0 for a single element. Copies the
/// highest bit of size - 1 to all lower ones, then keeps only it; sizes are at most 1024.
__device__ inline unsigned firstStride(unsigned size) {
  unsigned bits = size - 1;
  bits |= bits >> 1;
  bits |= bits >> 2;
  bits |= bits >> 4;
  bits |= bits >> 8;
  return bits - (bits >> 1);
}

/// Elements of this block's part that exist.
__device__ inline unsigned partLength(unsigned n) {
  const unsigned left = n - blockIdx.x * blockDim.x;
  return min(left, blockDim.x);
}

/// 1. Neighbored pairs: stride 1, 2, 4 ...; every second, fourth, eighth ... thread works, so all warps diverge.
__global__ void reduceNeighbored(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  int* data = in + blockIdx.x * blockDim.x;
  const unsigned length = partLength(n);

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned partner = tid + stride;
    if (tid % (2 * stride) == 0 && partner < length) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// 1b. The same pairs, but the lowest threads do the work: whole warps fall idle instead of every other lane.
__global__ void reduceNeighboredLess(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  int* data = in + blockIdx.x * blockDim.x;
  const unsigned length = partLength(n);

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned index = 2 * stride * tid;
    if (index + stride < length) data[index] += data[index + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// 2. Interleaved pairs: the distance halves, so the working threads touch consecutive addresses. Before a step
/// min(2 * stride, length) elements are left, and a thread works if its partner is one of them.
__global__ void reduceInterleaved(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  int* data = in + blockIdx.x * blockDim.x;
  const unsigned length = partLength(n);

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, length)) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// 3a. Each block first adds its second chunk to the first, with all threads at work. The array is padded with zeros.
__global__ void reduceUnroll2(int* in, int* out) {
  const unsigned tid = threadIdx.x;
  int* data = in + blockIdx.x * blockDim.x * 2;
  data[tid] += data[tid + blockDim.x];
  __syncthreads();

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, blockDim.x)) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// 3b. Four chunks: each thread's four loads are independent, so their latencies overlap. Padded with zeros.
__global__ void reduceUnroll4(int* in, int* out) {
  const unsigned tid = threadIdx.x;
  int* data = in + blockIdx.x * blockDim.x * 4;
  const int a = data[tid];
  const int b = data[tid + blockDim.x];
  const int c = data[tid + 2 * blockDim.x];
  const int d = data[tid + 3 * blockDim.x];
  data[tid] = a + b + c + d;
  __syncthreads();

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, blockDim.x)) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// The sum of one thread's elements in eight chunks that lie `step` apart.
__device__ inline int sumOf8Chunks(const int* in, unsigned first, unsigned step, unsigned n) {
  if (first + 7 * step < n) {
    const int a = in[first];
    const int b = in[first + step];
    const int c = in[first + 2 * step];
    const int d = in[first + 3 * step];
    const int e = in[first + 4 * step];
    const int f = in[first + 5 * step];
    const int g = in[first + 6 * step];
    const int h = in[first + 7 * step];
    return a + b + c + d + e + f + g + h;
  }
  int sum = 0;
  for (unsigned i = first; i < n; i += step) sum += in[i];
  return sum;
}

/// 3c. Eight chunks for each block.
__global__ void reduceUnroll8(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  const unsigned base = blockIdx.x * blockDim.x * 8;
  int* data = in + base;
  data[tid] = sumOf8Chunks(in, base + tid, blockDim.x, n);
  __syncthreads();

  for (unsigned stride = firstStride(blockDim.x); stride > 0; stride >>= 1) {
    const unsigned partner = tid + stride;
    if (partner < min(2 * stride, blockDim.x)) data[tid] += data[partner];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// The last six steps, done by one warp without block barriers. All 32 lanes add in every step: those whose result no
/// longer matters cost nothing and a condition would. Lanes of a warp may run apart since Volta, so a __syncwarp()
/// stands between reading the partner and overwriting one's own element; `volatile` alone would not order them.
__device__ inline void foldLastWarp(volatile int* data, unsigned tid) {
  int sum = data[tid] + data[tid + 32];
  __syncwarp();
  data[tid] = sum;
  __syncwarp();
  sum += data[tid + 16];
  __syncwarp();
  data[tid] = sum;
  __syncwarp();
  sum += data[tid + 8];
  __syncwarp();
  data[tid] = sum;
  __syncwarp();
  sum += data[tid + 4];
  __syncwarp();
  data[tid] = sum;
  __syncwarp();
  sum += data[tid + 2];
  __syncwarp();
  data[tid] = sum;
  __syncwarp();
  sum += data[tid + 1];
  __syncwarp();
  data[tid] = sum;
}

/// 4. The loop stops at 64 elements; the last warp finishes alone. Blocks are powers of two from 64.
__global__ void reduceUnroll8Warp(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  const unsigned base = blockIdx.x * blockDim.x * 8;
  int* data = in + base;
  data[tid] = sumOf8Chunks(in, base + tid, blockDim.x, n);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 32; stride >>= 1) {
    if (tid < stride) data[tid] += data[tid + stride];
    __syncthreads();
  }
  if (tid < 32) foldLastWarp(data, tid);
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// 5. No loop at all: four conditional steps cover every block from 64 to 1024 threads.
__global__ void reduceUnroll8Full(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  const unsigned base = blockIdx.x * blockDim.x * 8;
  int* data = in + base;
  data[tid] = sumOf8Chunks(in, base + tid, blockDim.x, n);
  __syncthreads();

  if (blockDim.x >= 1024 && tid < 512) data[tid] += data[tid + 512];
  __syncthreads();
  if (blockDim.x >= 512 && tid < 256) data[tid] += data[tid + 256];
  __syncthreads();
  if (blockDim.x >= 256 && tid < 128) data[tid] += data[tid + 128];
  __syncthreads();
  if (blockDim.x >= 128 && tid < 64) data[tid] += data[tid + 64];
  __syncthreads();
  if (tid < 32) foldLastWarp(data, tid);
  if (tid == 0) out[blockIdx.x] = data[0];
}

/// 6. The block size is a template parameter: the comparisons with it vanish when the kernel is compiled.
template <unsigned Block>
__global__ void reduceTemplate(int* in, int* out, unsigned n) {
  const unsigned tid = threadIdx.x;
  const unsigned base = blockIdx.x * Block * 8;
  int* data = in + base;
  data[tid] = sumOf8Chunks(in, base + tid, Block, n);
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
