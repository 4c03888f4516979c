// Loads and stores of a warp whose lanes' addresses lie in different ways; the same for words of shared memory.
#pragma once

constexpr unsigned kWarp = 32;
constexpr unsigned kWords = 32 * 33;  // of shared memory; 33 apart is the furthest that is tried

/// Which element thread i has.
enum class Pattern { consecutive, reversed, shifted, everySecond, everyThirtySecond, same };

__host__ __device__ constexpr size_t placeOf(Pattern pattern, size_t i) {
  switch (pattern) {
    case Pattern::reversed: return i ^ (kWarp - 1);
    case Pattern::shifted: return i + 1;
    case Pattern::everySecond: return 2 * i;
    case Pattern::everyThirtySecond: return 32 * i;
    case Pattern::same: return i / kWarp * kWarp;
    default: return i;
  }
}

template <Pattern P>
__global__ void accessLoad(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[placeOf(P, i)];
}

/// The first `lanes` lanes of each warp store.
template <Pattern P>
__global__ void accessStore(const float* in, float* out, unsigned n, unsigned lanes) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % kWarp < lanes) out[placeOf(P, i)] = in[i];
}

struct Particle {
  float x, y, z;
};

/// An array of structures: neighbours' x are 12 bytes apart.
__global__ void accessStructures(const Particle* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].x;
}

/// Lane l reads word l * stride. A block is a warp, and its words are its own.
template <unsigned Stride>
__global__ void accessShared(const float* in, float* out, unsigned n) {
  __shared__ float words[kWords];
  for (unsigned k = threadIdx.x; k < kWords; k += kWarp) words[k] = in[k];
  __syncthreads();
  const unsigned i = blockIdx.x * kWarp + threadIdx.x;
  if (i < n) out[i] = words[threadIdx.x * Stride];
}

/// An array of a thread's own whose places are known only when it runs cannot be kept in registers.
__global__ void accessLocal(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned start = static_cast<unsigned>(in[i]);
  float own[kWarp];
  for (unsigned k = 0; k < kWarp; ++k) own[(start + k) % kWarp] = static_cast<float>(k);
  out[i] = own[(start * 7 + 3) % kWarp];
}
