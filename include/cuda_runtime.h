// What a CUDA C++ program includes, or rather what the compiler includes for it: the runtime API and its C++ templates,
// and in .cu files the language itself.
//
// In .cu files clang includes this from its own __clang_cuda_runtime_wrapper.h, halfway through: the built-in variables
// come before, math and intrinsics after. What clang lacks is in ordito/device_functions.h, which comes last.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

// The standard headers that NVIDIA's brings, which programs use without a word.
#include <limits.h>
#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
#if defined(__CUDACC__)
#include <ctype.h>
#endif
#if __cplusplus >= 201103L
#include <utility>
#endif
#endif

#include "host_config.h"
#include "builtin_types.h"
#include "library_types.h"
#include "cuda_runtime_api.h"
#include "channel_descriptor.h"
#include "driver_functions.h"
#include "vector_functions.h"

#if defined(__CUDA__)
#include "ordito/before_device_functions.h"
#endif

// nvcc wraps __device__ lambdas in types of its own, and libraries ask whether a type is one. clang's lambdas are what
// they are on both sides.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
// NVIDIA's header brings these, and programs use std::vector without a word, since <functional> brings that. It is
// long; ordito nvcc asks for it when a program has failed without.
#if defined(__ORDITO_FUNCTIONAL__)
#include <functional>
#endif
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#endif

#if defined(__cplusplus)
#include "ordito/host_templates.h"
#include "ordito/texture_templates.h"
#if __cplusplus >= 201103L
#include "ordito/dpx_functions.h"
#endif
#endif

#endif
