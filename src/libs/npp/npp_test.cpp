// NPP against plain loops over pixels: images of random sizes (0, 1 and odd ones among them) and steps; bad arguments.
#include <cmath>
#include <map>
#include <vector>

#include "libs/npp/test_images.hpp"

namespace ordito::libs::npp {
namespace {

TEST(Npp, AbsoluteDifferencesAndComparisons) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp8u> a(size, 1), b(size, 1), to(size, 1);
    ASSERT_EQ(nppiAbsDiff_8u_C1R_Ctx(a.data(), a.step(), b.data(), b.step(), to.data(), to.step(), size, context()),
              kGood);
    to.expect([&](int x, int y, int) { return std::abs(a.at(x, y) - b.at(x, y)); });
    const TestImage<Npp16s> s(size, 1, -300, 300);
    ASSERT_EQ(nppiCompareC_16s_C1R(s.data(), s.step(), 32, to.data(), to.step(), size, NPP_CMP_GREATER_EQ), kGood);
    to.expect([&](int x, int y, int) { return s.at(x, y) >= 32 ? 255 : 0; });
    const TestImage<Npp16s> cut(size, 1);
    ASSERT_EQ(nppiThreshold_16s_C1R(s.data(), s.step(), cut.data(), cut.step(), size, -7, NPP_CMP_LESS), kGood);
    cut.expect([&](int x, int y, int) { return std::max<int>(s.at(x, y), -7); });
  }
}

TEST(Npp, ArithmeticScalesRoundsAndSaturates) {
  for (const NppiSize size : kSizes)
    for (const int scale : {0, 1, 3}) {
      const TestImage<Npp8u> a(size, 3), b(size, 3), to(size, 3);
      const auto expected = [&](double value) { return std::clamp(std::nearbyint(value / (1 << scale)), 0.0, 255.0); };
      ASSERT_EQ(nppiAdd_8u_C3RSfs(a.data(), a.step(), b.data(), b.step(), to.data(), to.step(), size, scale), kGood);
      to.expect([&](int x, int y, int c) { return expected(a.at(x, y, c) + b.at(x, y, c)); });
      ASSERT_EQ(nppiSub_8u_C3RSfs(a.data(), a.step(), b.data(), b.step(), to.data(), to.step(), size, scale), kGood);
      to.expect([&](int x, int y, int c) { return expected(b.at(x, y, c) - a.at(x, y, c)); });
      ASSERT_EQ(nppiMul_8u_C3RSfs(a.data(), a.step(), b.data(), b.step(), to.data(), to.step(), size, scale), kGood);
      to.expect([&](int x, int y, int c) { return expected(a.at(x, y, c) * b.at(x, y, c)); });
    }
}

TEST(Npp, CopiesWithBorders) {
  for (const NppiSize size : kSizes) {
    if (size.width == 0) continue;
    const int top = random(0, 4), left = random(0, 4);
    const NppiSize wide{size.width + left + random(0, 3), size.height + top + random(0, 3)};
    const TestImage<Npp8u> from(size, 1), to(wide, 1);
    const auto isInside = [&](int x, int y) {
      return x >= left && y >= top && x < left + size.width && y < top + size.height;
    };
    ASSERT_EQ(nppiCopyConstBorder_8u_C1R_Ctx(from.data(), from.step(), size, to.data(), to.step(), wide, top, left, 77,
                                             context()),
              kGood);
    to.expect([&](int x, int y, int) { return isInside(x, y) ? from.at(x - left, y - top) : 77; });
    const TestImage<Npp32f> colours(size, 3), framed(wide, 3);
    ASSERT_EQ(nppiCopyReplicateBorder_32f_C3R(colours.data(), colours.step(), size, framed.data(), framed.step(), wide,
                                              top, left),
              kGood);
    framed.expect([&](int x, int y, int c) { return colours.clamped(x - left, y - top, c); });
  }
}

