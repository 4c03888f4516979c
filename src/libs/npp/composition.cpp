// NPP: images over each other (Porter and Duff, "Compositing digital images", 1984), with an opacity for each pixel or
// for each image; and arithmetic with a constant.
//
// Whole numbers are as a GPU's are, which were compared: an opacity of 255 counts as 256, one of 65,535 as 65,536, and
// a product is (x * y + 127) / 256 or (x * y + 32767) / 65536, cut.
#include <algorithm>
#include <cmath>
#include <limits>

#include "libs/npp/constants.hpp"
#include "nppi_arithmetic_and_logical_operations.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// Opacities of numbers of T, as parts of kWhole.
template <class T>
struct Whole {
  static constexpr int64_t kMost = std::numeric_limits<T>::max(), kWhole = kMost + 1;

  /// Scaled in single precision, which makes 65,432 of 65,431 and the like.
  static int64_t opacity(T alpha) {
    constexpr float kScale = static_cast<float>(kWhole) / static_cast<float>(kMost);
    return static_cast<int64_t>(static_cast<float>(alpha) * kScale);
  }
  /// The same in what an operation makes of two opacities: there one of 16 bits is to the nearest.
  static int64_t opacityFor(NppiAlphaOp operation, T alpha) {
    const bool isNearest = sizeof(T) == 2 && operation == NPPI_OP_ALPHA_OVER_PREMUL;
    return isNearest ? alpha + (2 * int64_t{alpha} / kWhole) : opacity(alpha);
  }
  static int64_t shared(int64_t product) { return (product + kWhole / 2 - 1) / kWhole; }
  static int64_t part(int64_t value, int64_t of) { return shared(value * of); }
  static T limited(int64_t value) { return static_cast<T>(std::min(value, kMost)); }
};

/// How much of each image is in the result, of kWhole.
struct Shares {
  int64_t first, second;
};

bool isKnown(NppiAlphaOp operation) {
  return operation >= NPPI_OP_ALPHA_OVER && operation <= NPPI_OP_ALPHA_PLUS_PREMUL;
}
bool isPremultiplied(NppiAlphaOp operation) { return operation >= NPPI_OP_ALPHA_OVER_PREMUL; }

/// Of colours that are not multiplied by their opacity yet; of opacities in either case.
template <class T>
Shares shares(NppiAlphaOp operation, int64_t a, int64_t b) {
  const auto part = Whole<T>::part;
  const int64_t notA = Whole<T>::kWhole - a, notB = Whole<T>::kWhole - b;
  switch (operation % NPPI_OP_ALPHA_OVER_PREMUL) {
    case NPPI_OP_ALPHA_OVER: return {a, part(b, notA)};
    case NPPI_OP_ALPHA_IN: return {part(a, b), 0};
    case NPPI_OP_ALPHA_OUT: return {part(a, notB), 0};
    case NPPI_OP_ALPHA_ATOP: return {part(a, b), part(b, notA)};
    case NPPI_OP_ALPHA_XOR: return {part(a, notB), part(b, notA)};
    default: return {a, b};  // NPPI_OP_ALPHA_PLUS
  }
}
template <class T>
Shares sharesOfPremultiplied(NppiAlphaOp operation, int64_t a, int64_t b) {
  constexpr int64_t kWhole = Whole<T>::kWhole;
  const int64_t notA = kWhole - a, notB = kWhole - b;
  switch (operation) {
    case NPPI_OP_ALPHA_OVER_PREMUL: return {kWhole, notA};
    case NPPI_OP_ALPHA_IN_PREMUL: return {b, 0};
    case NPPI_OP_ALPHA_OUT_PREMUL: return {notB, 0};
    case NPPI_OP_ALPHA_ATOP_PREMUL: return {b, notA};
    case NPPI_OP_ALPHA_XOR_PREMUL: return {notB, notA};
    default: return {kWhole, kWhole};  // NPPI_OP_ALPHA_PLUS_PREMUL
  }
}
/// Two images' colours together, by the opacities of both.
template <class T>
class Mix {
 public:
  Mix(NppiAlphaOp operation, int64_t a, int64_t b)
      : operation_(operation),
        a_(a),
        b_(b),
        shares_(isPremultiplied(operation) ? sharesOfPremultiplied<T>(operation, a, b) : shares<T>(operation, a, b)) {}

  T of(T first, T second) const {
    using W = Whole<T>;
    switch (operation_) {
      case NPPI_OP_ALPHA_ATOP: return W::limited(W::shared(W::part(first, a_) * b_ + second * shares_.second));
      case NPPI_OP_ALPHA_XOR: return W::limited(W::shared(first * shares_.first + second * shares_.second));
      default: return W::limited(W::part(first, shares_.first) + W::part(second, shares_.second));
    }
  }

 private:
  NppiAlphaOp operation_;
  int64_t a_, b_;
  Shares shares_;
};

