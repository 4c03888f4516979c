// Merge sort: tiles are sorted in shared memory, then runs are merged two by two. Every thread of a merge has the same
// work: the cut of both runs where its part of the result begins is found by bisection along a diagonal.
//
// After O. Green, R. McColl and D. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012.
#pragma once

constexpr unsigned kMergeBlock = 128;
constexpr unsigned kMergeEach = 8;  // keys that a thread merges
constexpr unsigned kMergeTile = kMergeBlock * kMergeEach;

/// How many of the first `diagonal` elements of the merged sequence come from a. Of equal keys a's come first.
__host__ __device__ inline unsigned mergeCut(const unsigned* a, unsigned countA, const unsigned* b, unsigned countB,
                                             unsigned diagonal) {
  unsigned least = diagonal > countB ? diagonal - countB : 0;
  unsigned most = diagonal < countA ? diagonal : countA;
  while (least < most) {
    const unsigned middle = (least + most) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return least;
}

/// Merges the runs of `run` keys two by two. A block finds the parts of both runs that its tile of the result is made
/// of, reads them to shared memory, and its threads merge kMergeEach keys each there. `run` is a multiple of
/// kMergeTile.
__global__ void __launch_bounds__(kMergeBlock)
    sortingMerge(const unsigned* from, unsigned* to, unsigned n, unsigned run) {
  __shared__ unsigned keys[kMergeTile];
  __shared__ unsigned merged[kMergeTile];
  __shared__ unsigned cuts[2];
  const unsigned base = blockIdx.x * kMergeTile;
  const unsigned pair = base / (2 * run) * (2 * run);
  const unsigned* a = from + pair;
  const unsigned countA = min(run, n - pair);
  const unsigned* b = a + countA;
  const unsigned countB = min(run, n - pair - countA);
  const unsigned begin = base - pair;
  const unsigned end = min(begin + kMergeTile, countA + countB);
  if (threadIdx.x < 2) cuts[threadIdx.x] = mergeCut(a, countA, b, countB, threadIdx.x == 0 ? begin : end);
  __syncthreads();
  const unsigned ofA = cuts[1] - cuts[0];
  const unsigned firstB = begin - cuts[0];
  const unsigned all = end - begin;
  for (unsigned i = threadIdx.x; i < all; i += kMergeBlock) {
    keys[i] = i < ofA ? a[cuts[0] + i] : b[firstB + i - ofA];
  }
  __syncthreads();
  const unsigned* const mineA = keys;
  const unsigned* const mineB = keys + ofA;
  const unsigned ofB = all - ofA;
  const unsigned diagonal = min(threadIdx.x * kMergeEach, all);
  unsigned i = mergeCut(mineA, ofA, mineB, ofB, diagonal);
  unsigned j = diagonal - i;
  for (unsigned k = diagonal; k < min(diagonal + kMergeEach, all); ++k) {
    const bool takeA = j >= ofB || (i < ofA && mineA[i] <= mineB[j]);
    merged[k] = takeA ? mineA[i++] : mineB[j++];
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < all; k += kMergeBlock) to[base + k] = merged[k];
}