TEST(Npp, TablesColoursAndConversions) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp8u> from(size, 1), to(size, 1), colours(size, 3);
    const TestImage<Npp32s> levels({4, 1}, 1), values({4, 1}, 1);
    for (int i = 0; i < 4; ++i) levels.row(0)[i] = 20 + 50 * i, values.row(0)[i] = i % 2 ? 3 : 250 + i;
    ASSERT_EQ(nppiLUT_Linear_8u_C1R_Ctx(from.data(), from.step(), to.data(), to.step(), size, values.data(),
                                        levels.data(), 4, context()),
              kGood);
    to.expect([&](int x, int y, int) {
      const int v = from.at(x, y), k = (v - 20) / 50;
      if (v < 20 || v >= 170) return v;
      const int rise = values.at(k + 1, 0) - values.at(k, 0);
      return values.at(k, 0) + (v - 20 - 50 * k) * rise / 50;
    });
    ASSERT_EQ(nppiRGBToGray_8u_C3C1R(colours.data(), colours.step(), to.data(), to.step(), size), kGood);
    to.expect(
        [&](int x, int y, int) {
          return 0.299 * colours.at(x, y, 0) + 0.587 * colours.at(x, y, 1) + 0.114 * colours.at(x, y, 2);
        },
        0.5001);
    const TestImage<Npp32f> floats(size, 3);
    ASSERT_EQ(nppiConvert_8u32f_C3R(colours.data(), colours.step(), floats.data(), floats.step(), size), kGood);
    floats.expect([&](int x, int y, int c) { return colours.at(x, y, c); });
  }
}

template <class T>
double meanOf(const TestImage<T>& image, NppiSize mask, NppiPoint anchor, int x, int y, int channel) {
  double sum = 0;
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i) sum += image.clamped(x + i - anchor.x, y + j - anchor.y, channel);
  return sum / (mask.width * mask.height);
}

TEST(Npp, Boxes) {
  for (const NppiSize size : kSizes) {
    if (size.width == 0) continue;
    const NppiSize mask{random(1, 7), random(1, 7)};
    const NppiPoint anchor{random(0, mask.width - 1), random(0, mask.height - 1)};
    const TestImage<Npp8u> from(size, 3), to(size, 3);
    ASSERT_EQ(nppiFilterBoxBorder_8u_C3R(from.data(), from.step(), size, {0, 0}, to.data(), to.step(), size, mask,
                                         anchor, NPP_BORDER_REPLICATE),
              kGood);
    to.expect([&](int x, int y, int c) { return std::nearbyint(meanOf(from, mask, anchor, x, y, c)); });
    // Without a border: of the inner part only.
    const NppiSize inner{size.width - mask.width + 1, size.height - mask.height + 1};
    if (inner.width < 1 || inner.height < 1) continue;
    const TestImage<Npp32f> floats(size, 1), smooth(inner, 1);
    ASSERT_EQ(nppiFilterBox_32f_C1R(floats.row(anchor.y) + anchor.x, floats.step(), smooth.data(), smooth.step(), inner,
                                    mask, anchor),
              kGood);
    smooth.expect([&](int x, int y, int) { return meanOf(floats, mask, anchor, x + anchor.x, y + anchor.y, 0); }, 1e-3);
  }
}

TEST(Npp, Gradients) {
  for (const NppiSize size : kSizes) {
    if (size.width == 0) continue;
    const TestImage<Npp8u> from(size, 1);
    const TestImage<Npp16s> gx(size, 1), gy(size, 1), strength(size, 1);
    const TestImage<Npp32f> angle(size, 1);
    ASSERT_EQ(nppiGradientVectorPrewittBorder_8u16s_C1R_Ctx(
                  from.data(), from.step(), size, {0, 0}, gx.data(), gx.step(), gy.data(), gy.step(), strength.data(),
                  strength.step(), angle.data(), angle.step(), size, NPP_MASK_SIZE_3_X_3, nppiNormL1,
                  NPP_BORDER_REPLICATE, context()),
              kGood);
    const auto sum = [&](int x, int y, int dx, int dy) {  // of three pixels across the direction
      double total = 0;
      for (int i = -1; i <= 1; ++i) total += from.clamped(x + dx + i * (dy != 0), y + dy + i * (dx != 0));
      return total;
    };
    gx.expect([&](int x, int y, int) { return sum(x, y, 1, 0) - sum(x, y, -1, 0); });
    gy.expect([&](int x, int y, int) { return sum(x, y, 0, -1) - sum(x, y, 0, 1); });
    strength.expect([&](int x, int y, int) { return std::abs(gx.at(x, y)) + std::abs(gy.at(x, y)); });
    angle.expect([&](int x, int y, int) { return std::atan2(gy.at(x, y), gx.at(x, y)); }, 1e-5);
  }
}

