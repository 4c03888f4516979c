// NPP: sums, means and extremes of images; bits of pixels; images whose rows become columns.
#include <cmath>
#include <tuple>

#include "libs/npp/image.hpp"
#include "nppi_arithmetic_and_logical_operations.h"
#include "nppi_geometry_transforms.h"
#include "nppi_statistics_functions.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// An image without pixels has no mean and no extremes.
template <class T, class... Results>
NppStatus checkReduction(NppiSize size, Image<const T> from, const Npp8u* buffer, Results*... results) {
  if (!buffer || !(results && ...)) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from)) return bad;
  return size.width > 0 && size.height > 0 ? NPP_SUCCESS : NPP_SIZE_ERROR;
}

NppStatus tellSize(NppiSize size, size_t* bytes) {
  if (!bytes) return NPP_NULL_POINTER_ERROR;
  if (size.width <= 0 || size.height <= 0) return NPP_SIZE_ERROR;
  *bytes = 1;  // tasks have memory of their own
  return NPP_SUCCESS;
}

template <class T, class Visit>
void each(Image<const T> from, NppiSize size, const Visit& visit) {
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) visit(from.row(y)[x]);
}

template <class T>
double sumOf(Image<const T> from, NppiSize size) {
  double sum = 0;
  each(from, size, [&](T value) { sum += static_cast<double>(value); });
  return sum;
}
double countOf(NppiSize size) { return static_cast<double>(size.width) * size.height; }

/// Of all pixels, not of a sample of them.
template <class T>
double deviationOf(Image<const T> from, NppiSize size, double mean) {
  double squares = 0;
  each(from, size,
       [&](T value) { squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean); });
  return std::sqrt(squares / countOf(size));
}

/// Of the pixels where the mask is not 0; without any both are 0.
template <class T>
std::pair<double, double> maskedMeanAndDeviation(Image<const T> from, Image<const Npp8u> mask, NppiSize size) {
  double sum = 0, squares = 0, count = 0;
  const auto eachMasked = [&](const auto& visit) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (mask.row(y)[x] != 0) visit(static_cast<double>(from.row(y)[x]));
  };
  eachMasked([&](double value) { sum += value, ++count; });
  if (count == 0) return {0, 0};
  const double mean = sum / count;
  eachMasked([&](double value) { squares += (value - mean) * (value - mean); });
  return {mean, std::sqrt(squares / count)};
}

/// What an integral image says of a rectangle: it has the sum of all that is above and to the left.
template <class T>
double sumIn(Image<const T> integral, int x, int y, NppiRect rectangle) {
  const auto at = [&](int right, int below) { return static_cast<double>(integral.row(y + below)[x + right]); };
  const int left = rectangle.x, right = left + rectangle.width, top = rectangle.y, bottom = top + rectangle.height;
  return at(right, bottom) - at(right, top) - at(left, bottom) + at(left, top);
}

template <class T>
std::pair<T, T> extremesOf(Image<const T> from, NppiSize size) {
  std::pair<T, T> found{from.row(0)[0], from.row(0)[0]};
  each(from, size,
       [&](T value) { found.first = std::min(found.first, value), found.second = std::max(found.second, value); });
  return found;
}

/// to = f(number, its place in the row) for each number.
template <class T, class F>
NppStatus mapBits(const NppStreamContext& c, const char* name, Image<const T> a, Image<const T> b, Image<T> to,
                  NppiSize size, int channels, F f) {
  if (const NppStatus bad = check(size, a, b, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width * channels; ++x) to.row(y)[x] = static_cast<T>(f(a.row(y)[x], b.row(y)[x]));
  });
}

template <class T>
NppStatus transpose(const NppStreamContext& c, const char* name, Image<const T> from, Image<T> to, NppiSize size,
                    int channels) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  return forRows(c, name, size.width, [=](int x) {
    for (int y = 0; y < size.height; ++y) std::copy_n(from.row(y) + x * channels, channels, to.row(x) + y * channels);
  });
}

}  // namespace

