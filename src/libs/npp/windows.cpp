// NPP: what becomes of a pixel by those around it: Gaussian means, and the largest and smallest of nine.
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
WITH_CHANNELS(DILATE, 8u)
WITH_CHANNELS(DILATE, 16u)
WITH_CHANNELS(DILATE, 32f)
WITH_CHANNELS(ERODE, 8u)
WITH_CHANNELS(ERODE, 16u)
WITH_CHANNELS(ERODE, 32f)