TEST(Npp, EdgesOfASquareAreItsOutline) {
  constexpr NppiSize kSize{40, 40};
  const TestImage<Npp8u> from(kSize, 1), to(kSize, 1);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 40; ++x) from.row(y)[x] = x >= 10 && x < 30 && y >= 10 && y < 30 ? 200 : 0;
  int bytes = 0;
  ASSERT_EQ(nppiFilterCannyBorderGetBufferSize(kSize, &bytes), kGood);
  const TestImage<Npp8u> buffer({bytes, 1}, 1);
  ASSERT_EQ(nppiFilterCannyBorder_8u_C1R_Ctx(from.data(), from.step(), kSize, {0, 0}, to.data(), to.step(), kSize,
                                             NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3, 72, 256, nppiNormL2,
                                             NPP_BORDER_REPLICATE, buffer.data(), context()),
            kGood);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  for (int i = 14; i < 26; ++i) {
    EXPECT_EQ(to.at(10, i), 255) << i;
    EXPECT_EQ(to.at(i, 29), 255) << i;
    EXPECT_EQ(to.at(i, 20), 0) << i;
    EXPECT_EQ(to.at(2, i), 0) << i;
  }
}

TEST(Npp, Histograms) {
  for (const NppiSize size : kSizes) {
    const int levels = random(2, 257), lower = random(-20, 100), upper = random(lower + levels, lower + levels + 300);
    const TestImage<Npp8u> from(size, 1), buffer({4, 1}, 1);
    const TestImage<Npp32s> bins({levels - 1, 1}, 1);
    size_t bytes = 0;
    int asInt = 0;
    ASSERT_EQ(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(size, levels, &bytes, context()), kGood);
    ASSERT_EQ(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(size, levels, &asInt, context()), kGood);
    EXPECT_EQ(static_cast<int>(bytes), asInt);
    ASSERT_EQ(nppiHistogramEven_8u_C1R_Ctx(from.data(), from.step(), size, bins.data(), levels, lower, upper,
                                           buffer.data(), context()),
              kGood);
    std::vector<Npp32s> edges(static_cast<size_t>(levels));
    ASSERT_EQ(nppiEvenLevelsHost_32s(edges.data(), levels, lower, upper), kGood);
    EXPECT_EQ(edges.front(), lower);
    EXPECT_EQ(edges.back(), upper);
    bins.expect([&](int b, int, int) {
      int count = 0;
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          count += from.at(x, y) >= edges[static_cast<size_t>(b)] && from.at(x, y) < edges[static_cast<size_t>(b) + 1];
      return count;
    });
  }
}

TEST(Npp, Signals) {
  for (const int length : {1, 2, 77, 1001}) {
    const TestImage<Npp32f> a({length, 1}, 1), b({length, 1}, 1), result({1, 1}, 1);
    const TestImage<Npp8u> buffer({4, 1}, 1);
    double total = 0, low = 1e9, high = -1e9, squares = 0;
    for (int i = 0; i < length; ++i) {
      const double v = a.at(i, 0), d = v - b.at(i, 0);
      total += v, low = std::min(low, v), high = std::max(high, v), squares += d * d;
    }
    const auto expect = [&](NppStatus status, double expected) {
      ASSERT_EQ(status, kGood);
      result.expect([=](int, int, int) { return expected; }, std::abs(expected) * 1e-6);
    };
    expect(nppsSum_32f(a.data(), length, result.data(), buffer.data()), total);
    expect(nppsMean_32f(a.data(), length, result.data(), buffer.data()), total / length);
    expect(nppsMin_32f(a.data(), length, result.data(), buffer.data()), low);
    expect(nppsMax_32f(a.data(), length, result.data(), buffer.data()), high);
    expect(nppsNormDiff_L2_32f(a.data(), b.data(), length, result.data(), buffer.data()), std::sqrt(squares));
    int bytes = 0;
    EXPECT_EQ(nppsSumGetBufferSize_32f(length, &bytes), kGood);
    EXPECT_GT(bytes, 0);
  }
}

