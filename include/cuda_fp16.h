// Half precision: __half and __half2 with their conversions, arithmetic, comparisons, math and warp shuffles.
//
// A value is kept as its bits (programs and Thrust look at the member __x). On the device it is computed as clang's
// _Float16, which are PTX's own f16 and f16x2 instructions; on the host as float, rounded to half by each operation: a
// float has more than twice a half's bits, so that is the correctly rounded result. The conversions are written out,
// because a host without F16C would call a library for each.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"

#define CUDA_FP16_TYPES_EXIST__

#if defined(__cplusplus)

#include <math.h>
#include <string.h>

#define ORDITO_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

#include "ordito/half_comparisons.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x;
  unsigned short y;
};

typedef _Float16 ordito_f16;
#ifdef __clang__
typedef _Float16 ordito_f16x2 __attribute__((ext_vector_type(2)));
#else
typedef _Float16 ordito_f16x2 __attribute__((vector_size(4)));
#endif

namespace ordito_detail {
#if defined(__CUDA_ARCH__)
typedef ordito_f16 HalfNumber;  // what a half is computed as
#else
typedef float HalfNumber;
#endif
ORDITO_HD float halfToFloat(unsigned short half) {
#if defined(__CUDA_ARCH__)
  ordito_f16 value;
  memcpy(&value, &half, 2);
  return (float)value;
#else
  // Exponent and fraction in a float's place, then scaled by what the exponents' biases differ. That makes subnormal
  // numbers right, too; what was infinity or NaN has become 2^16 or more.
  unsigned int bits = (half & 0x7fffu) << 13;
  float value;
  memcpy(&value, &bits, 4);
  value *= 5.192296858534828e33f;  // 2^112
  memcpy(&bits, &value, 4);
  if (bits >= 0x47800000u) bits |= 0x7f800000u;
  bits |= (half & 0x8000u) << 16;
  memcpy(&value, &bits, 4);
  return value;
#endif
}
/// To nearest, ties to even.
ORDITO_HD unsigned short floatToHalf(float value) {
#if defined(__CUDA_ARCH__)
  const ordito_f16 half = (ordito_f16)value;
  unsigned short result;
  memcpy(&result, &half, 2);
  return result;
#else
  unsigned int bits;
  memcpy(&bits, &value, 4);
  const unsigned int sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return 0x7fff;
  if (bits >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);  // 65520 and more
  if (bits < 0x38800000u) {
    // Subnormal: the sum with 1/2, whose last bit is worth what a half's last bit is, rounds.
    float sum;
    memcpy(&sum, &bits, 4);
    sum += 0.5f;
    memcpy(&bits, &sum, 4);
    return (unsigned short)(sign | (bits - 0x3f000000u));
  }
  bits += 0xfffu + (bits >> 13 & 1u);
  return (unsigned short)(sign | (bits - 0x38000000u) >> 13);
#endif
}
}  // namespace ordito_detail

struct __half {
  unsigned short __x;

