// Floating point of eight bits: e4m3 (no infinity, one NaN for each sign) and e5m2 (the upper half of a half), singly,
// in pairs and in fours, with their conversions. Nothing is computed in these formats: programs convert to a half or a
// float, compute, and convert back.
//
// Every conversion into them goes through one function on the bits of a double, which holds every other format exactly:
// so each result is rounded once, to nearest with ties to even.
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "ordito/small_floats.h"

#define CUDA_FP8_TYPES_EXIST__

#if defined(__cplusplus)

#define ORDITO_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

/// What becomes of numbers past the largest: infinity (e4m3: NaN), or the largest.
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace ordito_detail {
ORDITO_HD __nv_fp8_storage_t toFloat8(double value, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) {
  const SmallFloat layout = format == __NV_E4M3 ? SmallFloat{3, 7, 0x7e} : SmallFloat{2, 15, 0x7b};
  const unsigned sign = signOf(value) ? 0x80u : 0u;
  if (value != value) return format == __NV_E4M3 ? 0x7f : 0x7e;
  unsigned code = smallFloat(value, layout, cudaRoundNearest);
  if (code > layout.largest && saturate == __NV_SATFINITE) code = layout.largest;
  return (__nv_fp8_storage_t)(sign | code);
}

ORDITO_HD __half_raw halfOfFloat8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  __half_raw half;
  if (format == __NV_E5M2) {
    half.x = (unsigned short)(x << 8);
    if ((half.x & 0x7fffu) > 0x7c00u) half.x = 0x7fff;
  } else if ((x & 0x7fu) == 0x7fu) {
    half.x = 0x7fff;
  } else {
    // Exponent and fraction in a half's place, then scaled by 2^8, which is what the biases differ by.
    const unsigned short small = (unsigned short)((x & 0x7fu) << 7);
    half.x = (unsigned short)(floatToHalf(halfToFloat(small) * 256.0f) | (x & 0x80u) << 8);
  }
  return half;
}

ORDITO_HD float floatOfFloat8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return halfToFloat(halfOfFloat8(x, format).x);
}
ORDITO_HD float floatOfBfloat16(__nv_bfloat16_raw x) {
  const unsigned int bits = (unsigned int)x.x << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
/// Byte i of a pair or of four.
ORDITO_HD __nv_fp8_storage_t float8At(unsigned int packed, int i) { return (__nv_fp8_storage_t)(packed >> (8 * i)); }
/// A float as an integer of n bits: cut off, kept in range, zero for NaN.
ORDITO_HD long long integerOfFloat(float x, long long lowest, long long highest) {
  if (x != x) return 0;
  return x <= (float)lowest ? lowest : x >= (float)highest ? highest : (long long)x;
}
}  // namespace ordito_detail

ORDITO_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return ordito_detail::toFloat8(x, s, f);
}
ORDITO_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return ordito_detail::toFloat8(x, s, f);
}
ORDITO_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return ordito_detail::toFloat8(ordito_detail::halfToFloat(x.x), s, f);
}
ORDITO_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t s,
                                                         __nv_fp8_interpretation_t f) {
  return ordito_detail::toFloat8(ordito_detail::floatOfBfloat16(x), s, f);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return (__nv_fp8x2_storage_t)(ordito_detail::toFloat8(x.x, s, f) | ordito_detail::toFloat8(x.y, s, f) << 8);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return __nv_cvt_double2_to_fp8x2(make_double2(x.x, x.y), s, f);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t s,
                                                          __nv_fp8_interpretation_t f) {
  return __nv_cvt_double2_to_fp8x2(make_double2(ordito_detail::halfToFloat(x.x), ordito_detail::halfToFloat(x.y)), s,
                                   f);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t s,
                                                              __nv_fp8_interpretation_t f) {
  return __nv_cvt_double2_to_fp8x2(make_double2(ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.x}),
                                                ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.y})),
                                   s, f);
}
ORDITO_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t f) {
  return ordito_detail::halfOfFloat8(x, f);
}
ORDITO_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t f) {
  return __half2_raw{ordito_detail::halfOfFloat8(ordito_detail::float8At(x, 0), f).x,
                     ordito_detail::halfOfFloat8(ordito_detail::float8At(x, 1), f).x};
}

