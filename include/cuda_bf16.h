// bfloat16: __nv_bfloat16 and __nv_bfloat162, the upper half of a float.
//
// Sums and products are ordito/bfloat_arithmetic.h's. Everything else is computed in float and rounded to nearest even
// by integer arithmetic on the bits.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_fp16.h"
#include "cuda_runtime.h"

#define CUDA_BF16_TYPES_EXIST__

#if defined(__cplusplus)

#include <math.h>
#include <string.h>

#define ORDITO_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

#include "ordito/half_comparisons.h"

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
  ORDITO_MEMBER __nv_bfloat16(short value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(unsigned short value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(long value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(unsigned long value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(int value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(unsigned int value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(long long value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER __nv_bfloat16(unsigned long long value) : __x(ordito_detail::floatToBfloat((float)value)) {}
  ORDITO_MEMBER operator float() const { return ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
  ORDITO_MEMBER explicit operator signed char() const { return (signed char)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator unsigned char() const { return (unsigned char)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator short() const { return (short)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator unsigned short() const { return (unsigned short)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator int() const { return (int)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator unsigned int() const { return (unsigned int)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator long() const { return (long)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator unsigned long() const { return (unsigned long)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator long long() const { return (long long)ordito_detail::bfloatToFloat(__x); }
  ORDITO_MEMBER explicit operator unsigned long long() const {
    return (unsigned long long)ordito_detail::bfloatToFloat(__x);
  }
  ORDITO_MEMBER explicit operator double() const { return (double)ordito_detail::bfloatToFloat(__x); }
#endif
  ORDITO_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
  ORDITO_MEMBER operator __nv_bfloat16_raw() const volatile { return __nv_bfloat16_raw{__x}; }
  ORDITO_MEMBER __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) {
    __x = raw.x;
    return *this;
  }
  ORDITO_MEMBER volatile __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) volatile {
    __x = raw.x;
    return *this;
  }
  ORDITO_MEMBER volatile __nv_bfloat16& operator=(const volatile __nv_bfloat16_raw& raw) volatile {
    __x = raw.x;
    return *this;
  }
};

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x;
  __nv_bfloat16 y;

  __nv_bfloat162() = default;
  ORDITO_MEMBER __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
  ORDITO_MEMBER __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
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
// Every bfloat16 that an integer rounds to is a float too, but a float of a long integer has been rounded once already;
// the last bit is kept odd when bits were lost, so that the second rounding sees them.
namespace ordito_detail {
ORDITO_HD float oddFloat(double d) {
  float f = (float)d;
  if ((double)f == d) return f;
  unsigned int bits = floatBits(f);
  if ((f < 0 ? -(double)f : (double)f) > (d < 0 ? -d : d)) --bits;  // towards zero
  bits |= 1u;
  memcpy(&f, &bits, 4);
  return f;
}
}  // namespace ordito_detail
namespace ordito_detail {
/// The same of an integer. Of one that no double holds, the bits that a double lacks are kept as one that is set.
template <class Integer>
ORDITO_HD float oddFloatOf(Integer i) {
  unsigned long long magnitude = i < 0 ? 0ull - (unsigned long long)i : (unsigned long long)i;
  if (magnitude >> 53) magnitude = (magnitude >> 11 | ((magnitude & 0x7ffu) != 0)) << 11;
  const float f = oddFloat((double)magnitude);
  return i < 0 ? -f : f;
}
}  // namespace ordito_detail
ORDITO_HD __nv_bfloat16 __int2bfloat16_rn(int i) { return __float2bfloat16(ordito_detail::oddFloatOf(i)); }
ORDITO_HD __nv_bfloat16 __uint2bfloat16_rn(unsigned int i) { return __float2bfloat16(ordito_detail::oddFloatOf(i)); }
ORDITO_HD __nv_bfloat16 __short2bfloat16_rn(short i) { return __float2bfloat16((float)i); }
ORDITO_HD __nv_bfloat16 __ushort2bfloat16_rn(unsigned short i) { return __float2bfloat16((float)i); }
ORDITO_HD __nv_bfloat16 __ll2bfloat16_rn(long long i) { return __float2bfloat16(ordito_detail::oddFloatOf(i)); }
ORDITO_HD __nv_bfloat16 __ull2bfloat16_rn(unsigned long long i) {
  return __float2bfloat16(ordito_detail::oddFloatOf(i));
}
ORDITO_TO_INTEGERS(__nv_bfloat16, __bfloat162, __bfloat162float)
ORDITO_HD __nv_bfloat16 __float2bfloat16_ru(float f) {
  const __nv_bfloat16 zero = __float2bfloat16_rz(f);
  return f > __bfloat162float(zero) ? __ushort_as_bfloat16((unsigned short)(zero.__x + 1)) : zero;
}
ORDITO_HD __nv_bfloat16 __float2bfloat16_rd(float f) {
  const __nv_bfloat16 zero = __float2bfloat16_rz(f);
  return f < __bfloat162float(zero) ? __ushort_as_bfloat16((unsigned short)(zero.__x + 1)) : zero;
}
// The float that rounding to odd gives lies on the right side of every bfloat16, so the second rounding is the right
// one.
#define ORDITO_BFLOAT_FROM(name, type)                                                                                 \
  ORDITO_HD __nv_bfloat16 __##name##2bfloat16_rz(type i) { return __float2bfloat16_rz(ordito_detail::oddFloatOf(i)); } \
  ORDITO_HD __nv_bfloat16 __##name##2bfloat16_rd(type i) { return __float2bfloat16_rd(ordito_detail::oddFloatOf(i)); } \
  ORDITO_HD __nv_bfloat16 __##name##2bfloat16_ru(type i) { return __float2bfloat16_ru(ordito_detail::oddFloatOf(i)); }
ORDITO_BFLOAT_FROM(int, int)
ORDITO_BFLOAT_FROM(uint, unsigned int)
ORDITO_BFLOAT_FROM(short, short)
ORDITO_BFLOAT_FROM(ushort, unsigned short)
ORDITO_BFLOAT_FROM(ll, long long)
ORDITO_BFLOAT_FROM(ull, unsigned long long)
#undef ORDITO_BFLOAT_FROM
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
ORDITO_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
ORDITO_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
ORDITO_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
ORDITO_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
ORDITO_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.x); }

// --- arithmetic
// ------------------------------------------------------------------------------------------------------------
#include "ordito/bfloat_arithmetic.h"

#define ORDITO_BFLOAT_OPERATION(name, op, function)                                                                   \
  ORDITO_HD __nv_bfloat16 __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return ordito_detail::function(a, b); }       \
  ORDITO_HD __nv_bfloat16 operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __h##name(a, b); }     \
  ORDITO_HD __nv_bfloat16& operator op##=(__nv_bfloat16 & a, const __nv_bfloat16 & b) { return a = __h##name(a, b); } \
  ORDITO_HD __nv_bfloat162 operator op(const __nv_bfloat162& a, const __nv_bfloat162& b) {                            \
    return ordito_detail::function(a, b);                                                                             \
  }                                                                                                                   \
  ORDITO_HD __nv_bfloat162& operator op##=(__nv_bfloat162 & a, const __nv_bfloat162 & b) { return a = a op b; }
ORDITO_BFLOAT_OPERATION(add, +, sumOf)
ORDITO_BFLOAT_OPERATION(sub, -, differenceOf)
ORDITO_BFLOAT_OPERATION(mul, *, productOf)
ORDITO_BFLOAT_OPERATION(div, /, quotientOf)
#undef ORDITO_BFLOAT_OPERATION
ORDITO_HD __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return a + b; }
ORDITO_HD __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return a - b; }
ORDITO_HD __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return a * b; }
ORDITO_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return a / b; }
ORDITO_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16((unsigned short)(a.__x ^ 0x8000)); }
ORDITO_HD __nv_bfloat16 operator-(const __nv_bfloat16& a) { return __hneg(a); }
ORDITO_HD __nv_bfloat16 operator+(const __nv_bfloat16& a) { return a; }
ORDITO_HD __nv_bfloat16& operator++(__nv_bfloat16& a) { return a = __hadd(a, __float2bfloat16(1.0f)); }
ORDITO_HD __nv_bfloat16& operator--(__nv_bfloat16& a) { return a = __hsub(a, __float2bfloat16(1.0f)); }
ORDITO_HD __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __nv_bfloat162(__hneg(a.x), __hneg(a.y)); }
ORDITO_HD __nv_bfloat162 operator-(const __nv_bfloat162& a) { return __hneg2(a); }
ORDITO_HD __nv_bfloat16 __hadd_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return ordito_detail::sumAlone(a, b); }
ORDITO_HD __nv_bfloat16 __hsub_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return ordito_detail::differenceAlone(a, b); }
ORDITO_HD __nv_bfloat16 __hmul_rn(__nv_bfloat16 a, __nv_bfloat16 b) { return ordito_detail::productAlone(a, b); }
ORDITO_HD __nv_bfloat162 __hadd2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return ordito_detail::sumAlone(a, b); }
ORDITO_HD __nv_bfloat162 __hsub2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return ordito_detail::differenceAlone(a, b); }
ORDITO_HD __nv_bfloat162 __hmul2_rn(__nv_bfloat162 a, __nv_bfloat162 b) { return ordito_detail::productAlone(a, b); }
ORDITO_HD __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16((unsigned short)(a.__x & 0x7fff)); }
ORDITO_HD __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
ORDITO_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return ordito_detail::fused(a, b, c);
}
ORDITO_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return ordito_detail::fused(a, b, c);
}

