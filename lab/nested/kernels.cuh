// Reductions whose kernels launch kernels. The courses' originals wait for their children with cudaDeviceSynchronize(),
// which CUDA 12 took out of kernels; nothing here needs it, since a grid is complete only when its children are.
// `launches` counts the children.
#pragma once

/// A child for each block: the block halves its part, and one thread launches a single block on what is left. The
/// barrier is needed: a child sees what its launching thread has written or knows to be written, and the additions of
/// other warps are known only after it. Without `Barrier` this is the course's specimen that goes without.
template <bool Barrier>
__global__ void nestedByBlock(int* in, int* out, unsigned size, unsigned* launches) {
  int* mine = in + static_cast<size_t>(blockIdx.x) * size;
  if (size == 2) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  const unsigned stride = size / 2;
  if (threadIdx.x < stride) mine[threadIdx.x] += mine[threadIdx.x + stride];
  if (Barrier) __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(launches, 1u);
  nestedByBlock<Barrier><<<1, stride>>>(mine, out + blockIdx.x, stride, launches);
}

/// One child for all blocks, and no thread idle: a block of `stride` threads adds the upper half of its part to the
/// lower, and the next level, half as wide, begins when this whole grid is done (a tail launch). `width` is what a
/// block of the first grid had.
__global__ void nestedByGrid(int* in, int* out, unsigned stride, unsigned width, unsigned* launches) {
  int* mine = in + static_cast<size_t>(blockIdx.x) * width;
  if (stride == 1) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  mine[threadIdx.x] += mine[threadIdx.x + stride];
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  ++*launches;
  nestedByGrid<<<gridDim.x, stride / 2, 0, cudaStreamTailLaunch>>>(in, out, stride / 2, width, launches);
}
