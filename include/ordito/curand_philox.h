// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011): a counter, encrypted. Included by
// curand_kernel.h.
#ifndef ORDITO_CURAND_PHILOX_H
#define ORDITO_CURAND_PHILOX_H

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;  // how many of the four numbers in `output` are used up
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace ordito_curand {

__host__ __device__ inline unsigned int upperHalf(unsigned int a, unsigned int b) {
  return (unsigned int)((unsigned long long)a * b >> 32);
}

__host__ __device__ inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned int a = upperHalf(0xD2511F53u, counter.x), b = 0xD2511F53u * counter.x;
    const unsigned int c = upperHalf(0xCD9E8D57u, counter.z), d = 0xCD9E8D57u * counter.z;
    counter = make_uint4(c ^ counter.y ^ key.x, d, a ^ counter.w ^ key.y, b);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

__host__ __device__ inline void philoxAdvance(uint4& counter, unsigned long long n) {
  const unsigned long long low = ((unsigned long long)counter.y << 32 | counter.x) + n;
  const unsigned long long high = ((unsigned long long)counter.w << 32 | counter.z) + (low < n ? 1 : 0);
  counter = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32));
}

__host__ __device__ inline unsigned int philoxWord(const uint4& words, unsigned int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

}  // namespace ordito_curand

__host__ __device__ inline unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned int word = ordito_curand::philoxWord(state->output, state->STATE);
  if (++state->STATE == 4) {
    ordito_curand::philoxAdvance(state->ctr, 1);
    state->output = ordito_curand::philox(state->ctr, state->key);
    state->STATE = 0;
  }
  return word;
}

/// The next four numbers.
__host__ __device__ inline uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 before = state->output;
  ordito_curand::philoxAdvance(state->ctr, 1);
  state->output = ordito_curand::philox(state->ctr, state->key);
  auto word = [&](unsigned int i) {
    i += state->STATE;
    return i < 4 ? ordito_curand::philoxWord(before, i) : ordito_curand::philoxWord(state->output, i - 4);
  };
  return make_uint4(word(0), word(1), word(2), word(3));
}

__host__ __device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned long long used = state->STATE + (n & 3);
  state->STATE = (unsigned int)(used & 3);
  ordito_curand::philoxAdvance(state->ctr, n / 4 + used / 4);
  state->output = ordito_curand::philox(state->ctr, state->key);
}
/// Sequences are 2^66 numbers apart: they differ in the upper half of the counter.
__host__ __device__ inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned long long high = ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + n;
  state->ctr.z = (unsigned int)high;
  state->ctr.w = (unsigned int)(high >> 32);
  state->output = ordito_curand::philox(state->ctr, state->key);
}

__host__ __device__ inline void curand_init(unsigned long long seed, unsigned long long sequence,
                                            unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  state->STATE = 0;
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}

#endif
