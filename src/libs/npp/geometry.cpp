// NPP: images that change their size or are mirrored.
#include <vector>

#include "libs/npp/interpolation.hpp"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// How many pixels of the source one of the result stands for, by how many of the result's it is moved, which place of
/// the source the first pixel has then, from which pixel of the source on places are counted, and how many pixels of
/// the result are left out at its beginning. Constants are put together before they are added, as a GPU's library does.
struct Axis {
  double scale, shift;
  float origin;
  int counted = 0, leftOut = 0;

  /// Region onto region: the first pixel stays where it is or, if the image grows, lies a quarter of one outside of the
  /// region, by whatever factor. So it is on a GPU.
  static Axis ofRegions(int first, int from, int to) {
    const double scale = static_cast<double>(from) / to;
    return {scale, 0, scale < 1 ? -0.25F : 0, first};
  }
  /// Outer edges of pixels meet.
  static Axis ofFactor(double factor, double shift) {
    return {1 / factor, shift, 0.5F * static_cast<float>(1 / factor) - 0.5F};
  }

  float begin(int pixel) const { return static_cast<float>(leftOut + pixel - shift) * static_cast<float>(scale); }
  float place(int pixel) const {
    return std::fma(static_cast<float>(leftOut + pixel), static_cast<float>(scale),
                    origin - static_cast<float>(shift * scale));
  }
};

struct Resizing {
  NppiRect from, to;
  int interpolation;
  Axis x, y;

  /// Region onto region.
  Resizing(NppiRect from, NppiRect to, int interpolation)
      : Resizing(from, to, interpolation, Axis::ofRegions(from.x, from.width, to.width),
                 Axis::ofRegions(from.y, from.height, to.height)) {}
  Resizing(NppiRect from, NppiRect to, int interpolation, Axis x, Axis y)
      : from(from), to(to), interpolation(interpolation), x(x), y(y) {}
};

bool isInside(NppiRect r, NppiSize size) {
  return r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.x + r.width <= size.width &&
         r.y + r.height <= size.height;
}

/// What a coordinate of the result takes of the source. Supersampling takes the part of each pixel that is covered.
class Sources {
 public:
  Sources(int pixel, Axis axis, int interpolation) {
    if (interpolation == NPPI_INTER_SUPER) {
      const float begin = axis.begin(pixel), end = begin + static_cast<float>(axis.scale), first = std::floor(begin);
      first_ = axis.counted + static_cast<int>(first);
      for (float at = first; at < end; ++at) weights_.push_back(std::min(end, at + 1) - std::max(begin, at));
    } else {
      const Taps taps(axis.place(pixel), interpolation);
      first_ = axis.counted + taps.neighbours().first;
      weights_.assign(taps.neighbours().weights.begin(), taps.neighbours().weights.end());
    }
  }
  Neighbours neighbours() const { return {first_, weights_}; }

 private:
  int first_;
  std::vector<float> weights_;
};

/// The mean of the pixels that are covered; those to the right of the region and below it count as 0.
template <class T>
T supersampled(Image<const T> from, Neighbours columns, Neighbours rows, const Resizing& r, int channels, int channel) {
  float sum = 0;
  for (size_t j = 0; j < rows.weights.size(); ++j) {
    const int y = rows.first + static_cast<int>(j);
    if (y < 0 || y >= r.from.y + r.from.height) continue;
    for (size_t i = 0; i < columns.weights.size(); ++i) {
      const int x = columns.first + static_cast<int>(i);
      if (x < 0 || x >= r.from.x + r.from.width) continue;
      const auto value = static_cast<float>(from.row(y)[x * channels + channel]);
      sum = std::fma(value, columns.weights[i] * rows.weights[j], sum);
    }
  }
  return nearest<T>(sum * (1 / (static_cast<float>(r.x.scale) * static_cast<float>(r.y.scale))));
}

/// Of all columns of the result.
std::vector<Sources> columnsOf(const Resizing& r) {
  std::vector<Sources> columns;
  for (int x = 0; x < r.to.width; ++x) columns.emplace_back(x, r.x, r.interpolation);
  return columns;
}

NppStatus checkInterpolation(const Resizing& r) {
  switch (r.interpolation) {
    case NPPI_INTER_NN:
    case NPPI_INTER_LINEAR:
    case NPPI_INTER_CUBIC:
    case NPPI_INTER_LANCZOS: return NPP_SUCCESS;
    case NPPI_INTER_SUPER: return r.x.scale <= 1 || r.y.scale <= 1 ? NPP_RESIZE_FACTOR_ERROR : NPP_SUCCESS;
    default: return NPP_INTERPOLATION_ERROR;
  }
}

