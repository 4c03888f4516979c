// Warps, mirrors, masks, shifts and histograms of images, against plain loops.
#include <cmath>
#include <numbers>
#include <optional>

#include "libs/npp/test_images.hpp"

namespace ordito::libs::npp {
namespace {

constexpr NppiSize kFrom{33, 35}, kTo{40, 30};
constexpr NppiRect kFromRegion{3, 2, 25, 28}, kToRegion{2, 1, 36, 28};

bool isIn(NppiRect r, int x, int y) { return x >= r.x && y >= r.y && x < r.x + r.width && y < r.y + r.height; }

/// Between the four pixels around a place; nothing outside of the region.
template <class T>
std::optional<double> linear(const TestImage<T>& from, double x, double y, int c) {
  const double right = kFromRegion.x + kFromRegion.width - 1, bottom = kFromRegion.y + kFromRegion.height - 1;
  if (x < kFromRegion.x || y < kFromRegion.y || x > right || y > bottom) return std::nullopt;
  const int x0 = static_cast<int>(x), y0 = static_cast<int>(y), x1 = std::min(x0 + 1, static_cast<int>(right)),
            y1 = std::min(y0 + 1, static_cast<int>(bottom));
  const double u = x - x0, v = y - y0;
  return (1 - v) * ((1 - u) * from.at(x0, y0, c) + u * from.at(x1, y0, c)) +
         v * ((1 - u) * from.at(x0, y1, c) + u * from.at(x1, y1, c));
}

TEST(NppWarps, BackByAnAffineMatrix) {
  const double back[2][3] = {{0.8, 0.1, 1.25}, {-0.15, 0.9, 4.5}};
  const TestImage<Npp32f> from(kFrom, 3), to(kTo, 3), before(kTo, 3);
  for (int y = 0; y < kTo.height; ++y) std::copy_n(to.row(y), 3 * kTo.width, before.row(y));
  ASSERT_EQ(nppiWarpAffineBack_32f_C3R(from.data(), kFrom, from.step(), kFromRegion, to.data(), to.step(), kToRegion,
                                       back, NPPI_INTER_LINEAR),
            kGood);
  to.expect(
      [&](int x, int y, int c) {
        const auto value =
            linear(from, back[0][0] * x + back[0][1] * y + back[0][2], back[1][0] * x + back[1][1] * y + back[1][2], c);
        return isIn(kToRegion, x, y) && value ? *value : before.at(x, y, c);
      },
      0.01);  // places are of single precision
}

TEST(NppWarps, BackByAPerspectiveMatrix) {
  const double back[3][3] = {{0.8, 0.1, 1.25}, {-0.1, 0.9, 4.5}, {0.002, -0.001, 1}};
  const TestImage<Npp32f> from(kFrom, 1), to(kTo, 1), before(kTo, 1);
  for (int y = 0; y < kTo.height; ++y) std::copy_n(to.row(y), kTo.width, before.row(y));
  ASSERT_EQ(nppiWarpPerspectiveBack_32f_C1R(from.data(), kFrom, from.step(), kFromRegion, to.data(), to.step(),
                                            kToRegion, back, NPPI_INTER_LINEAR),
            kGood);
  to.expect(
      [&](int x, int y, int) {
        const double w = back[2][0] * x + back[2][1] * y + back[2][2];
        const auto value = linear(from, (back[0][0] * x + back[0][1] * y + back[0][2]) / w,
                                  (back[1][0] * x + back[1][1] * y + back[1][2]) / w, 0);
        return isIn(kToRegion, x, y) && value ? *value : before.at(x, y);
      },
      0.01);
}

/// Forwards by a matrix is back by its inverse; whole steps move pixels as they are, by any interpolation.
TEST(NppWarps, Forwards) {
  const TestImage<Npp8u> from(kFrom, 4), to(kFrom, 4, 7, 7);
  const double moved[2][3] = {{1, 0, 4}, {0, 1, -2}};
  const double moved3[3][3] = {{2, 0, 8}, {0, 2, -4}, {0, 0, 2}};
  const NppiRect all{0, 0, kFrom.width, kFrom.height};
  const auto expected = [&](int x, int y, int c) -> double {
    const int u = x - 4, v = y + 2;
    return isIn(all, u, v) ? from.at(u, v, c) : 7;
  };
  for (const int interpolation : {NPPI_INTER_NN, NPPI_INTER_LINEAR, NPPI_INTER_CUBIC}) {
    ASSERT_EQ(
        nppiWarpAffine_8u_C4R(from.data(), kFrom, from.step(), all, to.data(), to.step(), all, moved, interpolation),
        kGood);
    to.expect(expected);
    ASSERT_EQ(nppiWarpPerspective_8u_C4R(from.data(), kFrom, from.step(), all, to.data(), to.step(), all, moved3,
                                         interpolation),
              kGood);
    to.expect(expected);
  }
}

TEST(NppWarps, Rotations) {
  const NppiSize size{21, 21};
  const NppiRect all{0, 0, 21, 21};
  const TestImage<Npp16u> from(size, 1, 0, 65535), to(size, 1);
  // A quarter against the clock: what was at (x, y) is at (y, -x), here 20 lower.
  ASSERT_EQ(
      nppiRotate_16u_C1R(from.data(), size, from.step(), all, to.data(), to.step(), all, 90, 0, 20, NPPI_INTER_NN),
      kGood);
  to.expect([&](int x, int y, int) { return from.at(20 - y, x); });
}

TEST(NppWarps, BadArguments) {
  const TestImage<Npp8u> image({8, 8}, 1);
  const NppiRect all{0, 0, 8, 8}, wide{1, 0, 8, 8}, none{0, 0, 0, 8};
  const double flat[2][3] = {{1, 1, 0}, {1, 1, 0}}, good[2][3] = {{1, 0, 0}, {0, 1, 0}};
  const auto call = [&](NppiRect from, NppiRect to, const double(&matrix)[2][3], int interpolation) {
    return nppiWarpAffine_8u_C1R(image.data(), {8, 8}, image.step(), from, image.data(), image.step(), to, matrix,
                                 interpolation);
  };
  EXPECT_EQ(call(all, all, flat, NPPI_INTER_NN), NPP_COEFFICIENT_ERROR);
  EXPECT_EQ(call(none, all, good, NPPI_INTER_NN), NPP_RECTANGLE_ERROR);
  EXPECT_EQ(call(wide, all, good, NPPI_INTER_NN), NPP_SUCCESS);
  EXPECT_EQ(call({8, 0, 8, 8}, all, good, NPPI_INTER_NN), NPP_WRONG_INTERSECTION_ROI_ERROR);
  EXPECT_EQ(call(all, all, good, NPPI_INTER_SUPER), NPP_INTERPOLATION_ERROR);
}

TEST(NppWarps, MirrorsInPlace) {
  for (const NppiSize size : kSizes)
    for (const NppiAxis axis : {NPP_HORIZONTAL_AXIS, NPP_VERTICAL_AXIS, NPP_BOTH_AXIS}) {
      const TestImage<Npp32s> image(size, 3), mirrored(size, 3);
      ASSERT_EQ(nppiMirror_32s_C3R(image.data(), image.step(), mirrored.data(), mirrored.step(), size, axis), kGood);
      ASSERT_EQ(nppiMirror_32s_C3IR(image.data(), image.step(), size, axis), kGood);
      image.expect([&](int x, int y, int c) { return mirrored.at(x, y, c); });
    }
}

TEST(NppWarps, ExtremesOfMasks) {
  const NppiSize size{20, 18}, mask{4, 3};
  const NppiPoint anchor{1, 2};
  const TestImage<Npp8u> around({24, 22}, 4), most(size, 4), least(size, 4), marks({12, 1}, 1, 0, 1);
  marks.data()[5] = 1;
  const auto of = [&](int x, int y, int c, bool isMasked, auto choose) {
    std::optional<double> best;
    for (int j = 0; j < mask.height; ++j)
      for (int i = 0; i < mask.width; ++i) {
        if (isMasked && marks.data()[j * mask.width + i] == 0) continue;
        const double value = around.at(1 + x + i, y + j, c);
        best = best ? choose(*best, value) : value;
      }
    return *best;
  };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto smaller = [](double a, double b) { return std::min(a, b); };
  // The region begins at (2, 2): its window from (1, 0) on.
  const Npp8u* const from = around.row(2) + 4 * 2;
  ASSERT_EQ(nppiDilate_8u_C4R(from, around.step(), most.data(), most.step(), size, marks.data(), mask, anchor), kGood);
  ASSERT_EQ(nppiErode_8u_C4R(from, around.step(), least.data(), least.step(), size, marks.data(), mask, anchor), kGood);
  most.expect([&](int x, int y, int c) { return of(x, y, c, true, larger); });
  least.expect([&](int x, int y, int c) { return of(x, y, c, true, smaller); });
  ASSERT_EQ(nppiFilterMax_8u_C4R(from, around.step(), most.data(), most.step(), size, mask, anchor), kGood);
  ASSERT_EQ(nppiFilterMin_8u_C4R(from, around.step(), least.data(), least.step(), size, mask, anchor), kGood);
  most.expect([&](int x, int y, int c) { return of(x, y, c, false, larger); });
  least.expect([&](int x, int y, int c) { return of(x, y, c, false, smaller); });
  EXPECT_EQ(nppiDilate_8u_C4R(from, around.step(), most.data(), most.step(), size, marks.data(), mask, {4, 0}),
            NPP_ANCHOR_ERROR);
}

TEST(NppWarps, SumsOfWindows) {
  const NppiSize size{20, 18};
  const TestImage<Npp8u> around({24, 22}, 1);
  const TestImage<Npp32f> rows(size, 1), columns(size, 1);
  const Npp8u* const from = around.row(2) + 2;
  ASSERT_EQ(nppiSumWindowRow_8u32f_C1R(from, around.step(), rows.data(), rows.step(), size, 4, 1), kGood);
  ASSERT_EQ(nppiSumWindowColumn_8u32f_C1R(from, around.step(), columns.data(), columns.step(), size, 3, 2), kGood);
  rows.expect([&](int x, int y, int) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += around.at(2 + x + i - 1, 2 + y);
    return sum;
  });
  columns.expect([&](int x, int y, int) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += around.at(2 + x, 2 + y + i - 2);
    return sum;
  });
}

