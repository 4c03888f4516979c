// What the formats of eight, six and four bits share: rounding a double to one, its value, and the classes that hold
// one, two or four. A double holds every other format exactly, so each result is rounded once. Included by cuda_fp8.h.
#ifndef ORDITO_SMALL_FLOATS_H
#define ORDITO_SMALL_FLOATS_H

#include <type_traits>

#define ORDITO_MEMBER __host__ __device__ __attribute__((always_inline))

namespace ordito_detail {

struct SmallFloat {
  int fraction_bits, bias;
  unsigned largest;  // the code of the largest number, without sign
};

static __inline__ __host__ __device__ bool signOf(double value) {
  unsigned long long bits;
  memcpy(&bits, &value, 8);
  return bits >> 63 != 0;
}

/// The code of the magnitude, or the largest code and one. `value` is no NaN.
static __inline__ __host__ __device__ unsigned smallFloat(double value, SmallFloat layout,
                                                          enum cudaRoundMode rounding) {
  const bool negative = signOf(value);
  unsigned long long bits;
  memcpy(&bits, &value, 8);
  bits &= 0x7fffffffffffffffull;
  // Below the smallest normal exponent the last place keeps its worth: that makes subnormal numbers.
  const int exponent = (int)(bits >> 52) - 1023;
  if (exponent > 16) return layout.largest + 1;
  const int scale = exponent < 1 - layout.bias ? 1 - layout.bias : exponent;
  const int shift = 52 - layout.fraction_bits + (scale - exponent);
  const bool away = rounding == (negative ? cudaRoundMinInf : cudaRoundPosInf);
  if (shift > 54) return away && bits != 0 ? 1 : 0;  // less than half of the last place
  const unsigned long long significand = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const unsigned long long rest = significand & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  // The leading one of a normal number adds to the exponent's field, as does a carry.
  unsigned code = (unsigned)(significand >> shift) + ((unsigned)(scale + layout.bias - 1) << layout.fraction_bits);
  const bool nearest = rounding == cudaRoundNearest && (rest > half || (rest == half && (code & 1u)));
  if (nearest || (away && rest != 0)) ++code;
  return code > layout.largest ? layout.largest + 1 : code;
}

/// In a format without infinity and NaN: what is too large becomes the largest, NaN the positive largest.
static __inline__ __host__ __device__ unsigned finiteSmallFloat(double value, SmallFloat layout, unsigned sign,
                                                                enum cudaRoundMode rounding) {
  if (value != value) return layout.largest;
  const unsigned code = smallFloat(value, layout, rounding);
  return (signOf(value) ? sign : 0u) | (code > layout.largest ? layout.largest : code);
}

static __inline__ __host__ __device__ float valueOf(unsigned code, SmallFloat layout, unsigned sign) {
  const unsigned fraction = code & ((1u << layout.fraction_bits) - 1);
  const int field = (int)((code & (sign - 1)) >> layout.fraction_bits);
  const int exponent = (field == 0 ? 1 : field) - layout.bias - layout.fraction_bits;
  const float significand = (float)(field == 0 ? fraction : fraction | 1u << layout.fraction_bits);
  const float magnitude = exponent < 0 ? significand / (float)(1u << -exponent) : significand * (float)(1u << exponent);
  return code & sign ? -magnitude : magnitude;
}

/// An integer of a float: cut off, kept in range, zero for NaN.
template <class Integer>
static __inline__ __host__ __device__ Integer keptInteger(float value) {
  return value != value ? Integer(0) : integerOf<Integer>(value);
}

template <class Format>
struct SmallFloat1 {
  typename Format::Storage __x;

  SmallFloat1() = default;
  template <class Number, class = typename std::enable_if<std::is_arithmetic<Number>::value>::type>
  ORDITO_MEMBER explicit SmallFloat1(Number x) : __x((typename Format::Storage)Format::code((double)x)) {}
  ORDITO_MEMBER explicit SmallFloat1(__half x) : SmallFloat1(__half2float(x)) {}
  ORDITO_MEMBER explicit SmallFloat1(__nv_bfloat16 x) : SmallFloat1(__bfloat162float(x)) {}

