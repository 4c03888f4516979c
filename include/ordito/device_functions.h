// The device functions of CUDA C++ that clang's own headers leave out, by topic.
#ifndef ORDITO_DEVICE_FUNCTIONS_H
#define ORDITO_DEVICE_FUNCTIONS_H

// nvcc defines it as a number, and programs write `#if __CUDACC__`.
#undef __CUDACC__
#define __CUDACC__ 1

// Defined and renamed before clang's own headers: what they called these is gone.
#ifdef ORDITO_ASSERT_ON_BOTH_SIDES
#undef __assert_fail
#endif

// Programs count on these coming with cuda_runtime.h.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef __all
#undef __any
#undef __ballot
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync

#define ORDITO_DEVICE static __device__ __inline__ __attribute__((always_inline))

#include "ordito/warp_functions.h"
#include "ordito/atomic_functions.h"
#include "ordito/memory_functions.h"
#include "ordito/math_overloads.h"
#include "ordito/device_launch.h"

#undef ORDITO_DEVICE

#endif
