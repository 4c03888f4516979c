// Comparisons and saturating arithmetic of one 16-bit type and its pairs, for cuda_fp16.h and cuda_bf16.h. From there
// come ORDITO_HD, `number` (what a value is compared as) and `truth` (1 or 0: conversions can be switched off).
//
// The plain comparisons are false where an operand is NaN, those with u are true: so each is written out.
#ifndef ORDITO_HALF_COMPARISONS_H
#define ORDITO_HALF_COMPARISONS_H

#define ORDITO_COMPARE_ONE(type, pair, name, holds)                        \
  ORDITO_HD bool __h##name(type a, type b) {                               \
    const auto x = ordito_detail::number(a), y = ordito_detail::number(b); \
    return holds;                                                          \
  }
#define ORDITO_COMPARE_PAIRS(type, pair, name, suffix)                                                           \
  ORDITO_HD pair __h##name##suffix(pair a, pair b) {                                                             \
    return pair(ordito_detail::truth(a.x, __h##name(a.x, b.x)), ordito_detail::truth(a.y, __h##name(a.y, b.y))); \
  }                                                                                                              \
  ORDITO_HD unsigned int __h##name##suffix##_mask(pair a, pair b) {                                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                      \
  }                                                                                                              \
  ORDITO_HD bool __hb##name##suffix(pair a, pair b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define ORDITO_COMPARE(type, pair, name, ordered, unordered) \
  ORDITO_COMPARE_ONE(type, pair, name, ordered)              \
  ORDITO_COMPARE_ONE(type, pair, name##u, unordered)         \
  ORDITO_COMPARE_PAIRS(type, pair, name, 2)                  \
  ORDITO_COMPARE_PAIRS(type, pair, name##u, 2)
#define ORDITO_COMPARISONS(type, pair)                                                               \
  ORDITO_COMPARE(type, pair, eq, x == y, !(x < y || x > y))                                          \
  ORDITO_COMPARE(type, pair, ne, (x < y || x > y), x != y)                                           \
  ORDITO_COMPARE(type, pair, lt, x < y, !(x >= y))                                                   \
  ORDITO_COMPARE(type, pair, le, x <= y, !(x > y))                                                   \
  ORDITO_COMPARE(type, pair, gt, x > y, !(x <= y))                                                   \
  ORDITO_COMPARE(type, pair, ge, x >= y, !(x < y))                                                   \
  ORDITO_HD pair __hisnan2(pair a) {                                                                 \
    return pair(ordito_detail::truth(a.x, __hisnan(a.x)), ordito_detail::truth(a.y, __hisnan(a.y))); \
  }

// Saturating forms clamp to [0, 1] with NaN to 0; relu forms clamp to what is not negative and keep NaN.
#define ORDITO_SATURATING_ONE(type, pair, name)                                                      \
  ORDITO_HD type __h##name##_sat(type a, type b) { return ordito_detail::clamp01(__h##name(a, b)); } \
  ORDITO_HD pair __h##name##2_sat(pair a, pair b) { return pair(__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y)); }
#define ORDITO_SATURATING(type, pair)                                                                      \
  namespace ordito_detail {                                                                                \
  ORDITO_HD type clamp01(type h) { return __hmin(__hmax(h, truth(h, false)), truth(h, true)); }            \
  ORDITO_HD type relu(type h) { return __hmax_nan(h, truth(h, false)); }                                   \
  }                                                                                                        \
  ORDITO_SATURATING_ONE(type, pair, add)                                                                   \
  ORDITO_SATURATING_ONE(type, pair, sub)                                                                   \
  ORDITO_SATURATING_ONE(type, pair, mul)                                                                   \
  ORDITO_HD type __hfma_sat(type a, type b, type c) { return ordito_detail::clamp01(__hfma(a, b, c)); }    \
  ORDITO_HD type __hfma_relu(type a, type b, type c) { return ordito_detail::relu(__hfma(a, b, c)); }      \
  ORDITO_HD pair __hfma2_sat(pair a, pair b, pair c) {                                                     \
    return pair(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));                                     \
  }                                                                                                        \
  ORDITO_HD pair __hfma2_relu(pair a, pair b, pair c) {                                                    \
    return pair(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));                                   \
  }                                                                                                        \
  /* Complex numbers, real part low: a * b + c, each part by two fused steps. */                           \
  ORDITO_HD pair __hcmadd(pair a, pair b, pair c) {                                                        \
    return pair(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))); \
  }

// To integers. Out of range gives the nearest integer; NaN gives 0, in 64 bits the top bit alone (as PTX's cvt does).
namespace ordito_detail {
template <class Integer>
static __inline__ __host__ __device__ Integer integerOf(float value) {
  constexpr bool is_signed = Integer(-1) < Integer(0);
  constexpr Integer top = Integer(Integer(1) << (sizeof(Integer) * 8 - 1));
  constexpr Integer lowest = is_signed ? top : Integer(0), highest = Integer(~lowest);
  if (value != value) return sizeof(Integer) == 8 ? top : Integer(0);
  if (value <= (float)lowest) return lowest;
  return value >= (float)highest ? highest : Integer(value);
}
}  // namespace ordito_detail
#define ORDITO_TO_INTEGER(type, prefix, to_float, name, integer)                                                 \
  ORDITO_HD integer prefix##name##_rn(type h) { return ordito_detail::integerOf<integer>(rintf(to_float(h))); }  \
  ORDITO_HD integer prefix##name##_rz(type h) { return ordito_detail::integerOf<integer>(truncf(to_float(h))); } \
  ORDITO_HD integer prefix##name##_rd(type h) { return ordito_detail::integerOf<integer>(floorf(to_float(h))); } \
  ORDITO_HD integer prefix##name##_ru(type h) { return ordito_detail::integerOf<integer>(ceilf(to_float(h))); }
#define ORDITO_TO_INTEGERS(type, prefix, to_float)                                                             \
  ORDITO_TO_INTEGER(type, prefix, to_float, int, int)                                                          \
  ORDITO_TO_INTEGER(type, prefix, to_float, uint, unsigned int)                                                \
  ORDITO_TO_INTEGER(type, prefix, to_float, short, short)                                                      \
  ORDITO_TO_INTEGER(type, prefix, to_float, ushort, unsigned short)                                            \
  ORDITO_TO_INTEGER(type, prefix, to_float, ll, long long)                                                     \
  ORDITO_TO_INTEGER(type, prefix, to_float, ull, unsigned long long)                                           \
  ORDITO_HD signed char prefix##char_rz(type h) { return ordito_detail::integerOf<signed char>(to_float(h)); } \
  ORDITO_HD unsigned char prefix##uchar_rz(type h) { return ordito_detail::integerOf<unsigned char>(to_float(h)); }

#endif
