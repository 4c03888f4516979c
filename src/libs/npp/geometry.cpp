// NPP: images that change their size or are mirrored.
#include <numbers>
#include <numeric>
#include <vector>

#include "libs/npp/image.hpp"
#include "nppi_geometry_transforms.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

struct Resizing {
  NppiRect from, to;
  int interpolation;

  double scaleX() const { return static_cast<double>(from.width) / to.width; }
  double scaleY() const { return static_cast<double>(from.height) / to.height; }
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

  Taps(int at, double scale, int interpolation) {
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
  for (int x = 0; x < r.to.width; ++x) columns.emplace_back(x, r.scaleX(), r.interpolation);
  return columns;
}

NppStatus checkInterpolation(const Resizing& r) {
  switch (r.interpolation) {
    case NPPI_INTER_NN:
    case NPPI_INTER_LINEAR:
    case NPPI_INTER_CUBIC:
    case NPPI_INTER_LANCZOS: return NPP_SUCCESS;
    case NPPI_INTER_SUPER: return r.scaleX() < 1 || r.scaleY() < 1 ? NPP_RESIZE_FACTOR_ERROR : NPP_SUCCESS;
    default: return NPP_INTERPOLATION_ERROR;
  }
}

template <class T>
NppStatus resize(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize, Image<T> to,
                 NppiSize toSize, const Resizing& r, int channels) {
  if (const NppStatus bad = check(fromSize, from, to)) return bad;
  if (!isInside(r.from, fromSize) || !isInside(r.to, toSize)) return NPP_RECTANGLE_ERROR;
  if (const NppStatus bad = checkInterpolation(r)) return bad;
  return forRows(c, name, r.to.height, [=, columns = columnsOf(r)](int y) {
    const Replicated inside{{r.from.width, r.from.height}};
    const Taps rows(y, r.scaleY(), r.interpolation);
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

}  // namespace

#define TRANSFORMS(type, channels)                                                                                     \
  BOTH_FORMS(nppiResize_##type##_C##channels##R,                                                                       \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiRect fromRegion, Npp##type* to, int toStep,  \
              NppiSize toSize, NppiRect toRegion, int interpolation),                                                  \
             (from, fromStep, fromSize, fromRegion, to, toStep, toSize, toRegion, interpolation)) {                    \
    return resize(context, "nppiResize_" #type "_C" #channels "R", Image{from, fromStep}, fromSize, Image{to, toStep}, \
                  toSize, {fromRegion, toRegion, interpolation}, channels);                                            \
  }                                                                                                                    \
  BOTH_FORMS(nppiMirror_##type##_C##channels##R,                                                                       \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, NppiAxis axis),           \
             (from, fromStep, to, toStep, size, axis)) {                                                               \
    return mirror(context, "nppiMirror_" #type "_C" #channels "R", Image{from, fromStep}, Image{to, toStep}, size,     \
                  axis, channels);                                                                                     \
  }
#define TRANSFORMS_134(type) TRANSFORMS(type, 1) TRANSFORMS(type, 3) TRANSFORMS(type, 4)
TRANSFORMS_134(8u)
TRANSFORMS_134(16u)
TRANSFORMS_134(16s)
TRANSFORMS_134(32f)
