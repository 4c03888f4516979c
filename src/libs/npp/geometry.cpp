// NPP: images that change their size or are mirrored.
#include <vector>

#include "libs/npp/interpolation.hpp"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// How many pixels of the source one of the result stands for, by how many of the result's it is moved, and which place
/// of the source the first pixel has then.
struct Axis {
  double scale, shift, origin;

  /// Region onto region: the first pixel stays where it is or, if the image grows, lies a quarter of one outside of the
  /// region, by whatever factor. So it is on a GPU.
  static Axis ofRegions(int from, int to) {
    const double scale = static_cast<double>(from) / to;
    return {scale, 0, scale < 1 ? -0.25 : 0};
  }
  /// Outer edges of pixels meet.
  static Axis ofFactor(double factor, double shift) { return {1 / factor, shift, 0.5 / factor - 0.5}; }

  double begin(int pixel) const { return (pixel - shift) * scale; }
  float place(int pixel) const { return static_cast<float>(begin(pixel) + origin); }
};

struct Resizing {
  NppiRect from, to;
  int interpolation;
  Axis x, y;

  /// Region onto region.
  Resizing(NppiRect from, NppiRect to, int interpolation)
      : Resizing(from, to, interpolation, Axis::ofRegions(from.width, to.width),
                 Axis::ofRegions(from.height, to.height)) {}
  Resizing(NppiRect from, NppiRect to, int interpolation, Axis x, Axis y)
      : from(from), to(to), interpolation(interpolation), x(x), y(y) {}
};

bool isInside(NppiRect r, NppiSize size) {
  return r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.x + r.width <= size.width &&
         r.y + r.height <= size.height;
}

/// What a coordinate of the result takes of the source, whose region begins at `region`. Supersampling takes the part
/// of each pixel that is covered.
class Sources {
 public:
  Sources(int pixel, Axis axis, int interpolation, int region) {
    if (interpolation == NPPI_INTER_SUPER) {
      const double begin = axis.begin(pixel), end = begin + axis.scale;
      const int first = static_cast<int>(std::floor(begin));
      first_ = region + first;
      for (int i = first; i < end; ++i)
        weights_.push_back((std::min(end, i + 1.0) - std::max<double>(begin, i)) / axis.scale);
    } else {
      const Taps taps(axis.place(pixel), interpolation);
      first_ = region + taps.neighbours().first;
      weights_.assign(taps.neighbours().weights.begin(), taps.neighbours().weights.end());
    }
  }
  Neighbours neighbours() const { return {first_, weights_}; }

 private:
  int first_;
  std::vector<double> weights_;
};

/// Of all columns of the result.
std::vector<Sources> columnsOf(const Resizing& r) {
  std::vector<Sources> columns;
  for (int x = 0; x < r.to.width; ++x) columns.emplace_back(x, r.x, r.interpolation, r.from.x);
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
    const Sources rows(y, r.y, r.interpolation, r.from.y);
    for (int x = 0; x < r.to.width; ++x)
      for (int channel = 0; channel < channels; ++channel)
        to.row(r.to.y + y)[(r.to.x + x) * channels + channel] = interpolated(
            from, edges, columns[static_cast<size_t>(x)].neighbours(), rows.neighbours(), channels, channel);
  });
}

/// The same with factors of the program's own, by which all of the source's image is scaled. A pixel whose place is
/// beyond the source's region stays as it is; which these are is the same for all rows and for all columns.
template <class T>
NppStatus resizeByFactors(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize,
                          Image<T> to, Resizing r, int channels) {
  if (!(r.x.scale > 0) || !(r.y.scale > 0) || !std::isfinite(r.x.scale) || !std::isfinite(r.y.scale))
    return NPP_RESIZE_FACTOR_ERROR;
  if (r.to.x < 0 || r.to.y < 0 || r.to.width <= 0 || r.to.height <= 0) return NPP_RECTANGLE_ERROR;
  const auto within = [](int length, int begin, int size, Axis axis) {  // [first, end) of `length` pixels
    const double first = begin / axis.scale + axis.shift - 0.5, end = first + (size + 0.5) / axis.scale;
    return std::pair(std::clamp(static_cast<int>(std::ceil(first)), 0, length),
                     std::clamp(static_cast<int>(std::ceil(end)), 0, length));
  };
  const auto columns = within(r.to.width, r.from.x, r.from.width, r.x),
             rows = within(r.to.height, r.from.y, r.from.height, r.y);
  if (columns.first >= columns.second || rows.first >= rows.second) return NPP_SUCCESS;
  r.x.shift += r.from.x / r.x.scale - columns.first, r.y.shift += r.from.y / r.y.scale - rows.first;
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
