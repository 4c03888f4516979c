// NPP: filters: boxes, gradients, Canny's edges.
//
// Forms without a border read pixels around the region of interest, which must be there; forms with one know the size
// of the image and where the region lies in it, and take its edge for what is outside (NPP_BORDER_REPLICATE), the only
// border that the manual says they support.
#include <memory>
#include <vector>

#include "libs/npp/window.hpp"
#include "nppi_filtering_functions.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

// --- boxes

/// The mean of the mask's pixels. Sums of whole numbers move along the row: each step adds a column and takes one away.
template <class T, class Source>
NppStatus box(const NppStreamContext& c, const char* name, Source from, Image<T> to, NppiSize size, NppiSize mask,
              NppiPoint anchor) {
  if (const NppStatus bad = check(size, from.image, to)) return bad;
  if (const NppStatus bad = checkMask(mask, anchor)) return bad;
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
  return forRows(c, name, size.height, [=](int y) {
    const double count = static_cast<double>(mask.width) * mask.height;
    const auto column = [&](int x, int channel) {
      Sum sum = 0;
      for (int j = 0; j < mask.height; ++j) sum += from.at(x, y + j - anchor.y)[channel];
      return sum;
    };
    std::vector<Sum> columns(static_cast<size_t>(mask.width));  // a ring
    for (int channel = 0; channel < from.channels; ++channel) {
      Sum sum = 0;
      for (int i = 0; i < mask.width - 1; ++i) sum += columns[static_cast<size_t>(i)] = column(i - anchor.x, channel);
      for (int x = 0; x < size.width; ++x) {
        auto& entry = columns[static_cast<size_t>((x + mask.width - 1) % mask.width)];
        entry = column(x + mask.width - 1 - anchor.x, channel);
        sum += entry;
        if constexpr (std::is_floating_point_v<T>) {  // without what rounding leaves behind
          sum = 0;
          for (const Sum each : columns) sum += each;
        }
        to.row(y)[x * from.channels + channel] = saturate<T>(static_cast<double>(sum) / count);
        sum -= columns[static_cast<size_t>(x % mask.width)];
      }
    }
  });
}

}  // namespace

#define BOX(type, channels)                                                                                           \
  BOTH_FORMS(nppiFilterBox_##type##_C##channels##R,                                                                   \
             (const Npp##type* from, int fromStep, Npp##type* to, int toStep, NppiSize size, NppiSize mask,           \
              NppiPoint anchor),                                                                                      \
             (from, fromStep, to, toStep, size, mask, anchor)) {                                                      \
    return box(context, "nppiFilterBox_" #type "_C" #channels "R", Unbordered<Npp##type>{{from, fromStep}, channels}, \
               Image{to, toStep}, size, mask, anchor);                                                                \
  }                                                                                                                   \
  BOTH_FORMS(nppiFilterBoxBorder_##type##_C##channels##R,                                                             \
             (const Npp##type* from, int fromStep, NppiSize fromSize, NppiPoint offset, Npp##type* to, int toStep,    \
              NppiSize size, NppiSize mask, NppiPoint anchor, NppiBorderType border),                                 \
             (from, fromStep, fromSize, offset, to, toStep, size, mask, anchor, border)) {                            \
    if (const NppStatus bad = checkBorder(fromSize, offset, border)) return bad;                                      \
    return box(context, "nppiFilterBoxBorder_" #type "_C" #channels "R",                                              \
               Bordered<Npp##type>{{from, fromStep}, {fromSize}, offset, channels}, Image{to, toStep}, size, mask,    \
               anchor);                                                                                               \
  }
#define BOXES(type) BOX(type, 1) BOX(type, 3) BOX(type, 4)
BOXES(8u)
BOXES(16u)
BOXES(16s)
BOXES(32f)

// --- gradients

