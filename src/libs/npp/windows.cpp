// NPP: what becomes of a pixel by those around it: Gaussian means, the largest and smallest of nine, of a rectangle and
// of a mask, and sums along rows and columns.
#include <vector>

#include "libs/npp/window.hpp"
#include "nppi_filtering_functions.h"
#include "nppi_morphological_operations.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// The width of a square mask; 0 if it is none.
int widthOf(NppiMaskSize mask) {
  switch (mask) {
    case NPP_MASK_SIZE_3_X_3: return 3;
    case NPP_MASK_SIZE_5_X_5: return 5;
    case NPP_MASK_SIZE_7_X_7: return 7;
    case NPP_MASK_SIZE_9_X_9: return 9;
    case NPP_MASK_SIZE_11_X_11: return 11;
    case NPP_MASK_SIZE_13_X_13: return 13;
    case NPP_MASK_SIZE_15_X_15: return 15;
    default: return 0;
  }
}

/// Weights of one dimension, whose sum is 1, with the deviation that the manual has for a mask.
std::vector<double> weightsOf(int width) {
  const double deviation = 0.4 + 0.6 * width / 3;
  std::vector<double> weights;
  double sum = 0;
  const int middle = width / 2;
  for (int i = 0; i < width; ++i) {
    const double away = i - middle;
    weights.push_back(std::exp(-away * away / (2 * deviation * deviation)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Whole numbers are cut, as on a GPU (compared for masks of three by three).
template <class T, class Source>
NppStatus gauss(const NppStreamContext& c, const char* name, Source from, Image<T> to, NppiSize size,
                NppiMaskSize mask) {
  if (const NppStatus bad = check(size, from.image, to)) return bad;
  const int width = widthOf(mask);
  if (width == 0) return NPP_MASK_SIZE_ERROR;
  const int middle = width / 2;
  return forRows(c, name, size.height, [=, weights = weightsOf(width)](int y) {
    for (int x = 0; x < size.width; ++x)
      for (int channel = 0; channel < from.channels; ++channel) {
        double sum = 0;
        for (int j = 0; j < width; ++j) {
          double row = 0;
          for (int i = 0; i < width; ++i)
            row += weights[static_cast<size_t>(i)] * from.at(x + i - middle, y + j - middle)[channel];
          sum += weights[static_cast<size_t>(j)] * row;
        }
        constexpr double kRounded = 1e-9;  // the weights' sum may be a little less than 1
        if constexpr (!std::is_floating_point_v<T>) sum = std::trunc(sum + std::copysign(kRounded, sum));
        to.row(y)[x * from.channels + channel] = saturate<T>(sum);
      }
  });
}

/// Twice the pixel, less an eighth of each of its eight neighbours: the nearest whole number, of two the lower one.
template <class T, class Source>
NppStatus sharpen(const NppStreamContext& c, const char* name, Source from, Image<T> to, NppiSize size) {
  if (const NppStatus bad = check(size, from.image, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width; ++x)
      for (int channel = 0; channel < from.channels; ++channel) {
        double sum = 17.0 * from.at(x, y)[channel];
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) sum -= from.at(x + i, y + j)[channel];
        sum /= 8;
        to.row(y)[x * from.channels + channel] = saturate<T>(std::is_floating_point_v<T> ? sum : std::ceil(sum - 0.5));
      }
  });
}

template <class T, class Source, class Choose>
NppStatus ofNine(const NppStreamContext& c, const char* name, Source from, Image<T> to, NppiSize size, Choose choose) {
  if (const NppStatus bad = check(size, from.image, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width; ++x)
      for (int channel = 0; channel < from.channels; ++channel) {
        T best = from.at(x, y)[channel];
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) best = choose(best, from.at(x + i, y + j)[channel]);
        to.row(y)[x * from.channels + channel] = best;
      }
  });
}

/// Pixels (x - anchor.x + i, y - anchor.y + j) where the mask, if there is one, is not 0. The mask is the device's.
template <class T, class Choose>
NppStatus ofMask(const NppStreamContext& c, const char* name, Unbordered<T> from, Image<T> to, NppiSize size,
                 const Npp8u* mask, NppiSize maskSize, NppiPoint anchor, Choose choose) {
  if (const NppStatus bad = check(size, from.image, to)) return bad;
  if (const NppStatus bad = checkMask(maskSize, anchor)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width; ++x)
      for (int channel = 0; channel < from.channels; ++channel) {
        bool isFirst = true;
        T best = from.at(x, y)[channel];
        for (int j = 0; j < maskSize.height; ++j)
          for (int i = 0; i < maskSize.width; ++i) {
            if (mask && mask[j * maskSize.width + i] == 0) continue;
            const T value = from.at(x + i - anchor.x, y + j - anchor.y)[channel];
            best = isFirst ? value : choose(best, value), isFirst = false;
          }
        to.row(y)[x * from.channels + channel] = best;
      }
  });
}

