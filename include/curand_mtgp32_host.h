// States and parameters of MTGP32 for kernels, made on the host.
#ifndef CURAND_MTGP32_HOST_H
#define CURAND_MTGP32_HOST_H

#include <stdlib.h>

#include "cuda_runtime.h"
#include "curand.h"
#include "curand_mtgp32.h"

#if defined(__cplusplus)

// The parameters go to the device's memory.
static inline curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[], mtgp32_kernel_params_t* p) {
  return cudaMemcpy(p->sets, params, sizeof p->sets, cudaMemcpyHostToDevice) == cudaSuccess
             ? CURAND_STATUS_SUCCESS
             : CURAND_STATUS_INITIALIZATION_FAILED;
}

// `n` states, 200 at most, each with a set of parameters and a seed of its own.
static inline curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t* s, mtgp32_params_fast_t params[],
                                                         mtgp32_kernel_params_t* k, int n, unsigned long long seed) {
  if (n <= 0 || n > CURAND_NUM_MTGP32_PARAMS) return CURAND_STATUS_OUT_OF_RANGE;
  curandStateMtgp32_t* states = (curandStateMtgp32_t*)calloc(n, sizeof(curandStateMtgp32_t));
  if (!states) return CURAND_STATUS_ALLOCATION_FAILED;
  const unsigned int folded = (unsigned int)(seed ^ seed >> 32);
  for (int i = 0; i < n; ++i) {
    ordito_curand::mtgpStart(&states[i], params[i], folded + i + 1);
    states[i].pIdx = i;
    states[i].k = k;
  }
  const cudaError_t error = cudaMemcpy(s, states, n * sizeof(curandStateMtgp32_t), cudaMemcpyHostToDevice);
  free(states);
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

#endif
#endif