namespace {

struct Gradient {
  int x, y;
};

/// By the 3x3 mask whose columns are -1, 0, 1 with rows of these weights, and by the one that has rows 1, 0, -1 (NPP's
/// manual: FilterPrewittVertBorder, FilterPrewittHorizBorder).
Gradient gradient(const Bordered<Npp8u>& image, int x, int y, int side, int middle) {
  const auto p = [&](int dx, int dy) { return static_cast<int>(*image.at(x + dx, y + dy)); };
  const auto weighted = [&](int a, int b, int c) { return side * (a + c) + middle * b; };
  return {weighted(p(1, -1), p(1, 0), p(1, 1)) - weighted(p(-1, -1), p(-1, 0), p(-1, 1)),
          weighted(p(-1, -1), p(0, -1), p(1, -1)) - weighted(p(-1, 1), p(0, 1), p(1, 1))};
}

double magnitude(Gradient g, NppiNorm norm) {
  const double x = std::abs(g.x), y = std::abs(g.y);
  return norm == nppiNormInf ? std::max(x, y) : norm == nppiNormL1 ? x + y : std::sqrt(x * x + y * y);
}

struct GradientImages {
  Image<Npp16s> x, y, magnitude;
  Image<Npp32f> angle;
};

/// Each of the results may be missing.
NppStatus gradients(const NppStreamContext& c, const char* name, const Bordered<Npp8u>& from, GradientImages to,
                    NppiSize size, NppiMaskSize mask, NppiNorm norm, int middle) {
  if (const NppStatus bad = check(size, from.image)) return bad;
  if (mask != NPP_MASK_SIZE_3_X_3) return NPP_MASK_SIZE_ERROR;
  if (norm != nppiNormInf && norm != nppiNormL1 && norm != nppiNormL2) return NPP_NOT_SUPPORTED_MODE_ERROR;
  if (!to.x.data && !to.y.data && !to.magnitude.data && !to.angle.data) return NPP_NULL_POINTER_ERROR;
  return forRows(c, name, size.height, [=](int y) {
    for (int x = 0; x < size.width; ++x) {
      const Gradient g = gradient(from, x, y, 1, middle);
      if (to.x.data) to.x.row(y)[x] = saturate<Npp16s>(g.x);
      if (to.y.data) to.y.row(y)[x] = saturate<Npp16s>(g.y);
      if (to.magnitude.data) to.magnitude.row(y)[x] = saturate<Npp16s>(magnitude(g, norm));
      if (to.angle.data) to.angle.row(y)[x] = std::atan2(static_cast<float>(g.y), static_cast<float>(g.x));
    }
  });
}

}  // namespace

#define GRADIENT_VECTOR(name, middle)                                                                                \
  BOTH_FORMS(name,                                                                                                   \
             (const Npp8u* from, int fromStep, NppiSize fromSize, NppiPoint offset, Npp16s* x, int xStep, Npp16s* y, \
              int yStep, Npp16s* strength, int strengthStep, Npp32f* angle, int angleStep, NppiSize size,            \
              NppiMaskSize mask, NppiNorm norm, NppiBorderType border),                                              \
             (from, fromStep, fromSize, offset, x, xStep, y, yStep, strength, strengthStep, angle, angleStep, size,  \
              mask, norm, border)) {                                                                                 \
    if (const NppStatus bad = checkBorder(fromSize, offset, border)) return bad;                                     \
    return gradients(context, #name, Bordered<Npp8u>{{from, fromStep}, {fromSize}, offset},                          \
                     {{x, xStep}, {y, yStep}, {strength, strengthStep}, {angle, angleStep}}, size, mask, norm,       \
                     middle);                                                                                        \
  }
GRADIENT_VECTOR(nppiGradientVectorPrewittBorder_8u16s_C1R, 1)
GRADIENT_VECTOR(nppiGradientVectorSobelBorder_8u16s_C1R, 2)

// --- edges

namespace {

/// Strengths of the gradients of a region and the pixels around it, as whole numbers, and towards which neighbour each
/// gradient points.
class Edges {
 public:
  Edges(const Bordered<Npp8u>& image, NppiSize size, NppiDifferentialKernel kernel, NppiNorm norm)
      : size_(size), width_(size.width + 2) {
    strength_.resize(static_cast<size_t>(width_) * static_cast<size_t>(size.height + 2));
    direction_.resize(strength_.size());
    const int side = kernel == NPP_FILTER_SOBEL ? 1 : 3, middle = kernel == NPP_FILTER_SOBEL ? 2 : 10;
    parallelFor(static_cast<unsigned>(size.height + 2), [&](unsigned row) {
      for (int x = -1; x <= size.width; ++x) {
        const Gradient g = gradient(image, x, static_cast<int>(row) - 1, side, middle);
        strength_[index(x, static_cast<int>(row) - 1)] = static_cast<int>(magnitude(g, norm));
        direction_[index(x, static_cast<int>(row) - 1)] = toNeighbour(g);
      }
    });
  }

