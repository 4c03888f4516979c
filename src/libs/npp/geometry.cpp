// NPP: images that change their size or are mirrored.
#include <numbers>
#include <numeric>
#include <vector>

#include "libs/npp/image.hpp"
#include "nppi_geometry_transforms.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// How many pixels of the source one of the result stands for, and by how many of the result's it is moved.
struct Axis {
  double scale, shift = 0;
};

struct Resizing {
  NppiRect from, to;
  int interpolation;
  Axis x, y;

  /// Region onto region.
  Resizing(NppiRect from, NppiRect to, int interpolation)
      : Resizing(from, to, interpolation, {static_cast<double>(from.width) / to.width},
                 {static_cast<double>(from.height) / to.height}) {}
  Resizing(NppiRect from, NppiRect to, int interpolation, Axis x, Axis y)
      : from(from), to(to), interpolation(interpolation), x(x), y(y) {}
};

bool isInside(NppiRect r, NppiSize size) {
  return r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.x + r.width <= size.width &&
         r.y + r.height <= size.height;
}

/// Cubic convolution with a = -0.5 (Keys, 1981) for a distance.
double cubic(double d) {
  d = std::abs(d);
  if (d < 1) return (1.5 * d - 2.5) * d * d + 1;
  return d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

/// Lanczos's kernel of three lobes for a distance.
double lanczos(double d) {
  if (d == 0) return 1;
  const double x = std::numbers::pi * d;
  return std::abs(d) < 3 ? 3 * std::sin(x) * std::sin(x / 3) / (x * x) : 0;
}

double weightOf(int interpolation, double distance) {
  switch (interpolation) {
    case NPPI_INTER_CUBIC: return cubic(distance);
    case NPPI_INTER_LANCZOS: return lanczos(distance);
    default: return 1 - std::abs(distance);
  }
}

/// What a coordinate of the result takes of the source: pixels from `first` on and their weights. Centres of pixels
/// meet centres; outside of the region its edge goes on. Supersampling takes the part of each pixel that is covered.
struct Taps {
  int first = 0;
  std::vector<double> weights{1};

  Taps(int pixel, Axis axis, int interpolation) {
    const double at = pixel - axis.shift, scale = axis.scale;
    if (interpolation == NPPI_INTER_NN) {
      first = static_cast<int>(std::floor((at + 0.5) * scale));
    } else if (interpolation == NPPI_INTER_SUPER) {
      const double begin = at * scale, end = begin + scale;
      first = static_cast<int>(begin);
      weights.clear();
      for (int i = first; i < end; ++i)
        weights.push_back((std::min(end, i + 1.0) - std::max<double>(begin, i)) / scale);
    } else {
      const double centre = (at + 0.5) * scale - 0.5;
      const int count = interpolation == NPPI_INTER_LINEAR ? 2 : interpolation == NPPI_INTER_CUBIC ? 4 : 6;
      first = static_cast<int>(std::floor(centre)) - (count / 2 - 1);
      weights.clear();
      for (int i = 0; i < count; ++i) weights.push_back(weightOf(interpolation, centre - (first + i)));
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (double& weight : weights) weight /= sum;
    }
  }
};

/// Of all columns of the result.
std::vector<Taps> columnsOf(const Resizing& r) {
  std::vector<Taps> columns;
  for (int x = 0; x < r.to.width; ++x) columns.emplace_back(x, r.x, r.interpolation);
  return columns;
}

NppStatus checkInterpolation(const Resizing& r) {
  switch (r.interpolation) {
    case NPPI_INTER_NN:
    case NPPI_INTER_LINEAR:
    case NPPI_INTER_CUBIC:
    case NPPI_INTER_LANCZOS: return NPP_SUCCESS;
    case NPPI_INTER_SUPER: return r.x.scale < 1 || r.y.scale < 1 ? NPP_RESIZE_FACTOR_ERROR : NPP_SUCCESS;
    default: return NPP_INTERPOLATION_ERROR;
  }
}

template <class T>
NppStatus resize(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize, Image<T> to,
                 const Resizing& r, int channels) {
  if (const NppStatus bad = check(fromSize, from, to)) return bad;
  if (!isInside(r.from, fromSize)) return NPP_RECTANGLE_ERROR;
  if (const NppStatus bad = checkInterpolation(r)) return bad;
  return forRows(c, name, r.to.height, [=, columns = columnsOf(r)](int y) {
    const Replicated inside{{r.from.width, r.from.height}};
    const Taps rows(y, r.y, r.interpolation);
    for (int x = 0; x < r.to.width; ++x) {
      const Taps& column = columns[static_cast<size_t>(x)];
      for (int channel = 0; channel < channels; ++channel) {
        double sum = 0;
        for (size_t j = 0; j < rows.weights.size(); ++j) {
          const T* const row = from.row(r.from.y + inside.y(rows.first + static_cast<int>(j)));
          for (size_t i = 0; i < column.weights.size(); ++i)
            sum += rows.weights[j] * column.weights[i] *
                   row[(r.from.x + inside.x(column.first + static_cast<int>(i))) * channels + channel];
        }
        to.row(r.to.y + y)[(r.to.x + x) * channels + channel] = saturate<T>(sum);
      }
    }
  });
}

/// The same with factors of the program's own. A pixel whose centre is beyond the source's region stays as it is; which
/// these are is the same for all rows and for all columns.
template <class T>
NppStatus resizeByFactors(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize,
                          Image<T> to, Resizing r, int channels) {
  if (!(r.x.scale > 0) || !(r.y.scale > 0) || !std::isfinite(r.x.scale) || !std::isfinite(r.y.scale))
    return NPP_RESIZE_FACTOR_ERROR;
  if (r.to.x < 0 || r.to.y < 0 || r.to.width <= 0 || r.to.height <= 0) return NPP_RECTANGLE_ERROR;
  const auto within = [](int length, int size, Axis axis) {  // [first, end) of `length` pixels
    const double first = axis.shift - 0.5, end = size / axis.scale + axis.shift - 0.5;
    return std::pair(std::clamp(static_cast<int>(std::ceil(first)), 0, length),
                     std::clamp(static_cast<int>(std::ceil(end)), 0, length));
  };
  const auto columns = within(r.to.width, r.from.width, r.x), rows = within(r.to.height, r.from.height, r.y);
  if (columns.first >= columns.second || rows.first >= rows.second) return NPP_SUCCESS;
  r.x.shift -= columns.first, r.y.shift -= rows.first;
  r.to = {r.to.x + columns.first, r.to.y + rows.first, columns.second - columns.first, rows.second - rows.first};
  return resize(c, name, from, fromSize, to, r, channels);
}

template <class T>
NppStatus mirror(const NppStreamContext& c, const char* name, Image<const T> from, Image<T> to, NppiSize size,
                 NppiAxis axis, int channels) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  if (axis < NPP_HORIZONTAL_AXIS || axis > NPP_BOTH_AXIS) return NPP_MIRROR_FLIP_ERROR;
  return forRows(c, name, size.height, [=](int y) {
    const T* const source = from.row(axis == NPP_VERTICAL_AXIS ? y : size.height - 1 - y);
    T* result = to.row(y);
    for (int x = 0; x < size.width; ++x, result += channels)
      std::copy_n(source + (axis == NPP_HORIZONTAL_AXIS ? x : size.width - 1 - x) * channels, channels, result);
  });
}

