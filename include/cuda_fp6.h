// Floating point of six bits, e2m3 and e3m2: no infinity and no NaN, whatever is too large becomes the largest. Singly,
// in pairs and in fours, a byte each, with their conversions; nothing is computed in these formats.
#ifndef __CUDA_FP6_H__
#define __CUDA_FP6_H__

#include "cuda_fp8.h"

#if defined(__cplusplus)

#define ORDITO_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

namespace ordito_detail {
ORDITO_HD SmallFloat layoutOf(__nv_fp6_interpretation_t format) {
  return format == __NV_E2M3 ? SmallFloat{3, 1, 0x1f} : SmallFloat{2, 3, 0x1f};
}
ORDITO_HD __nv_fp6_storage_t toFp6(double x, __nv_fp6_interpretation_t format, enum cudaRoundMode rounding) {
  return (__nv_fp6_storage_t)finiteSmallFloat(x, layoutOf(format), 0x20, rounding);
}
}  // namespace ordito_detail

ORDITO_HD __nv_fp6_storage_t __nv_cvt_double_to_fp6(double x, __nv_fp6_interpretation_t f, enum cudaRoundMode r) {
  return ordito_detail::toFp6(x, f, r);
}
ORDITO_HD __nv_fp6_storage_t __nv_cvt_float_to_fp6(float x, __nv_fp6_interpretation_t f, enum cudaRoundMode r) {
  return ordito_detail::toFp6(x, f, r);
}
ORDITO_HD __nv_fp6_storage_t __nv_cvt_halfraw_to_fp6(__half_raw x, __nv_fp6_interpretation_t f, enum cudaRoundMode r) {
  return ordito_detail::toFp6(ordito_detail::halfToFloat(x.x), f, r);
}
ORDITO_HD __nv_fp6_storage_t __nv_cvt_bfloat16raw_to_fp6(__nv_bfloat16_raw x, __nv_fp6_interpretation_t f,
                                                         enum cudaRoundMode r) {
  return ordito_detail::toFp6(ordito_detail::floatOfBfloat16(x), f, r);
}
ORDITO_HD __nv_fp6x2_storage_t __nv_cvt_double2_to_fp6x2(double2 x, __nv_fp6_interpretation_t f, enum cudaRoundMode r) {
  return (__nv_fp6x2_storage_t)(__nv_cvt_double_to_fp6(x.x, f, r) | __nv_cvt_double_to_fp6(x.y, f, r) << 8);
}
ORDITO_HD __nv_fp6x2_storage_t __nv_cvt_float2_to_fp6x2(float2 x, __nv_fp6_interpretation_t f, enum cudaRoundMode r) {
  return __nv_cvt_double2_to_fp6x2(make_double2(x.x, x.y), f, r);
}
ORDITO_HD __nv_fp6x2_storage_t __nv_cvt_halfraw2_to_fp6x2(__half2_raw x, __nv_fp6_interpretation_t f,
                                                          enum cudaRoundMode r) {
  return __nv_cvt_double2_to_fp6x2(make_double2(ordito_detail::halfToFloat(x.x), ordito_detail::halfToFloat(x.y)), f,
                                   r);
}
ORDITO_HD __nv_fp6x2_storage_t __nv_cvt_bfloat16raw2_to_fp6x2(__nv_bfloat162_raw x, __nv_fp6_interpretation_t f,
                                                              enum cudaRoundMode r) {
  return __nv_cvt_double2_to_fp6x2(make_double2(ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.x}),
                                                ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.y})),
                                   f, r);
}
ORDITO_HD __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t f) {
  return __half_raw{ordito_detail::floatToHalf(ordito_detail::valueOf(x, ordito_detail::layoutOf(f), 0x20))};
}
ORDITO_HD __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x, __nv_fp6_interpretation_t f) {
  return __half2_raw{__nv_cvt_fp6_to_halfraw((__nv_fp6_storage_t)x, f).x,
                     __nv_cvt_fp6_to_halfraw((__nv_fp6_storage_t)(x >> 8), f).x};
}

namespace ordito_detail {
template <__nv_fp6_interpretation_t format>
struct Fp6 {
  typedef __nv_fp6_storage_t Storage;
  typedef __nv_fp6x2_storage_t Storage2;
  typedef __nv_fp6x4_storage_t Storage4;
  static constexpr int kBits = 8;
  ORDITO_MEMBER static unsigned code(double x) { return toFp6(x, format, cudaRoundNearest); }
  ORDITO_MEMBER static float value(unsigned code) { return valueOf(code, layoutOf(format), 0x20); }
};
}  // namespace ordito_detail
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, ordito_detail::Fp6<__NV_E2M3>)
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, ordito_detail::Fp6<__NV_E3M2>)

#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
