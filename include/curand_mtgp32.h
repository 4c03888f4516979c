// What the host and kernels share of MTGP32.
#ifndef CURAND_MTGP32_H
#define CURAND_MTGP32_H

#include "cuda_runtime.h"
#include "ordito/curand_mtgp32.h"

#endif