  ORDITO_MEMBER explicit operator float() const { return Format::value(__x); }
  ORDITO_MEMBER explicit operator double() const { return Format::value(__x); }
  ORDITO_MEMBER explicit operator __half() const { return __float2half(Format::value(__x)); }
  ORDITO_MEMBER explicit operator __nv_bfloat16() const { return __float2bfloat16(Format::value(__x)); }
  ORDITO_MEMBER explicit operator bool() const { return Format::value(__x) != 0; }
  template <class Integer, class = typename std::enable_if<std::is_integral<Integer>::value>::type>
  ORDITO_MEMBER explicit operator Integer() const {
    return keptInteger<Integer>(Format::value(__x));
  }
};

template <class Format>
struct SmallFloat2 {
  typename Format::Storage2 __x;

  SmallFloat2() = default;
  ORDITO_MEMBER explicit SmallFloat2(double2 x)
      : __x((typename Format::Storage2)(Format::code(x.x) | Format::code(x.y) << Format::kBits)) {}
  ORDITO_MEMBER explicit SmallFloat2(float2 x) : SmallFloat2(make_double2(x.x, x.y)) {}
  ORDITO_MEMBER explicit SmallFloat2(__half2 x) : SmallFloat2(__half22float2(x)) {}
  ORDITO_MEMBER explicit SmallFloat2(__nv_bfloat162 x) : SmallFloat2(__bfloat1622float2(x)) {}

  ORDITO_MEMBER explicit operator float2() const { return make_float2(at(0), at(1)); }
  ORDITO_MEMBER explicit operator __half2() const { return __floats2half2_rn(at(0), at(1)); }
  ORDITO_MEMBER explicit operator __nv_bfloat162() const { return __floats2bfloat162_rn(at(0), at(1)); }

 private:
  ORDITO_MEMBER float at(int i) const {
    return Format::value((unsigned)__x >> (i * Format::kBits) & ((1u << Format::kBits) - 1));
  }
};

template <class Format>
struct SmallFloat4 {
  typename Format::Storage4 __x;

  SmallFloat4() = default;
  ORDITO_MEMBER explicit SmallFloat4(double4 x)
      : __x(join(SmallFloat2<Format>(make_double2(x.x, x.y)), SmallFloat2<Format>(make_double2(x.z, x.w)))) {}
  ORDITO_MEMBER explicit SmallFloat4(float4 x) : SmallFloat4(make_double4(x.x, x.y, x.z, x.w)) {}
  ORDITO_MEMBER explicit SmallFloat4(__half2 low, __half2 high)
      : __x(join(SmallFloat2<Format>(low), SmallFloat2<Format>(high))) {}
  ORDITO_MEMBER explicit SmallFloat4(__nv_bfloat162 low, __nv_bfloat162 high)
      : __x(join(SmallFloat2<Format>(low), SmallFloat2<Format>(high))) {}

  ORDITO_MEMBER explicit operator float4() const { return make_float4(at(0), at(1), at(2), at(3)); }

 private:
  ORDITO_MEMBER static typename Format::Storage4 join(SmallFloat2<Format> low, SmallFloat2<Format> high) {
    return (typename Format::Storage4)((unsigned)low.__x | (unsigned)high.__x << (2 * Format::kBits));
  }
  ORDITO_MEMBER float at(int i) const {
    return Format::value((unsigned)__x >> (i * Format::kBits) & ((1u << Format::kBits) - 1));
  }
};

}  // namespace ordito_detail

#define ORDITO_SMALL_FLOAT_CLASSES(one, two, four, format) \
  struct one : ordito_detail::SmallFloat1<format> {        \
    one() = default;                                       \
    using ordito_detail::SmallFloat1<format>::SmallFloat1; \
  };                                                       \
  struct two : ordito_detail::SmallFloat2<format> {        \
    two() = default;                                       \
    using ordito_detail::SmallFloat2<format>::SmallFloat2; \
  };                                                       \
  struct four : ordito_detail::SmallFloat4<format> {       \
    four() = default;                                      \
    using ordito_detail::SmallFloat4<format>::SmallFloat4; \
  };