// The classes saturate. Integers convert as floats do.
#define ORDITO_FLOAT8_TO_INTEGER(type, lowest, highest)                                     \
  ORDITO_MEMBER explicit operator type() const {                                            \
    return (type)ordito_detail::integerOfFloat(static_cast<float>(*this), lowest, highest); \
  }

#define ORDITO_FLOAT8_CLASSES(format, interpretation)                                                            \
  struct __nv_fp8_##format {                                                                                     \
    __nv_fp8_storage_t __x;                                                                                      \
    __nv_fp8_##format() = default;                                                                               \
    ORDITO_MEMBER explicit __nv_fp8_##format(double x) : __x(set(x)) {}                                          \
    ORDITO_MEMBER explicit __nv_fp8_##format(float x) : __x(set(x)) {}                                           \
    ORDITO_MEMBER explicit __nv_fp8_##format(__half x) : __x(set(ordito_detail::halfToFloat(x.__x))) {}          \
    ORDITO_MEMBER explicit __nv_fp8_##format(__nv_bfloat16 x) : __x(set(ordito_detail::floatOfBfloat16(x))) {}   \
    ORDITO_MEMBER explicit __nv_fp8_##format(short x) : __x(set(x)) {}                                           \
    ORDITO_MEMBER explicit __nv_fp8_##format(unsigned short x) : __x(set(x)) {}                                  \
    ORDITO_MEMBER explicit __nv_fp8_##format(int x) : __x(set((float)x)) {}                                      \
    ORDITO_MEMBER explicit __nv_fp8_##format(unsigned int x) : __x(set((float)x)) {}                             \
    ORDITO_MEMBER explicit __nv_fp8_##format(long x) : __x(set((float)x)) {}                                     \
    ORDITO_MEMBER explicit __nv_fp8_##format(unsigned long x) : __x(set((float)x)) {}                            \
    ORDITO_MEMBER explicit __nv_fp8_##format(long long x) : __x(set((float)x)) {}                                \
    ORDITO_MEMBER explicit __nv_fp8_##format(unsigned long long x) : __x(set((float)x)) {}                       \
    ORDITO_MEMBER explicit operator float() const { return ordito_detail::floatOfFloat8(__x, interpretation); }  \
    ORDITO_MEMBER explicit operator double() const { return ordito_detail::floatOfFloat8(__x, interpretation); } \
    ORDITO_MEMBER explicit operator __half() const { return ordito_detail::halfOfFloat8(__x, interpretation); }  \
    ORDITO_MEMBER explicit operator __nv_bfloat16() const { return __float2bfloat16(float(*this)); }             \
    ORDITO_MEMBER explicit operator bool() const { return (__x & 0x7fu) != 0; }                                  \
    ORDITO_FLOAT8_TO_INTEGER(char, -128, 127)                                                                    \
    ORDITO_FLOAT8_TO_INTEGER(signed char, -128, 127)                                                             \
    ORDITO_FLOAT8_TO_INTEGER(unsigned char, 0, 255)                                                              \
    ORDITO_FLOAT8_TO_INTEGER(short, -32768, 32767)                                                               \
    ORDITO_FLOAT8_TO_INTEGER(unsigned short, 0, 65535)                                                           \
    ORDITO_FLOAT8_TO_INTEGER(int, -2147483647 - 1, 2147483647)                                                   \
    ORDITO_FLOAT8_TO_INTEGER(unsigned int, 0, 4294967295)                                                        \
    ORDITO_FLOAT8_TO_INTEGER(long, -9223372036854775807 - 1, 9223372036854775807)                                \
    ORDITO_FLOAT8_TO_INTEGER(unsigned long, 0, 9223372036854775807)                                              \
    ORDITO_FLOAT8_TO_INTEGER(long long, -9223372036854775807 - 1, 9223372036854775807)                           \
    ORDITO_FLOAT8_TO_INTEGER(unsigned long long, 0, 9223372036854775807)                                         \
                                                                                                                 \
   private:                                                                                                      \
    ORDITO_MEMBER static __nv_fp8_storage_t set(double x) {                                                      \
      return ordito_detail::toFloat8(x, __NV_SATFINITE, interpretation);                                         \
    }                                                                                                            \
  };                                                                                                             \
  struct __attribute__((aligned(2))) __nv_fp8x2_##format {                                                       \
    __nv_fp8x2_storage_t __x;                                                                                    \
    __nv_fp8x2_##format() = default;                                                                             \
    ORDITO_MEMBER explicit __nv_fp8x2_##format(double2 x)                                                        \
        : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, interpretation)) {}                                   \
    ORDITO_MEMBER explicit __nv_fp8x2_##format(float2 x)                                                         \
        : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, interpretation)) {}                                    \
    ORDITO_MEMBER explicit __nv_fp8x2_##format(__half2 x)                                                        \
        : __x(__nv_cvt_halfraw2_to_fp8x2(x, __NV_SATFINITE, interpretation)) {}                                  \
    ORDITO_MEMBER explicit __nv_fp8x2_##format(__nv_bfloat162 x)                                                 \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(x, __NV_SATFINITE, interpretation)) {}                              \
    ORDITO_MEMBER explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, interpretation); }  \
    ORDITO_MEMBER explicit operator float2() const {                                                             \
      return make_float2(ordito_detail::floatOfFloat8(ordito_detail::float8At(__x, 0), interpretation),          \
                         ordito_detail::floatOfFloat8(ordito_detail::float8At(__x, 1), interpretation));         \
    }                                                                                                            \
  };                                                                                                             \
  struct __attribute__((aligned(4))) __nv_fp8x4_##format {                                                       \
    __nv_fp8x4_storage_t __x;                                                                                    \
    __nv_fp8x4_##format() = default;                                                                             \
    ORDITO_MEMBER explicit __nv_fp8x4_##format(double4 x)                                                        \
        : __x(join(__nv_fp8x2_##format(make_double2(x.x, x.y)), __nv_fp8x2_##format(make_double2(x.z, x.w)))) {} \
    ORDITO_MEMBER explicit __nv_fp8x4_##format(float4 x)                                                         \
        : __x(join(__nv_fp8x2_##format(make_float2(x.x, x.y)), __nv_fp8x2_##format(make_float2(x.z, x.w)))) {}   \
    ORDITO_MEMBER explicit __nv_fp8x4_##format(__half2 low, __half2 high)                                        \
        : __x(join(__nv_fp8x2_##format(low), __nv_fp8x2_##format(high))) {}                                      \
    ORDITO_MEMBER explicit __nv_fp8x4_##format(__nv_bfloat162 low, __nv_bfloat162 high)                          \
        : __x(join(__nv_fp8x2_##format(low), __nv_fp8x2_##format(high))) {}                                      \
    ORDITO_MEMBER explicit operator float4() const {                                                             \
      return make_float4(ordito_detail::floatOfFloat8(ordito_detail::float8At(__x, 0), interpretation),          \
                         ordito_detail::floatOfFloat8(ordito_detail::float8At(__x, 1), interpretation),          \
                         ordito_detail::floatOfFloat8(ordito_detail::float8At(__x, 2), interpretation),          \
                         ordito_detail::floatOfFloat8(ordito_detail::float8At(__x, 3), interpretation));         \
    }                                                                                                            \
                                                                                                                 \
   private:                                                                                                      \
    ORDITO_MEMBER static __nv_fp8x4_storage_t join(__nv_fp8x2_##format low, __nv_fp8x2_##format high) {          \
      return low.__x | (__nv_fp8x4_storage_t)high.__x << 16;                                                     \
    }                                                                                                            \
  };

// e8m0: powers of two from 2^-127 to 2^127, the scales of blocks of smaller numbers. No sign; 0xff is NaN.
namespace ordito_detail {
ORDITO_HD __nv_fp8_storage_t toExponent(double value, __nv_saturation_t saturate, enum cudaRoundMode rounding) {
  if (value != value) return 0xff;
  if (value < 0) value = -value;
  unsigned long long bits;
  memcpy(&bits, &value, 8);
  int exponent = (int)(bits >> 52) - 1023 + 127;
  const bool up = rounding == cudaRoundPosInf || (rounding == cudaRoundNearest && (bits >> 51 & 1u));
  if (exponent < 0) return 0;
  if (up && (bits & 0xfffffffffffffull) != 0) ++exponent;
  if (exponent > 0xfe) return saturate == __NV_SATFINITE ? 0xfe : 0xff;
  return (__nv_fp8_storage_t)exponent;
}
}  // namespace ordito_detail
ORDITO_HD __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t s, enum cudaRoundMode r) {
  return ordito_detail::toExponent(x, s, r);
}
ORDITO_HD __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t s, enum cudaRoundMode r) {
  return ordito_detail::toExponent(x, s, r);
}
ORDITO_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t s,
                                                          enum cudaRoundMode r) {
  return ordito_detail::toExponent(ordito_detail::floatOfBfloat16(x), s, r);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 x, __nv_saturation_t s, enum cudaRoundMode r) {
  return (__nv_fp8x2_storage_t)(ordito_detail::toExponent(x.x, s, r) | ordito_detail::toExponent(x.y, s, r) << 8);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t s, enum cudaRoundMode r) {
  return __nv_cvt_double2_to_e8m0x2(make_double2(x.x, x.y), s, r);
}
ORDITO_HD __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw x, __nv_saturation_t s,
                                                               enum cudaRoundMode r) {
  return __nv_cvt_double2_to_e8m0x2(make_double2(ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.x}),
                                                 ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.y})),
                                    s, r);
}
ORDITO_HD __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  // The exponent in its place; 2^-127 is subnormal, and 0xff NaN.
  return __nv_bfloat16_raw{(unsigned short)(x == 0xff ? 0x7fff : x == 0 ? 0x0040 : x << 7)};
}
ORDITO_HD __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return __nv_bfloat162_raw{__nv_cvt_e8m0_to_bf16raw(ordito_detail::float8At(x, 0)).x,
                            __nv_cvt_e8m0_to_bf16raw(ordito_detail::float8At(x, 1)).x};
}
namespace ordito_detail {
struct E8m0 {
  typedef __nv_fp8_storage_t Storage;
  typedef __nv_fp8x2_storage_t Storage2;
  typedef __nv_fp8x4_storage_t Storage4;
  static constexpr int kBits = 8;
  ORDITO_MEMBER static unsigned code(double x) { return toExponent(x, __NV_SATFINITE, cudaRoundPosInf); }
  ORDITO_MEMBER static float value(unsigned code) {
    return floatOfBfloat16(__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)code));
  }
};
}  // namespace ordito_detail
ORDITO_SMALL_FLOAT_CLASSES(__nv_fp8_e8m0, __nv_fp8x2_e8m0, __nv_fp8x4_e8m0, ordito_detail::E8m0)

ORDITO_FLOAT8_CLASSES(e4m3, __NV_E4M3)
ORDITO_FLOAT8_CLASSES(e5m2, __NV_E5M2)
#undef ORDITO_FLOAT8_CLASSES
#undef ORDITO_FLOAT8_TO_INTEGER
#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