  __half() = default;
  ORDITO_MEMBER __half(const __half_raw& raw) : __x(raw.x) {}
  ORDITO_MEMBER __half(ordito_f16 value) { memcpy(&__x, &value, 2); }
#if !defined(__CUDA_NO_HALF_CONVERSIONS__)
  ORDITO_MEMBER __half(float value) : __x(ordito_detail::floatToHalf(value)) {}
  ORDITO_MEMBER __half(double value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(short value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(unsigned short value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(int value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(unsigned int value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(long value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(unsigned long value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(long long value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER __half(unsigned long long value) : __half((ordito_f16)value) {}
  ORDITO_MEMBER operator float() const { return ordito_detail::halfToFloat(__x); }
  ORDITO_MEMBER explicit operator bool() const { return value() != (ordito_f16)0; }
  ORDITO_MEMBER explicit operator double() const { return (double)value(); }
  ORDITO_MEMBER explicit operator signed char() const { return (signed char)value(); }
  ORDITO_MEMBER explicit operator unsigned char() const { return (unsigned char)value(); }
  ORDITO_MEMBER explicit operator short() const { return (short)value(); }
  ORDITO_MEMBER explicit operator unsigned short() const { return (unsigned short)value(); }
  ORDITO_MEMBER explicit operator int() const { return (int)value(); }
  ORDITO_MEMBER explicit operator unsigned int() const { return (unsigned int)value(); }
  ORDITO_MEMBER explicit operator long() const { return (long)value(); }
  ORDITO_MEMBER explicit operator unsigned long() const { return (unsigned long)value(); }
  ORDITO_MEMBER explicit operator long long() const { return (long long)value(); }
  ORDITO_MEMBER explicit operator unsigned long long() const { return (unsigned long long)value(); }
#endif
  ORDITO_MEMBER operator __half_raw() const { return __half_raw{__x}; }
  ORDITO_MEMBER operator __half_raw() const volatile { return __half_raw{__x}; }
  ORDITO_MEMBER __half& operator=(const __half_raw& raw) {
    __x = raw.x;
    return *this;
  }
  ORDITO_MEMBER volatile __half& operator=(const __half_raw& raw) volatile {
    __x = raw.x;
    return *this;
  }
  ORDITO_MEMBER volatile __half& operator=(const volatile __half_raw& raw) volatile {
    __x = raw.x;
    return *this;
  }

  /// The number as it is computed with.
  ORDITO_MEMBER ordito_detail::HalfNumber number() const {
#if defined(__CUDA_ARCH__)
    return value();
#else
    return ordito_detail::halfToFloat(__x);
#endif
  }
  /// The number as the compiler knows it.
  ORDITO_MEMBER ordito_f16 value() const {
    ordito_f16 f;
    memcpy(&f, &__x, 2);
    return f;
  }
};

struct __attribute__((aligned(4))) __half2 {
  __half x;
  __half y;

  __half2() = default;
  ORDITO_MEMBER __half2(const __half& low, const __half& high) : x(low), y(high) {}
  ORDITO_MEMBER __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  ORDITO_MEMBER __half2(ordito_f16x2 pair) { memcpy((void*)this, &pair, 4); }
  ORDITO_MEMBER operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }

  ORDITO_MEMBER ordito_f16x2 value() const {
    ordito_f16x2 pair;
    memcpy(&pair, (const void*)this, 4);
    return pair;
  }
};

#if !defined(CUDA_NO_HALF)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

// --- bits and pairs
// ------------------------------------------------------------------------------------------------------
ORDITO_HD __half __ushort_as_half(unsigned short bits) { return __half(__half_raw{bits}); }
ORDITO_HD __half __short_as_half(short bits) { return __half(__half_raw{(unsigned short)bits}); }
ORDITO_HD unsigned short __half_as_ushort(__half h) { return h.__x; }
ORDITO_HD short __half_as_short(__half h) { return (short)h.__x; }
ORDITO_HD __half2 make_half2(__half low, __half high) { return __half2(low, high); }
ORDITO_HD __half2 __halves2half2(__half low, __half high) { return __half2(low, high); }
ORDITO_HD __half2 __half2half2(__half h) { return __half2(h, h); }
ORDITO_HD __half __low2half(__half2 h) { return h.x; }
ORDITO_HD __half __high2half(__half2 h) { return h.y; }
ORDITO_HD __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
ORDITO_HD __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
ORDITO_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
ORDITO_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
ORDITO_HD __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }

// --- conversions
// ---------------------------------------------------------------------------------------------------------
ORDITO_HD float __half2float(__half h) { return ordito_detail::halfToFloat(h.__x); }
ORDITO_HD __half __float2half(float f) { return __ushort_as_half(ordito_detail::floatToHalf(f)); }
ORDITO_HD __half __float2half_rn(float f) { return __float2half(f); }
ORDITO_HD __half __double2half(double f) { return __half((ordito_f16)f); }
ORDITO_HD float __low2float(__half2 h) { return __half2float(h.x); }
ORDITO_HD float __high2float(__half2 h) { return __half2float(h.y); }
ORDITO_HD __half2 __float2half2_rn(float f) { return __half2half2(__float2half(f)); }
ORDITO_HD __half2 __floats2half2_rn(float low, float high) { return __half2(__float2half(low), __float2half(high)); }
ORDITO_HD __half2 __float22half2_rn(float2 f) { return __floats2half2_rn(f.x, f.y); }
ORDITO_HD float2 __half22float2(__half2 h) { return make_float2(__low2float(h), __high2float(h)); }

namespace ordito_detail {
/// The half next to `h` in its sign's direction (`up`: away from zero): one step of the bits. Infinity steps down to
/// the largest number.
ORDITO_HD __half stepHalf(__half h, bool up) { return __ushort_as_half((unsigned short)(up ? h.__x + 1 : h.__x - 1)); }
/// The nearest half is at most one step from the one that rounding asks for.
ORDITO_HD __half towardsZero(float f) {
  const __half h = __float2half(f);
  return fabsf(__half2float(h)) > fabsf(f) ? stepHalf(h, false) : h;
}
ORDITO_HD __half downwards(float f) {
  const __half h = __float2half(f);
  if (!(__half2float(h) > f)) return h;
  if (h.__x == 0) return __ushort_as_half(0x8001);
  return stepHalf(h, (h.__x & 0x8000) != 0);
}
ORDITO_HD __half upwards(float f) {
  const __half h = __float2half(f);
  if (!(__half2float(h) < f)) return h;
  if ((h.__x & 0x7fff) == 0) return __ushort_as_half(0x0001);
  return stepHalf(h, (h.__x & 0x8000) == 0);
}
}  // namespace ordito_detail

ORDITO_HD __half __float2half_rz(float f) { return ordito_detail::towardsZero(f); }
ORDITO_HD __half __float2half_rd(float f) { return ordito_detail::downwards(f); }
ORDITO_HD __half __float2half_ru(float f) { return ordito_detail::upwards(f); }

ORDITO_TO_INTEGERS(__half, __half2, __half2float)

// A float holds every integer that a half can tell from infinity, so going through it rounds once.
#define ORDITO_HALF_FROM(name, type)                                                           \
  ORDITO_HD __half __##name##2half_rn(type i) { return __half((ordito_f16)i); }                \
  ORDITO_HD __half __##name##2half_rz(type i) { return ordito_detail::towardsZero((float)i); } \
  ORDITO_HD __half __##name##2half_rd(type i) { return ordito_detail::downwards((float)i); }   \
  ORDITO_HD __half __##name##2half_ru(type i) { return ordito_detail::upwards((float)i); }
ORDITO_HALF_FROM(int, int)
ORDITO_HALF_FROM(uint, unsigned int)
ORDITO_HALF_FROM(short, short)
ORDITO_HALF_FROM(ushort, unsigned short)
ORDITO_HALF_FROM(ll, long long)
ORDITO_HALF_FROM(ull, unsigned long long)
#undef ORDITO_HALF_FROM

// --- arithmetic
// ----------------------------------------------------------------------------------------------------------
namespace ordito_detail {
#if defined(__CUDA_ARCH__)
ORDITO_HD __half rounded(ordito_f16 number) { return __half(number); }
#else
ORDITO_HD __half rounded(float number) { return __float2half(number); }
#endif
}  // namespace ordito_detail
ORDITO_HD __half __hadd(__half a, __half b) { return ordito_detail::rounded(a.number() + b.number()); }
ORDITO_HD __half __hsub(__half a, __half b) { return ordito_detail::rounded(a.number() - b.number()); }
ORDITO_HD __half __hmul(__half a, __half b) { return ordito_detail::rounded(a.number() * b.number()); }
// The quotient in float, rounded again, is the rounded quotient: float has more than twice the bits.
ORDITO_HD __half __hdiv(__half a, __half b) { return __float2half(__half2float(a) / __half2float(b)); }
ORDITO_HD __half __hneg(__half a) {
#if defined(__CUDA_ARCH__)
  return __half(-a.value());
#else
  return __ushort_as_half((unsigned short)(a.__x ^ 0x8000));
#endif
}
ORDITO_HD __half __habs(__half a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  __asm__("abs.f16 %0, %0;" : "+h"(a.__x));  // LLVM would go by way of single precision
  return a;
#else
  return __ushort_as_half((unsigned short)(a.__x & 0x7fff));
#endif
}
ORDITO_HD __half __hfma(__half a, __half b, __half c) {
#if defined(__CUDA_ARCH__)
  return __half(__builtin_fmaf16(a.value(), b.value(), c.value()));
#else
  // Exact product and almost exact sum in double.
  return __half((ordito_f16)fma((double)a.number(), (double)b.number(), (double)c.number()));
#endif
}
#if defined(__CUDA_ARCH__)
ORDITO_HD __half2 __hadd2(__half2 a, __half2 b) { return __half2(a.value() + b.value()); }
ORDITO_HD __half2 __hsub2(__half2 a, __half2 b) { return __half2(a.value() - b.value()); }
ORDITO_HD __half2 __hmul2(__half2 a, __half2 b) { return __half2(a.value() * b.value()); }
#else
ORDITO_HD __half2 __hadd2(__half2 a, __half2 b) { return __half2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
ORDITO_HD __half2 __hsub2(__half2 a, __half2 b) { return __half2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
ORDITO_HD __half2 __hmul2(__half2 a, __half2 b) { return __half2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
#endif
ORDITO_HD __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
ORDITO_HD __half2 __hneg2(__half2 a) {
#if defined(__CUDA_ARCH__)
  return __half2(-a.value());
#else
  return __half2(__hneg(a.x), __hneg(a.y));
#endif
}
ORDITO_HD __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
ORDITO_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
#if defined(__CUDA_ARCH__)
  return __half2(__builtin_elementwise_fma(a.value(), b.value(), c.value()));
#else
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
ORDITO_HD __half __hadd_rn(__half a, __half b) { return __hadd(a, b); }
ORDITO_HD __half __hsub_rn(__half a, __half b) { return __hsub(a, b); }
ORDITO_HD __half __hmul_rn(__half a, __half b) { return __hmul(a, b); }
ORDITO_HD __half2 __hadd2_rn(__half2 a, __half2 b) { return __hadd2(a, b); }
ORDITO_HD __half2 __hsub2_rn(__half2 a, __half2 b) { return __hsub2(a, b); }
ORDITO_HD __half2 __hmul2_rn(__half2 a, __half2 b) { return __hmul2(a, b); }

// --- comparisons
// ---------------------------------------------------------------------------------------------------------------------
namespace ordito_detail {
ORDITO_HD HalfNumber number(__half h) { return h.number(); }
ORDITO_HD __half truth(__half, bool is) { return __float2half(is ? 1.0f : 0.0f); }
}  // namespace ordito_detail
ORDITO_HD bool __hisnan(__half a) { return (a.__x & 0x7fff) > 0x7c00; }
ORDITO_HD int __hisinf(__half a) { return a.__x == 0x7c00 ? 1 : a.__x == 0xfc00 ? -1 : 0; }
ORDITO_COMPARISONS(__half, __half2)

// A NaN gives way to the other operand; the forms with _nan pass it on.
ORDITO_HD __half __hmin(__half a, __half b) { return __half(__builtin_fminf16(a.value(), b.value())); }
ORDITO_HD __half __hmax(__half a, __half b) { return __half(__builtin_fmaxf16(a.value(), b.value())); }
ORDITO_HD __half __hmin_nan(__half a, __half b) {
  return __hisnan(a) || __hisnan(b) ? __ushort_as_half(0x7fff) : __hmin(a, b);
}
ORDITO_HD __half __hmax_nan(__half a, __half b) {
  return __hisnan(a) || __hisnan(b) ? __ushort_as_half(0x7fff) : __hmax(a, b);
}
ORDITO_HD __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
ORDITO_HD __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
ORDITO_HD __half2 __hmin2_nan(__half2 a, __half2 b) { return __half2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }
ORDITO_HD __half2 __hmax2_nan(__half2 a, __half2 b) { return __half2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }

ORDITO_SATURATING(__half, __half2)

#if !defined(__CUDA_NO_HALF_OPERATORS__)
#define ORDITO_HALF_OPERATOR(op, function)                                                  \
  ORDITO_HD __half operator op(const __half& a, const __half& b) { return function(a, b); } \
  ORDITO_HD __half& operator op##=(__half & a, const __half & b) { return a = function(a, b); }
ORDITO_HALF_OPERATOR(+, __hadd)
ORDITO_HALF_OPERATOR(-, __hsub)
ORDITO_HALF_OPERATOR(*, __hmul)
ORDITO_HALF_OPERATOR(/, __hdiv)
#undef ORDITO_HALF_OPERATOR
ORDITO_HD __half operator+(const __half& a) { return a; }
ORDITO_HD __half operator-(const __half& a) { return __hneg(a); }
ORDITO_HD __half& operator++(__half& a) { return a = __hadd(a, __half((ordito_f16)1)); }
ORDITO_HD __half& operator--(__half& a) { return a = __hsub(a, __half((ordito_f16)1)); }
ORDITO_HD bool operator==(const __half& a, const __half& b) { return __heq(a, b); }
ORDITO_HD bool operator!=(const __half& a, const __half& b) { return __hneu(a, b); }
ORDITO_HD bool operator<(const __half& a, const __half& b) { return __hlt(a, b); }
ORDITO_HD bool operator<=(const __half& a, const __half& b) { return __hle(a, b); }
ORDITO_HD bool operator>(const __half& a, const __half& b) { return __hgt(a, b); }
ORDITO_HD bool operator>=(const __half& a, const __half& b) { return __hge(a, b); }
#endif
#if !defined(__CUDA_NO_HALF2_OPERATORS__)
#define ORDITO_HALF2_OPERATOR(op, function)                                                    \
  ORDITO_HD __half2 operator op(const __half2& a, const __half2& b) { return function(a, b); } \
  ORDITO_HD __half2& operator op##=(__half2 & a, const __half2 & b) { return a = function(a, b); }
ORDITO_HALF2_OPERATOR(+, __hadd2)
ORDITO_HALF2_OPERATOR(-, __hsub2)
ORDITO_HALF2_OPERATOR(*, __hmul2)
ORDITO_HALF2_OPERATOR(/, __h2div)
#undef ORDITO_HALF2_OPERATOR
ORDITO_HD __half2 operator-(const __half2& a) { return __hneg2(a); }
ORDITO_HD bool operator==(const __half2& a, const __half2& b) { return __hbeq2(a, b); }
ORDITO_HD bool operator!=(const __half2& a, const __half2& b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
ORDITO_HD bool operator<(const __half2& a, const __half2& b) { return __hblt2(a, b); }
ORDITO_HD bool operator<=(const __half2& a, const __half2& b) { return __hble2(a, b); }
ORDITO_HD bool operator>(const __half2& a, const __half2& b) { return __hbgt2(a, b); }
ORDITO_HD bool operator>=(const __half2& a, const __half2& b) { return __hbge2(a, b); }
#endif

// --- math: computed in float, then rounded
// ---------------------------------------------------------------------------------
#define ORDITO_HALF_MATH(name, function)                                                 \
  ORDITO_HD __half h##name(__half a) { return __float2half(function(__half2float(a))); } \
  ORDITO_HD __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
namespace ordito_detail {
ORDITO_HD float reciprocal(float x) { return 1.0f / x; }
ORDITO_HD float reciprocalRoot(float x) { return 1.0f / sqrtf(x); }
ORDITO_HD float tenTo(float x) { return exp2f(x * 3.3219280948873623f); }
}  // namespace ordito_detail
ORDITO_HALF_MATH(ceil, ceilf)
ORDITO_HALF_MATH(floor, floorf)
ORDITO_HALF_MATH(trunc, truncf)
ORDITO_HALF_MATH(rint, rintf)
ORDITO_HALF_MATH(sqrt, sqrtf)
ORDITO_HALF_MATH(rsqrt, ordito_detail::reciprocalRoot)
ORDITO_HALF_MATH(rcp, ordito_detail::reciprocal)
ORDITO_HALF_MATH(exp, expf)
ORDITO_HALF_MATH(exp2, exp2f)
ORDITO_HALF_MATH(exp10, ordito_detail::tenTo)
ORDITO_HALF_MATH(log, logf)
ORDITO_HALF_MATH(log2, log2f)
ORDITO_HALF_MATH(log10, log10f)
ORDITO_HALF_MATH(sin, sinf)
ORDITO_HALF_MATH(cos, cosf)
ORDITO_HALF_MATH(tanh, tanhf)
#undef ORDITO_HALF_MATH
#if defined(__CUDA__)
static __device__ __inline__ __half htanh_approx(__half a) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
  __half result;
  asm("tanh.approx.f16 %0, %1;" : "=h"(result.__x) : "h"(a.__x));
  return result;
#else
  return htanh(a);
#endif
}
static __device__ __inline__ __half2 h2tanh_approx(__half2 a) { return __half2(htanh_approx(a.x), htanh_approx(a.y)); }
#endif

// --- warps, memory, atomics
// ------------------------------------------------------------------------------------------------
#if defined(__CUDA__)
#define ORDITO_DEVICE static __device__ __inline__ __attribute__((always_inline))

namespace ordito_detail {
ORDITO_DEVICE unsigned int bitsOf(__half h) { return h.__x; }
ORDITO_DEVICE unsigned int bitsOf(__half2 h) { return h.x.__x | (unsigned int)h.y.__x << 16; }
ORDITO_DEVICE void setBits(__half& h, unsigned int bits) { h.__x = (unsigned short)bits; }
ORDITO_DEVICE void setBits(__half2& h, unsigned int bits) {
  h.x.__x = (unsigned short)bits;
  h.y.__x = (unsigned short)(bits >> 16);
}
}  // namespace ordito_detail

#define ORDITO_HALF_SHUFFLE(name, type, lane_type)                                         \
  ORDITO_DEVICE type name(unsigned int mask, type value, lane_type lane, int width = 32) { \
    type result;                                                                           \
    ordito_detail::setBits(result, name(mask, ordito_detail::bitsOf(value), lane, width)); \
    return result;                                                                         \
  }
#define ORDITO_HALF_SHUFFLES(type)                          \
  ORDITO_HALF_SHUFFLE(__shfl_sync, type, int)               \
  ORDITO_HALF_SHUFFLE(__shfl_up_sync, type, unsigned int)   \
  ORDITO_HALF_SHUFFLE(__shfl_down_sync, type, unsigned int) \
  ORDITO_HALF_SHUFFLE(__shfl_xor_sync, type, int)
ORDITO_HALF_SHUFFLES(__half)
ORDITO_HALF_SHUFFLES(__half2)
#undef ORDITO_HALF_SHUFFLES
#undef ORDITO_HALF_SHUFFLE

#define ORDITO_HALF_LOAD(name)                                                       \
  ORDITO_DEVICE __half name(const __half* pointer) {                                 \
    return __ushort_as_half(name((const unsigned short*)(const void*)pointer));      \
  }                                                                                  \
  ORDITO_DEVICE __half2 name(const __half2* pointer) {                               \
    __half2 result;                                                                  \
    ordito_detail::setBits(result, name((const unsigned int*)(const void*)pointer)); \
    return result;                                                                   \
  }
ORDITO_HALF_LOAD(__ldg)
ORDITO_HALF_LOAD(__ldca)
ORDITO_HALF_LOAD(__ldcg)
ORDITO_HALF_LOAD(__ldcs)
#undef ORDITO_HALF_LOAD
#define ORDITO_HALF_STORE(name)                                                                                \
  ORDITO_DEVICE void name(__half* pointer, __half value) { name((unsigned short*)(void*)pointer, value.__x); } \
  ORDITO_DEVICE void name(__half2* pointer, __half2 value) {                                                   \
    name((unsigned int*)(void*)pointer, ordito_detail::bitsOf(value));                                         \
  }
ORDITO_HALF_STORE(__stwb)
ORDITO_HALF_STORE(__stcg)
ORDITO_HALF_STORE(__stcs)
ORDITO_HALF_STORE(__stwt)
#undef ORDITO_HALF_STORE

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
ORDITO_DEVICE __half atomicAdd(__half* address, __half value) {
  __half old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old.__x) : "l"(address), "h"(value.__x) : "memory");
  return old;
}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
ORDITO_DEVICE __half2 atomicAdd(__half2* address, __half2 value) {
  unsigned int old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(ordito_detail::bitsOf(value))
               : "memory");
  __half2 result;
  ordito_detail::setBits(result, old);
  return result;
}
#endif
#undef ORDITO_DEVICE
#endif

#undef ORDITO_HD
#undef ORDITO_MEMBER

#else
/* C programs only hand them on. */
typedef struct __half {
  unsigned short __x;
} __half;
#endif
#endif
