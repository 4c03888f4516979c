// Sobol's sequences of 32 and 64 bits in kernels, plain and scrambled: number i of a dimension is the sum, without
// carries, of the direction vectors that belong to the ones in the Gray code of i (Antonov and Saleev, 1979). Included
// by curand_kernel.h.
#ifndef ORDITO_CURAND_SOBOL_H
#define ORDITO_CURAND_SOBOL_H

struct curandStateSobol32 {
  unsigned int i, x, c;  // the next number's index and value; c is exclusively ored to every number
  unsigned int direction_vectors[32];
};
struct curandStateScrambledSobol32 {
  unsigned int i, x, c;
  unsigned int direction_vectors[32];
};
struct curandStateSobol64 {
  unsigned long long i, x, c;
  unsigned long long direction_vectors[64];
};
struct curandStateScrambledSobol64 {
  unsigned long long i, x, c;
  unsigned long long direction_vectors[64];
};
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;
typedef struct curandStateScrambledSobol64 curandStateScrambledSobol64_t;

namespace ordito_curand {

template <class State>
__host__ __device__ inline void sobolSeek(State* state, unsigned long long index) {
  using Word = decltype(state->x);
  state->i = (Word)index;
  state->x = state->c;
  Word code = state->i ^ (state->i >> 1);
  for (int bit = 0; code != 0; ++bit, code >>= 1)
    if (code & 1) state->x ^= state->direction_vectors[bit];
}

template <class State, class Word>
__host__ __device__ inline void sobolStart(State* state, const Word* vectors, Word constant,
                                           unsigned long long offset) {
  for (unsigned int bit = 0; bit < sizeof(Word) * 8; ++bit) state->direction_vectors[bit] = vectors[bit];
  state->c = constant;
  sobolSeek(state, offset);
}

/// The Gray codes of i and i + 1 differ in the bit of i's lowest zero.
template <class State>
__host__ __device__ inline decltype(State::x) sobolNext(State* state) {
  const auto number = state->x;
  unsigned int bit = 0;
  for (auto rest = state->i; rest & 1; rest >>= 1) ++bit;
  if (bit < sizeof number * 8) state->x ^= state->direction_vectors[bit];
  ++state->i;
  return number;
}

__host__ __device__ inline float sobolUniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
__host__ __device__ inline float sobolUniform(unsigned long long x) { return sobolUniform((unsigned int)(x >> 32)); }
__host__ __device__ inline double sobolUniformDouble(unsigned int x) {
  return x * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
__host__ __device__ inline double sobolUniformDouble(unsigned long long x) {
  return (x >> 11) * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}

/// By the inverse of the distribution, since pairs of a sequence's numbers are not independent. The upper half is
/// mirrored, so that it has as fine a tail as the lower one.
__host__ __device__ inline float sobolNormal(unsigned int x) {
  const bool isUpper = x > 0x80000000u;
  const float value = normcdfinvf(sobolUniform(isUpper ? 0xffffffffu - x : x));
  return isUpper ? -value : value;
}
__host__ __device__ inline float sobolNormal(unsigned long long x) { return sobolNormal((unsigned int)(x >> 32)); }
__host__ __device__ inline double sobolNormalDouble(unsigned int x) {
  const bool isUpper = x > 0x80000000u;
  const double p = (isUpper ? 0xffffffffu - x : x) * 2.3283064365386963e-10 + 2.3283064365386963e-10 / 2.0;
  return isUpper ? -normcdfinv(p) : normcdfinv(p);
}
__host__ __device__ inline double sobolNormalDouble(unsigned long long x) {
  const bool isUpper = x > 0x8000000000000000ull;
  const double value = normcdfinv(sobolUniformDouble(isUpper ? ~x : x));
  return isUpper ? -value : value;
}

}  // namespace ordito_curand

__host__ __device__ inline void curand_init(unsigned int* direction_vectors, unsigned int offset,
                                            curandStateSobol32_t* state) {
  ordito_curand::sobolStart(state, direction_vectors, 0u, offset);
}
__host__ __device__ inline void curand_init(unsigned int* direction_vectors, unsigned int scramble_c,
                                            unsigned int offset, curandStateScrambledSobol32_t* state) {
  ordito_curand::sobolStart(state, direction_vectors, scramble_c, offset);
}
__host__ __device__ inline void curand_init(unsigned long long* direction_vectors, unsigned long long offset,
                                            curandStateSobol64_t* state) {
  ordito_curand::sobolStart(state, direction_vectors, 0ull, offset);
}
__host__ __device__ inline void curand_init(unsigned long long* direction_vectors, unsigned long long scramble_c,
                                            unsigned long long offset, curandStateScrambledSobol64_t* state) {
  ordito_curand::sobolStart(state, direction_vectors, scramble_c, offset);
}

#define ORDITO_CURAND_SOBOL(State, Word)                                                                               \
  __host__ __device__ inline Word curand(State* state) { return ordito_curand::sobolNext(state); }                     \
  __host__ __device__ inline void skipahead(Word n, State* state) { ordito_curand::sobolSeek(state, state->i + n); }   \
  __host__ __device__ inline float curand_uniform(State* state) { return ordito_curand::sobolUniform(curand(state)); } \
  __host__ __device__ inline double curand_uniform_double(State* state) {                                              \
    return ordito_curand::sobolUniformDouble(curand(state));                                                           \
  }                                                                                                                    \
  __host__ __device__ inline float curand_normal(State* state) { return ordito_curand::sobolNormal(curand(state)); }   \
  __host__ __device__ inline double curand_normal_double(State* state) {                                               \
    return ordito_curand::sobolNormalDouble(curand(state));                                                            \
  }                                                                                                                    \
  __host__ __device__ inline float curand_log_normal(State* state, float mean, float deviation) {                      \
    return expf(mean + deviation * curand_normal(state));                                                              \
  }                                                                                                                    \
  __host__ __device__ inline double curand_log_normal_double(State* state, double mean, double deviation) {            \
    return exp(mean + deviation * curand_normal_double(state));                                                        \
  }
ORDITO_CURAND_SOBOL(curandStateSobol32_t, unsigned int)
ORDITO_CURAND_SOBOL(curandStateScrambledSobol32_t, unsigned int)
ORDITO_CURAND_SOBOL(curandStateSobol64_t, unsigned long long)
ORDITO_CURAND_SOBOL(curandStateScrambledSobol64_t, unsigned long long)
#undef ORDITO_CURAND_SOBOL

#endif
