// MTGP32 in kernels: a Mersenne twister of which a block of threads computes a number each at once (M. Saito and
// M. Matsumoto, "Variants of Mersenne Twister Suitable for Graphic Processors", 2013). All threads of the block must
// call, 256 at most. Included by curand_kernel.h.
#ifndef ORDITO_CURAND_MTGP32_H
#define ORDITO_CURAND_MTGP32_H

#include "ordito/curand_mtgp32_parameters.h"

#define MTGPDC_MEXP 11213
#define MTGPDC_N 351
#define MTGPDC_PARAM_TABLE_SIZE 4
#define CURAND_NUM_MTGP32_PARAMS ORDITO_MTGP32_SETS
#define MTGP32_STATE_SIZE 1024
#define MTGP32_STATE_MASK 1023

typedef struct OrditoMtgp32Parameters mtgp32_params_fast_t;
typedef struct mtgp32_kernel_params {
  mtgp32_params_fast_t sets[CURAND_NUM_MTGP32_PARAMS];
} mtgp32_kernel_params_t;

struct curandStateMtgp32 {
  unsigned int s[MTGP32_STATE_SIZE];  // a ring, of which the last 351 words count
  int offset, pIdx;
  mtgp32_kernel_params_t* k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;

namespace ordito_curand {

/// The sum of those rows whose bit is set.
__host__ __device__ inline unsigned int mtgpRows(const unsigned int rows[4], unsigned int bits) {
  unsigned int sum = 0;
  for (int i = 0; i < 4; ++i) sum ^= rows[i] & (0u - (bits >> i & 1u));
  return sum;
}
/// The next word, from the one that it replaces, the one behind that, and the one that is picked up.
__host__ __device__ inline unsigned int mtgpNext(const mtgp32_params_fast_t& p, unsigned int first, unsigned int second,
                                                 unsigned int picked) {
  const unsigned int x = (first & 0xfff80000u) ^ second;
  const unsigned int mixed = x ^ x << p.sh1;
  const unsigned int y = mixed ^ picked >> p.sh2;
  return y ^ mtgpRows(p.matrix, y);
}
__host__ __device__ inline unsigned int mtgpTempered(const mtgp32_params_fast_t& p, unsigned int word,
                                                     unsigned int beside) {
  const unsigned int folded = beside ^ beside >> 16;
  return word ^ mtgpRows(p.tempering, folded ^ folded >> 8);
}
/// Number `i` of those that are computed together.
__host__ __device__ inline unsigned int mtgpStep(curandStateMtgp32_t* state, const mtgp32_params_fast_t& p,
                                                 unsigned int i) {
  unsigned int* const s = state->s;
  const unsigned int at = state->offset + i;
  const unsigned int word =
      mtgpNext(p, s[at & MTGP32_STATE_MASK], s[(at + 1) & MTGP32_STATE_MASK], s[(at + p.pos) & MTGP32_STATE_MASK]);
  s[(at + MTGPDC_N) & MTGP32_STATE_MASK] = word;
  return mtgpTempered(p, word, s[(at + p.pos - 1) & MTGP32_STATE_MASK]);
}
/// A state from a seed.
__host__ __device__ inline void mtgpStart(curandStateMtgp32_t* state, const mtgp32_params_fast_t& p,
                                          unsigned int seed) {
  const unsigned int hidden = p.matrix[2] ^ p.matrix[3] << 16;
  unsigned int filler = hidden;
  filler += filler >> 16;
  filler += filler >> 8;
  for (int i = 0; i < MTGPDC_N; ++i) state->s[i] = (filler & 0xff) * 0x01010101u;
  state->s[0] = seed;
  state->s[1] = hidden;
  for (int i = 1; i < MTGPDC_N; ++i) state->s[i] ^= 1812433253u * (state->s[i - 1] ^ state->s[i - 1] >> 30) + i;
  state->offset = 0;
}

#if defined(__CUDA__)

/// `n` threads call, each with an index of its own.
__device__ inline unsigned int mtgpOfThread(curandStateMtgp32_t* state, unsigned int index, unsigned int n) {
  const unsigned int number = mtgpStep(state, state->k->sets[state->pIdx], index);
  __syncthreads();
  if (index == 0) state->offset = (state->offset + n) & MTGP32_STATE_MASK;
  __syncthreads();
  return number;
}

#endif

}  // namespace ordito_curand

#if defined(__CUDA__)

__device__ inline unsigned int curand(curandStateMtgp32_t* state) {
  const unsigned int index = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return ordito_curand::mtgpOfThread(state, index, blockDim.x * blockDim.y * blockDim.z);
}
__device__ inline unsigned int curand_mtgp32_specific(curandStateMtgp32_t* state, unsigned char index,
                                                      unsigned char n) {
  return ordito_curand::mtgpOfThread(state, index, n);
}

__device__ inline float curand_uniform(curandStateMtgp32_t* state) { return ordito_curand::toUniform(curand(state)); }
__device__ inline double curand_uniform_double(curandStateMtgp32_t* state) {
  const unsigned int low = curand(state), high = curand(state);
  return ordito_curand::toUniformDouble(low, high);
}
/// By the inverse of the distribution.
__device__ inline float curand_normal(curandStateMtgp32_t* state) { return ordito_curand::sobolNormal(curand(state)); }
__device__ inline double curand_normal_double(curandStateMtgp32_t* state) {
  return ordito_curand::sobolNormalDouble(curand(state));
}
__device__ inline float curand_log_normal(curandStateMtgp32_t* state, float mean, float deviation) {
  return ordito_curand::logNormal(mean, deviation, curand_normal(state));
}
__device__ inline double curand_log_normal_double(curandStateMtgp32_t* state, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(state));
}

#endif

#endif