TEST(NppWarps, BitsOfConstants) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp16u> a(size, 3, 0, 65535), to(size, 3);
    const TestImage<Npp16s> s(size, 4, -32768, 32767), moved(size, 4);
    const Npp16u constants[] = {0x1234, 0xff00, 0x8001};
    const Npp32u steps[] = {0, 3, 15, 40};
    ASSERT_EQ(nppiXorC_16u_C3R(a.data(), a.step(), constants, to.data(), to.step(), size), kGood);
    to.expect([&](int x, int y, int c) { return a.at(x, y, c) ^ constants[c]; });
    ASSERT_EQ(nppiLShiftC_16u_C3R(a.data(), a.step(), steps, to.data(), to.step(), size), kGood);
    to.expect([&](int x, int y, int c) { return static_cast<Npp16u>(a.at(x, y, c) << steps[c]); });
    ASSERT_EQ(nppiRShiftC_16s_C4R(s.data(), s.step(), steps, moved.data(), moved.step(), size), kGood);
    moved.expect([&](int x, int y, int c) { return s.at(x, y, c) >> std::min(steps[c], 15U); });
  }
}

TEST(NppWarps, ComplexNumbersAndGamma) {
  const NppiSize size{9, 5};
  const TestImage<Npp32f> parts({18, 5}, 1), lengths(size, 1);
  ASSERT_EQ(nppiMagnitude_32fc32f_C1R(reinterpret_cast<const Npp32fc*>(parts.data()), parts.step(), lengths.data(),
                                      lengths.step(), size),
            kGood);
  lengths.expect([&](int x, int y, int) { return std::hypot(parts.at(2 * x, y), parts.at(2 * x + 1, y)); }, 1e-3);
  const TestImage<Npp8u> image(size, 4), before(size, 4);
  for (int y = 0; y < size.height; ++y) std::copy_n(image.row(y), 36, before.row(y));
  ASSERT_EQ(nppiGammaFwd_8u_AC4IR(image.data(), image.step(), size), kGood);
  image.expect([&](int x, int y, int c) {
    const double light = before.at(x, y, c) / 255.0;
    if (c == 3) return double{1} * before.at(x, y, c);
    return std::trunc(255 * (light < 0.018 ? 4.5 * light : 1.099 * std::pow(light, 0.45) - 0.099));
  });
}

