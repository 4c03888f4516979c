// NPP: images whose pixels move by a matrix: affine and perspective warps, rotations.
//
// Pixels lie at whole coordinates, counted from the image's first pixel. A pixel of the result's region whose source
// lies within the source's region is made of what is around that, also outside of the region; the others stay as they
// are. Rotations take also what lies half a pixel to the left of the region or above it, as if it lay on its edge. All
// as on a GPU.
#include <array>
#include <numbers>
#include <optional>

#include "libs/npp/interpolation.hpp"

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

struct Regions {
  NppiRect from, to;
  int interpolation;
};

NppStatus checkRegions(NppiSize fromSize, const Regions& r) {
  const auto isThere = [](NppiRect region) {
    return region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0;
  };
  if (!isThere(r.from) || !isThere(r.to)) return NPP_RECTANGLE_ERROR;
  if (r.from.x >= fromSize.width || r.from.y >= fromSize.height) return NPP_WRONG_INTERSECTION_ROI_ERROR;
  const bool isKnown =
      r.interpolation == NPPI_INTER_NN || r.interpolation == NPPI_INTER_LINEAR || r.interpolation == NPPI_INTER_CUBIC;
  return isKnown ? NPP_SUCCESS : NPP_INTERPOLATION_ERROR;
}

/// Where pixels of the result come from: the matrix and the places are of single precision.
class Source {
 public:
  explicit Source(const Matrix& m) {
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j) m_[i][j] = static_cast<float>(m[i][j]);
  }
  float x(int x, int y) const { return along(0, x, y) / along(2, x, y); }
  float y(int x, int y) const { return along(1, x, y) / along(2, x, y); }

 private:
  float along(size_t i, int x, int y) const {
    const float ofX = m_[i][0] * static_cast<float>(x), ofY = m_[i][1] * static_cast<float>(y);
    return ofX + ofY + m_[i][2];
  }
  std::array<std::array<float, 3>, 3> m_;
};

/// `back` tells where a pixel of the result comes from, which may be `slack` to the left of the region or above it.
template <class T>
NppStatus warp(const NppStreamContext& c, const char* name, Image<const T> from, NppiSize fromSize, Image<T> to,
               Regions r, const std::optional<Matrix>& back, int channels, float slack = 0) {
  if (const NppStatus bad = check(fromSize, from, to)) return bad;
  if (const NppStatus bad = checkRegions(fromSize, r)) return bad;
  if (!back) return NPP_COEFFICIENT_ERROR;
  r.from.width = std::min(r.from.width, fromSize.width - r.from.x);
  r.from.height = std::min(r.from.height, fromSize.height - r.from.y);
  return forRows(c, name, r.to.height, [=, source = Source(*back)](int row) {
    const Edges edges{0, 0, fromSize.width - 1, fromSize.height - 1};
    const int y = r.to.y + row;
    for (int x = r.to.x; x < r.to.x + r.to.width; ++x) {
      const float sourceX = source.x(x, y), sourceY = source.y(x, y);
      const auto isWithin = [&](float at, int first, int size) {
        return at >= static_cast<float>(first) - slack && at <= static_cast<float>(first + size - 1);
      };
      if (!isWithin(sourceX, r.from.x, r.from.width) || !isWithin(sourceY, r.from.y, r.from.height)) continue;
      const Taps columns(std::max(sourceX, static_cast<float>(r.from.x)), r.interpolation);
      const Taps rows(std::max(sourceY, static_cast<float>(r.from.y)), r.interpolation);
      for (int channel = 0; channel < channels; ++channel)
        to.row(y)[x * channels + channel] =
            interpolated(from, edges, columns.neighbours(), rows.neighbours(), channels, channel);
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
                {fromRegion, toRegion, interpolation}, inverse(rotation(angle, shiftX, shiftY)), channels, 0.5F);     \
  }
#define EACH(X, type) X(type, 1) X(type, 3) X(type, 4)
EACH(WARPS, 8u)
EACH(WARPS, 16u)
EACH(WARPS, 32s)
EACH(WARPS, 32f)
EACH(ROTATE, 8u)
EACH(ROTATE, 16u)
EACH(ROTATE, 32f)
