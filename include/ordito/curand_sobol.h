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

#define ORDITO_CURAND_SOBOL(State, Word)                                                           \
  __host__ __device__ inline Word curand(State* state) { return ordito_curand::sobolNext(state); } \
  __host__ __device__ inline void skipahead(Word n, State* state) { ordito_curand::sobolSeek(state, state->i + n); }
ORDITO_CURAND_SOBOL(curandStateSobol32_t, unsigned int)
ORDITO_CURAND_SOBOL(curandStateScrambledSobol32_t, unsigned int)
ORDITO_CURAND_SOBOL(curandStateSobol64_t, unsigned long long)
ORDITO_CURAND_SOBOL(curandStateScrambledSobol64_t, unsigned long long)
#undef ORDITO_CURAND_SOBOL

#endif
