// Reductions whose kernels launch kernels. The courses' originals wait for their children with cudaDeviceSynchronize(),
// which CUDA 12 took out of kernels; nothing here needs it, since a grid is complete only when its children are.
// `launches` counts the children.
#pragma once

/// When the child of a block begins, and what is known of the parent's additions then.
enum class ByBlock {
  tail,      // after the whole parent grid: the order that the course's first version gets by waiting
  barrier,   // as soon as there is room, after a barrier of the launching block
  noBarrier  // likewise without the barrier: the course's second version, and a race
};

/// A child for each block: the block halves its part, and one thread launches a single block on what is left. A child
/// sees what its launching thread has written or knows to be written. Additions of other warps are known after a
/// barrier, or when the whole grid has ended.
template <ByBlock When>
__global__ void nestedByBlock(int* in, int* out, unsigned size, unsigned* launches) {
  int* mine = in + static_cast<size_t>(blockIdx.x) * size;
  if (size == 2) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  const unsigned stride = size / 2;
  if (threadIdx.x < stride) mine[threadIdx.x] += mine[threadIdx.x + stride];
  if (When == ByBlock::barrier) __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(launches, 1u);
  if (When == ByBlock::tail) {
    nestedByBlock<When><<<1, stride, 0, cudaStreamTailLaunch>>>(mine, out + blockIdx.x, stride, launches);
  } else {
    nestedByBlock<When><<<1, stride>>>(mine, out + blockIdx.x, stride, launches);
  }
}

/// One child for all blocks, and no thread idle: a block of `stride` threads adds the upper half of its part to the
/// lower, and the next level, half as wide, begins when this whole grid is done (a tail launch). `width` is what a
/// block of the first grid had. Without `Tail` this is the course's original, and a race: the child may run before
/// other blocks of its parent.
template <bool Tail>
__global__ void nestedByGrid(int* in, int* out, unsigned stride, unsigned width, unsigned* launches) {
  int* mine = in + static_cast<size_t>(blockIdx.x) * width;
  if (stride == 1) {
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0] + mine[1];
    return;
  }
  mine[threadIdx.x] += mine[threadIdx.x + stride];
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  ++*launches;
  if (Tail) {
    nestedByGrid<Tail><<<gridDim.x, stride / 2, 0, cudaStreamTailLaunch>>>(in, out, stride / 2, width, launches);
  } else {
    nestedByGrid<Tail><<<gridDim.x, stride / 2>>>(in, out, stride / 2, width, launches);
  }
}
