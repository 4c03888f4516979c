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
ORDITO_HD __nv_fp6_storage_t finiteCode(double x, __nv_fp6_interpretation_t format, enum cudaRoundMode rounding) {
  return (__nv_fp6_storage_t)finiteSmallFloat(x, layoutOf(format), 0x20, rounding);
}
}  // namespace ordito_detail

ORDITO_SMALL_FLOAT_CONVERSIONS(fp6, 0x20, 8)

namespace ordito_detail {
template <__nv_fp6_interpretation_t format>
struct Fp6 {
  typedef __nv_fp6_storage_t Storage;
  typedef __nv_fp6x2_storage_t Storage2;
  typedef __nv_fp6x4_storage_t Storage4;
  static constexpr int kBits = 8;
  ORDITO_MEMBER static unsigned code(double x) { return finiteCode(x, format, cudaRoundNearest); }
  ORDITO_MEMBER static float value(unsigned code) { return valueOf(code, layoutOf(format), 0x20); }
};
}  // namespace ordito_detail
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, ordito_detail::Fp6<__NV_E2M3>)
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, ordito_detail::Fp6<__NV_E3M2>)

#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