  /// No weaker than the two neighbours across the edge, and strong enough.
  bool isEdge(int x, int y, int threshold) const {
    const int here = strength_[index(x, y)];
    const NppiPoint to = direction_[index(x, y)];
    return here >= threshold && here > 0 && here >= strength_[index(x + to.x, y + to.y)] &&
           here >= strength_[index(x - to.x, y - to.y)];
  }

  /// Follows edges from their strong pixels to weak ones beside them (Canny, 1986: hysteresis).
  void mark(Image<Npp8u> to, int low, int high) const {
    std::vector<NppiPoint> open;
    const auto take = [&](int x, int y) {
      if (x < 0 || y < 0 || x >= size_.width || y >= size_.height || to.row(y)[x] != 0 || !isEdge(x, y, low)) return;
      to.row(y)[x] = 255;
      open.push_back({x, y});
    };
    for (int y = 0; y < size_.height; ++y) std::fill_n(to.row(y), size_.width, Npp8u{0});
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x) {
        if (isEdge(x, y, high)) take(x, y);
        while (!open.empty()) {
          const NppiPoint p = open.back();
          open.pop_back();
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) take(p.x + dx, p.y + dy);
        }
      }
  }

 private:
  size_t index(int x, int y) const {
    return static_cast<size_t>(y + 1) * static_cast<size_t>(width_) + static_cast<size_t>(x + 1);
  }

  /// The gradient's direction in steps of 45 degrees; rows count downwards, its y upwards.
  static NppiPoint toNeighbour(Gradient g) {
    const double x = std::abs(g.x), y = std::abs(g.y);
    constexpr double kTangent = 0.41421356237309503;  // of 22.5 degrees
    if (y <= x * kTangent) return {1, 0};
    if (x <= y * kTangent) return {0, 1};
    return (g.x > 0) == (g.y > 0) ? NppiPoint{1, -1} : NppiPoint{1, 1};
  }

  NppiSize size_;
  int width_;
  std::vector<int> strength_;
  std::vector<NppiPoint> direction_;
};

}  // namespace

NppStatus nppiFilterCannyBorderGetBufferSize(NppiSize size, int* bytes) {
  if (!bytes) return NPP_NULL_POINTER_ERROR;
  if (size.width < 0 || size.height < 0) return NPP_SIZE_ERROR;
  *bytes = 1;  // the task has memory of its own
  return NPP_SUCCESS;
}

BOTH_FORMS(nppiFilterCannyBorder_8u_C1R,
           (const Npp8u* from, int fromStep, NppiSize fromSize, NppiPoint offset, Npp8u* to, int toStep, NppiSize size,
            NppiDifferentialKernel kernel, NppiMaskSize mask, Npp16s low, Npp16s high, NppiNorm norm,
            NppiBorderType border, Npp8u* buffer),
           (from, fromStep, fromSize, offset, to, toStep, size, kernel, mask, low, high, norm, border, buffer)) {
  const Bordered<Npp8u> image{{from, fromStep}, {fromSize}, offset};
  const Image result{to, toStep};
  if (!buffer) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, image.image, result)) return bad;
  if (const NppStatus bad = checkBorder(fromSize, offset, border)) return bad;
  if (mask != NPP_MASK_SIZE_3_X_3) return NPP_MASK_SIZE_ERROR;
  if (kernel != NPP_FILTER_SOBEL && kernel != NPP_FILTER_SCHARR) return NPP_NOT_SUPPORTED_MODE_ERROR;
  if (norm != nppiNormL1 && norm != nppiNormL2) return NPP_NOT_SUPPORTED_MODE_ERROR;
  return run(context, "nppiFilterCannyBorder_8u_C1R",
             [=] { Edges(image, size, kernel, norm).mark(result, low, high); });
}