/// By flooding from each pixel in turn: 0, 1, ...
std::vector<int> flooded(const TestImage<Npp8u>& image, bool isWithDiagonals) {
  const auto [width, height] = image.size();
  std::vector<int> labels(static_cast<size_t>(width) * static_cast<size_t>(height), -1);
  int last = -1;
  const std::function<void(int, int, Npp8u)> flood = [&](int x, int y, Npp8u value) {
    if (x < 0 || y < 0 || x >= width || y >= height || image.at(x, y) != value) return;
    int& label = labels[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
    if (label >= 0) return;
    label = last;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (isWithDiagonals || dx == 0 || dy == 0) flood(x + dx, y + dy, value);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (labels[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)] >= 0) continue;
      ++last;
      flood(x, y, image.at(x, y));
    }
  return labels;
}

int countOf(const std::vector<int>& labels) {
  return labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
}

TEST(Npp, Labels) {
  for (const NppiSize size : kSizes)
    for (const NppiNorm norm : {nppiNormInf, nppiNormL1}) {
      const TestImage<Npp8u> from(size, 1, 0, 2), buffer({4, 1}, 1);
      const TestImage<Npp32u> to(size, 1);
      ASSERT_EQ(nppiLabelMarkersUF_8u32u_C1R_Ctx(from.data(), from.step(), to.data(), to.step(), size, norm,
                                                 buffer.data(), context()),
                kGood);
      int count = -1;
      ASSERT_EQ(
          nppiCompressMarkerLabelsUF_32u_C1IR_Ctx(to.data(), to.step(), size, std::max(1, size.width * size.height),
                                                  &count, buffer.data(), context()),
          kGood);
      const std::vector<int> expected = flooded(from, norm == nppiNormInf);
      to.expect([&](int x, int y, int) {
        return expected[static_cast<size_t>(y) * static_cast<size_t>(size.width) + static_cast<size_t>(x)];
      });
      EXPECT_EQ(count, countOf(expected));
    }
}

TEST(Npp, BatchesOfLabels) {
  for (const NppiNorm norm : {nppiNormInf, nppiNormL1}) {
    std::vector<std::unique_ptr<TestImage<Npp8u>>> from;
    std::vector<std::unique_ptr<TestImage<Npp32u>>> to;
    std::vector<NppiImageDescriptor> sources, results;
    NppiSize most{0, 0};
    for (const NppiSize size : kSizes) {
      from.push_back(std::make_unique<TestImage<Npp8u>>(size, 1, 0, 2));
      to.push_back(std::make_unique<TestImage<Npp32u>>(size, 1));
      sources.push_back({from.back()->data(), from.back()->step(), {-1, -1}});  // this size is not read
      results.push_back({to.back()->data(), to.back()->step(), size});
      most = {std::max(most.width, size.width), std::max(most.height, size.height)};
    }
    const int count = static_cast<int>(results.size());
    std::vector<NppiBufferDescriptor> buffers(results.size());
    std::vector<unsigned> counts(results.size(), 77);
    ASSERT_EQ(
        nppiLabelMarkersUFBatch_8u32u_C1R_Advanced_Ctx(sources.data(), results.data(), count, most, norm, context()),
        kGood);
    ASSERT_EQ(nppiCompressMarkerLabelsUFBatch_32u_C1IR_Advanced_Ctx(results.data(), buffers.data(), counts.data(),
                                                                    count, most, 0, context()),
              kGood);
    for (size_t i = 0; i < results.size(); ++i) {
      const std::vector<int> expected = flooded(*from[i], norm == nppiNormInf);
      const auto width = static_cast<size_t>(results[i].oSize.width);
      to[i]->expect(
          [&](int x, int y, int) { return expected[static_cast<size_t>(y) * width + static_cast<size_t>(x)]; });
      EXPECT_EQ(static_cast<int>(counts[i]), countOf(expected));
    }
    EXPECT_EQ(nppiLabelMarkersUFBatch_8u32u_C1R_Advanced(nullptr, results.data(), count, most, norm),
              NPP_NULL_POINTER_ERROR);
    EXPECT_EQ(nppiLabelMarkersUFBatch_8u32u_C1R_Advanced(sources.data(), results.data(), 0, most, norm),
              NPP_SIZE_ERROR);
    EXPECT_EQ(nppiLabelMarkersUFBatch_8u32u_C1R_Advanced(sources.data(), results.data(), count, most, nppiNormL2),
              NPP_NOT_SUPPORTED_MODE_ERROR);
  }
}

