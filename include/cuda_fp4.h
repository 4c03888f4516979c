// Floating point of four bits, e2m1: no infinity and no NaN, whatever is too large becomes the largest. Singly, in
// pairs and in fours, half a byte each, with their conversions; nothing is computed in these formats.
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__

#include "cuda_fp8.h"

#if defined(__cplusplus)

#define ORDITO_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

namespace ordito_detail {
ORDITO_HD SmallFloat layoutOf(__nv_fp4_interpretation_t) { return SmallFloat{1, 1, 0x7}; }
ORDITO_HD __nv_fp4_storage_t finiteCode(double x, __nv_fp4_interpretation_t format, enum cudaRoundMode rounding) {
  return (__nv_fp4_storage_t)finiteSmallFloat(x, layoutOf(format), 0x8, rounding);
}
}  // namespace ordito_detail

ORDITO_SMALL_FLOAT_CONVERSIONS(fp4, 0x8, 4)

namespace ordito_detail {
template <__nv_fp4_interpretation_t format>
struct Fp4 {
  typedef __nv_fp4_storage_t Storage;
  typedef __nv_fp4x2_storage_t Storage2;
  typedef __nv_fp4x4_storage_t Storage4;
  static constexpr int kBits = 4;
  ORDITO_MEMBER static unsigned code(double x) { return finiteCode(x, format, cudaRoundNearest); }
  ORDITO_MEMBER static float value(unsigned code) { return valueOf(code, layoutOf(format), 0x8); }
};
}  // namespace ordito_detail
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, ordito_detail::Fp4<__NV_E2M1>)

#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