/// The sum of `count` pixels side by side or one below the other.
NppStatus sumWindow(const NppStreamContext& c, const char* name, Image<const Npp8u> from, Image<Npp32f> to,
                    NppiSize size, int count, int anchor, bool isColumn) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  if (count <= 0) return NPP_MASK_SIZE_ERROR;
  if (anchor < 0 || anchor >= count) return NPP_ANCHOR_ERROR;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width; ++x) {
      int64_t sum = 0;
      for (int i = 0; i < count; ++i) sum += isColumn ? from.row(y + i - anchor)[x] : from.row(y)[x + i - anchor];
      to.row(y)[x] = static_cast<Npp32f>(sum);
    }
  });
}

}  // namespace

#define BORDERED(type, channels) \
  Bordered<Npp##type> { {from, fromStep}, {fromSize}, offset, channels }
#define UNBORDERED(type, channels) \
  Unbordered<Npp##type> { {from, fromStep}, channels }
#define GAUSS(type, channels)                                                                                         \
  BOTH_FORMS(nppiFilterGauss_##type##_C##channels##R,                                                                 \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, NppiMaskSize mask),      \
             (from, fromStep, to, toStep, size, mask)) {                                                              \
    return gauss(context, "nppiFilterGauss_" #type "_C" #channels "R", UNBORDERED(type, channels), Image{to, toStep}, \
                 size, mask);                                                                                         \
  }                                                                                                                   \
  BOTH_FORMS(nppiFilterGaussBorder_##type##_C##channels##R,                                                           \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiPoint offset, Npp##type* to, int toStep,    \
              NppiSize size, NppiMaskSize mask, NppiBorderType border),                                               \
             (from, fromStep, fromSize, offset, to, toStep, size, mask, border)) {                                    \
    if (const NppStatus bad = checkBorder(fromSize, offset, border)) return bad;                                      \
    return gauss(context, "nppiFilterGaussBorder_" #type "_C" #channels "R", BORDERED(type, channels),                \
                 Image{to, toStep}, size, mask);                                                                      \
  }
#define SHARPEN(type, channels)                                                                                    \
  BOTH_FORMS(nppiFilterSharpen_##type##_C##channels##R,                                                            \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                      \
             (from, fromStep, to, toStep, size)) {                                                                 \
    return sharpen(context, "nppiFilterSharpen_" #type "_C" #channels "R", UNBORDERED(type, channels),             \
                   Image{to, toStep}, size);                                                                       \
  }                                                                                                                \
  BOTH_FORMS(nppiFilterSharpenBorder_##type##_C##channels##R,                                                      \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiPoint offset, Npp##type* to, int toStep, \
              NppiSize size, NppiBorderType border),                                                               \
             (from, fromStep, fromSize, offset, to, toStep, size, border)) {                                       \
    if (const NppStatus bad = checkBorder(fromSize, offset, border)) return bad;                                   \
    return sharpen(context, "nppiFilterSharpenBorder_" #type "_C" #channels "R", BORDERED(type, channels),         \
                   Image{to, toStep}, size);                                                                       \
  }
#define OF_NINE(name, type, channels, choose)                                                                      \
  BOTH_FORMS(nppi##name##3x3_##type##_C##channels##R,                                                              \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size),                      \
             (from, fromStep, to, toStep, size)) {                                                                 \
    return ofNine(context, "nppi" #name "3x3_" #type "_C" #channels "R", UNBORDERED(type, channels),               \
                  Image{to, toStep}, size, [](auto a, auto b) { return choose(a, b); });                           \
  }                                                                                                                \
  BOTH_FORMS(nppi##name##3x3Border_##type##_C##channels##R,                                                        \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiPoint offset, Npp##type* to, int toStep, \
              NppiSize size, NppiBorderType border),                                                               \
             (from, fromStep, fromSize, offset, to, toStep, size, border)) {                                       \
    if (const NppStatus bad = checkBorder(fromSize, offset, border)) return bad;                                   \
    return ofNine(context, "nppi" #name "3x3Border_" #type "_C" #channels "R", BORDERED(type, channels),           \
                  Image{to, toStep}, size, [](auto a, auto b) { return choose(a, b); });                           \
  }
