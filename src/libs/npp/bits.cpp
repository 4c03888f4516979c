// NPP: bits of pixels with those of a constant, bits that move, absolute values of complex numbers, and gamma.
#include "libs/npp/constants.hpp"
#include "nppi_arithmetic_and_logical_operations.h"
#include "nppi_color_conversion.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// By more bits than a number has nothing is left of it but, to the right, its sign.
template <class T>
T shiftedLeft(T value, Npp32u by) {
  return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<uint64_t>(value) << by);
}
template <class T>
T shiftedRight(T value, Npp32u by) {
  return static_cast<T>(value >> std::min<Npp32u>(by, std::is_signed_v<T> ? 8 * sizeof(T) - 1 : 31));
}

/// The curve of ITU-R BT.709, for light from 0 to 1, and back: by a power of 2.22, as a GPU does, not of 1 / 0.45.
double gammaOf(double light) { return light < 0.018 ? 4.5 * light : 1.099 * std::pow(light, 0.45) - 0.099; }
double lightOf(double value) {
  constexpr double kLittleLess = 1 - 1e-7;  // in single precision a GPU is just below 2 for 9 and below 4 for 18
  return value < 4.5 * 0.018 ? value / 4.5 * kLittleLess : std::pow((value + 0.099) / 1.099, 2.22);
}

/// Of the first three of a pixel's numbers. What the curve tells is cut to a whole number.
NppStatus curve(const NppStreamContext& c, const char* name, Image<const Npp8u> from, Image<Npp8u> to, NppiSize size,
                int channels, double (*f)(double)) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  std::array<Npp8u, 256> table;
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<Npp8u>(255 * f(static_cast<double>(i) / 255));
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width * channels; ++x)
      if (x % channels < 3) to.row(y)[x] = table[from.row(y)[x]];
  });
}

template <class F>
NppStatus ofComplex(const NppStreamContext& c, const char* name, Image<const Npp32fc> from, Image<Npp32f> to,
                    NppiSize size, F f) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width; ++x) to.row(y)[x] = f(from.row(y)[x]);
  });
}

float square(Npp32fc z) { return z.re * z.re + z.im * z.im; }

}  // namespace

// Forms for one number have the constant itself.
#define CONSTANTS(name, type, K, channels, expression)                                                         \
  BOTH_FORMS(nppi##name##C_##type##_C##channels##R,                                                            \
             (const Npp##type* a, int aStep, const K* constants, Npp##type* to, int toStep, NppiSize size),    \
             (a, aStep, constants, to, toStep, size)) {                                                        \
    return mapWith<Npp##type>(context, "nppi" #name "C_" #type "_C" #channels "R", Image{a, aStep}, constants, \
                              Image{to, toStep}, size, channels,                                               \
                              [](Npp##type x, K k) { return static_cast<Npp##type>(expression); });            \
  }
#define CONSTANT(name, type, K, expression)                                                                           \
  BOTH_FORMS(nppi##name##C_##type##_C1R,                                                                              \
             (const Npp##type* a, int aStep, const K constant, Npp##type* to, int toStep, NppiSize size),             \
             (a, aStep, constant, to, toStep, size)) {                                                                \
    return mapWith<Npp##type>(context, "nppi" #name "C_" #type "_C1R", Image{a, aStep}, &constant, Image{to, toStep}, \
                              size, 1, [](Npp##type x, K k) { return static_cast<Npp##type>(expression); });          \
  }
#define LOGIC(name, type, sign) \
  CONSTANTS(name, type, Npp##type, 3, x sign k) CONSTANTS(name, type, Npp##type, 4, x sign k)
#define EACH_LOGIC(name, sign) LOGIC(name, 8u, sign) LOGIC(name, 16u, sign) LOGIC(name, 32s, sign)
EACH_LOGIC(And, &)
EACH_LOGIC(Or, |)
EACH_LOGIC(Xor, ^)
#define SHIFT(name, type, f)                \
  CONSTANT(name, type, Npp32u, f(x, k))     \
  CONSTANTS(name, type, Npp32u, 3, f(x, k)) \
  CONSTANTS(name, type, Npp32u, 4, f(x, k))
SHIFT(LShift, 8u, shiftedLeft)
SHIFT(LShift, 16u, shiftedLeft)
SHIFT(LShift, 32s, shiftedLeft)
SHIFT(RShift, 8u, shiftedRight)
SHIFT(RShift, 8s, shiftedRight)
SHIFT(RShift, 16u, shiftedRight)
SHIFT(RShift, 16s, shiftedRight)
SHIFT(RShift, 32s, shiftedRight)

#define OF_COMPLEX(name, f)                                                                                        \
  BOTH_FORMS(nppi##name##_32fc32f_C1R, (const Npp32fc* from, int fromStep, Npp32f* to, int toStep, NppiSize size), \
             (from, fromStep, to, toStep, size)) {                                                                 \
    return ofComplex(context, "nppi" #name "_32fc32f_C1R", Image{from, fromStep}, Image{to, toStep}, size,         \
                     [](Npp32fc z) { return f; });                                                                 \
  }
OF_COMPLEX(Magnitude, std::sqrt(square(z)))
OF_COMPLEX(MagnitudeSqr, square(z))

#define CURVE(name, form, channels, f)                                                                                 \
  BOTH_FORMS(nppi##name##_8u_##form##R, (const Npp8u* from, int fromStep, Npp8u* to, int toStep, NppiSize size),       \
             (from, fromStep, to, toStep, size)) {                                                                     \
    return curve(context, "nppi" #name "_8u_" #form "R", Image{from, fromStep}, Image{to, toStep}, size, channels, f); \
  }                                                                                                                    \
  BOTH_FORMS(nppi##name##_8u_##form##IR, (Npp8u * image, int step, NppiSize size), (image, step, size)) {              \
    return curve(context, "nppi" #name "_8u_" #form "IR", Image<const Npp8u>{image, step}, Image{image, step}, size,   \
                 channels, f);                                                                                         \
  }
CURVE(GammaFwd, C3, 3, gammaOf)
CURVE(GammaFwd, AC4, 4, gammaOf)
CURVE(GammaInv, C3, 3, lightOf)
CURVE(GammaInv, AC4, 4, lightOf)
