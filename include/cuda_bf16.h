// bfloat16: __nv_bfloat16 and __nv_bfloat162, the upper half of a float.
//
// Everything is computed in float and rounded to nearest even by integer arithmetic on the bits. For +, -, * and / that
// is the correctly rounded result, since a float has more than twice a bfloat16's bits.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_runtime.h"

#define CUDA_BF16_TYPES_EXIST__

#if defined(__cplusplus)

#include <math.h>
#include <string.h>

#define ORDITO_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x;
  unsigned short y;
};

namespace ordito_detail {
ORDITO_HD unsigned int floatBits(float f) {
  unsigned int bits;
  memcpy(&bits, &f, 4);
  return bits;
}
ORDITO_HD float bfloatToFloat(unsigned short x) {
  const unsigned int bits = (unsigned int)x << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
ORDITO_HD unsigned short floatToBfloat(float f) {
  const unsigned int bits = floatBits(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
}  // namespace ordito_detail

struct __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  ORDITO_MEMBER __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
#if !defined(__CUDA_NO_BFLOAT16_CONVERSIONS__)
  ORDITO_MEMBER __nv_bfloat16(float value) : __x(ordito_detail::floatToBfloat(value)) {}
  ORDITO_MEMBER __nv_bfloat16(double value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(int value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(unsigned int value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(long long value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(unsigned long long value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER operator float() const { return ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
  ORDITO_MEMBER explicit operator int() const { return (int)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator double() const { return (double)ordito_detail::bfloatToFloat(__x); }
#endif
  ORDITO_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
};

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x;
  __nv_bfloat16 y;

  __nv_bfloat162() = default;
  ORDITO_MEMBER __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
  ORDITO_MEMBER operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// --- conversions and pairs
// -------------------------------------------------------------------------------------------------
ORDITO_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16(__nv_bfloat16_raw{bits}); }
ORDITO_HD __nv_bfloat16 __short_as_bfloat16(short bits) { return __ushort_as_bfloat16((unsigned short)bits); }
ORDITO_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
ORDITO_HD short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.__x; }
ORDITO_HD float __bfloat162float(__nv_bfloat16 h) { return ordito_detail::bfloatToFloat(h.__x); }
ORDITO_HD __nv_bfloat16 __float2bfloat16(float f) { return __ushort_as_bfloat16(ordito_detail::floatToBfloat(f)); }
ORDITO_HD __nv_bfloat16 __float2bfloat16_rn(float f) { return __float2bfloat16(f); }
ORDITO_HD __nv_bfloat16 __float2bfloat16_rz(float f) {
  return f != f ? __ushort_as_bfloat16(0x7fff)
                : __ushort_as_bfloat16((unsigned short)(ordito_detail::floatBits(f) >> 16));
}
ORDITO_HD __nv_bfloat16 __double2bfloat16(double f) { return __float2bfloat16((float)f); }
ORDITO_HD __nv_bfloat16 __int2bfloat16_rn(int i) { return __float2bfloat16((float)i); }
ORDITO_HD int __bfloat162int_rz(__nv_bfloat16 h) { return (int)__bfloat162float(h); }
ORDITO_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
ORDITO_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return __nv_bfloat162(low, high); }
ORDITO_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
ORDITO_HD __nv_bfloat162 __float2bfloat162_rn(float f) { return __bfloat162bfloat162(__float2bfloat16(f)); }
ORDITO_HD __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
  return __nv_bfloat162(__float2bfloat16(low), __float2bfloat16(high));
}
ORDITO_HD __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __floats2bfloat162_rn(f.x, f.y); }
ORDITO_HD float __low2float(__nv_bfloat162 h) { return __bfloat162float(h.x); }
ORDITO_HD float __high2float(__nv_bfloat162 h) { return __bfloat162float(h.y); }
ORDITO_HD float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2(__low2float(h), __high2float(h)); }
ORDITO_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
ORDITO_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }

// --- arithmetic
// ------------------------------------------------------------------------------------------------------------
#define ORDITO_BFLOAT_OPERATION(name, op)                                                                             \
  ORDITO_HD __nv_bfloat16 __h##name(__nv_bfloat16 a, __nv_bfloat16 b) {                                               \
    return __float2bfloat16(__bfloat162float(a) op __bfloat162float(b));                                              \
  }                                                                                                                   \
  ORDITO_HD __nv_bfloat16 operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __h##name(a, b); }     \
  ORDITO_HD __nv_bfloat16& operator op##=(__nv_bfloat16 & a, const __nv_bfloat16 & b) { return a = __h##name(a, b); } \
  ORDITO_HD __nv_bfloat162 operator op(const __nv_bfloat162& a, const __nv_bfloat162& b) {                            \
    return __nv_bfloat162(__h##name(a.x, b.x), __h##name(a.y, b.y));                                                  \
  }
ORDITO_BFLOAT_OPERATION(add, +)
ORDITO_BFLOAT_OPERATION(sub, -)
ORDITO_BFLOAT_OPERATION(mul, *)
ORDITO_BFLOAT_OPERATION(div, /)
#undef ORDITO_BFLOAT_OPERATION
ORDITO_HD __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return a + b; }
ORDITO_HD __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return a - b; }
ORDITO_HD __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return a * b; }
ORDITO_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return a / b; }
ORDITO_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16((unsigned short)(a.__x ^ 0x8000)); }
ORDITO_HD __nv_bfloat16 operator-(const __nv_bfloat16& a) { return __hneg(a); }
ORDITO_HD __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16((unsigned short)(a.__x & 0x7fff)); }
// The product is exact in float; with the sum in double only the last step rounds.
ORDITO_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  const double sum = (double)__bfloat162float(a) * __bfloat162float(b) + __bfloat162float(c);
  float f = (float)sum;
  // Rounding twice errs only where the float lies halfway between two bfloat16; its last bit then says which side the
  // sum is on.
  if ((ordito_detail::floatBits(f) & 0xffffu) == 0x8000u && (double)f != sum) {
    unsigned int bits = ordito_detail::floatBits(f);
    bits = (fabs(sum) > fabs((double)f)) ? bits + 1 : bits - 1;
    memcpy(&f, &bits, 4);
  }
  return __float2bfloat16(f);
}
ORDITO_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