template <class T>
NppStatus resize(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize, Image<T> to,
                 const Resizing& r, Edges edges, int channels) {
  if (const NppStatus bad = check(fromSize, from, to)) return bad;
  if (!isInside(r.from, fromSize)) return NPP_RECTANGLE_ERROR;
  if (const NppStatus bad = checkInterpolation(r)) return bad;
  return forRows(c, name, r.to.height, [=, columns = columnsOf(r)](int y) {
    const Sources rows(y, r.y, r.interpolation);
    for (int x = 0; x < r.to.width; ++x) {
      const Neighbours across = columns[static_cast<size_t>(x)].neighbours(), down = rows.neighbours();
      for (int channel = 0; channel < channels; ++channel)
        to.row(r.to.y + y)[(r.to.x + x) * channels + channel] =
            r.interpolation == NPPI_INTER_SUPER ? supersampled(from, across, down, r, channels, channel)
                                                : interpolated(from, edges, across, down, channels, channel);
    }
  });
}

/// The first pixel of the result that has a source, where the region begins at `left`: if the image grows, the one in
/// which it begins, and else the nearest one. Of two that are as near a supersampled image has the second.
double firstCovered(double left, const Axis& axis, int interpolation) {
  if (axis.scale < 1) return std::floor(left);
  return interpolation == NPPI_INTER_SUPER ? std::floor(left + 0.5) : std::ceil(left - 0.5);
}

/// The pixels [first, second) of `length` that have a source in the region of `size` pixels from `begin` on.
std::pair<int, int> covered(int length, int begin, int size, const Axis& axis, int interpolation) {
  const double left = begin / axis.scale + axis.shift, end = left - 0.5 + (size + 0.5) / axis.scale;
  return {std::clamp(static_cast<int>(firstCovered(left, axis, interpolation)), 0, length),
          std::clamp(static_cast<int>(std::ceil(end)), 0, length)};
}

/// The same with factors of the program's own, by which all of the source's image is scaled. A pixel whose place is
/// beyond the source's region stays as it is; which these are is the same for all rows and for all columns.
template <class T>
NppStatus resizeByFactors(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize,
                          Image<T> to, Resizing r, int channels) {
  if (!(r.x.scale > 0) || !(r.y.scale > 0) || !std::isfinite(r.x.scale) || !std::isfinite(r.y.scale))
    return NPP_RESIZE_FACTOR_ERROR;
  if (r.to.x < 0 || r.to.y < 0 || r.to.width <= 0 || r.to.height <= 0) return NPP_RECTANGLE_ERROR;
  const auto columns = covered(r.to.width, r.from.x, r.from.width, r.x, r.interpolation),
             rows = covered(r.to.height, r.from.y, r.from.height, r.y, r.interpolation);
  if (columns.first >= columns.second || rows.first >= rows.second) return NPP_SUCCESS;
  r.x.leftOut = columns.first, r.y.leftOut = rows.first;
  r.to = {r.to.x + columns.first, r.to.y + rows.first, columns.second - columns.first, rows.second - rows.first};
  return resize(c, name, from, fromSize, to, r, {0, 0, fromSize.width - 1, fromSize.height - 1}, channels);
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

// Interpolations of nppiResize take pixels to the right of the region and below it, but none to the left or above, as
// on a GPU.
#define RESIZE(type, channels)                                                                                         \
  BOTH_FORMS(nppiResize_##type##_C##channels##R,                                                                       \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiRect fromRegion, Npp##type* to, int toStep,  \
              NppiSize toSize, NppiRect toRegion, int interpolation),                                                  \
             (from, fromStep, fromSize, fromRegion, to, toStep, toSize, toRegion, interpolation)) {                    \
    if (from && to && !isInside(toRegion, toSize)) return NPP_RECTANGLE_ERROR;                                         \
    return resize(context, "nppiResize_" #type "_C" #channels "R", Image{from, fromStep}, fromSize, Image{to, toStep}, \
                  {fromRegion, toRegion, interpolation},                                                               \
                  {fromRegion.x, fromRegion.y, fromSize.width - 1, fromSize.height - 1}, channels);                    \
  }                                                                                                                    \
  BOTH_FORMS(                                                                                                          \
      nppiResizeSqrPixel_##type##_C##channels##R,                                                                      \
      (const Npp##type* from, NppiSize fromSize, int fromStep, NppiRect fromRegion, Npp##type* to, int toStep,         \
       NppiRect toRegion, double factorX, double factorY, double shiftX, double shiftY, int interpolation),            \
      (from, fromSize, fromStep, fromRegion, to, toStep, toRegion, factorX, factorY, shiftX, shiftY, interpolation)) { \
    return resizeByFactors(                                                                                            \
        context, "nppiResizeSqrPixel_" #type "_C" #channels "R", Image{from, fromStep}, fromSize, Image{to, toStep},   \
        {fromRegion, toRegion, interpolation, Axis::ofFactor(factorX, shiftX), Axis::ofFactor(factorY, shiftY)},       \
        channels);                                                                                                     \
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
