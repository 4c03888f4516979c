// Sums, differences, products and fused steps of bfloat16, alone and in pairs; cuda_bf16.h includes it.
//
// A GPU since sm_80 has an instruction for the fused step, of which the others are made there; since sm_90 it has one
// for each. Elsewhere, on the host among others, they are computed in float and rounded to nearest even. That is the
// correctly rounded result where it is not subnormal, since a float has more than twice a bfloat16's bits.

namespace ordito_detail {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define ORDITO_BFLOAT_FUNCTION static __device__ __inline__ __attribute__((always_inline))
template <class Bits, class T>
ORDITO_BFLOAT_FUNCTION Bits bitsAs(T value) {
  Bits bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
#define ORDITO_BFLOAT_FUSED(T, Bits, kind, suffix)                                  \
  ORDITO_BFLOAT_FUNCTION T fused(T a, T b, T c) {                                   \
    Bits d;                                                                         \
    __asm__("fma.rn." suffix " %0, %1, %2, %3;"                                     \
            : "=" kind(d)                                                           \
            : kind(bitsAs<Bits>(a)), kind(bitsAs<Bits>(b)), kind(bitsAs<Bits>(c))); \
    return bitsAs<T>(d);                                                            \
  }
ORDITO_BFLOAT_FUSED(__nv_bfloat16, unsigned short, "h", "bf16")
ORDITO_BFLOAT_FUSED(__nv_bfloat162, unsigned int, "r", "bf16x2")
#undef ORDITO_BFLOAT_FUSED
#if __CUDA_ARCH__ >= 900
#define ORDITO_BFLOAT_OF_TWO(name, instruction, T, Bits, kind, suffix, ...)                                      \
  ORDITO_BFLOAT_FUNCTION T name(T a, T b) {                                                                      \
    Bits d;                                                                                                      \
    __asm__(instruction "." suffix " %0, %1, %2;" : "=" kind(d) : kind(bitsAs<Bits>(a)), kind(bitsAs<Bits>(b))); \
    return bitsAs<T>(d);                                                                                         \
  }
#else
#define ORDITO_BFLOAT_OF_TWO(name, instruction, T, Bits, kind, suffix, ...) \
  ORDITO_BFLOAT_FUNCTION T name(T a, T b) { return fused(__VA_ARGS__); }
#endif
// Without .rn the GPU's compiler may fuse a product with a sum.
#define ORDITO_BFLOAT_ALL(T, Bits, kind, suffix, one, minusOne, minusZero)                                  \
  ORDITO_BFLOAT_OF_TWO(sumOf, "add", T, Bits, kind, suffix, a, bitsAs<T>((Bits)(one)), b)                   \
  ORDITO_BFLOAT_OF_TWO(differenceOf, "sub", T, Bits, kind, suffix, b, bitsAs<T>((Bits)(minusOne)), a)       \
  ORDITO_BFLOAT_OF_TWO(productOf, "mul", T, Bits, kind, suffix, a, b, bitsAs<T>((Bits)(minusZero)))         \
  ORDITO_BFLOAT_OF_TWO(sumAlone, "add.rn", T, Bits, kind, suffix, a, bitsAs<T>((Bits)(one)), b)             \
  ORDITO_BFLOAT_OF_TWO(differenceAlone, "sub.rn", T, Bits, kind, suffix, b, bitsAs<T>((Bits)(minusOne)), a) \
  ORDITO_BFLOAT_OF_TWO(productAlone, "mul.rn", T, Bits, kind, suffix, a, b, bitsAs<T>((Bits)(minusZero)))
ORDITO_BFLOAT_ALL(__nv_bfloat16, unsigned short, "h", "bf16", 0x3f80, 0xbf80, 0x8000)
ORDITO_BFLOAT_ALL(__nv_bfloat162, unsigned int, "r", "bf16x2", 0x3f803f80, 0xbf80bf80, 0x80008000)
#undef ORDITO_BFLOAT_ALL
#undef ORDITO_BFLOAT_FUNCTION
#else
// The product is exact in float; with the sum in double only the last step rounds.
ORDITO_HD __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  const double sum = (double)__bfloat162float(a) * __bfloat162float(b) + __bfloat162float(c);
  float f = (float)sum;
  // Rounding twice errs only where the float lies halfway between two bfloat16; its last bit then says which side the
  // sum is on.
  if ((floatBits(f) & 0xffffu) == 0x8000u && (double)f != sum) {
    unsigned int bits = floatBits(f);
    bits = (fabs(sum) > fabs((double)f)) ? bits + 1 : bits - 1;
    memcpy(&f, &bits, 4);
  }
  return __float2bfloat16(f);
}
ORDITO_HD __nv_bfloat162 fused(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __nv_bfloat162(fused(a.x, b.x, c.x), fused(a.y, b.y, c.y));
}
#define ORDITO_BFLOAT_OF_TWO(name, op)                                    \
  ORDITO_HD __nv_bfloat16 name##Of(__nv_bfloat16 a, __nv_bfloat16 b) {    \
    return __float2bfloat16(__bfloat162float(a) op __bfloat162float(b));  \
  }                                                                       \
  ORDITO_HD __nv_bfloat162 name##Of(__nv_bfloat162 a, __nv_bfloat162 b) { \
    return __nv_bfloat162(name##Of(a.x, b.x), name##Of(a.y, b.y));        \
  }                                                                       \
  template <class T>                                                      \
  ORDITO_HD T name##Alone(T a, T b) {                                     \
    return name##Of(a, b);                                                \
  }
ORDITO_BFLOAT_OF_TWO(sum, +)
ORDITO_BFLOAT_OF_TWO(difference, -)
ORDITO_BFLOAT_OF_TWO(product, *)
#endif
#undef ORDITO_BFLOAT_OF_TWO

/// Quotients are the approximate ones of float. That is zero for divisors above 2^126, so both are scaled then.
ORDITO_HD __nv_bfloat16 quotientOf(__nv_bfloat16 a, __nv_bfloat16 b) {
  const float x = __bfloat162float(a), y = __bfloat162float(b);
#if defined(__CUDA_ARCH__)
  const float scale = fabsf(y) > 0x1p126f ? 0.25f : 1.0f;
  float quotient;
  __asm__("div.approx.f32 %0, %1, %2;" : "=f"(quotient) : "f"(x * scale), "f"(y * scale));
  return __float2bfloat16(quotient);
#else
  return __float2bfloat16(x / y);
#endif
}
ORDITO_HD __nv_bfloat162 quotientOf(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(quotientOf(a.x, b.x), quotientOf(a.y, b.y));
}
}  // namespace ordito_detail