TEST(Npp, ResizedAndMirrored) {
  for (const NppiSize size : kSizes) {
    if (size.width == 0) continue;
    const TestImage<Npp8u> from(size, 3), turned(size, 3);
    ASSERT_EQ(nppiMirror_8u_C3R(from.data(), from.step(), turned.data(), turned.step(), size, NPP_BOTH_AXIS), kGood);
    turned.expect([&](int x, int y, int c) { return from.at(size.width - 1 - x, size.height - 1 - y, c); });
    const NppiSize twice{2 * size.width, 2 * size.height};
    const NppiRect whole{0, 0, size.width, size.height}, result{0, 0, twice.width, twice.height};
    const TestImage<Npp8u> bigger(twice, 3);
    ASSERT_EQ(nppiResize_8u_C3R(from.data(), from.step(), size, whole, bigger.data(), bigger.step(), twice, result,
                                NPPI_INTER_NN),
              kGood);
    bigger.expect([&](int x, int y, int c) { return from.at(x / 2, y / 2, c); });
    ASSERT_EQ(nppiResize_8u_C3R(from.data(), from.step(), size, whole, bigger.data(), bigger.step(), twice, result,
                                NPPI_INTER_LINEAR),
              kGood);
    bigger.expect(
        [&](int x, int y, int c) {  // three quarters of the pixel, a quarter of the one beside it
          const int px = x / 2, qx = px + (x % 2 ? 1 : -1), py = y / 2, qy = py + (y % 2 ? 1 : -1);
          return (9.0 * from.clamped(px, py, c) + 3.0 * from.clamped(qx, py, c) + 3.0 * from.clamped(px, qy, c) +
                  from.clamped(qx, qy, c)) /
                 16;
        },
        0.5001);
    ASSERT_EQ(nppiResize_8u_C3R(from.data(), from.step(), size, whole, turned.data(), turned.step(), size, whole,
                                NPPI_INTER_CUBIC),
              kGood);
    turned.expect([&](int x, int y, int c) { return from.at(x, y, c); });
  }
}

/// Each result is the sum over all source pixels, each weighted along both axes by weight(result, pixel, scale).
void expectResized(NppiSize size, NppiSize result, int interpolation,
                   const std::function<double(int, int, double)>& weight) {
  const TestImage<Npp8u> from(size, 1), to(result, 1);
  ASSERT_EQ(nppiResize_8u_C1R(from.data(), from.step(), size, {0, 0, size.width, size.height}, to.data(), to.step(),
                              result, {0, 0, result.width, result.height}, interpolation),
            kGood);
  const double scaleX = double(size.width) / result.width, scaleY = double(size.height) / result.height;
  to.expect(
      [&](int x, int y, int) {
        double sum = 0, weights = 0;
        for (int j = -4; j < size.height + 4; ++j)
          for (int i = -4; i < size.width + 4; ++i) {
            const double w = weight(x, i, scaleX) * weight(y, j, scaleY);
            weights += w;
            if (w != 0) sum += w * from.clamped(i, j, 0);
          }
        return std::clamp(sum / weights, 0.0, 255.0);
      },
      0.5001);
}

