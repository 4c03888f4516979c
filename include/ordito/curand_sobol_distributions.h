// Distributions over Sobol's sequences of curand_sobol.h. Included by curand_kernel.h.
#ifndef ORDITO_CURAND_SOBOL_DISTRIBUTIONS_H
#define ORDITO_CURAND_SOBOL_DISTRIBUTIONS_H

namespace ordito_curand {

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

#define ORDITO_CURAND_SOBOL(State)                                                                                     \
  __host__ __device__ inline float curand_uniform(State* state) { return ordito_curand::sobolUniform(curand(state)); } \
  __host__ __device__ inline double curand_uniform_double(State* state) {                                              \
    return ordito_curand::sobolUniformDouble(curand(state));                                                           \
  }                                                                                                                    \
  __host__ __device__ inline float curand_normal(State* state) { return ordito_curand::sobolNormal(curand(state)); }   \
  __host__ __device__ inline double curand_normal_double(State* state) {                                               \
    return ordito_curand::sobolNormalDouble(curand(state));                                                            \
  }                                                                                                                    \
  __host__ __device__ inline float curand_log_normal(State* state, float mean, float deviation) {                      \
    return ordito_curand::logNormal(mean, deviation, curand_normal(state));                                            \
  }                                                                                                                    \
  __host__ __device__ inline double curand_log_normal_double(State* state, double mean, double deviation) {            \
    return exp(mean + deviation * curand_normal_double(state));                                                        \
  }
ORDITO_CURAND_SOBOL(curandStateSobol32_t)
ORDITO_CURAND_SOBOL(curandStateScrambledSobol32_t)
ORDITO_CURAND_SOBOL(curandStateSobol64_t)
ORDITO_CURAND_SOBOL(curandStateScrambledSobol64_t)
#undef ORDITO_CURAND_SOBOL

#endif
