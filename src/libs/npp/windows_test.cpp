// Filters by neighbours, sums and extremes of images, bits and transposition, against plain loops.
#include <cmath>

#include "libs/npp/test_images.hpp"

namespace ordito::libs::npp {
namespace {

double gaussian(int away, int width) {
  const double deviation = 0.4 + 0.6 * width / 3;
  return std::exp(-away * away / (2 * deviation * deviation));
}

TEST(NppWindows, GaussianMeans) {
  const std::pair<NppiMaskSize, int> masks[] = {
      {NPP_MASK_SIZE_3_X_3, 3}, {NPP_MASK_SIZE_5_X_5, 5}, {NPP_MASK_SIZE_15_X_15, 15}};
  for (const auto& [mask, width] : masks)
    for (const NppiSize size : {NppiSize{1, 1}, {33, 35}}) {
      const TestImage<Npp8u> from(size, 3), to(size, 3), inner({4, 4}, 3);
      const TestImage<Npp32f> floats(size, 1), smooth(size, 1);
      const auto mean = [&, w = width](int x, int y, const auto& at) {
        double sum = 0, weights = 0;
        for (int j = -w / 2; j <= w / 2; ++j)
          for (int i = -w / 2; i <= w / 2; ++i) {
            const double weight = gaussian(i, w) * gaussian(j, w);
            sum += weight * at(x + i, y + j), weights += weight;
          }
        return sum / weights;
      };
      ASSERT_EQ(nppiFilterGaussBorder_8u_C3R(from.data(), from.step(), size, {0, 0}, to.data(), to.step(), size, mask,
                                             NPP_BORDER_REPLICATE),
                kGood);
      to.expect([&](int x, int y, int c) {
        return std::trunc(mean(x, y, [&](int u, int v) { return double{1} * from.clamped(u, v, c); }) + 1e-9);
      });
      ASSERT_EQ(nppiFilterGaussBorder_32f_C1R(floats.data(), floats.step(), size, {0, 0}, smooth.data(), smooth.step(),
                                              size, mask, NPP_BORDER_REPLICATE),
                kGood);
      smooth.expect(
          [&](int x, int y, int) {
            return mean(x, y, [&](int u, int v) { return static_cast<double>(floats.clamped(u, v)); });
          },
          1e-3);
      if (size.width < 33) continue;
      ASSERT_EQ(nppiFilterGauss_8u_C3R(from.row(15) + 45, from.step(), inner.data(), inner.step(), {4, 4}, mask),
                kGood);
      inner.expect([&](int x, int y, int c) { return to.at(15 + x, 15 + y, c); });
    }
  const TestImage<Npp8u> a({8, 8}, 1), b({8, 8}, 1);
  EXPECT_EQ(nppiFilterGauss_8u_C1R(a.data(), a.step(), b.data(), b.step(), {2, 2}, NPP_MASK_SIZE_1_X_3),
            NPP_MASK_SIZE_ERROR);
  EXPECT_EQ(nppiFilterGaussBorder_8u_C1R(a.data(), a.step(), {8, 8}, {0, 0}, b.data(), b.step(), {8, 8},
                                         NPP_MASK_SIZE_3_X_3, NPP_BORDER_WRAP),
            NPP_NOT_SUPPORTED_MODE_ERROR);
}

TEST(NppWindows, ExtremesOfNine) {
  for (const NppiSize size : {NppiSize{1, 1}, {17, 1}, {33, 35}}) {
    const TestImage<Npp8u> from(size, 4), most(size, 4);
    const TestImage<Npp32f> floats(size, 1), least(size, 1);
    ASSERT_EQ(nppiDilate3x3Border_8u_C4R(from.data(), from.step(), size, {0, 0}, most.data(), most.step(), size,
                                         NPP_BORDER_REPLICATE),
              kGood);
    ASSERT_EQ(nppiErode3x3Border_32f_C1R(floats.data(), floats.step(), size, {0, 0}, least.data(), least.step(), size,
                                         NPP_BORDER_REPLICATE),
              kGood);
    const auto of = [](const auto& image, int x, int y, int c, auto choose) {
      double best = image.at(x, y, c);
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) best = choose(best, static_cast<double>(image.clamped(x + i, y + j, c)));
      return best;
    };
    most.expect(
        [&](int x, int y, int c) { return of(from, x, y, c, [](double a, double b) { return std::max(a, b); }); });
    least.expect(
        [&](int x, int y, int c) { return of(floats, x, y, c, [](double a, double b) { return std::min(a, b); }); });
    if (size.width < 33) continue;
    const TestImage<Npp8u> inner({31, 33}, 4);
    ASSERT_EQ(nppiDilate3x3_8u_C4R(from.row(1) + 4, from.step(), inner.data(), inner.step(), {31, 33}), kGood);
    inner.expect([&](int x, int y, int c) { return most.at(x + 1, y + 1, c); });
  }
}

TEST(NppWindows, SumsAndExtremesOfImages) {
  for (const NppiSize size : {NppiSize{1, 1}, {17, 1}, {64, 48}}) {
    const TestImage<Npp16s> from(size, 1, -3000, 3000);
    size_t bytes = 0;
    ASSERT_EQ(nppiMeanStdDevGetBufferHostSize_16s_C1R(size, &bytes), kGood);
    const TestImage<Npp8u> buffer({static_cast<int>(bytes), 1}, 1);
    const TestImage<Npp64f> result({4, 1}, 1);
    const TestImage<Npp16s> extremes({2, 1}, 1);
    Npp64f* const out = result.data();
    ASSERT_EQ(nppiSum_16s_C1R(from.data(), from.step(), size, buffer.data(), out), kGood);
    ASSERT_EQ(nppiMean_16s_C1R(from.data(), from.step(), size, buffer.data(), out + 1), kGood);
    ASSERT_EQ(nppiMean_StdDev_16s_C1R(from.data(), from.step(), size, buffer.data(), out + 2, out + 3), kGood);
    ASSERT_EQ(nppiMinMax_16s_C1R(from.data(), from.step(), size, extremes.data(), extremes.data() + 1, buffer.data()),
              kGood);
    double sum = 0, squares = 0, least = 1e9, most = -1e9;
    const double count = double{1} * size.width * size.height;
    from.expect([&](int x, int y, int) {
      const double value = from.at(x, y);
      sum += value, least = std::min(least, value), most = std::max(most, value);
      return value;
    });
    from.expect([&](int x, int y, int) {
      squares += std::pow(from.at(x, y) - sum / count, 2);
      return from.at(x, y);
    });
    EXPECT_EQ(out[0], sum);
    EXPECT_EQ(out[1], sum / count);
    EXPECT_EQ(out[2], sum / count);
    EXPECT_NEAR(out[3], std::sqrt(squares / count), 1e-9);
    EXPECT_EQ(extremes.data()[0], least);
    EXPECT_EQ(extremes.data()[1], most);
    ASSERT_EQ(nppiMax_16s_C1R(from.data(), from.step(), size, buffer.data(), extremes.data()), kGood);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(extremes.data()[0], most);
    EXPECT_EQ(nppiSum_16s_C1R(from.data(), from.step(), {0, 1}, buffer.data(), out), NPP_SIZE_ERROR);
    EXPECT_EQ(nppiSum_16s_C1R(from.data(), from.step(), size, nullptr, out), NPP_NULL_POINTER_ERROR);
  }
}

TEST(NppWindows, BitsAndTransposition) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp16u> a(size, 3), b(size, 3), result(size, 3), turned({size.height, size.width}, 3), one(size, 1),
        masked(size, 1);
    ASSERT_EQ(nppiXor_16u_C3R(a.data(), a.step(), b.data(), b.step(), result.data(), result.step(), size), kGood);
    result.expect([&](int x, int y, int c) { return a.at(x, y, c) ^ b.at(x, y, c); });
    ASSERT_EQ(nppiAndC_16u_C1R(one.data(), one.step(), 0x3c, masked.data(), masked.step(), size), kGood);
    masked.expect([&](int x, int y, int) { return one.at(x, y) & 0x3c; });
    ASSERT_EQ(nppiTranspose_16u_C3R(a.data(), a.step(), turned.data(), turned.step(), size), kGood);
    turned.expect([&](int x, int y, int c) { return a.at(y, x, c); });
    const TestImage<Npp8u> bytes(size, 4), inverse(size, 4);
    ASSERT_EQ(nppiNot_8u_C4R(bytes.data(), bytes.step(), inverse.data(), inverse.step(), size), kGood);
    inverse.expect([&](int x, int y, int c) { return 255 - bytes.at(x, y, c); });
  }
}

}  // namespace
}  // namespace ordito::libs::npp
