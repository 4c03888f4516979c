// NPP: histograms of images; sums, extremes and differences of signals. Work areas are accepted and not needed.
#include <vector>

#include "libs/npp/image.hpp"
#include "nppi_statistics_functions.h"
#include "npps_statistics_functions.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

template <class Size>
NppStatus tellSize(Size* bytes) {
  if (!bytes) return NPP_NULL_POINTER_ERROR;
  *bytes = 1;
  return NPP_SUCCESS;
}

/// The levels cut [lower, upper) into bins of nearly one size; a value in bin b is in [level b, level b + 1).
int64_t level(int k, int count, Npp32s lower, Npp32s upper) {
  return lower + (int64_t{upper} - lower) * k / (count - 1);
}

/// What each channel of an image is counted by; a single one has the arrays themselves.
template <class Level>
struct Counting {
  Npp32s* bins[4] = {};
  const Level* levels[4] = {};
  int count[4] = {};
  int channels = 1;

  static Counting of(Npp32s* bins, const Level* levels, int count) { return {{bins}, {levels}, {count}, 1}; }
  static Counting ofFour(Npp32s* const* bins, const Level* const* levels, const int* count) {
    Counting all;
    all.channels = 4;
    for (int i = 0; i < 4; ++i)
      all.bins[i] = bins ? bins[i] : nullptr, all.levels[i] = levels ? levels[i] : nullptr,
      all.count[i] = count ? count[i] : 0;
    return all;
  }
  NppStatus check() const {
    for (int i = 0; i < channels; ++i) {
      if (!bins[i] || !levels[i]) return NPP_NULL_POINTER_ERROR;
      if (count[i] < 2) return NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR;
    }
    return NPP_SUCCESS;
  }
};

/// Levels are the device's, and grow. A value in bin b is in [level b, level b + 1).
template <class T, class Level>
void count(Image<const T> from, NppiSize size, const Counting<Level>& by) {
  for (int c = 0; c < by.channels; ++c) {
    std::fill_n(by.bins[c], by.count[c] - 1, 0);
    const Level *first = by.levels[c], *end = first + by.count[c];
    const auto add = [&](T value, Npp32s times) {
      const auto bin = std::upper_bound(first, end, static_cast<Level>(value)) - first;
      if (bin > 0 && bin < by.count[c]) by.bins[c][bin - 1] += times;
    };
    const auto eachPixel = [&](const auto& visit) {
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) visit(from.row(y)[x * by.channels + c]);
    };
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {  // few values: each looks for its bin once
      std::vector<Npp32s> counts(1U << (8 * sizeof(T)));
      eachPixel([&](T value) { ++counts[static_cast<std::make_unsigned_t<T>>(value)]; });
      for (size_t i = 0; i < counts.size(); ++i)
        if (counts[i] != 0) add(static_cast<T>(i), counts[i]);
    } else {
      eachPixel([&](T value) { add(value, 1); });
    }
  }
}

template <class T, class Level>
NppStatus histogram(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize size,
                    const Counting<Level>& by, const Npp8u* buffer) {
  if (!buffer) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from)) return bad;
  if (const NppStatus bad = by.check()) return bad;
  return run(c, name, [=] { count(from, size, by); });
}

/// The same with levels that cut [lower, upper) into bins of nearly one size.
template <class T>
NppStatus evenHistogram(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize size,
                        Counting<Npp32s> by, const Npp32s* lower, const Npp32s* upper, const Npp8u* buffer) {
  if (!buffer || !lower || !upper) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from)) return bad;
  std::vector<std::vector<Npp32s>> levels(4);
  for (int i = 0; i < by.channels; ++i) {
    by.levels[i] = lower;  // there will be some
    for (int k = 0; k < by.count[i] && by.count[i] > 1; ++k)
      levels[static_cast<size_t>(i)].push_back(static_cast<Npp32s>(level(k, by.count[i], lower[i], upper[i])));
  }
  if (const NppStatus bad = by.check()) return bad;
  return run(c, name, [=] {
    Counting<Npp32s> all = by;
    for (int i = 0; i < all.channels; ++i) all.levels[i] = levels[static_cast<size_t>(i)].data();
    count(from, size, all);
  });
}

