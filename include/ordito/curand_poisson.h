// Poisson's distribution in kernels: from one uniform number by the inverse of the distribution where the mean is
// small, else by transformed rejection (Hoermann, "The transformed rejection method for generating Poisson random
// variables", 1993). A quasirandom sequence gives each of its numbers once, so it has the inverse, of the normal
// distribution where the mean is large. Included by curand_kernel.h.
#ifndef ORDITO_CURAND_POISSON_H
#define ORDITO_CURAND_POISSON_H

namespace ordito_curand {

/// The least k whose cumulative probability reaches u.
__device__ inline unsigned int poissonInverse(double u, double lambda) {
  double p = exp(-lambda), sum = p;
  unsigned int k = 0;
  while (sum < u && k < 1000) {
    ++k;
    p *= lambda / k;
    sum += p;
  }
  return k;
}

template <class State>
__device__ inline unsigned int poissonRejection(State* state, double lambda) {
  const double b = 0.931 + 2.53 * sqrt(lambda), a = -0.059 + 0.02483 * b;
  const double inverseAlpha = 1.1239 + 1.1328 / (b - 3.4), edge = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state);
    const double us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= edge) return (unsigned int)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverseAlpha) - log(a / (us * us) + b) <= k * log(lambda) - lambda - lgamma(k + 1))
      return (unsigned int)k;
  }
}

template <class State>
__device__ inline unsigned int poisson(State* state, double lambda) {
  return lambda < 64 ? poissonInverse(curand_uniform_double(state), lambda) : poissonRejection(state, lambda);
}
template <class State>
__device__ inline unsigned int quasiPoisson(State* state, double lambda) {
  if (lambda < 64) return poissonInverse(curand_uniform_double(state), lambda);
  const double value = lambda + sqrt(lambda) * curand_normal_double(state) + 0.5;
  return value < 0 ? 0 : (unsigned int)value;
}

}  // namespace ordito_curand

#define ORDITO_CURAND_POISSON(State, how)                                      \
  __device__ inline unsigned int curand_poisson(State* state, double lambda) { \
    return ordito_curand::how(state, lambda);                                  \
  }
ORDITO_CURAND_STATES(ORDITO_CURAND_POISSON, poisson, quasiPoisson)
#undef ORDITO_CURAND_POISSON

__device__ inline uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
  const unsigned int x = curand_poisson(state, lambda), y = curand_poisson(state, lambda);
  const unsigned int z = curand_poisson(state, lambda), w = curand_poisson(state, lambda);
  return make_uint4(x, y, z, w);
}

#endif
