// The language qualifiers (__global__, __device__, ...) as clang attributes. In a plain C or C++ file they are empty,
// so that headers shared between .cu and .cpp files compile in both.
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#if defined(__CUDA__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// clang-19 has managed variables for HIP only. On a CPU the copy that the host sees can be the storage that kernels
// use, so a managed variable is a __device__ variable: the runtime binds its PTX symbol to the address that is
// registered for the host. The section is how it tells them from plain __device__ variables.
#define __managed__ __attribute__((device)) __attribute__((section("ordito_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif

// Hints about where a parameter lives or how a launch is shaped: they change no result.
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)

// __noinline__ is a keyword of clang in CUDA files; elsewhere it must stay free, since libstdc++ writes
// __attribute__((__noinline__)).
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define __cdecl
#define CUDARTAPI
#define CUDART_DEVICE __device__
#define CUDARTAPI_CDECL
#define CUDART_CB
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__ __host__ __device__
#define __specialization_static static
#ifndef __CUDA_ARCH_HAS_FEATURE__
#define __CUDA_ARCH_HAS_FEATURE__(feature) 0
#endif

#endif