NppStatus tellHistogramSize(NppiSize size, const int* levels, int channels, size_t* bytes) {
  if (!levels) return NPP_NULL_POINTER_ERROR;
  for (int i = 0; i < channels; ++i)
    if (levels[i] < 2) return NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR;
  return size.width < 0 || size.height < 0 ? NPP_SIZE_ERROR : tellSize(bytes);
}

}  // namespace

NppStatus nppiEvenLevelsHost_32s(Npp32s* levels, int count, Npp32s lower, Npp32s upper) {
  if (!levels) return NPP_NULL_POINTER_ERROR;
  if (count < 2) return NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR;
  for (int k = 0; k < count; ++k) levels[k] = static_cast<Npp32s>(level(k, count, lower, upper));
  return NPP_SUCCESS;
}

#define SIZE_OF_HISTOGRAM(name, type)                                                                        \
  BOTH_FORMS(nppiHistogram##name##GetBufferSize_##type##_C1R, (NppiSize size, int levels, size_t* bytes),    \
             (size, levels, bytes)) {                                                                        \
    return tellHistogramSize(size, &levels, 1, bytes);                                                       \
  }                                                                                                          \
  BOTH_FORMS(nppiHistogram##name##GetBufferSize_##type##_C4R, (NppiSize size, int levels[4], size_t* bytes), \
             (size, levels, bytes)) {                                                                        \
    return tellHistogramSize(size, levels, 4, bytes);                                                        \
  }
#define HISTOGRAM(type)                                                                                            \
  SIZE_OF_HISTOGRAM(Even, type)                                                                                    \
  BOTH_FORMS(nppiHistogramEven_##type##_C1R,                                                                       \
             (const Npp##type* from, int fromStep, NppiSize size, Npp32s* bins, int levels, Npp32s lower,          \
              Npp32s upper, Npp8u* buffer),                                                                        \
             (from, fromStep, size, bins, levels, lower, upper, buffer)) {                                         \
    return evenHistogram(context, "nppiHistogramEven_" #type "_C1R", Image{from, fromStep}, size,                  \
                         Counting<Npp32s>::of(bins, nullptr, levels), &lower, &upper, buffer);                     \
  }                                                                                                                \
  BOTH_FORMS(nppiHistogramEven_##type##_C4R,                                                                       \
             (const Npp##type* from, int fromStep, NppiSize size, Npp32s* bins[4], int levels[4], Npp32s lower[4], \
              Npp32s upper[4], Npp8u* buffer),                                                                     \
             (from, fromStep, size, bins, levels, lower, upper, buffer)) {                                         \
    return evenHistogram(context, "nppiHistogramEven_" #type "_C4R", Image{from, fromStep}, size,                  \
                         Counting<Npp32s>::ofFour(bins, nullptr, levels), lower, upper, buffer);                   \
  }
#define RANGES(type, Level)                                                                                     \
  SIZE_OF_HISTOGRAM(Range, type)                                                                                \
  BOTH_FORMS(nppiHistogramRange_##type##_C1R,                                                                   \
             (const Npp##type* from, int fromStep, NppiSize size, Npp32s* bins, const Level* levels, int count, \
              Npp8u* buffer),                                                                                   \
             (from, fromStep, size, bins, levels, count, buffer)) {                                             \
    return histogram(context, "nppiHistogramRange_" #type "_C1R", Image{from, fromStep}, size,                  \
                     Counting<Level>::of(bins, levels, count), buffer);                                         \
  }                                                                                                             \
  BOTH_FORMS(nppiHistogramRange_##type##_C4R,                                                                   \
             (const Npp##type* from, int fromStep, NppiSize size, Npp32s* bins[4], const Level* levels[4],      \
              int count[4], Npp8u* buffer),                                                                     \
             (from, fromStep, size, bins, levels, count, buffer)) {                                             \
    return histogram(context, "nppiHistogramRange_" #type "_C4R", Image{from, fromStep}, size,                  \
                     Counting<Level>::ofFour(bins, levels, count), buffer);                                     \
  }
