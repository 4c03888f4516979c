// The generators of kernels as host code: the same headers, with the few functions of CUDA that plain C++ lacks.
#pragma once

#include <cmath>

#include "cuda_runtime.h"

inline void sincospi(double x, double* sine, double* cosine) {
  const double reduced = x - 2 * std::floor(x / 2);
  *sine = std::sin(reduced * M_PI), *cosine = std::cos(reduced * M_PI);
}

#include "ordito/curand_mrg32k3a.h"
#include "ordito/curand_philox.h"
#include "ordito/curand_xorwow.h"
// Over these:
#include "ordito/curand_distributions.h"
