// NPP: what is done to each pixel by itself: arithmetic, comparison, conversion, tables, copies with a border.
#include <array>

#include "libs/npp/image.hpp"
#include "nppi_arithmetic_and_logical_operations.h"
#include "nppi_color_conversion.h"
#include "nppi_data_exchange_and_initialization.h"
#include "nppi_threshold_and_compare_operations.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// to = f(a) for each number of each pixel.
template <class A, class To, class F>
NppStatus map(const NppStreamContext& c, const char* name, Image<A> a, Image<To> to, NppiSize size, int channels, F f) {
  if (const NppStatus bad = check(size, a, to)) return bad;
  return forRows(c, name, size.height, [=, count = size.width * channels](int y) {
    const A* const from = a.row(y);
    To* const result = to.row(y);
    for (int x = 0; x < count; ++x) result[x] = f(from[x]);
  });
}

template <class A, class To, class F>
NppStatus zip(const NppStreamContext& c, const char* name, Image<A> a, Image<A> b, Image<To> to, NppiSize size,
              int channels, F f) {
  if (const NppStatus bad = check(size, a, b, to)) return bad;
  return forRows(c, name, size.height, [=, count = size.width * channels](int y) {
    const A *const left = a.row(y), *const right = b.row(y);
    To* const result = to.row(y);
    for (int x = 0; x < count; ++x) result[x] = f(left[x], right[x]);
  });
}

template <class T>
bool compare(T a, T b, NppCmpOp operation) {
  switch (operation) {
    case NPP_CMP_LESS: return a < b;
    case NPP_CMP_LESS_EQ: return a <= b;
    case NPP_CMP_EQ: return a == b;
    case NPP_CMP_GREATER_EQ: return a >= b;
    default: return a > b;
  }
}

bool isKnown(NppCmpOp operation) { return operation >= NPP_CMP_LESS && operation <= NPP_CMP_GREATER; }

/// value / 2^scale, to the nearest, halves to the even one.
template <class T>
T scaled(int64_t value, int scale) {
  return saturate<T>(std::ldexp(static_cast<double>(value), -scale));
}

/// A pixel's numbers, from where the manual takes them: by value, or from the host's memory at the call.
template <class T, size_t kChannels>
std::array<T, kChannels> pixel(const T* from) {
  std::array<T, kChannels> result{};
  if (from) std::copy_n(from, kChannels, result.begin());
  return result;
}

template <class T, size_t kChannels>
NppStatus set(const NppStreamContext& c, const char* name, std::array<T, kChannels> value, Image<T> to, NppiSize size) {
  if (const NppStatus bad = check(size, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    T* row = to.row(y);
    for (int x = 0; x < size.width; ++x, row += kChannels) std::copy_n(value.begin(), kChannels, row);
  });
}

struct Border {
  NppiSize from, to;
  int top, left;
};

NppStatus check(const Border& b) {
  if (b.from.width <= 0 || b.from.height <= 0 || b.top < 0 || b.left < 0) return NPP_SIZE_ERROR;
  return b.from.width + b.left <= b.to.width && b.from.height + b.top <= b.to.height ? NPP_SUCCESS : NPP_SIZE_ERROR;
}

template <class T, size_t kChannels>
NppStatus border(const NppStreamContext& c, const char* name, Image<const T> from, Image<T> to, Border b,
                 const std::array<T, kChannels>* constant) {
  if (const NppStatus bad = npp::check(b.to, from, to)) return bad;
  if (const NppStatus bad = check(b)) return bad;
  const bool isConstant = constant != nullptr;
  return forRows(c, name, b.to.height, [=, value = isConstant ? *constant : std::array<T, kChannels>{}](int y) {
    const Replicated inside{b.from};
    const int sourceY = y - b.top;
    const T* const row = from.row(inside.y(sourceY));
    T* result = to.row(y);
    for (int x = 0; x < b.to.width; ++x, result += kChannels) {
      const int sourceX = x - b.left;
      const bool isInside = inside.x(sourceX) == sourceX && inside.y(sourceY) == sourceY;
      const T* const pixel =
          isConstant && !isInside ? value.data() : row + inside.x(sourceX) * static_cast<int>(kChannels);
      std::copy_n(pixel, kChannels, result);
    }
  });
}

}  // namespace

// --- arithmetic