/// Pixels of four numbers, of which the fourth is the opacity: `pixel(a, b, result)` for each.
template <class T, class Pixel>
NppStatus composePixels(const NppStreamContext& c, const char* name, Image<const T> first, Image<const T> second,
                        Image<T> to, NppiSize size, NppiAlphaOp operation, Pixel pixel) {
  if (const NppStatus bad = check(size, first, second, to)) return bad;
  if (!isKnown(operation)) return NPP_BAD_ARGUMENT_ERROR;
  return forRows(c, name, size.height, [=](int y) {
    const T *a = first.row(y), *b = second.row(y);
    T* result = to.row(y);
    for (int x = 0; x < size.width; ++x, a += 4, b += 4, result += 4) pixel(a, b, result);
  });
}

template <class T>
NppStatus compose(const NppStreamContext& c, const char* name, Image<const T> first, Image<const T> second, Image<T> to,
                  NppiSize size, NppiAlphaOp operation) {
  return composePixels(c, name, first, second, to, size, operation, [operation](const T* a, const T* b, T* result) {
    const int64_t ofA = Whole<T>::opacity(a[3]), ofB = Whole<T>::opacity(b[3]);
    const Mix<T> mix(operation, ofA, ofB);
    const Shares opacities =
        shares<T>(operation, Whole<T>::opacityFor(operation, a[3]), Whole<T>::opacityFor(operation, b[3]));
    for (int k = 0; k < 3; ++k) result[k] = mix.of(a[k], b[k]);
    result[3] = Whole<T>::limited(opacities.first + opacities.second);
  });
}

/// One opacity for each image. `done` of the `channels` numbers of a pixel are computed, the others stay.
NppStatus composeWhole(const NppStreamContext& c, const char* name, Image<const Npp8u> first, Npp8u alpha,
                       Image<const Npp8u> second, Npp8u otherAlpha, Image<Npp8u> to, NppiSize size,
                       NppiAlphaOp operation, int channels, int done) {
  if (const NppStatus bad = check(size, first, second, to)) return bad;
  if (!isKnown(operation)) return NPP_BAD_ARGUMENT_ERROR;
  return forRows(
      c, name, size.height,
      [=, mix = Mix<Npp8u>(operation, Whole<Npp8u>::opacity(alpha), Whole<Npp8u>::opacity(otherAlpha))](int y) {
        for (int x = 0; x < size.width * channels; ++x)
          if (x % channels < done) to.row(y)[x] = mix.of(first.row(y)[x], second.row(y)[x]);
      });
}

/// Other types than bytes: opacities and shares are numbers from 0 to 1, results are rounded once.
template <class T>
constexpr double kMost = std::is_floating_point_v<T> ? 1.0 : static_cast<double>(std::numeric_limits<T>::max());

struct RealShares {
  double first, second;
};
RealShares realShares(NppiAlphaOp operation, double a, double b) {
  switch (operation % NPPI_OP_ALPHA_OVER_PREMUL) {
    case NPPI_OP_ALPHA_OVER: return {a, b * (1 - a)};
    case NPPI_OP_ALPHA_IN: return {a * b, 0};
    case NPPI_OP_ALPHA_OUT: return {a * (1 - b), 0};
    case NPPI_OP_ALPHA_ATOP: return {a * b, b * (1 - a)};
    case NPPI_OP_ALPHA_XOR: return {a * (1 - b), b * (1 - a)};
    default: return {a, b};  // NPPI_OP_ALPHA_PLUS
  }
}

template <class T>
NppStatus composeWide(const NppStreamContext& c, const char* name, Image<const T> first, Image<const T> second,
                      Image<T> to, NppiSize size, NppiAlphaOp operation) {
  return composePixels(c, name, first, second, to, size, operation, [operation](const T* a, const T* b, T* result) {
    const double ofA = static_cast<double>(a[3]) / kMost<T>, ofB = static_cast<double>(b[3]) / kMost<T>;
    const RealShares all = realShares(operation, ofA, ofB);
    RealShares colours = all;
    if (isPremultiplied(operation))  // they have their opacity in them already
      colours = {ofA == 0 ? 0 : all.first / ofA, ofB == 0 ? 0 : all.second / ofB};
    for (int k = 0; k < 3; ++k)
      result[k] = saturate<T>(colours.first * static_cast<double>(a[k]) + colours.second * static_cast<double>(b[k]));
    result[3] = saturate<T>((all.first + all.second) * kMost<T>);
  });
}

/// Of the first three numbers of a pixel.
template <class T>
NppStatus premultiply(const NppStreamContext& c, const char* name, Image<const T> from, Image<T> to, NppiSize size) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < 4 * size.width; ++x) {
      const T alpha = from.row(y)[x | 3], value = from.row(y)[x];
      to.row(y)[x] = x % 4 == 3 ? alpha : Whole<T>::limited(Whole<T>::part(value, Whole<T>::opacity(alpha)));
    }
  });
}

/// value / 2^scale to the nearest, halves to the even one.
template <class T>
T scaledQuotient(double value, int scale) {
  return saturate<T>(std::ldexp(value, -scale));
}

/// Anything by 0 is the largest number there is, also 0 by 0, as on a GPU.
double quotient(double a, double b) { return b == 0 ? std::numeric_limits<double>::infinity() : a / b; }

}  // namespace