TEST(Npp, ResizedByLanczosAndByArea) {
  // Lines between hundredths of a pixel.
  const auto exact = [](double d) {
    const double x = 3.14159265358979323846 * d;
    return d == 0 ? 1 : std::abs(d) < 3 ? 3 * std::sin(x) * std::sin(x / 3) / (x * x) : 0;
  };
  const auto lanczos = [&](int at, int pixel, double scale) {
    const double d = 100 * std::abs(at * scale - (scale < 1 ? 0.25 : 0) - pixel), step = std::floor(d);
    return exact(step / 100) * (step + 1 - d) + exact((step + 1) / 100) * (d - step);
  };
  const auto covered = [](int at, int pixel, double scale) {
    return std::max(0.0, std::min((at + 1) * scale, pixel + 1.0) - std::max(at * scale, double(pixel)));
  };
  expectResized({13, 9}, {20, 17}, NPPI_INTER_LANCZOS, lanczos);
  expectResized({13, 9}, {7, 6}, NPPI_INTER_LANCZOS, lanczos);
  expectResized({13, 9}, {13, 9}, NPPI_INTER_LANCZOS, lanczos);
  expectResized({13, 9}, {7, 5}, NPPI_INTER_SUPER, covered);
  expectResized({12, 9}, {4, 3}, NPPI_INTER_SUPER, covered);
}

TEST(Npp, BadArguments) {
  constexpr NppiSize kSize{4, 4};
  const TestImage<Npp8u> image(kSize, 1), buffer(kSize, 1);
  Npp8u* const p = image.data();
  const int step = image.step();
  EXPECT_EQ(nppiAbsDiff_8u_C1R(nullptr, step, p, step, p, step, kSize), NPP_NULL_POINTER_ERROR);
  EXPECT_EQ(nppiAbsDiff_8u_C1R(p, step, p, step, p, step, {-1, 4}), NPP_SIZE_ERROR);
  EXPECT_EQ(nppiAbsDiff_8u_C1R(p, 0, p, step, p, step, kSize), NPP_STEP_ERROR);
  EXPECT_EQ(nppiFilterBox_8u_C1R(p, step, p, step, {1, 1}, {0, 1}, {0, 0}), NPP_MASK_SIZE_ERROR);
  EXPECT_EQ(nppiFilterBox_8u_C1R(p, step, p, step, {1, 1}, {2, 2}, {2, 0}), NPP_ANCHOR_ERROR);
  EXPECT_EQ(nppiFilterBoxBorder_8u_C1R(p, step, kSize, {0, 0}, p, step, kSize, {1, 1}, {0, 0}, NPP_BORDER_WRAP),
            NPP_NOT_SUPPORTED_MODE_ERROR);
  EXPECT_EQ(nppiLUT_8u_C1R(p, step, p, step, kSize, reinterpret_cast<Npp32s*>(p), reinterpret_cast<Npp32s*>(p), 1),
            NPP_LUT_NUMBER_OF_LEVELS_ERROR);
  EXPECT_EQ(nppiEvenLevelsHost_32s(reinterpret_cast<Npp32s*>(p), 1, 0, 4), NPP_HISTOGRAM_NUMBER_OF_LEVELS_ERROR);
  EXPECT_EQ(nppiMirror_8u_C1R(p, step, p, step, kSize, static_cast<NppiAxis>(7)), NPP_MIRROR_FLIP_ERROR);
  EXPECT_EQ(nppiResize_8u_C1R(p, step, kSize, {0, 0, 5, 4}, p, step, kSize, {0, 0, 4, 4}, NPPI_INTER_NN),
            NPP_RECTANGLE_ERROR);
  EXPECT_EQ(nppiResize_8u_C1R(p, step, kSize, {0, 0, 4, 4}, p, step, kSize, {0, 0, 4, 4}, NPPI_INTER_CUBIC2P_B05C03),
            NPP_INTERPOLATION_ERROR);
  EXPECT_EQ(nppiResize_8u_C1R(p, step, kSize, {0, 0, 2, 4}, p, step, kSize, {0, 0, 4, 4}, NPPI_INTER_SUPER),
            NPP_RESIZE_FACTOR_ERROR);
  size_t bytes = 0;
  EXPECT_EQ(nppiSegmentWatershedGetBufferSize_8u_C1R(kSize, &bytes), NPP_NOT_SUPPORTED_MODE_ERROR);
  int width = 0;
  Npp8u* const pitched = nppiMalloc_8u_C3(100, 3, &width);
  EXPECT_NE(pitched, nullptr);
  EXPECT_EQ(width, 512);
  nppiFree(pitched);
  EXPECT_EQ(nppiMalloc_8u_C1(0, 3, &width), nullptr);
}

}  // namespace
}  // namespace ordito::libs::npp
