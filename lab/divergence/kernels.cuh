// Branches that all lanes of a warp take alike, and such that part them. Each way through a kernel counts itself: of
// the lanes that are on it together the first adds one to `passes`, the others nothing (so that counting needs no
// branch).
#pragma once

__device__ __forceinline__ void countPass(unsigned* passes) {
  const unsigned first = static_cast<unsigned>(__ffs(__activemask())) - 1;
  atomicAdd(passes, threadIdx.x % 32 == first ? 1u : 0u);
}

/// Way K of a branch. Not inlined, so that no compiler makes one of several.
template <int K>
__device__ __noinline__ int way(int x, unsigned* passes) {
  countPass(passes);
  return x * (K + 2) + K;
}

enum class By { nothing, warp, lane };

/// Two ways. By lane, both are taken by every warp, one after the other; by warp, each warp takes one.
template <By Which>
__global__ void divergenceTwo(int* out, unsigned n, unsigned* passes) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= static_cast<int>(n)) return;
  const bool odd = Which == By::warp ? i / 32 % 2 != 0 : Which == By::lane && i % 2 != 0;
  out[i] = odd ? way<1>(i, passes) : way<0>(i, passes);
}

/// Four ways behind two branches, one inside the other.
__global__ void divergenceNested(int* out, unsigned n, unsigned* passes) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= static_cast<int>(n)) return;
  if (i % 2 == 0) {
    out[i] = i % 4 == 0 ? way<0>(i, passes) : way<1>(i, passes);
  } else {
    out[i] = i % 4 == 1 ? way<2>(i, passes) : way<3>(i, passes);
  }
}

template <int K>
__device__ __forceinline__ int chosen(int which, int x, unsigned* passes) {
  if constexpr (K == 31) {
    return way<31>(x, passes);
  } else {
    return which == K ? way<K>(x, passes) : chosen<K + 1>(which, x, passes);
  }
}

/// 32 ways: by lane, every lane goes its own, and a warp needs 32 passes; by warp, one.
template <By Which>
__global__ void divergenceMany(int* out, unsigned n, unsigned* passes) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= static_cast<int>(n)) return;
  out[i] = chosen<0>(Which == By::warp ? i / 32 % 32 : i % 32, i, passes);
}

/// Short enough for a compiler to compute both ways and choose: no branch is left.
__global__ void divergenceSelect(int* out, unsigned n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= static_cast<int>(n)) return;
  out[i] = i % 2 != 0 ? i * 3 + 1 : i * 2;
}

/// As many additions in a loop, or one after another without it.
template <int Unrolled>
__global__ void divergenceLoop(int* out, unsigned n, const int* terms) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= static_cast<int>(n)) return;
  int sum = i;
#pragma unroll Unrolled
  for (int k = 0; k < 64; ++k) sum = sum * 3 + terms[k];
  out[i] = sum;
}
