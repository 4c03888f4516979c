// Random numbers in kernels: the generators XORWOW, Philox4x32-10 and MRG32k3a with the sequences of NVIDIA's library
// of that name, and uniform, normal and log-normal numbers from them.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand.h"

#if defined(__cplusplus) && defined(__CUDA__)

#include "ordito/curand_mrg32k3a.h"
#include "ordito/curand_philox.h"
#include "ordito/curand_xorwow.h"
// Over these:
#include "ordito/curand_distributions.h"

#endif
#endif
