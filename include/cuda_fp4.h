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
ORDITO_HD __nv_fp4_storage_t toFp4(double x, __nv_fp4_interpretation_t format, enum cudaRoundMode rounding) {
  return (__nv_fp4_storage_t)finiteSmallFloat(x, layoutOf(format), 0x8, rounding);
}
}  // namespace ordito_detail

ORDITO_HD __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t f, enum cudaRoundMode r) {
  return ordito_detail::toFp4(x, f, r);
}
ORDITO_HD __nv_fp4_storage_t __nv_cvt_float_to_fp4(float x, __nv_fp4_interpretation_t f, enum cudaRoundMode r) {
  return ordito_detail::toFp4(x, f, r);
}
ORDITO_HD __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(__half_raw x, __nv_fp4_interpretation_t f, enum cudaRoundMode r) {
  return ordito_detail::toFp4(ordito_detail::halfToFloat(x.x), f, r);
}
ORDITO_HD __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw x, __nv_fp4_interpretation_t f,
                                                         enum cudaRoundMode r) {
  return ordito_detail::toFp4(ordito_detail::floatOfBfloat16(x), f, r);
}
ORDITO_HD __nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(double2 x, __nv_fp4_interpretation_t f, enum cudaRoundMode r) {
  return (__nv_fp4x2_storage_t)(__nv_cvt_double_to_fp4(x.x, f, r) | __nv_cvt_double_to_fp4(x.y, f, r) << 4);
}
ORDITO_HD __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 x, __nv_fp4_interpretation_t f, enum cudaRoundMode r) {
  return __nv_cvt_double2_to_fp4x2(make_double2(x.x, x.y), f, r);
}
ORDITO_HD __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(__half2_raw x, __nv_fp4_interpretation_t f,
                                                          enum cudaRoundMode r) {
  return __nv_cvt_double2_to_fp4x2(make_double2(ordito_detail::halfToFloat(x.x), ordito_detail::halfToFloat(x.y)), f,
                                   r);
}
ORDITO_HD __nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(__nv_bfloat162_raw x, __nv_fp4_interpretation_t f,
                                                              enum cudaRoundMode r) {
  return __nv_cvt_double2_to_fp4x2(make_double2(ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.x}),
                                                ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.y})),
                                   f, r);
}
ORDITO_HD __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t f) {
  return __half_raw{ordito_detail::floatToHalf(ordito_detail::valueOf(x, ordito_detail::layoutOf(f), 0x8))};
}
ORDITO_HD __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t f) {
  return __half2_raw{__nv_cvt_fp4_to_halfraw((__nv_fp4_storage_t)x, f).x,
                     __nv_cvt_fp4_to_halfraw((__nv_fp4_storage_t)(x >> 4), f).x};
}

namespace ordito_detail {
template <__nv_fp4_interpretation_t format>
struct Fp4 {
  typedef __nv_fp4_storage_t Storage;
  typedef __nv_fp4x2_storage_t Storage2;
  typedef __nv_fp4x4_storage_t Storage4;
  static constexpr int kBits = 4;
  ORDITO_MEMBER static unsigned code(double x) { return toFp4(x, format, cudaRoundNearest); }
  ORDITO_MEMBER static float value(unsigned code) { return valueOf(code, layoutOf(format), 0x8); }
};
}  // namespace ordito_detail
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, ordito_detail::Fp4<__NV_E2M1>)

#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