TEST(NppWarps, Histograms) {
  const NppiSize size{33, 35};
  const TestImage<Npp8u> image(size, 4), buffer({8, 1}, 1);
  const TestImage<Npp32s> bins({4 * 8, 1}, 1);
  Npp32s levels[] = {0, 10, 11, 100, 255};
  Npp32s* each[4];
  const Npp32s* levelsOf[4];
  int counts[] = {5, 3, 2, 4};
  for (int c = 0; c < 4; ++c) each[c] = bins.data() + 8 * c, levelsOf[c] = levels;
  ASSERT_EQ(nppiHistogramRange_8u_C4R(image.data(), image.step(), size, each, levelsOf, counts, buffer.data()), kGood);
  const auto within = [&](int c, double low, double high) {
    int sum = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) sum += image.at(x, y, c) >= low && image.at(x, y, c) < high;
    return sum;
  };
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b + 1 < counts[c]; ++b) EXPECT_EQ(each[c][b], within(c, levels[b], levels[b + 1])) << c << ' ' << b;
  Npp32s lower[] = {0, 10, 0, 5}, upper[] = {256, 60, 100, 250};
  ASSERT_EQ(nppiHistogramEven_8u_C4R(image.data(), image.step(), size, each, counts, lower, upper, buffer.data()),
            kGood);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b + 1 < counts[c]; ++b) {
      const auto level = [&](int k) { return lower[c] + (upper[c] - lower[c]) * k / (counts[c] - 1); };
      EXPECT_EQ(each[c][b], within(c, level(b), level(b + 1))) << c << ' ' << b;
    }
  counts[2] = 1;
  EXPECT_EQ(nppiHistogramRange_8u_C4R(image.data(), image.step(), size, each, levelsOf, counts, buffer.data()),
            NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR);
}

