// The kernels through which cuFFT calls a program's callbacks (cufftXtSetCallback). A function pointer means something
// only in the module that has the function, so they are compiled with the program, and the library finds them there by
// name.
#ifndef ORDITO_CUFFT_CALLBACKS_H
#define ORDITO_CUFFT_CALLBACKS_H

#include "cufft.h"

// Where the elements lie that a packed array has in order.
typedef struct OrditoFftPlaces {
  unsigned long long count, size[3];  // of all; of each dimension
  long long batchStep, step[3];
} OrditoFftPlaces;

#if defined(__cplusplus) && defined(__CUDACC__) && !defined(__CUDACC_RTC__)

#if defined(__CUDA_ARCH__)
#define ORDITO_FFT_BODY(statement)                                                                             \
  extern __shared__ __attribute__((aligned(16))) char orditoFftShared[];                                       \
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;                      \
  if (i < places.count) {                                                                                      \
    const unsigned long long z = i % places.size[2], rows = i / places.size[2];                                \
    const unsigned long long y = rows % places.size[1], planes = rows / places.size[1];                        \
    const unsigned long long x = planes % places.size[0], batch = planes / places.size[0];                     \
    const size_t at = batch * places.batchStep + x * places.step[0] + y * places.step[1] + z * places.step[2]; \
    statement;                                                                                                 \
  }
#else
#define ORDITO_FFT_BODY(statement)
#endif

#define ORDITO_FFT_KERNELS(L, T)                                                                                     \
  extern "C" __global__ __attribute__((weak)) void orditoFftLoad##L(                                                 \
      T (*callback)(void*, size_t, void*, void*), void* data, OrditoFftPlaces places, void* info, T* packed) {       \
    ORDITO_FFT_BODY(packed[i] = callback(data, at, info, orditoFftShared))                                           \
  }                                                                                                                  \
  extern "C" __global__ __attribute__((weak)) void orditoFftStore##L(                                                \
      void (*callback)(void*, size_t, T, void*, void*), void* data, OrditoFftPlaces places, void* info, T* packed) { \
    ORDITO_FFT_BODY(callback(data, at, packed[i], info, orditoFftShared))                                            \
  }
ORDITO_FFT_KERNELS(C, cufftComplex)
ORDITO_FFT_KERNELS(Z, cufftDoubleComplex)
ORDITO_FFT_KERNELS(R, cufftReal)
ORDITO_FFT_KERNELS(D, cufftDoubleReal)
#undef ORDITO_FFT_KERNELS
#undef ORDITO_FFT_BODY

#endif

#endif