// --- comparisons
// -----------------------------------------------------------------------------------------------------------
namespace ordito_detail {
ORDITO_HD float number(__nv_bfloat16 h) { return __bfloat162float(h); }
ORDITO_HD __nv_bfloat16 truth(__nv_bfloat16, bool is) { return __float2bfloat16(is ? 1.0f : 0.0f); }
}  // namespace ordito_detail
ORDITO_HD bool __hisnan(__nv_bfloat16 a) { return (a.__x & 0x7fff) > 0x7f80; }
ORDITO_HD int __hisinf(__nv_bfloat16 a) { return a.__x == 0x7f80 ? 1 : a.__x == 0xff80 ? -1 : 0; }

ORDITO_COMPARISONS(__nv_bfloat16, __nv_bfloat162)
#define ORDITO_BFLOAT_COMPARE(op, name) \
  ORDITO_HD bool operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return name(a, b); }
ORDITO_BFLOAT_COMPARE(==, __heq)
ORDITO_BFLOAT_COMPARE(!=, __hneu)
ORDITO_BFLOAT_COMPARE(<, __hlt)
ORDITO_BFLOAT_COMPARE(<=, __hle)
ORDITO_BFLOAT_COMPARE(>, __hgt)
ORDITO_BFLOAT_COMPARE(>=, __hge)
#undef ORDITO_BFLOAT_COMPARE
ORDITO_HD bool operator==(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hbeq2(a, b); }
ORDITO_HD bool operator!=(const __nv_bfloat162& a, const __nv_bfloat162& b) {
  return __hneu(a.x, b.x) && __hneu(a.y, b.y);
}
ORDITO_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16(fminf(__bfloat162float(a), __bfloat162float(b)));
}
ORDITO_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16(fmaxf(__bfloat162float(a), __bfloat162float(b)));
}
ORDITO_HD __nv_bfloat16 __hmin_nan(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hisnan(a) || __hisnan(b) ? __ushort_as_bfloat16(0x7fff) : __hmin(a, b);
}
ORDITO_HD __nv_bfloat16 __hmax_nan(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __hisnan(a) || __hisnan(b) ? __ushort_as_bfloat16(0x7fff) : __hmax(a, b);
}
#define ORDITO_BFLOAT_PAIRS(name)                                                 \
  ORDITO_HD __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b) {     \
    return __nv_bfloat162(__h##name(a.x, b.x), __h##name(a.y, b.y));              \
  }                                                                               \
  ORDITO_HD __nv_bfloat162 __h##name##2_nan(__nv_bfloat162 a, __nv_bfloat162 b) { \
    return __nv_bfloat162(__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y));  \
  }