HISTOGRAM(8u)
HISTOGRAM(16u)
HISTOGRAM(16s)
RANGES(8u, Npp32s)
RANGES(16u, Npp32s)
RANGES(16s, Npp32s)
RANGES(32f, Npp32f)

// --- signals

namespace {

template <class T>
struct Signal {
  const T *a, *b;
  int length;
};

/// f gives the result from the whole signal. An empty one is an error, as in the manual.
template <class T, class F>
NppStatus reduce(const NppStreamContext& c, const char* name, Signal<T> signal, T* result, const Npp8u* buffer, F f) {
  if (!signal.a || !signal.b || !result || !buffer) return NPP_NULL_POINTER_ERROR;
  if (signal.length < 1) return NPP_SIZE_ERROR;
  return run(c, name, [=] { *result = static_cast<T>(f(signal)); });
}

template <class T>
double sum(Signal<T> s) {
  double total = 0;
  for (int i = 0; i < s.length; ++i) total += s.a[i];
  return total;
}

template <class T, class Add>
double sumOfDifferences(Signal<T> s, Add add) {
  double total = 0;
  for (int i = 0; i < s.length; ++i) total = add(total, std::abs(static_cast<double>(s.a[i]) - s.b[i]));
  return total;
}

}  // namespace

#define SIZE_OF_BUFFER(name) \
  BOTH_FORMS(name, (int length, int* bytes), (length, bytes)) { return length < 1 ? NPP_SIZE_ERROR : tellSize(bytes); }
#define REDUCE(name, type, result_of)                                                                     \
  SIZE_OF_BUFFER(npps##name##GetBufferSize_##type)                                                        \
  BOTH_FORMS(npps##name##_##type, (const Npp##type* from, int length, Npp##type* result, Npp8u* buffer),  \
             (from, length, result, buffer)) {                                                            \
    return reduce(context, "npps" #name "_" #type, Signal<Npp##type>{from, from, length}, result, buffer, \
                  [](Signal<Npp##type> s) { return result_of; });                                         \
  }
#define DIFFERENCE(name, type, result_of)                                                                    \
  SIZE_OF_BUFFER(nppsNormDiff##name##GetBufferSize_##type)                                                   \
  BOTH_FORMS(nppsNormDiff_##name##_##type,                                                                   \
             (const Npp##type* a, const Npp##type* b, int length, Npp##type* result, Npp8u* buffer),         \
             (a, b, length, result, buffer)) {                                                               \
    return reduce(context, "nppsNormDiff_" #name "_" #type, Signal<Npp##type>{a, b, length}, result, buffer, \
                  [](Signal<Npp##type> s) { return result_of; });                                            \
  }
#define SIGNALS(type)                                                                           \
  REDUCE(Sum, type, sum(s))                                                                     \
  REDUCE(Mean, type, sum(s) / s.length)                                                         \
  REDUCE(Min, type, *std::min_element(s.a, s.a + s.length))                                     \
  REDUCE(Max, type, *std::max_element(s.a, s.a + s.length))                                     \
  DIFFERENCE(Inf, type, sumOfDifferences(s, [](double t, double d) { return std::max(t, d); })) \
  DIFFERENCE(L1, type, sumOfDifferences(s, [](double t, double d) { return t + d; }))           \
  DIFFERENCE(L2, type, std::sqrt(sumOfDifferences(s, [](double t, double d) { return t + d * d; })))
SIGNALS(32f)
SIGNALS(64f)
