// The generators of kernels as host code: the same headers, with the few functions of CUDA that plain C++ lacks.
#pragma once

#include <bit>
#include <cmath>

#include "cuda_runtime.h"

inline void sincospi(double x, double* sine, double* cosine) {
  const double reduced = x - 2 * std::floor(x / 2);
  *sine = std::sin(reduced * M_PI), *cosine = std::cos(reduced * M_PI);
}

/// The inverse of the normal distribution: an estimate (Abramowitz and Stegun, 26.2.23), and Halley's steps.
inline double normcdfinv(double p) {
  if (p > 0.5) return -normcdfinv(1 - p);
  const double t = std::sqrt(-2 * std::log(p));
  double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 3; ++i) {
    const double error = 0.5 * std::erfc(-x * M_SQRT1_2) - p;
    const double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
    x -= step / (1 + x * step / 2);
  }
  return x;
}
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }

#define ORDITO_CURAND_LIBRARY  // curand_float_functions.h
namespace ordito_curand {
// float_functions.cpp
float2 toPair(float u, float angle);
float logNormal(float mean, float deviation, float normal);
}  // namespace ordito_curand
#include "ordito/curand_mrg32k3a.h"
#include "ordito/curand_philox.h"
#include "ordito/curand_sobol.h"
#include "ordito/curand_xorwow.h"
// Over these:
#include "ordito/curand_distributions.h"
#include "ordito/curand_mtgp32.h"
#include "ordito/curand_sobol_distributions.h"