ORDITO_BFLOAT_PAIRS(min)
ORDITO_BFLOAT_PAIRS(max)
#undef ORDITO_BFLOAT_PAIRS
ORDITO_SATURATING(__nv_bfloat16, __nv_bfloat162)

// --- math
// ------------------------------------------------------------------------------------------------------------------
#define ORDITO_BFLOAT_MATH(name, function)                                                                     \
  ORDITO_HD __nv_bfloat16 h##name(__nv_bfloat16 a) { return __float2bfloat16(function(__bfloat162float(a))); } \
  ORDITO_HD __nv_bfloat162 h2##name(__nv_bfloat162 a) { return __nv_bfloat162(h##name(a.x), h##name(a.y)); }
namespace ordito_detail {
ORDITO_HD float reciprocalOf(float x) { return 1.0f / x; }
ORDITO_HD float reciprocalRootOf(float x) { return 1.0f / sqrtf(x); }
ORDITO_HD float powerOfTen(float x) { return exp2f(x * 3.3219280948873623f); }
}  // namespace ordito_detail
ORDITO_BFLOAT_MATH(rsqrt, ordito_detail::reciprocalRootOf)
ORDITO_BFLOAT_MATH(rcp, ordito_detail::reciprocalOf)
ORDITO_BFLOAT_MATH(exp10, ordito_detail::powerOfTen)
ORDITO_BFLOAT_MATH(log10, log10f)
ORDITO_BFLOAT_MATH(tanh, tanhf)
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
static __device__ __inline__ __nv_bfloat16 htanh_approx(__nv_bfloat16 a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __nv_bfloat16 result;
  asm("tanh.approx.bf16 %0, %1;" : "=h"(result.__x) : "h"(a.__x));
  return result;
#else
  return htanh(a);
#endif
}
static __device__ __inline__ __nv_bfloat162 h2tanh_approx(__nv_bfloat162 a) {
  return __nv_bfloat162(htanh_approx(a.x), htanh_approx(a.y));
}
#endif

