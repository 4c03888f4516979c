// Random numbers in kernels: the generators XORWOW, Philox4x32-10 and MRG32k3a with the sequences of NVIDIA's library
// of that name, MTGP32, Sobol's quasirandom sequences, and uniform, normal, log-normal and Poisson's numbers from them.
// Plain C++, which has not CUDA's functions of mathematics, gets the generators and their states only.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand.h"

#ifdef __cplusplus
#include "ordito/curand_mrg32k3a.h"
#include "ordito/curand_philox.h"
#include "ordito/curand_sobol.h"
#include "ordito/curand_xorwow.h"
#if defined(__CUDA__)
// Over these:
#include "ordito/curand_distributions.h"
#include "ordito/curand_sobol_distributions.h"
#endif
#include "ordito/curand_mtgp32.h"
#endif

#if defined(__cplusplus) && defined(__CUDA__)

// `f(State, how)` for each generator that draws other numbers from its own. A stream of pseudorandom numbers may take
// several of them for one result; MTGP32 and quasirandom sequences give each number once.
// clang-format off
#define ORDITO_CURAND_STATES(f, streams, others) \
  f(curandStateXORWOW_t, streams)                \
  f(curandStateMRG32k3a_t, streams)              \
  f(curandStatePhilox4_32_10_t, streams)         \
  f(curandStateMtgp32_t, others)                 \
  f(curandStateSobol32_t, others)                \
  f(curandStateScrambledSobol32_t, others)       \
  f(curandStateSobol64_t, others)                \
  f(curandStateScrambledSobol64_t, others)
// clang-format on

#include "ordito/curand_poisson.h"
#include "ordito/curand_discrete.h"
#undef ORDITO_CURAND_STATES

#endif
#endif