/// In place: pixels change places with those that they are mirrored to.
template <class T>
NppStatus mirrorInPlace(const NppStreamContext& c, const char* name, Image<T> image, NppiSize size, NppiAxis axis,
                        int channels) {
  if (const NppStatus bad = check(size, image)) return bad;
  if (axis < NPP_HORIZONTAL_AXIS || axis > NPP_BOTH_AXIS) return NPP_MIRROR_FLIP_ERROR;
  const bool turnsRows = axis != NPP_HORIZONTAL_AXIS, turnsColumns = axis != NPP_VERTICAL_AXIS;
  return forRows(c, name, turnsColumns ? (size.height + 1) / 2 : size.height, [=](int y) {
    const int other = turnsColumns ? size.height - 1 - y : y;
    T *const one = image.row(y), *const two = image.row(other);
    // A row that becomes itself is done once.
    const int columns = other == y && turnsRows ? size.width / 2 : other == y ? 0 : size.width;
    for (int x = 0; x < columns; ++x)
      std::swap_ranges(one + x * channels, one + (x + 1) * channels,
                       two + (turnsRows ? size.width - 1 - x : x) * channels);
  });
}

}  // namespace

#define RESIZE(type, channels)                                                                                         \
  BOTH_FORMS(nppiResize_##type##_C##channels##R,                                                                       \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiRect fromRegion, Npp##type* to, int toStep,  \
              NppiSize toSize, NppiRect toRegion, int interpolation),                                                  \
             (from, fromStep, fromSize, fromRegion, to, toStep, toSize, toRegion, interpolation)) {                    \
    if (from && to && !isInside(toRegion, toSize)) return NPP_RECTANGLE_ERROR;                                         \
    return resize(context, "nppiResize_" #type "_C" #channels "R", Image{from, fromStep}, fromSize, Image{to, toStep}, \
                  {fromRegion, toRegion, interpolation}, channels);                                                    \
  }                                                                                                                    \
  BOTH_FORMS(                                                                                                          \
      nppiResizeSqrPixel_##type##_C##channels##R,                                                                      \
      (const Npp##type* from, NppiSize fromSize, int fromStep, NppiRect fromRegion, Npp##type* to, int toStep,         \
       NppiRect toRegion, double factorX, double factorY, double shiftX, double shiftY, int interpolation),            \
      (from, fromSize, fromStep, fromRegion, to, toStep, toRegion, factorX, factorY, shiftX, shiftY, interpolation)) { \
    return resizeByFactors(                                                                                            \
        context, "nppiResizeSqrPixel_" #type "_C" #channels "R", Image{from, fromStep}, fromSize, Image{to, toStep},   \
        {fromRegion, toRegion, interpolation, {1 / factorX, shiftX}, {1 / factorY, shiftY}}, channels);                \
  }
#define MIRROR(type, channels)                                                                                        \
  BOTH_FORMS(nppiMirror_##type##_C##channels##R,                                                                      \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, NppiAxis axis),          \
             (from, fromStep, to, toStep, size, axis)) {                                                              \
    return mirror(context, "nppiMirror_" #type "_C" #channels "R", Image{from, fromStep}, Image{to, toStep}, size,    \
                  axis, channels);                                                                                    \
  }                                                                                                                   \
  BOTH_FORMS(nppiMirror_##type##_C##channels##IR, (Npp##type * image, int step, NppiSize size, NppiAxis axis),        \
             (image, step, size, axis)) {                                                                             \
    return mirrorInPlace(context, "nppiMirror_" #type "_C" #channels "IR", Image{image, step}, size, axis, channels); \
  }
#define EACH(X, type) X(type, 1) X(type, 3) X(type, 4)
EACH(RESIZE, 8u)
EACH(RESIZE, 16u)
EACH(RESIZE, 16s)
EACH(RESIZE, 32f)
EACH(MIRROR, 8u)
EACH(MIRROR, 16u)
EACH(MIRROR, 16s)
EACH(MIRROR, 32s)
EACH(MIRROR, 32f)
