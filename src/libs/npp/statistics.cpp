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

template <class T>
NppStatus histogram(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize size, Npp32s* bins,
                    int levels, Npp32s lower, Npp32s upper, const Npp8u* buffer) {
  if (!bins || !buffer) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from)) return bad;
  if (levels < 2) return NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR;
  return run(c, name, [=] {
    std::vector<Npp32s> counts(1u << (8 * sizeof(T)));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) ++counts[static_cast<std::make_unsigned_t<T>>(from.row(y)[x])];
    std::fill_n(bins, levels - 1, 0);
    for (int b = 0; b + 1 < levels; ++b) {
      const auto first = std::max<int64_t>(level(b, levels, lower, upper), std::numeric_limits<T>::min());
      const auto end =
          std::min<int64_t>(level(b + 1, levels, lower, upper), int64_t{std::numeric_limits<T>::max()} + 1);
      for (int64_t value = first; value < end; ++value) bins[b] += counts[static_cast<std::make_unsigned_t<T>>(value)];
    }
  });
}

}  // namespace

NppStatus nppiEvenLevelsHost_32s(Npp32s* levels, int count, Npp32s lower, Npp32s upper) {
  if (!levels) return NPP_NULL_POINTER_ERROR;
  if (count < 2) return NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR;
  for (int k = 0; k < count; ++k) levels[k] = static_cast<Npp32s>(level(k, count, lower, upper));
  return NPP_SUCCESS;
}

#define HISTOGRAM(type)                                                                                            \
  BOTH_FORMS(nppiHistogramEvenGetBufferSize_##type##_C1R, (NppiSize size, int levels, size_t* bytes),              \
             (size, levels, bytes)) {                                                                              \
    if (levels < 2) return NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR;                                                   \
    return size.width < 0 || size.height < 0 ? NPP_SIZE_ERROR : tellSize(bytes);                                   \
  }                                                                                                                \
  BOTH_FORMS(nppiHistogramEven_##type##_C1R,                                                                       \
             (const Npp##type* from, int fromStep, NppiSize size, Npp32s* bins, int levels, Npp32s lower,          \
              Npp32s upper, Npp8u* buffer),                                                                        \
             (from, fromStep, size, bins, levels, lower, upper, buffer)) {                                         \
    return histogram(context, "nppiHistogramEven_" #type "_C1R", Image{from, fromStep}, size, bins, levels, lower, \
                     upper, buffer);                                                                               \
  }
HISTOGRAM(8u)
HISTOGRAM(16u)
HISTOGRAM(16s)

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