#define WITH_CHANNELS(X, ...) X(__VA_ARGS__, 1) X(__VA_ARGS__, 3) X(__VA_ARGS__, 4)
#define DILATE(type, channels) OF_NINE(Dilate, type, channels, std::max)
#define ERODE(type, channels) OF_NINE(Erode, type, channels, std::min)
WITH_CHANNELS(GAUSS, 8u)
WITH_CHANNELS(GAUSS, 16u)
WITH_CHANNELS(GAUSS, 16s)
WITH_CHANNELS(GAUSS, 32f)
WITH_CHANNELS(SHARPEN, 8u)
WITH_CHANNELS(SHARPEN, 16u)
WITH_CHANNELS(SHARPEN, 32f)
WITH_CHANNELS(DILATE, 8u)
WITH_CHANNELS(DILATE, 16u)
WITH_CHANNELS(DILATE, 32f)
WITH_CHANNELS(ERODE, 8u)
WITH_CHANNELS(ERODE, 16u)
WITH_CHANNELS(ERODE, 32f)

#define MASKED(name, type, channels, choose)                                                                         \
  BOTH_FORMS(nppi##name##_##type##_C##channels##R,                                                                   \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, const Npp8u* mask,      \
              NppiSize maskSize, NppiPoint anchor),                                                                  \
             (from, fromStep, to, toStep, size, mask, maskSize, anchor)) {                                           \
    if (!mask) return NPP_NULL_POINTER_ERROR;                                                                        \
    return ofMask(context, "nppi" #name "_" #type "_C" #channels "R", UNBORDERED(type, channels), Image{to, toStep}, \
                  size, mask, maskSize, anchor, [](auto a, auto b) { return choose(a, b); });                        \
  }
#define RECTANGLE(name, type, channels, choose)                                                                      \
  BOTH_FORMS(nppi##name##_##type##_C##channels##R,                                                                   \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, NppiSize maskSize,      \
              NppiPoint anchor),                                                                                     \
             (from, fromStep, to, toStep, size, maskSize, anchor)) {                                                 \
    return ofMask(context, "nppi" #name "_" #type "_C" #channels "R", UNBORDERED(type, channels), Image{to, toStep}, \
                  size, nullptr, maskSize, anchor, [](auto a, auto b) { return choose(a, b); });                     \
  }
#define MASK_DILATE(type, channels) MASKED(Dilate, type, channels, std::max)
#define MASK_ERODE(type, channels) MASKED(Erode, type, channels, std::min)
#define FILTER_MAX(type, channels) RECTANGLE(FilterMax, type, channels, std::max)
#define FILTER_MIN(type, channels) RECTANGLE(FilterMin, type, channels, std::min)
WITH_CHANNELS(MASK_DILATE, 8u)
WITH_CHANNELS(MASK_DILATE, 16u)
WITH_CHANNELS(MASK_DILATE, 32f)
WITH_CHANNELS(MASK_ERODE, 8u)
WITH_CHANNELS(MASK_ERODE, 16u)
WITH_CHANNELS(MASK_ERODE, 32f)
WITH_CHANNELS(FILTER_MAX, 8u)
WITH_CHANNELS(FILTER_MAX, 16u)
WITH_CHANNELS(FILTER_MAX, 32f)
WITH_CHANNELS(FILTER_MIN, 8u)
WITH_CHANNELS(FILTER_MIN, 16u)
WITH_CHANNELS(FILTER_MIN, 32f)

#define SUM_WINDOW(name, isColumn)                                                                                 \
  BOTH_FORMS(                                                                                                      \
      nppiSumWindow##name##_8u32f_C1R,                                                                             \
      (const Npp8u* from, Npp32s fromStep, Npp32f* to, Npp32s toStep, NppiSize size, Npp32s count, Npp32s anchor), \
      (from, fromStep, to, toStep, size, count, anchor)) {                                                         \
    return sumWindow(context, "nppiSumWindow" #name "_8u32f_C1R", Image{from, fromStep}, Image{to, toStep}, size,  \
                     count, anchor, isColumn);                                                                     \
  }
SUM_WINDOW(Row, false)
SUM_WINDOW(Column, true)
