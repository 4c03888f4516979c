// Sums, smallest and largest of two and three integers at once, whole or in halves (the DPX functions of CUDA 12), for
// host and device. A sum wraps around; the relu forms are never negative.
#ifndef ORDITO_DPX_FUNCTIONS_H
#define ORDITO_DPX_FUNCTIONS_H

#define ORDITO_DPX static __inline__ __host__ __device__ __attribute__((always_inline))

namespace ordito_detail {
ORDITO_DPX int wrappedSum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
ORDITO_DPX unsigned wrappedSum(unsigned a, unsigned b) { return a + b; }
ORDITO_DPX short wrappedSum(short a, short b) { return (short)(a + b); }
ORDITO_DPX unsigned short wrappedSum(unsigned short a, unsigned short b) { return (unsigned short)(a + b); }
template <class T>
ORDITO_DPX T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
ORDITO_DPX T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
ORDITO_DPX T half(unsigned pair, int i) {
  return (T)(unsigned short)(pair >> (16 * i));
}
ORDITO_DPX unsigned pairOf(unsigned short low, unsigned short high) { return low | (unsigned)high << 16; }
}  // namespace ordito_detail

// One operation on whole integers, and on both halves of a word.
#define ORDITO_DPX_WHOLE2(name, type, result) \
  ORDITO_DPX type name(type a, type b) { return result; }
#define ORDITO_DPX_WHOLE3(name, type, result) \
  ORDITO_DPX type name(type a, type b, type c) { return result; }
#define ORDITO_DPX_HALVES2(name, whole, type)                                 \
  ORDITO_DPX unsigned name(unsigned a, unsigned b) {                          \
    using namespace ordito_detail;                                            \
    return pairOf((unsigned short)whole(half<type>(a, 0), half<type>(b, 0)),  \
                  (unsigned short)whole(half<type>(a, 1), half<type>(b, 1))); \
  }
#define ORDITO_DPX_HALVES3(name, whole, type)                                                   \
  ORDITO_DPX unsigned name(unsigned a, unsigned b, unsigned c) {                                \
    using namespace ordito_detail;                                                              \
    return pairOf((unsigned short)whole(half<type>(a, 0), half<type>(b, 0), half<type>(c, 0)),  \
                  (unsigned short)whole(half<type>(a, 1), half<type>(b, 1), half<type>(c, 1))); \
  }

// The same for largest and smallest. `pick` is of the three templates above.
#define ORDITO_DPX_FAMILY(word, pick)                                                                                  \
  ORDITO_DPX_WHOLE3(__vi##word##3_s32, int, pick(pick(a, b), c))                                                       \
  ORDITO_DPX_WHOLE3(__vi##word##3_u32, unsigned, pick(pick(a, b), c))                                                  \
  ORDITO_DPX_WHOLE3(__vi##word##3_s32_relu, int, ordito_detail::larger(pick(pick(a, b), c), 0))                        \
  ORDITO_DPX_WHOLE2(__vi##word##_s32_relu, int, ordito_detail::larger(pick(a, b), 0))                                  \
  ORDITO_DPX_WHOLE3(__viadd##word##_s32, int, pick(ordito_detail::wrappedSum(a, b), c))                                \
  ORDITO_DPX_WHOLE3(__viadd##word##_u32, unsigned, pick(ordito_detail::wrappedSum(a, b), c))                           \
  ORDITO_DPX_WHOLE3(__viadd##word##_s32_relu, int, ordito_detail::larger(pick(ordito_detail::wrappedSum(a, b), c), 0)) \
  namespace ordito_detail {                                                                                            \
  template <class T>                                                                                                   \
  ORDITO_DPX_WHOLE3(word##Of3, T, pick(pick(a, b), c))                                                                 \
  template <class T>                                                                                                   \
  ORDITO_DPX_WHOLE3(word##Of3Relu, T, larger(pick(pick(a, b), c), T(0)))                                               \
  template <class T>                                                                                                   \
  ORDITO_DPX_WHOLE2(word##Of2Relu, T, larger(pick(a, b), T(0)))                                                        \
  template <class T>                                                                                                   \
  ORDITO_DPX_WHOLE3(word##OfSum, T, pick(wrappedSum(a, b), c))                                                         \
  template <class T>                                                                                                   \
  ORDITO_DPX_WHOLE3(word##OfSumRelu, T, larger(pick(wrappedSum(a, b), c), T(0)))                                       \
  }                                                                                                                    \
  ORDITO_DPX_HALVES3(__vi##word##3_s16x2, word##Of3, short)                                                            \
  ORDITO_DPX_HALVES3(__vi##word##3_u16x2, word##Of3, unsigned short)                                                   \
  ORDITO_DPX_HALVES3(__vi##word##3_s16x2_relu, word##Of3Relu, short)                                                   \
  ORDITO_DPX_HALVES2(__vi##word##_s16x2_relu, word##Of2Relu, short)                                                    \
  ORDITO_DPX_HALVES3(__viadd##word##_s16x2, word##OfSum, short)                                                        \
  ORDITO_DPX_HALVES3(__viadd##word##_u16x2, word##OfSum, unsigned short)                                               \
  ORDITO_DPX_HALVES3(__viadd##word##_s16x2_relu, word##OfSumRelu, short)
ORDITO_DPX_FAMILY(max, ordito_detail::larger)
ORDITO_DPX_FAMILY(min, ordito_detail::smaller)

// These say as well whether it was the first operand, for each half.
#define ORDITO_DPX_CHOICE(word, suffix, type, half_type, op)                                        \
  ORDITO_DPX type __vib##word##_##suffix##32(type a, type b, bool* first) {                         \
    *first = a op b;                                                                                \
    return *first ? a : b;                                                                          \
  }                                                                                                 \
  ORDITO_DPX unsigned __vib##word##_##suffix##16x2(unsigned a, unsigned b, bool* high, bool* low) { \
    using namespace ordito_detail;                                                                  \
    *low = half<half_type>(a, 0) op half<half_type>(b, 0);                                          \
    *high = half<half_type>(a, 1) op half<half_type>(b, 1);                                         \
    return pairOf(half<unsigned short>(*low ? a : b, 0), half<unsigned short>(*high ? a : b, 1));   \
  }
ORDITO_DPX_CHOICE(max, s, int, short, >=)
ORDITO_DPX_CHOICE(max, u, unsigned, unsigned short, >=)
ORDITO_DPX_CHOICE(min, s, int, short, <=)
ORDITO_DPX_CHOICE(min, u, unsigned, unsigned short, <=)

#undef ORDITO_DPX_CHOICE
#undef ORDITO_DPX_FAMILY
#undef ORDITO_DPX_HALVES3
#undef ORDITO_DPX_HALVES2
#undef ORDITO_DPX_WHOLE3
#undef ORDITO_DPX_WHOLE2
#undef ORDITO_DPX

#endif
