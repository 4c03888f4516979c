// Discrete distributions that the host makes (curandCreatePoissonDistribution) and kernels draw from: one number of the
// generator, looked up in a square histogram (Marsaglia, Tsang and Wang, "Fast Generation of Discrete Random
// Variables", 2004), or a rounded normal number. Included by curand_kernel.h.
#ifndef ORDITO_CURAND_DISCRETE_H
#define ORDITO_CURAND_DISCRETE_H

/// In memory of the device. Without columns numbers are normal ones.
struct curandDiscreteDistribution_st {
  double mean, deviation;
  unsigned int first, columns;
  const double* edges;         // where a column's own value ends
  const unsigned int* others;  // whose the rest of the column is
};

#if defined(__CUDA__)

namespace ordito_curand {

/// A number of [0, 1) from the upper 32 bits of a generator's.
__device__ inline double discreteUniform(unsigned int bits) { return (bits + 0.5) * kToUnit; }
__device__ inline double discreteUniform(unsigned long long bits) {
  return discreteUniform((unsigned int)(bits >> 32));
}

template <class State>
__device__ inline unsigned int discrete(State* state, curandDiscreteDistribution_t from) {
  if (from->columns == 0) {
    const double value = from->mean + from->deviation * curand_normal_double(state) + 0.5;
    return value > 0 ? (unsigned int)value : 0;
  }
  const double u = discreteUniform(curand(state));
  const unsigned int column = (unsigned int)(u * from->columns);
  return from->first + (u < from->edges[column] ? column : from->others[column]);
}

}  // namespace ordito_curand

#define ORDITO_CURAND_DISCRETE(State, how)                                                                  \
  __device__ inline unsigned int curand_discrete(State* state, curandDiscreteDistribution_t distribution) { \
    return ordito_curand::how(state, distribution);                                                         \
  }
ORDITO_CURAND_STATES(ORDITO_CURAND_DISCRETE, discrete, discrete)
#undef ORDITO_CURAND_DISCRETE

__device__ inline uint4 curand_discrete4(curandStatePhilox4_32_10_t* state, curandDiscreteDistribution_t distribution) {
  const unsigned int x = curand_discrete(state, distribution), y = curand_discrete(state, distribution);
  const unsigned int z = curand_discrete(state, distribution), w = curand_discrete(state, distribution);
  return make_uint4(x, y, z, w);
}

#endif
#endif
