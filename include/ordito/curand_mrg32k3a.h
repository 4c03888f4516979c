// MRG32k3a (L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators",
// 1999). Included by curand_kernel.h.
#ifndef ORDITO_CURAND_MRG32K3A_H
#define ORDITO_CURAND_MRG32K3A_H

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace ordito_curand {

constexpr unsigned long long kMrgModulus1 = 4294967087ull, kMrgModulus2 = 4294944443ull;

/// One of the two recurrences, as the matrix of a step.
struct MrgMatrix {
  unsigned long long a[3][3];
};

__host__ __device__ inline MrgMatrix mrgProduct(const MrgMatrix& x, const MrgMatrix& y, unsigned long long modulus) {
  MrgMatrix product;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      unsigned long long sum = 0;
      for (int k = 0; k < 3; ++k) sum = (sum + x.a[i][k] * y.a[k][j] % modulus) % modulus;
      product.a[i][j] = sum;
    }
  return product;
}

__host__ __device__ inline MrgMatrix mrgStep1() {
  return {{{0, 1, 0}, {0, 0, 1}, {kMrgModulus1 - 810728, 1403580, 0}}};
}
__host__ __device__ inline MrgMatrix mrgStep2() {
  return {{{0, 1, 0}, {0, 0, 1}, {kMrgModulus2 - 1370589, 0, 527612}}};
}

__host__ __device__ inline void mrgApply(unsigned int (&s)[3], const MrgMatrix& step, unsigned long long modulus) {
  unsigned long long next[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) next[i] = (next[i] + step.a[i][k] * s[k] % modulus) % modulus;
  for (int i = 0; i < 3; ++i) s[i] = (unsigned int)next[i];
}

/// n 2^first steps.
__host__ __device__ inline void mrgSkip(unsigned int (&s)[3], MrgMatrix step, unsigned long long modulus,
                                        unsigned long long n, unsigned int first) {
  if (n == 0) return;
  for (unsigned int k = 0; k < first; ++k) step = mrgProduct(step, step, modulus);
  for (; n != 0; n >>= 1) {
    if (n & 1) mrgApply(s, step, modulus);
    step = mrgProduct(step, step, modulus);
  }
}

__host__ __device__ inline void mrgSkipBoth(curandStateMRG32k3a_t* state, unsigned long long n, unsigned int first) {
  mrgSkip(state->s1, mrgStep1(), kMrgModulus1, n, first);
  mrgSkip(state->s2, mrgStep2(), kMrgModulus2, n, first);
}

/// The next number, 1 to 4294967087.
__host__ __device__ inline unsigned int mrgNext(curandStateMRG32k3a_t* state) {
  unsigned int(&s1)[3] = state->s1;
  unsigned int(&s2)[3] = state->s2;
  const unsigned int p1 = (unsigned int)((1403580ull * s1[1] + 810728ull * (kMrgModulus1 - s1[0])) % kMrgModulus1);
  const unsigned int p2 = (unsigned int)((527612ull * s2[2] + 1370589ull * (kMrgModulus2 - s2[0])) % kMrgModulus2);
  s1[0] = s1[1], s1[1] = s1[2], s1[2] = p1;
  s2[0] = s2[1], s2[1] = s2[2], s2[2] = p2;
  return p1 > p2 ? p1 - p2 : (unsigned int)(p1 + (kMrgModulus1 - p2));
}

constexpr double kMrgToUnit = 2.3283065498378288e-10;  // 1 / (modulus + 1)
constexpr double kMrgToBits = 1.000000048662;          // to 32 bits

}  // namespace ordito_curand

__host__ __device__ inline unsigned int curand(curandStateMRG32k3a_t* state) {
  return (unsigned int)(ordito_curand::mrgNext(state) * ordito_curand::kMrgToBits);
}

__host__ __device__ inline void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) {
  ordito_curand::mrgSkipBoth(state, n, 0);
}
/// Subsequences are 2^76 numbers apart, sequences 2^127.
__host__ __device__ inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  ordito_curand::mrgSkipBoth(state, n, 76);
}
__host__ __device__ inline void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  ordito_curand::mrgSkipBoth(state, n, 127);
}

__host__ __device__ inline void curand_init(unsigned long long seed, unsigned long long sequence,
                                            unsigned long long offset, curandStateMRG32k3a_t* state) {
  for (int i = 0; i < 3; ++i) state->s1[i] = state->s2[i] = 12345u;
  if (seed != 0) {
    const unsigned long long even = (unsigned int)seed ^ 0x55555555u, odd = (unsigned int)(seed >> 32) ^ 0xAAAAAAAAu;
    for (int i = 0; i < 3; ++i) {
      state->s1[i] = (unsigned int)((i % 2 ? odd : even) * state->s1[i] % ordito_curand::kMrgModulus1);
      state->s2[i] = (unsigned int)((i % 2 ? even : odd) * state->s2[i] % ordito_curand::kMrgModulus2);
    }
  }
  skipahead_subsequence(sequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}

#endif
