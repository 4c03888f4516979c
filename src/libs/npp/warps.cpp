// NPP: images whose pixels move by a matrix: affine and perspective warps, rotations.
//
// Pixels lie at whole coordinates, counted from the image's first pixel. A pixel of the result's region whose source
// lies within the source's region is made of what is around that; the others stay as they are. What a cubic or linear
// interpolation wants beyond the region is its edge.
#include <array>
#include <numbers>
#include <optional>

#include "libs/npp/image.hpp"
#include "nppi_geometry_transforms.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix affine(const double coefficients[][3]) {
  Matrix m{{{}, {}, {0, 0, 1}}};
  for (size_t i = 0; i < 2; ++i) std::copy_n(coefficients[i], 3, m[i].begin());
  return m;
}
Matrix perspective(const double coefficients[][3]) {
  Matrix m = affine(coefficients);
  std::copy_n(coefficients[2], 3, m[2].begin());
  return m;
}
/// By degrees against the clock, with y downwards, and then moved.
Matrix rotation(double degrees, double x, double y) {
  const double angle = degrees * std::numbers::pi / 180, sine = std::sin(angle), cosine = std::cos(angle);
  return {{{cosine, sine, x}, {-sine, cosine, y}, {0, 0, 1}}};
}

/// Of cofactors; none if there is no inverse.
std::optional<Matrix> inverse(const Matrix& m) {
  const auto minor = [&](size_t i, size_t j) {
    const size_t r0 = (i + 1) % 3, r1 = (i + 2) % 3, c0 = (j + 1) % 3, c1 = (j + 2) % 3;
    return m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0];
  };
  const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  if (determinant == 0 || !std::isfinite(determinant)) return std::nullopt;
  Matrix result;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) result[j][i] = minor(i, j) / determinant;
  return result;
}

/// What an interpolation takes of one direction: neighbours from `first` on and their weights.
struct Taps {
  int first = 0, count = 1;
  std::array<double, 4> weights{1};

  Taps(double at, int interpolation) {
    const double below = std::floor(at), rest = at - below;
    if (interpolation == NPPI_INTER_NN) {
      first = static_cast<int>(std::floor(at + 0.5));
    } else if (interpolation == NPPI_INTER_LINEAR) {
      first = static_cast<int>(below), count = 2, weights = {1 - rest, rest};
    } else {  // Keys's cubic convolution with a = -0.5
      first = static_cast<int>(below) - 1, count = 4;
      for (int i = 0; i < 4; ++i) {
        const double d = std::abs(rest - (i - 1));
        weights[static_cast<size_t>(i)] = d < 1   ? (1.5 * d - 2.5) * d * d + 1
                                          : d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2
                                                  : 0;
      }
    }
  }
};

struct Regions {
  NppiRect from, to;
  int interpolation;
};

NppStatus checkRegions(NppiSize fromSize, const Regions& r) {
  const auto isThere = [](NppiRect region) {
    return region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0;
  };
  if (!isThere(r.from) || !isThere(r.to)) return NPP_RECTANGLE_ERROR;
  if (r.from.x + r.from.width > fromSize.width || r.from.y + r.from.height > fromSize.height)
    return NPP_WRONG_INTERSECTION_ROI_ERROR;
  const bool isKnown =
      r.interpolation == NPPI_INTER_NN || r.interpolation == NPPI_INTER_LINEAR || r.interpolation == NPPI_INTER_CUBIC;
  return isKnown ? NPP_SUCCESS : NPP_INTERPOLATION_ERROR;
}

/// `back` tells where a pixel of the result comes from.
template <class T>
NppStatus warp(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize, Image<T> to,
               const Regions& r, const std::optional<Matrix>& back, int channels) {
  if (const NppStatus bad = check(fromSize, from, to)) return bad;
  if (const NppStatus bad = checkRegions(fromSize, r)) return bad;
  if (!back) return NPP_COEFFICIENT_ERROR;
  return forRows(c, name, r.to.height, [=, m = *back](int row) {
    const Replicated inside{{r.from.width, r.from.height}};
    const int y = r.to.y + row;
    for (int x = r.to.x; x < r.to.x + r.to.width; ++x) {
      const auto along = [&](size_t i) { return m[i][0] * x + m[i][1] * y + m[i][2]; };
      const double sourceX = along(0) / along(2) - r.from.x, sourceY = along(1) / along(2) - r.from.y;
      const double slack = r.interpolation == NPPI_INTER_NN ? 0.5 : 0;
      const auto isWithin = [&](double at, int size) { return at >= -slack && at <= size - 1 + slack; };
      if (!isWithin(sourceX, r.from.width) || !isWithin(sourceY, r.from.height)) continue;
      const Taps columns(sourceX, r.interpolation), rows(sourceY, r.interpolation);
      for (int channel = 0; channel < channels; ++channel) {
        double sum = 0;
        for (int j = 0; j < rows.count; ++j)
          for (int i = 0; i < columns.count; ++i)
            sum += rows.weights[static_cast<size_t>(j)] * columns.weights[static_cast<size_t>(i)] *
                   static_cast<double>(
                       from.row(r.from.y + inside.y(rows.first +
                                                    j))[(r.from.x + inside.x(columns.first + i)) * channels + channel]);
        to.row(y)[x * channels + channel] = saturate<T>(sum);
      }
    }
  });
}

}  // namespace

#define WARP(name, type, channels, lines, back)                                                                       \
  BOTH_FORMS(nppi##name##_##type##_C##channels##R,                                                                    \
             (const Npp##type* from, NppiSize fromSize, int fromStep, NppiRect fromRegion, Npp##type* to, int toStep, \
              NppiRect toRegion, const double coefficients[lines][3], int interpolation),                             \
             (from, fromSize, fromStep, fromRegion, to, toStep, toRegion, coefficients, interpolation)) {             \
    if (!coefficients) return NPP_NULL_POINTER_ERROR;                                                                 \
    return warp(context, "nppi" #name "_" #type "_C" #channels "R", Image{from, fromStep}, fromSize,                  \
                Image{to, toStep}, {fromRegion, toRegion, interpolation}, back, channels);                            \
  }
#define WARPS(type, channels)                                                  \
  WARP(WarpAffine, type, channels, 2, inverse(affine(coefficients)))           \
  WARP(WarpAffineBack, type, channels, 2, affine(coefficients))                \
  WARP(WarpPerspective, type, channels, 3, inverse(perspective(coefficients))) \
  WARP(WarpPerspectiveBack, type, channels, 3, perspective(coefficients))
#define ROTATE(type, channels)                                                                                        \
  BOTH_FORMS(nppiRotate_##type##_C##channels##R,                                                                      \
             (const Npp##type* from, NppiSize fromSize, int fromStep, NppiRect fromRegion, Npp##type* to, int toStep, \
              NppiRect toRegion, double angle, double shiftX, double shiftY, int interpolation),                      \
             (from, fromSize, fromStep, fromRegion, to, toStep, toRegion, angle, shiftX, shiftY, interpolation)) {    \
    return warp(context, "nppiRotate_" #type "_C" #channels "R", Image{from, fromStep}, fromSize, Image{to, toStep},  \
                {fromRegion, toRegion, interpolation}, inverse(rotation(angle, shiftX, shiftY)), channels);           \
  }
#define EACH(X, type) X(type, 1) X(type, 3) X(type, 4)
EACH(WARPS, 8u)
EACH(WARPS, 16u)
EACH(WARPS, 32s)
EACH(WARPS, 32f)
EACH(ROTATE, 8u)
EACH(ROTATE, 16u)
EACH(ROTATE, 32f)