TEST(NppWarps, MaskedMeansAndDeviationsOfRectangles) {
  const NppiSize size{17, 9};
  const TestImage<Npp8u> image(size, 1), mask(size, 1, 0, 1), buffer({8, 1}, 1);
  const TestImage<Npp64f> results({2, 1}, 1);
  ASSERT_EQ(nppiMean_StdDev_8u_C1MR(image.data(), image.step(), mask.data(), mask.step(), size, buffer.data(),
                                    results.data(), results.data() + 1),
            kGood);
  double sum = 0, squares = 0, count = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (mask.at(x, y)) sum += image.at(x, y), squares += image.at(x, y) * image.at(x, y), ++count;
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_NEAR(results.data()[0], sum / count, 1e-9);
  EXPECT_NEAR(results.data()[1], std::sqrt(squares / count - sum / count * sum / count), 1e-9);
  // Integral images of an image whose rectangles' deviations are asked for.
  const TestImage<Npp32s> sums({18, 10}, 1, 0, 0);
  const TestImage<Npp64f> squared({18, 10}, 1, 0, 0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int value = image.at(x, y);
      sums.row(y + 1)[x + 1] = value + sums.at(x, y + 1) + sums.at(x + 1, y) - sums.at(x, y);
      squared.row(y + 1)[x + 1] = value * value + squared.at(x, y + 1) + squared.at(x + 1, y) - squared.at(x, y);
    }
  const NppiRect rectangle{2, 1, 4, 3};
  const TestImage<Npp32f> deviations({12, 6}, 1);
  ASSERT_EQ(nppiRectStdDev_32s32f_C1R(sums.data(), sums.step(), squared.data(), squared.step(), deviations.data(),
                                      deviations.step(), {12, 6}, rectangle),
            kGood);
  deviations.expect(
      [&](int x, int y, int) {
        double all = 0, allSquares = 0;
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 4; ++i) {
            const double value = image.at(x + 2 + i, y + 1 + j);
            all += value, allSquares += value * value;
          }
        return std::sqrt(std::max(0.0, allSquares / 12 - all / 12 * all / 12));
      },
      1e-3);
}

TEST(NppWarps, OpacitiesOfWideNumbers) {
  const NppiSize size{9, 5};
  const TestImage<Npp16u> a(size, 4, 0, 65535), b(size, 4, 0, 65535), to(size, 4);
  const auto part = [](Npp16u value) { return value / 65535.0; };
  ASSERT_EQ(
      nppiAlphaComp_16u_AC4R(a.data(), a.step(), b.data(), b.step(), to.data(), to.step(), size, NPPI_OP_ALPHA_OVER),
      kGood);
  to.expect(
      [&](int x, int y, int c) {
        const double ofA = part(a.at(x, y, 3)), ofB = part(b.at(x, y, 3)) * (1 - ofA);
        return c == 3 ? 65535 * (ofA + ofB) : a.at(x, y, c) * ofA + b.at(x, y, c) * ofB;
      },
      2.01);
  ASSERT_EQ(nppiAlphaComp_16u_AC4R(a.data(), a.step(), b.data(), b.step(), to.data(), to.step(), size,
                                   NPPI_OP_ALPHA_IN_PREMUL),
            kGood);
  to.expect([&](int x, int y, int c) { return a.at(x, y, c) * part(b.at(x, y, 3)); }, 2.01);
  ASSERT_EQ(nppiAlphaPremul_16u_AC4R(a.data(), a.step(), to.data(), to.step(), size), kGood);
  to.expect([&](int x, int y, int c) { return c == 3 ? a.at(x, y, 3) : a.at(x, y, c) * part(a.at(x, y, 3)); }, 2.01);
}