// --- warps, memory, atomics
// ------------------------------------------------------------------------------------------------
#if defined(__CUDA__)
#define ORDITO_DEVICE static __device__ __inline__ __attribute__((always_inline))

namespace ordito_detail {
ORDITO_DEVICE unsigned int bitsOf(__nv_bfloat16 h) { return h.__x; }
ORDITO_DEVICE unsigned int bitsOf(__nv_bfloat162 h) { return h.x.__x | (unsigned int)h.y.__x << 16; }
ORDITO_DEVICE void setBits(__nv_bfloat16& h, unsigned int bits) { h.__x = (unsigned short)bits; }
ORDITO_DEVICE void setBits(__nv_bfloat162& h, unsigned int bits) {
  h.x.__x = (unsigned short)bits;
  h.y.__x = (unsigned short)(bits >> 16);
}
}  // namespace ordito_detail

#define ORDITO_BFLOAT_SHUFFLE(name, type, lane_type)                                       \
  ORDITO_DEVICE type name(unsigned int mask, type value, lane_type lane, int width = 32) { \
    type result;                                                                           \
    ordito_detail::setBits(result, name(mask, ordito_detail::bitsOf(value), lane, width)); \
    return result;                                                                         \
  }
#define ORDITO_BFLOAT_SHUFFLES(type)                          \
  ORDITO_BFLOAT_SHUFFLE(__shfl_sync, type, int)               \
  ORDITO_BFLOAT_SHUFFLE(__shfl_up_sync, type, unsigned int)   \
  ORDITO_BFLOAT_SHUFFLE(__shfl_down_sync, type, unsigned int) \
  ORDITO_BFLOAT_SHUFFLE(__shfl_xor_sync, type, int)
ORDITO_BFLOAT_SHUFFLES(__nv_bfloat16)
ORDITO_BFLOAT_SHUFFLES(__nv_bfloat162)
#undef ORDITO_BFLOAT_SHUFFLES
#undef ORDITO_BFLOAT_SHUFFLE

#define ORDITO_BFLOAT_LOAD(name)                                                     \
  ORDITO_DEVICE __nv_bfloat16 name(const __nv_bfloat16* pointer) {                   \
    return __ushort_as_bfloat16(name((const unsigned short*)(const void*)pointer));  \
  }                                                                                  \
  ORDITO_DEVICE __nv_bfloat162 name(const __nv_bfloat162* pointer) {                 \
    __nv_bfloat162 result;                                                           \
    ordito_detail::setBits(result, name((const unsigned int*)(const void*)pointer)); \
    return result;                                                                   \
  }
ORDITO_BFLOAT_LOAD(__ldg)
ORDITO_BFLOAT_LOAD(__ldca)
ORDITO_BFLOAT_LOAD(__ldcg)
ORDITO_BFLOAT_LOAD(__ldcs)
#undef ORDITO_BFLOAT_LOAD
#define ORDITO_BFLOAT_STORE(name)                                          \
  ORDITO_DEVICE void name(__nv_bfloat16* pointer, __nv_bfloat16 value) {   \
    name((unsigned short*)(void*)pointer, value.__x);                      \
  }                                                                        \
  ORDITO_DEVICE void name(__nv_bfloat162* pointer, __nv_bfloat162 value) { \
    name((unsigned int*)(void*)pointer, ordito_detail::bitsOf(value));     \
  }
ORDITO_BFLOAT_STORE(__stwb)
ORDITO_BFLOAT_STORE(__stcg)
ORDITO_BFLOAT_STORE(__stcs)
ORDITO_BFLOAT_STORE(__stwt)
#undef ORDITO_BFLOAT_STORE

// Added by comparing and swapping, as a GPU before sm_90 does it: `atom.add` of bfloat16 came with that.
ORDITO_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
  unsigned int* word = (unsigned int*)(void*)address;
  unsigned int seen = *(volatile unsigned int*)word, expected;
  __nv_bfloat162 old;
  do {
    expected = seen;
    ordito_detail::setBits(old, expected);
    seen = atomicCAS(word, expected, ordito_detail::bitsOf(old + value));
  } while (seen != expected);
  return old;
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
ORDITO_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
  unsigned short* word = (unsigned short*)(void*)address;
  unsigned short seen = *(volatile unsigned short*)word, expected;
  do {
    expected = seen;
    seen = atomicCAS(word, expected, (__ushort_as_bfloat16(expected) + value).__x);
  } while (seen != expected);
  return __ushort_as_bfloat16(expected);
}
#endif
#undef ORDITO_DEVICE
#endif

#undef ORDITO_HD
#undef ORDITO_MEMBER

#endif
#endif
