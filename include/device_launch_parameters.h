// threadIdx, blockIdx, blockDim, gridDim and warpSize. In .cu files clang defines them before anything else is read; a
// plain C++ file has no use for them, but may include this header.
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#include "vector_types.h"
#endif