/// Outer edges of pixels meet; a shift moves the result.
TEST(NppWarps, ResizesByFactors) {
  const NppiRect from{0, 0, kFrom.width, kFrom.height}, all{0, 0, kTo.width, kTo.height};
  const TestImage<Npp8u> image(kFrom, 3), twice(kTo, 3), moved(kTo, 3, 9, 9);
  const auto call = [&](const TestImage<Npp8u>& to, double x, double shiftX, double shiftY, int how) {
    return nppiResizeSqrPixel_8u_C3R(image.data(), kFrom, image.step(), from, to.data(), to.step(), all, x, 2, shiftX,
                                     shiftY, how);
  };
  ASSERT_EQ(call(twice, 2, 0, 0, NPPI_INTER_NN), kGood);
  twice.expect([&](int u, int v, int c) { return image.at(u / 2, v / 2, c); });
  ASSERT_EQ(call(twice, 2, 0, 0, NPPI_INTER_LINEAR), kGood);
  twice.expect(
      [&](int u, int v, int c) {  // three quarters of the pixel, a quarter of the one beside it
        const int px = u / 2, qx = px + (u % 2 ? 1 : -1), py = v / 2, qy = py + (v % 2 ? 1 : -1);
        return (9.0 * image.clamped(px, py, c) + 3.0 * image.clamped(qx, py, c) + 3.0 * image.clamped(px, qy, c) +
                image.clamped(qx, qy, c)) /
               16;
      },
      0.5001);
  for (const int how : {NPPI_INTER_NN, NPPI_INTER_LINEAR, NPPI_INTER_CUBIC}) {
    ASSERT_EQ(call(twice, 2, 0, 0, how), kGood);
    ASSERT_EQ(call(moved, 2, 5, -3, how), kGood);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    for (int v = 0; v < kTo.height - 3; ++v)
      for (int u = 0; u < kTo.width; ++u)
        for (int c = 0; c < 3; ++c)
          EXPECT_EQ(moved.at(u, v, c), u < 5 ? 9 : twice.at(u - 5, v + 3, c)) << u << ' ' << v;
  }
  EXPECT_EQ(call(twice, 0, 0, 0, NPPI_INTER_NN), NPP_RESIZE_FACTOR_ERROR);
}

TEST(NppWarps, SharperImages) {
  for (const NppiSize size : {NppiSize{1, 1}, {17, 1}, {33, 35}}) {
    const TestImage<Npp8u> image(size, 3), to(size, 3);
    ASSERT_EQ(nppiFilterSharpenBorder_8u_C3R(image.data(), image.step(), size, {0, 0}, to.data(), to.step(), size,
                                             NPP_BORDER_REPLICATE),
              kGood);
    to.expect([&](int x, int y, int c) {
      double sum = 2 * image.at(x, y, c);
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          if (i != 0 || j != 0) sum -= image.clamped(x + i, y + j, c) / 8.0;
      return std::clamp(std::ceil(sum - 0.5), 0.0, 255.0);
    });
  }
}

TEST(NppWarps, DifferencesAsPairsAndPlanes) {
  const NppiSize size{16, 10}, half{8, 5};
  const TestImage<Npp8u> luma(size, 1), pairs(half, 2), y(size, 1), first(half, 1), second(half, 1);
  const TestImage<Npp8u> again(size, 1), joined(half, 2);
  Npp8u* planes[] = {y.data(), first.data(), second.data()};
  int steps[] = {y.step(), first.step(), second.step()};
  ASSERT_EQ(nppiYCbCr420_8u_P2P3R(luma.data(), luma.step(), pairs.data(), pairs.step(), planes, steps, size), kGood);
  ASSERT_EQ(nppiYCbCr420_8u_P3P2R(planes, steps, again.data(), again.step(), joined.data(), joined.step(), size),
            kGood);
  first.expect([&](int u, int v, int) { return pairs.at(u, v, 0); });
  second.expect([&](int u, int v, int) { return pairs.at(u, v, 1); });
  again.expect([&](int u, int v, int) { return luma.at(u, v); });
  joined.expect([&](int u, int v, int c) { return pairs.at(u, v, c); });
}

}  // namespace
}  // namespace ordito::libs::npp