// --- comparisons
// -----------------------------------------------------------------------------------------------------------
#define ORDITO_BFLOAT_COMPARE(name, op)                                                                             \
  ORDITO_HD bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return __bfloat162float(a) op __bfloat162float(b); } \
  ORDITO_HD bool operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __h##name(a, b); }
ORDITO_BFLOAT_COMPARE(eq, ==)
ORDITO_BFLOAT_COMPARE(ne, !=)
ORDITO_BFLOAT_COMPARE(lt, <)
ORDITO_BFLOAT_COMPARE(le, <=)
ORDITO_BFLOAT_COMPARE(gt, >)
ORDITO_BFLOAT_COMPARE(ge, >=)
#undef ORDITO_BFLOAT_COMPARE
ORDITO_HD bool __hisnan(__nv_bfloat16 a) { return (a.__x & 0x7fff) > 0x7f80; }
ORDITO_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16(fminf(__bfloat162float(a), __bfloat162float(b)));
}
ORDITO_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16(fmaxf(__bfloat162float(a), __bfloat162float(b)));
}

// --- math
// ------------------------------------------------------------------------------------------------------------------
#define ORDITO_BFLOAT_MATH(name, function) \
  ORDITO_HD __nv_bfloat16 h##name(__nv_bfloat16 a) { return __float2bfloat16(function(__bfloat162float(a))); }
ORDITO_BFLOAT_MATH(sqrt, sqrtf)
ORDITO_BFLOAT_MATH(exp, expf)
ORDITO_BFLOAT_MATH(exp2, exp2f)
ORDITO_BFLOAT_MATH(log, logf)
ORDITO_BFLOAT_MATH(log2, log2f)
ORDITO_BFLOAT_MATH(sin, sinf)
ORDITO_BFLOAT_MATH(cos, cosf)
ORDITO_BFLOAT_MATH(floor, floorf)
ORDITO_BFLOAT_MATH(ceil, ceilf)
ORDITO_BFLOAT_MATH(rint, rintf)
ORDITO_BFLOAT_MATH(trunc, truncf)
#undef ORDITO_BFLOAT_MATH

#if defined(__CUDA__)
#define ORDITO_BFLOAT_SHUFFLE(name, lane_type)                                                            \
  static __device__ __inline__ __nv_bfloat16 name(unsigned int mask, __nv_bfloat16 value, lane_type lane, \
                                                  int width = 32) {                                       \
    return __ushort_as_bfloat16((unsigned short)name(mask, (unsigned int)value.__x, lane, width));        \
  }
ORDITO_BFLOAT_SHUFFLE(__shfl_sync, int)
ORDITO_BFLOAT_SHUFFLE(__shfl_up_sync, unsigned int)
ORDITO_BFLOAT_SHUFFLE(__shfl_down_sync, unsigned int)
ORDITO_BFLOAT_SHUFFLE(__shfl_xor_sync, int)
#undef ORDITO_BFLOAT_SHUFFLE
#endif

#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