/// The conversions of a family of formats without infinity and NaN: `fp` is fp4 or fp6, `sign` the bit of the sign,
/// `bits` what an element of a pair takes. ordito_detail::finiteCode(x, format, rounding) gives a number's code.
#define ORDITO_SMALL_FLOAT_CONVERSIONS(fp, sign, bits)                                                                 \
  ORDITO_HD __nv_##fp##_storage_t __nv_cvt_double_to_##fp(double x, __nv_##fp##_interpretation_t f,                    \
                                                          enum cudaRoundMode r) {                                      \
    return ordito_detail::finiteCode(x, f, r);                                                                         \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##_storage_t __nv_cvt_float_to_##fp(float x, __nv_##fp##_interpretation_t f,                      \
                                                         enum cudaRoundMode r) {                                       \
    return ordito_detail::finiteCode(x, f, r);                                                                         \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##_storage_t __nv_cvt_halfraw_to_##fp(__half_raw x, __nv_##fp##_interpretation_t f,               \
                                                           enum cudaRoundMode r) {                                     \
    return ordito_detail::finiteCode(ordito_detail::halfToFloat(x.x), f, r);                                           \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##_storage_t __nv_cvt_bfloat16raw_to_##fp(__nv_bfloat16_raw x, __nv_##fp##_interpretation_t f,    \
                                                               enum cudaRoundMode r) {                                 \
    return ordito_detail::finiteCode(ordito_detail::floatOfBfloat16(x), f, r);                                         \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##x2_storage_t __nv_cvt_double2_to_##fp##x2(double2 x, __nv_##fp##_interpretation_t f,            \
                                                                 enum cudaRoundMode r) {                               \
    return (__nv_##fp##x2_storage_t)(__nv_cvt_double_to_##fp(x.x, f, r) | __nv_cvt_double_to_##fp(x.y, f, r) << bits); \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##x2_storage_t __nv_cvt_float2_to_##fp##x2(float2 x, __nv_##fp##_interpretation_t f,              \
                                                                enum cudaRoundMode r) {                                \
    return __nv_cvt_double2_to_##fp##x2(make_double2(x.x, x.y), f, r);                                                 \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##x2_storage_t __nv_cvt_halfraw2_to_##fp##x2(__half2_raw x, __nv_##fp##_interpretation_t f,       \
                                                                  enum cudaRoundMode r) {                              \
    return __nv_cvt_double2_to_##fp##x2(                                                                               \
        make_double2(ordito_detail::halfToFloat(x.x), ordito_detail::halfToFloat(x.y)), f, r);                         \
  }                                                                                                                    \
  ORDITO_HD __nv_##fp##x2_storage_t __nv_cvt_bfloat16raw2_to_##fp##x2(                                                 \
      __nv_bfloat162_raw x, __nv_##fp##_interpretation_t f, enum cudaRoundMode r) {                                    \
    return __nv_cvt_double2_to_##fp##x2(make_double2(ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.x}),           \
                                                     ordito_detail::floatOfBfloat16(__nv_bfloat16_raw{x.y})),          \
                                        f, r);                                                                         \
  }                                                                                                                    \
  ORDITO_HD __half_raw __nv_cvt_##fp##_to_halfraw(__nv_##fp##_storage_t x, __nv_##fp##_interpretation_t f) {           \
    return __half_raw{ordito_detail::floatToHalf(ordito_detail::valueOf(x, ordito_detail::layoutOf(f), sign))};        \
  }                                                                                                                    \
  ORDITO_HD __half2_raw __nv_cvt_##fp##x2_to_halfraw2(__nv_##fp##x2_storage_t x, __nv_##fp##_interpretation_t f) {     \
    return __half2_raw{__nv_cvt_##fp##_to_halfraw((__nv_##fp##_storage_t)x, f).x,                                      \
                       __nv_cvt_##fp##_to_halfraw((__nv_##fp##_storage_t)(x >> bits), f).x};                           \
  }

#undef ORDITO_MEMBER

#endif
