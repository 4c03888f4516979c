// What a CUDA C++ program includes, or rather what the compiler includes for it: the runtime API and its C++ templates,
// and in .cu files the language itself.
//
// In .cu files clang includes this from its own __clang_cuda_runtime_wrapper.h, halfway through: the built-in variables
// come before, math and intrinsics after. What clang lacks is in ordito/device_functions.h, which comes last.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include <limits.h>

#include "host_config.h"
#include "builtin_types.h"
#include "cuda_runtime_api.h"
#include "channel_descriptor.h"
#include "driver_functions.h"
#include "vector_functions.h"

#if defined(__CUDA__)
#include "ordito/before_device_functions.h"
#endif

#if defined(__cplusplus)
#include "ordito/host_templates.h"
#endif

#endif