#define SIZE_OF_BUFFER(name, type)                                                                        \
  BOTH_FORMS(nppi##name##GetBufferHostSize_##type##_C1R, (NppiSize size, size_t* bytes), (size, bytes)) { \
    return tellSize(size, bytes);                                                                         \
  }
#define REDUCE(name, type, Result, result_of)                                                     \
  SIZE_OF_BUFFER(name, type)                                                                      \
  BOTH_FORMS(nppi##name##_##type##_C1R,                                                           \
             (const Npp##type* from, int fromStep, NppiSize size, Npp8u* buffer, Result* result), \
             (from, fromStep, size, buffer, result)) {                                            \
    const Image source{from, fromStep};                                                           \
    if (const NppStatus bad = checkReduction(size, source, buffer, result)) return bad;           \
    return run(context, "nppi" #name "_" #type "_C1R", [=] { *result = result_of; });             \
  }
#define REDUCTIONS(type)                                                                                             \
  REDUCE(Sum, type, Npp64f, sumOf(source, size))                                                                     \
  REDUCE(Mean, type, Npp64f, sumOf(source, size) / countOf(size))                                                    \
  REDUCE(Min, type, Npp##type, extremesOf(source, size).first)                                                       \
  REDUCE(Max, type, Npp##type, extremesOf(source, size).second)                                                      \
  SIZE_OF_BUFFER(MeanStdDev, type)                                                                                   \
  SIZE_OF_BUFFER(MinMax, type)                                                                                       \
  BOTH_FORMS(nppiMean_StdDev_##type##_C1R,                                                                           \
             (const Npp##type* from, int fromStep, NppiSize size, Npp8u* buffer, Npp64f* mean, Npp64f* deviation),   \
             (from, fromStep, size, buffer, mean, deviation)) {                                                      \
    const Image source{from, fromStep};                                                                              \
    if (const NppStatus bad = checkReduction(size, source, buffer, mean, deviation)) return bad;                     \
    return run(context, "nppiMean_StdDev_" #type "_C1R", [=] {                                                       \
      *mean = sumOf(source, size) / countOf(size);                                                                   \
      *deviation = deviationOf(source, size, *mean);                                                                 \
    });                                                                                                              \
  }                                                                                                                  \
  BOTH_FORMS(nppiMinMax_##type##_C1R,                                                                                \
             (const Npp##type* from, int fromStep, NppiSize size, Npp##type* least, Npp##type* most, Npp8u* buffer), \
             (from, fromStep, size, least, most, buffer)) {                                                          \
    const Image source{from, fromStep};                                                                              \
    if (const NppStatus bad = checkReduction(size, source, buffer, least, most)) return bad;                         \
    return run(context, "nppiMinMax_" #type "_C1R", [=] { std::tie(*least, *most) = extremesOf(source, size); });    \
  }
REDUCTIONS(8u)
REDUCTIONS(16u)
REDUCTIONS(16s)
REDUCTIONS(32f)

#define MASKED(type)                                                                                              \
  BOTH_FORMS(nppiMeanStdDevGetBufferHostSize_##type##_C1MR, (NppiSize size, size_t* bytes), (size, bytes)) {      \
    return tellSize(size, bytes);                                                                                 \
  }                                                                                                               \
  BOTH_FORMS(nppiMean_StdDev_##type##_C1MR,                                                                       \
             (const Npp##type* from, int fromStep, const Npp8u* mask, int maskStep, NppiSize size, Npp8u* buffer, \
              Npp64f* mean, Npp64f* deviation),                                                                   \
             (from, fromStep, mask, maskStep, size, buffer, mean, deviation)) {                                   \
    const Image source{from, fromStep};                                                                           \
    const Image chosen{mask, maskStep};                                                                           \
    if (const NppStatus bad = checkReduction(size, source, buffer, mean, deviation)) return bad;                  \
    if (const NppStatus bad = check(size, chosen)) return bad;                                                    \
    return run(context, "nppiMean_StdDev_" #type "_C1MR",                                                         \
               [=] { std::tie(*mean, *deviation) = maskedMeanAndDeviation(source, chosen, size); });              \
  }
MASKED(8u)
MASKED(16u)
MASKED(32f)

/// The deviation of the pixels in a rectangle beside each place, from integral images of them and of their squares.
BOTH_FORMS(nppiRectStdDev_32s32f_C1R,
           (const Npp32s* from, int fromStep, const Npp64f* squares, int squaresStep, Npp32f* to, int toStep,
            NppiSize size, NppiRect rectangle),
           (from, fromStep, squares, squaresStep, to, toStep, size, rectangle)) {
  const Image sums{from, fromStep};
  const Image squared{squares, squaresStep};
  const Image result{to, toStep};
  if (const NppStatus bad = check(size, sums, squared, result)) return bad;
  if (rectangle.x < 0 || rectangle.y < 0 || rectangle.width <= 0 || rectangle.height <= 0) return NPP_RECTANGLE_ERROR;
  return forRows(context, "nppiRectStdDev_32s32f_C1R", size.height, [=](int y) {
    const double count = countOf({rectangle.width, rectangle.height});
    for (int x = 0; x < size.width; ++x) {
      const double mean = sumIn(sums, x, y, rectangle) / count;
      const double variance = sumIn(squared, x, y, rectangle) / count - mean * mean;
      result.row(y)[x] = static_cast<Npp32f>(std::sqrt(std::max(variance, 0.0)));
    }
  });
}

#define BITS(name, type, channels, sign)                                                                               \
  BOTH_FORMS(nppi##name##_##type##_C##channels##R,                                                                     \
             (const Npp##type* a, int aStep, const Npp##type* b, int bStep, Npp##type* to, int toStep, NppiSize size), \
             (a, aStep, b, bStep, to, toStep, size)) {                                                                 \
    return mapBits(context, "nppi" #name "_" #type "_C" #channels "R", Image{a, aStep}, Image{b, bStep},               \
                   Image{to, toStep}, size, channels, [](Npp##type x, Npp##type y) { return x sign y; });              \
  }
#define ALL_BITS(name, type, sign)                                                                                     \
  BITS(name, type, 1, sign)                                                                                            \
  BITS(name, type, 3, sign)                                                                                            \
  BITS(name, type, 4, sign)                                                                                            \
  BOTH_FORMS(nppi##name##C_##type##_C1R,                                                                               \
             (const Npp##type* a, int aStep, const Npp##type constant, Npp##type* to, int toStep, NppiSize size),      \
             (a, aStep, constant, to, toStep, size)) {                                                                 \
    return mapBits(context, "nppi" #name "C_" #type "_C1R", Image{a, aStep}, Image{a, aStep}, Image{to, toStep}, size, \
                   1, [=](Npp##type x, Npp##type) { return x sign constant; });                                        \
  }
#define EACH_TYPE(name, sign) ALL_BITS(name, 8u, sign) ALL_BITS(name, 16u, sign) ALL_BITS(name, 32s, sign)
EACH_TYPE(And, &)
EACH_TYPE(Or, |)
EACH_TYPE(Xor, ^)
#define NOT(channels)                                                                                                \
  BOTH_FORMS(nppiNot_8u_C##channels##R, (const Npp8u* a, int aStep, Npp8u* to, int toStep, NppiSize size),           \
             (a, aStep, to, toStep, size)) {                                                                         \
    return mapBits(context, "nppiNot_8u_C" #channels "R", Image{a, aStep}, Image{a, aStep}, Image{to, toStep}, size, \
                   channels, [](Npp8u x, Npp8u) { return ~x; });                                                     \
  }
NOT(1)
NOT(3)
NOT(4)

#define TRANSPOSE(type, channels)                                                                                  \
  BOTH_FORMS(nppiTranspose_##type##_C##channels##R,                                                                \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                      \
             (from, fromStep, to, toStep, size)) {                                                                 \
    return transpose(context, "nppiTranspose_" #type "_C" #channels "R", Image{from, fromStep}, Image{to, toStep}, \
                     size, channels);                                                                              \
  }
#define TRANSPOSES(type) TRANSPOSE(type, 1) TRANSPOSE(type, 3) TRANSPOSE(type, 4)
TRANSPOSES(8u)
TRANSPOSES(16u)
TRANSPOSES(16s)
TRANSPOSES(32s)
TRANSPOSES(32f)