#define ALPHA(type, compose)                                                                                 \
  BOTH_FORMS(nppiAlphaComp_##type##_AC4R,                                                                    \
             (const Npp##type* first, int firstStep, const Npp##type* second, int secondStep, Npp##type* to, \
              int toStep, NppiSize size, NppiAlphaOp operation),                                             \
             (first, firstStep, second, secondStep, to, toStep, size, operation)) {                          \
    return compose<Npp##type>(context, "nppiAlphaComp_" #type "_AC4R", Image{first, firstStep},              \
                              Image{second, secondStep}, Image{to, toStep}, size, operation);                \
  }
ALPHA(8u, compose)
ALPHA(16u, compose)
ALPHA(32s, composeWide)
ALPHA(32f, composeWide)
#define PREMULTIPLY(type)                                                                                          \
  BOTH_FORMS(nppiAlphaPremul_##type##_AC4R,                                                                        \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                      \
             (from, fromStep, to, toStep, size)) {                                                                 \
    return premultiply(context, "nppiAlphaPremul_" #type "_AC4R", Image{from, fromStep}, Image{to, toStep}, size); \
  }
PREMULTIPLY(8u)
PREMULTIPLY(16u)

#define ALPHA_C(form, channels, done)                                                                                \
  BOTH_FORMS(nppiAlphaCompC_8u_##form,                                                                               \
             (const Npp8u* first, int firstStep, Npp8u alpha, const Npp8u* second, int secondStep, Npp8u otherAlpha, \
              Npp8u* to, int toStep, NppiSize size, NppiAlphaOp operation),                                          \
             (first, firstStep, alpha, second, secondStep, otherAlpha, to, toStep, size, operation)) {               \
    return composeWhole(context, "nppiAlphaCompC_8u_" #form, Image{first, firstStep}, alpha,                         \
                        Image{second, secondStep}, otherAlpha, Image{to, toStep}, size, operation, channels, done);  \
  }
ALPHA_C(C1R, 1, 1)
ALPHA_C(C3R, 3, 3)
ALPHA_C(C4R, 4, 4)
ALPHA_C(AC4R, 4, 3)

#define CONSTANT_BODY(name, channels, T, constants, expression)                                         \
  return mapWith<T>(context, name, Image{from, fromStep}, constants, Image{to, toStep}, size, channels, \
                    [=](T x, T k) { return expression; });
#define SCALED_C(op, type, expression)                                                                                 \
  BOTH_FORMS(nppi##op##C_##type##_C1RSfs,                                                                              \
             (const Npp##type* from, int fromStep, const Npp##type constant, Npp##type* to, int toStep, NppiSize size, \
              int scale),                                                                                              \
             (from, fromStep, constant, to, toStep, size, scale)){                                                     \
      CONSTANT_BODY("nppi" #op "C_" #type "_C1RSfs", 1, Npp##type, &constant,                                          \
                    expression)} BOTH_FORMS(nppi##op##C_##type##_C3RSfs,                                               \
                                            (const Npp##type* from, int fromStep, const Npp##type* constants,          \
                                             Npp##type* to, int toStep, NppiSize size, int scale),                     \
                                            (from, fromStep, constants, to, toStep, size, scale)) {                    \
    CONSTANT_BODY("nppi" #op "C_" #type "_C3RSfs", 3, Npp##type, constants, expression)                                \
  }
#define FLOAT_C(op, expression)                                                                                     \
  BOTH_FORMS(nppi##op##C_32f_C1R,                                                                                   \
             (const Npp32f* from, int fromStep, const Npp32f constant, Npp32f* to, int toStep, NppiSize size),      \
             (from, fromStep, constant, to, toStep, size)){                                                         \
      CONSTANT_BODY("nppi" #op "C_32f_C1R", 1, Npp32f, &constant,                                                   \
                    expression)} BOTH_FORMS(nppi##op##C_32f_C3R,                                                    \
                                            (const Npp32f* from, int fromStep, const Npp32f* constants, Npp32f* to, \
                                             int toStep, NppiSize size),                                            \
                                            (from, fromStep, constants, to, toStep, size)) {                        \
    CONSTANT_BODY("nppi" #op "C_32f_C3R", 3, Npp32f, constants, expression)                                         \
  }
#define WITH_CONSTANT(op, sign)                                              \
  SCALED_C(op, 8u, scaledQuotient<Npp8u>(double(x) sign double(k), scale))   \
  SCALED_C(op, 16u, scaledQuotient<Npp16u>(double(x) sign double(k), scale)) \
  SCALED_C(op, 16s, scaledQuotient<Npp16s>(double(x) sign double(k), scale)) \
  FLOAT_C(op, x sign k)
WITH_CONSTANT(Add, +)
WITH_CONSTANT(Sub, -)
WITH_CONSTANT(Mul, *)
SCALED_C(Div, 8u, scaledQuotient<Npp8u>(quotient(x, k), scale))
SCALED_C(Div, 16u, scaledQuotient<Npp16u>(quotient(x, k), scale))
FLOAT_C(Div, x / k)