#define ABS_DIFF(type)                                                                                                 \
  BOTH_FORMS(nppiAbsDiff_##type##_C1R,                                                                                 \
             (const Npp##type* a, int aStep, const Npp##type* b, int bStep, Npp##type* to, int toStep, NppiSize size), \
             (a, aStep, b, bStep, to, toStep, size)) {                                                                 \
    return zip(context, "nppiAbsDiff_" #type "_C1R", Image{a, aStep}, Image{b, bStep}, Image{to, toStep}, size, 1,     \
               [](Npp##type x, Npp##type y) { return static_cast<Npp##type>(x > y ? x - y : y - x); });                \
  }
ABS_DIFF(8u)
ABS_DIFF(16u)
ABS_DIFF(32f)

// Sub is the second minus the first, as the manual has it.
#define ADDED(x, y) ((x) + (y))
#define SUBTRACTED(x, y) ((y) - (x))
#define MULTIPLIED(x, y) ((x) * (y))
#define ARITHMETIC_FLOAT(name, operation, channels)                                                               \
  BOTH_FORMS(nppi##name##_32f_C##channels##R,                                                                     \
             (const Npp32f* a, int aStep, const Npp32f* b, int bStep, Npp32f* to, int toStep, NppiSize size),     \
             (a, aStep, b, bStep, to, toStep, size)) {                                                            \
    return zip(context, "nppi" #name "_32f_C" #channels "R", Image{a, aStep}, Image{b, bStep}, Image{to, toStep}, \
               size, channels, [](Npp32f x, Npp32f y) { return operation(x, y); });                               \
  }
#define ARITHMETIC_SCALED(name, operation, type, channels)                                                            \
  BOTH_FORMS(nppi##name##_##type##_C##channels##RSfs,                                                                 \
             (const Npp##type* a, int aStep, const Npp##type* b, int bStep, Npp##type* to, int toStep, NppiSize size, \
              int scale),                                                                                             \
             (a, aStep, b, bStep, to, toStep, size, scale)) {                                                         \
    return zip(context, "nppi" #name "_" #type "_C" #channels "RSfs", Image{a, aStep}, Image{b, bStep},               \
               Image{to, toStep}, size, channels,                                                                     \
               [scale](int64_t x, int64_t y) { return scaled<Npp##type>(operation(x, y), scale); });                  \
  }
#define ARITHMETIC(name, operation, channels)       \
  ARITHMETIC_FLOAT(name, operation, channels)       \
  ARITHMETIC_SCALED(name, operation, 8u, channels)  \
  ARITHMETIC_SCALED(name, operation, 16u, channels) \
  ARITHMETIC_SCALED(name, operation, 16s, channels)
ARITHMETIC(Add, ADDED, 1)
ARITHMETIC(Add, ADDED, 3)
ARITHMETIC(Add, ADDED, 4)
ARITHMETIC(Sub, SUBTRACTED, 1)
ARITHMETIC(Sub, SUBTRACTED, 3)
ARITHMETIC(Sub, SUBTRACTED, 4)
ARITHMETIC(Mul, MULTIPLIED, 1)
ARITHMETIC(Mul, MULTIPLIED, 3)
ARITHMETIC(Mul, MULTIPLIED, 4)

// --- comparison

#define COMPARISONS(type)                                                                                          \
  BOTH_FORMS(nppiCompareC_##type##_C1R,                                                                            \
             (const Npp##type* from, int fromStep, const Npp##type constant, Npp8u* to, int toStep, NppiSize size, \
              NppCmpOp operation),                                                                                 \
             (from, fromStep, constant, to, toStep, size, operation)) {                                            \
    if (!isKnown(operation)) return NPP_NOT_SUPPORTED_MODE_ERROR;                                                  \
    return map(context, "nppiCompareC_" #type "_C1R", Image{from, fromStep}, Image{to, toStep}, size, 1,           \
               [=](Npp##type x) -> Npp8u { return compare(x, constant, operation) ? 255 : 0; });                   \
  }                                                                                                                \
  BOTH_FORMS(nppiThreshold_##type##_C1R,                                                                           \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size,                       \
              const Npp##type threshold, NppCmpOp operation),                                                      \
             (from, fromStep, to, toStep, size, threshold, operation)) {                                           \
    if (operation != NPP_CMP_LESS && operation != NPP_CMP_GREATER) return NPP_NOT_SUPPORTED_MODE_ERROR;            \
    return map(context, "nppiThreshold_" #type "_C1R", Image{from, fromStep}, Image{to, toStep}, size, 1,          \
               [=](Npp##type x) { return compare(x, threshold, operation) ? threshold : x; });                     \
  }
COMPARISONS(8u)
COMPARISONS(16u)
COMPARISONS(16s)
COMPARISONS(32f)

// --- setting, copying, converting

#define COPY(type, channels)                                                                                      \
  BOTH_FORMS(nppiCopy_##type##_C##channels##R,                                                                    \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                     \
             (from, fromStep, to, toStep, size)) {                                                                \
    return map(context, "nppiCopy_" #type "_C" #channels "R", Image{from, fromStep}, Image{to, toStep}, size,     \
               channels, [](Npp##type x) { return x; });                                                          \
  }                                                                                                               \
  BOTH_FORMS(nppiCopyReplicateBorder_##type##_C##channels##R,                                                     \
             (const Npp##type* from, int fromStep, NppiSize fromSize, Npp##type* to, int toStep, NppiSize toSize, \
              int top, int left),                                                                                 \
             (from, fromStep, fromSize, to, toStep, toSize, top, left)) {                                         \
    return border<Npp##type, channels>(context, "nppiCopyReplicateBorder_" #type "_C" #channels "R",              \
                                       Image{from, fromStep}, Image{to, toStep}, {fromSize, toSize, top, left},   \
                                       nullptr);                                                                  \
  }
#define SET_PIXELS(type, channels)                                                                                 \
  BOTH_FORMS(nppiSet_##type##_C##channels##R, (const Npp##type* value, Npp##type* to, int toStep, NppiSize size),  \
             (value, to, toStep, size)) {                                                                          \
    if (!value) return NPP_NULL_POINTER_ERROR;                                                                     \
    return set(context, "nppiSet_" #type "_C" #channels "R", pixel<Npp##type, channels>(value), Image{to, toStep}, \
               size);                                                                                              \
  }                                                                                                                \
  BOTH_FORMS(nppiCopyConstBorder_##type##_C##channels##R,                                                          \
             (const Npp##type* from, int fromStep, NppiSize fromSize, Npp##type* to, int toStep, NppiSize toSize,  \
              int top, int left, const Npp##type* value),                                                          \
             (from, fromStep, fromSize, to, toStep, toSize, top, left, value)) {                                   \
    if (!value) return NPP_NULL_POINTER_ERROR;                                                                     \
    const auto constant = pixel<Npp##type, channels>(value);                                                       \
    return border<Npp##type, channels>(context, "nppiCopyConstBorder_" #type "_C" #channels "R",                   \
                                       Image{from, fromStep}, Image{to, toStep}, {fromSize, toSize, top, left},    \
                                       &constant);                                                                 \
  }
#define SET_AND_COPY(type)                                                                                        \
  COPY(type, 1)                                                                                                   \
  COPY(type, 3)                                                                                                   \
  COPY(type, 4)                                                                                                   \
  SET_PIXELS(type, 3)                                                                                             \
  SET_PIXELS(type, 4)                                                                                             \
  BOTH_FORMS(nppiSet_##type##_C1R, (const Npp##type value, Npp##type* to, int toStep, NppiSize size),             \
             (value, to, toStep, size)) {                                                                         \
    return set(context, "nppiSet_" #type "_C1R", std::array{value}, Image{to, toStep}, size);                     \
  }                                                                                                               \
  BOTH_FORMS(nppiCopyConstBorder_##type##_C1R,                                                                    \
             (const Npp##type* from, int fromStep, NppiSize fromSize, Npp##type* to, int toStep, NppiSize toSize, \
              int top, int left, Npp##type value),                                                                \
             (from, fromStep, fromSize, to, toStep, toSize, top, left, value)) {                                  \
    const std::array constant{value};                                                                             \
    return border<Npp##type, 1>(context, "nppiCopyConstBorder_" #type "_C1R", Image{from, fromStep},              \
                                Image{to, toStep}, {fromSize, toSize, top, left}, &constant);                     \
  }
SET_AND_COPY(8u)
SET_AND_COPY(16u)
SET_AND_COPY(16s)
SET_AND_COPY(32s)
SET_AND_COPY(32f)

#define CONVERT(a, b, channels)                                                                                  \
  BOTH_FORMS(nppiConvert_##a##b##_C##channels##R,                                                                \
             (const Npp##a* from, int fromStep, Npp##b* to, int toStep, NppiSize size),                          \
             (from, fromStep, to, toStep, size)) {                                                               \
    return map(context, "nppiConvert_" #a #b "_C" #channels "R", Image{from, fromStep}, Image{to, toStep}, size, \
               channels, [](Npp##a x) { return static_cast<Npp##b>(x); });                                       \
  }
#define CONVERTS(a, b) CONVERT(a, b, 1) CONVERT(a, b, 3) CONVERT(a, b, 4)
CONVERTS(8u, 32f)
CONVERTS(16u, 32f)
CONVERTS(8u, 16u)
CONVERTS(8u, 16s)
CONVERTS(16s, 32f)

// --- colours and tables

// The weights of the manual (RGBToGray); to the nearest whole number, as a GPU's (compared for 35,937 colours).
#define GRAY(type)                                                                                              \
  BOTH_FORMS(nppiRGBToGray_##type##_C3C1R,                                                                      \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                   \
             (from, fromStep, to, toStep, size)) {                                                              \
    const Image source{from, fromStep};                                                                         \
    const Image result{to, toStep};                                                                             \
    if (const NppStatus bad = check(size, source, result)) return bad;                                          \
    return forRows(context, "nppiRGBToGray_" #type "_C3C1R", size.height, [=](int y) {                          \
      const auto* pixel = source.row(y);                                                                        \
      for (int x = 0; x < size.width; ++x, pixel += 3)                                                          \
        result.row(y)[x] =                                                                                      \
            saturate<Npp##type>(0.299F * static_cast<float>(pixel[0]) + 0.587F * static_cast<float>(pixel[1]) + \
                                0.114F * static_cast<float>(pixel[2]));                                         \
    });                                                                                                         \
  }
GRAY(8u)
GRAY(16u)
GRAY(32f)

namespace {

/// For each of the 256 pixels what the table makes of it; those outside of the levels stay. Between two levels the
/// value is the first one's, or goes on to the second one's in steps that are cut to whole numbers.
std::array<Npp8u, 256> tableOf(const Npp32s* values, const Npp32s* levels, int count, bool isLinear) {
  std::array<Npp8u, 256> table{};
  for (int x = 0; x < 256; ++x) {
    table[static_cast<size_t>(x)] = static_cast<Npp8u>(x);
    for (int k = 0; k + 1 < count; ++k) {
      if (x < levels[k] || x >= levels[k + 1]) continue;
      const int64_t rise = isLinear ? int64_t{values[k + 1]} - values[k] : 0;
      table[static_cast<size_t>(x)] =
          saturate<Npp8u>(values[k] + (x - int64_t{levels[k]}) * rise / (int64_t{levels[k + 1]} - levels[k]));
    }
  }
  return table;
}

NppStatus lookUp(const NppStreamContext& c, const char* name, Image<const Npp8u> from, Image<Npp8u> to, NppiSize size,
                 const Npp32s* values, const Npp32s* levels, int count, bool isLinear) {
  if (!values || !levels) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from, to)) return bad;
  if (count < 2) return NPP_LUT_NUMBER_OF_LEVELS_ERROR;
  return run(c, name, [=] {  // values and levels are the device's: known when the task runs
    const auto table = tableOf(values, levels, count, isLinear);
    parallelFor(static_cast<unsigned>(size.height), [&](unsigned y) {
      const Npp8u* const source = from.row(static_cast<int>(y));
      Npp8u* const result = to.row(static_cast<int>(y));
      for (int x = 0; x < size.width; ++x) result[x] = table[source[x]];
    });
  });
}

}  // namespace

#define LOOK_UP(name, isLinear)                                                                                     \
  BOTH_FORMS(name,                                                                                                  \
             (const Npp8u* from, int fromStep, Npp8u* to, int toStep, NppiSize size, const Npp32s* values,          \
              const Npp32s* levels, int count),                                                                     \
             (from, fromStep, to, toStep, size, values, levels, count)) {                                           \
    return lookUp(context, #name, Image{from, fromStep}, Image{to, toStep}, size, values, levels, count, isLinear); \
  }
LOOK_UP(nppiLUT_Linear_8u_C1R, true)
LOOK_UP(nppiLUT_8u_C1R, false)
