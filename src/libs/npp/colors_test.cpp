// Colours, channels, images over each other, constants and distances: against plain loops, and with some of a GPU's
// answers.
#include <array>
#include <cmath>

#include "libs/npp/test_images.hpp"

namespace ordito::libs::npp {
namespace {

using Colour = std::array<double, 3>;

/// Luma and two differences as a GPU's library (13.0) turns them into red, green and blue.
struct Known {
  std::array<Npp8u, 3> from, to;
};
using FromPairs = NppStatus (*)(const Npp8u* const*, int, Npp8u*, int, NppiSize);

void expectKnown(FromPairs convert, bool isBgr, std::initializer_list<Known> all) {
  for (const Known& known : all) {
    const TestImage<Npp8u> result({2, 2}, 3);
    // Both planes have one step.
    const std::vector<Npp8u> lines{known.from[0], known.from[0], known.from[0],
                                   known.from[0], known.from[1], known.from[2]};
    const TestImage<Npp8u> planes({6, 1}, 1);
    std::copy(lines.begin(), lines.end(), planes.data());
    const Npp8u* const both[] = {planes.data(), planes.data() + 4};
    ASSERT_EQ(convert(both, 2, result.data(), result.step(), {2, 2}), kGood);
    result.expect([&](int, int, int c) { return known.to[static_cast<size_t>(isBgr ? 2 - c : c)]; });
  }
}

TEST(NppColors, PairsOfDifferencesAsOnAGpu) {
  const std::initializer_list<Known> yuv = {{{168, 112, 120}, {158, 178, 135}},
                                            {{176, 64, 48}, {84, 247, 45}},
                                            {{160, 56, 152}, {187, 174, 13}},
                                            {{160, 128, 184}, {223, 127, 160}}};
  const std::initializer_list<Known> hdtv = {{{152, 104, 200}, {244, 129, 100}},
                                             {{88, 168, 144}, {108, 73, 173}},
                                             {{80, 96, 216}, {192, 53, 11}},
                                             {{104, 176, 240}, {247, 51, 206}}};
  const std::initializer_list<Known> csc = {{{144, 152, 64}, {34, 178, 199}},
                                            {{112, 176, 176}, {197, 75, 213}},
                                            {{176, 72, 128}, {186, 198, 67}},
                                            {{112, 152, 200}, {240, 68, 162}}};
  expectKnown(nppiNV12ToRGB_8u_P2C3R, false, yuv);
  expectKnown(nppiNV12ToBGR_8u_P2C3R, true, yuv);
  expectKnown(nppiNV12ToRGB_709HDTV_8u_P2C3R, false, hdtv);
  expectKnown(nppiNV12ToBGR_709HDTV_8u_P2C3R, true, hdtv);
  expectKnown(nppiNV12ToRGB_709CSC_8u_P2C3R, false, csc);
  expectKnown(nppiNV12ToBGR_709CSC_8u_P2C3R, true, csc);
}

double limited(double value) { return std::clamp(std::trunc(value), 0.0, 255.0); }
Colour yCbCrOf(double r, double g, double b) {
  return {limited(0.257 * r + 0.504 * g + 0.098 * b + 16), limited(-0.148 * r - 0.291 * g + 0.439 * b + 128),
          limited(0.439 * r - 0.368 * g - 0.071 * b + 128)};
}
Colour rgbOf(double y, double cb, double cr) {
  y = 1.164 * (y - 16), cb -= 128, cr -= 128;
  return {limited(y + 1.596 * cr), limited(y - 0.392 * cb - 0.813 * cr), limited(y + 2.017 * cb)};
}
size_t of(int i) { return static_cast<size_t>(i); }

TEST(NppColors, ThereAndBack) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp8u> rgb(size, 3), coded(size, 3), back(size, 3), yuv(size, 3);
    ASSERT_EQ(nppiRGBToYCbCr_8u_C3R(rgb.data(), rgb.step(), coded.data(), coded.step(), size), kGood);
    coded.expect([&](int x, int y, int c) { return yCbCrOf(rgb.at(x, y, 0), rgb.at(x, y, 1), rgb.at(x, y, 2))[of(c)]; },
                 1);
    ASSERT_EQ(nppiYCbCrToRGB_8u_C3R_Ctx(coded.data(), coded.step(), back.data(), back.step(), size, context()), kGood);
    back.expect(
        [&](int x, int y, int c) { return rgbOf(coded.at(x, y, 0), coded.at(x, y, 1), coded.at(x, y, 2))[of(c)]; }, 1);
    ASSERT_EQ(nppiBGRToYUV_8u_C3R(rgb.data(), rgb.step(), yuv.data(), yuv.step(), size), kGood);
    yuv.expect(
        [&](int x, int y, int c) {
          const double b = rgb.at(x, y, 0), g = rgb.at(x, y, 1), r = rgb.at(x, y, 2);
          const double luma = 0.299 * r + 0.587 * g + 0.114 * b;
          return limited(c == 0 ? luma : c == 1 ? 0.492 * (b - luma) + 128 : 0.877 * (r - luma) + 128);
        },
        1);
  }
}

TEST(NppColors, PlanesWithAQuarterOfTheDifferences) {
  const NppiSize size{34, 12}, half{17, 6};
  const TestImage<Npp8u> rgb(size, 3), luma(size, 1), cb(half, 1), cr(half, 1), back(size, 3);
  Npp8u* planes[] = {luma.data(), cb.data(), cr.data()};
  int steps[] = {luma.step(), cb.step(), cr.step()};
  ASSERT_EQ(nppiRGBToYCbCr420_8u_C3P3R(rgb.data(), rgb.step(), planes, steps, size), kGood);
  luma.expect([&](int x, int y, int) { return yCbCrOf(rgb.at(x, y, 0), rgb.at(x, y, 1), rgb.at(x, y, 2))[0]; }, 1);
  const auto mean = [&](int x, int y, size_t k) {
    double sum = 0;
    for (const int i : {0, 1})
      for (const int j : {0, 1}) {
        const int u = 2 * x + i, v = 2 * y + j;
        sum += yCbCrOf(rgb.at(u, v, 0), rgb.at(u, v, 1), rgb.at(u, v, 2))[k];
      }
    return std::trunc(sum / 4);
  };
  cb.expect([&](int x, int y, int) { return mean(x, y, 1); }, 1);
  cr.expect([&](int x, int y, int) { return mean(x, y, 2); }, 1);
  ASSERT_EQ(nppiYCbCr420ToBGR_8u_P3C3R(planes, steps, back.data(), back.step(), size), kGood);
  back.expect(
      [&](int x, int y, int c) { return rgbOf(luma.at(x, y), cb.at(x / 2, y / 2), cr.at(x / 2, y / 2))[of(2 - c)]; },
      1);
  EXPECT_EQ(nppiYCbCr420ToBGR_8u_P3C3R(planes, steps, back.data(), back.step(), {33, 12}), NPP_SIZE_ERROR);
  EXPECT_EQ(nppiYCbCr420ToBGR_8u_P3C3R(nullptr, steps, back.data(), back.step(), size), NPP_NULL_POINTER_ERROR);
}

TEST(NppColors, ChannelsInAnotherOrder) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp16u> three(size, 3), four(size, 4), turned(size, 3), wide(size, 4), narrow(size, 3),
        copy(size, 3);
    const int order[] = {2, 0, 1}, withValue[] = {3, 2, 4, 0}, some[] = {3, 1, 0}, wrong[] = {0, 1, 3};
    ASSERT_EQ(nppiSwapChannels_16u_C3R(three.data(), three.step(), turned.data(), turned.step(), size, order), kGood);
    turned.expect([&](int x, int y, int c) { return three.at(x, y, order[c]); });
    const TestImage<Npp16u> before(size, 4);
    ASSERT_EQ(nppiCopy_16u_C4R(wide.data(), wide.step(), before.data(), before.step(), size), kGood);
    ASSERT_EQ(nppiSwapChannels_16u_C3C4R(three.data(), three.step(), wide.data(), wide.step(), size, withValue, 777),
              kGood);
    wide.expect([&](int x, int y, int c) {
      return c == 0 ? 777 : c == 2 ? before.at(x, y, 2) : three.at(x, y, withValue[c]);
    });
    ASSERT_EQ(nppiSwapChannels_16u_C4C3R(four.data(), four.step(), narrow.data(), narrow.step(), size, some), kGood);
    narrow.expect([&](int x, int y, int c) { return four.at(x, y, some[c]); });
    ASSERT_EQ(nppiCopy_16u_C3R(three.data(), three.step(), copy.data(), copy.step(), size), kGood);
    ASSERT_EQ(nppiSwapChannels_16u_C3IR(copy.data(), copy.step(), size, order), kGood);
    copy.expect([&](int x, int y, int c) { return three.at(x, y, order[c]); });
    EXPECT_EQ(nppiSwapChannels_16u_C3IR(copy.data(), copy.step(), size, wrong), NPP_CHANNEL_ORDER_ERROR);
  }
}

TEST(NppColors, PlanesForChannels) {
  const NppiSize size{13, 7};
  const TestImage<Npp32f> pixels(size, 4), again(size, 4), planes({13, 28}, 1);
  Npp32f* each[4];
  for (int k = 0; k < 4; ++k) each[k] = planes.row(7 * k);
  ASSERT_EQ(nppiCopy_32f_C4P4R(pixels.data(), pixels.step(), each, planes.step(), size), kGood);
  planes.expect([&](int x, int y, int) { return static_cast<double>(pixels.at(x, y % 7, y / 7)); });
  ASSERT_EQ(nppiCopy_32f_P4C4R(each, planes.step(), again.data(), again.step(), size), kGood);
  again.expect([&](int x, int y, int c) { return static_cast<double>(pixels.at(x, y, c)); });
}

/// How much of both colours is in the result, and how opaque it is.
std::array<double, 3> shares(int operation, double a, double b) {
  const double kept[6][2] = {{a, b * (1 - a)},           {a * b, 0}, {a * (1 - b), 0}, {a * b, b * (1 - a)},
                             {a * (1 - b), b * (1 - a)}, {a, b}};
  const double whole[6][2] = {{1, 1 - a}, {b, 0}, {1 - b, 0}, {b, 1 - a}, {1 - b, 1 - a}, {1, 1}};
  const double opaque = kept[operation % 6][0] + kept[operation % 6][1];
  return operation < 6 ? std::array{kept[operation][0], kept[operation][1], opaque}
                       : std::array{whole[operation - 6][0], whole[operation - 6][1], opaque};
}

TEST(NppColors, ImagesOverEachOther) {
  for (int operation = NPPI_OP_ALPHA_OVER; operation <= NPPI_OP_ALPHA_PLUS_PREMUL; ++operation) {
    const NppiSize size{31, 9};
    const auto op = static_cast<NppiAlphaOp>(operation);
    const TestImage<Npp8u> a(size, 4), b(size, 4), result(size, 4), whole(size, 3), first(size, 3), second(size, 3);
    ASSERT_EQ(nppiAlphaComp_8u_AC4R(a.data(), a.step(), b.data(), b.step(), result.data(), result.step(), size, op),
              kGood);
    result.expect(
        [&](int x, int y, int c) {
          const auto share = shares(operation, a.at(x, y, 3) / 255.0, b.at(x, y, 3) / 255.0);
          if (c == 3) return std::min(255.0, share[2] * 255);
          return std::min(255.0, share[0] * a.at(x, y, c) + share[1] * b.at(x, y, c));
        },
        4);
    ASSERT_EQ(nppiAlphaCompC_8u_C3R(first.data(), first.step(), 100, second.data(), second.step(), 255, whole.data(),
                                    whole.step(), size, op),
              kGood);
    whole.expect(
        [&](int x, int y, int c) {
          const auto share = shares(operation, 100 / 255.0, 1);
          return std::min(255.0, share[0] * first.at(x, y, c) + share[1] * second.at(x, y, c));
        },
        4);
  }
  const TestImage<Npp8u> one({1, 1}, 4), other({1, 1}, 4), result({1, 1}, 4);
  // As on a GPU: 255 without the 200 of 255 that the other image covers.
  const auto fill = [](const TestImage<Npp8u>& image, Npp8u colour, Npp8u alpha) {
    for (int k = 0; k < 3; ++k) image.row(0)[k] = colour;
    image.row(0)[3] = alpha;
  };
  fill(one, 255, 128), fill(other, 64, 200);
  ASSERT_EQ(nppiAlphaComp_8u_AC4R(one.data(), 4, other.data(), 4, result.data(), 4, {1, 1}, NPPI_OP_ALPHA_OUT_PREMUL),
            kGood);
  result.expect([](int, int, int c) { return c == 3 ? 28 : 56; });
  EXPECT_EQ(
      nppiAlphaComp_8u_AC4R(one.data(), 4, other.data(), 4, result.data(), 4, {1, 1}, static_cast<NppiAlphaOp>(99)),
      NPP_BAD_ARGUMENT_ERROR);
}

TEST(NppColors, ArithmeticWithAConstant) {
  for (const NppiSize size : kSizes) {
    const TestImage<Npp8u> a(size, 1), result(size, 1), three(size, 3), threes(size, 3);
    const TestImage<Npp32f> f(size, 1), g(size, 1);
    for (const int scale : {0, 1, 3, -1}) {
      const auto expect = [&](auto value) {
        result.expect([&](int x, int y, int) {
          return std::clamp(std::nearbyint(std::ldexp(value(static_cast<double>(a.at(x, y))), -scale)), 0.0, 255.0);
        });
      };
      ASSERT_EQ(nppiAddC_8u_C1RSfs(a.data(), a.step(), 7, result.data(), result.step(), size, scale), kGood);
      expect([](double x) { return x + 7; });
      ASSERT_EQ(nppiSubC_8u_C1RSfs(a.data(), a.step(), 200, result.data(), result.step(), size, scale), kGood);
      expect([](double x) { return x - 200; });
      ASSERT_EQ(nppiMulC_8u_C1RSfs(a.data(), a.step(), 3, result.data(), result.step(), size, scale), kGood);
      expect([](double x) { return x * 3; });
      ASSERT_EQ(nppiDivC_8u_C1RSfs(a.data(), a.step(), 7, result.data(), result.step(), size, scale), kGood);
      expect([](double x) { return x / 7; });
      ASSERT_EQ(nppiDivC_8u_C1RSfs(a.data(), a.step(), 0, result.data(), result.step(), size, scale), kGood);
      result.expect([](int, int, int) { return 255; });
    }
    const Npp8u each[] = {1, 20, 60};
    ASSERT_EQ(nppiAddC_8u_C3RSfs(three.data(), three.step(), each, threes.data(), threes.step(), size, 0), kGood);
    threes.expect([&](int x, int y, int c) { return std::min(255, three.at(x, y, c) + each[c]); });
    ASSERT_EQ(nppiMulC_32f_C1R(f.data(), f.step(), 0.5F, g.data(), g.step(), size), kGood);
    g.expect([&](int x, int y, int) { return static_cast<double>(f.at(x, y)) / 2; });
  }
}

TEST(NppColors, DistancesToTheNearestSite) {
  for (const NppiSize size : {NppiSize{1, 1}, {40, 23}, {7, 64}}) {
    for (const int most : {0, 12}) {
      const TestImage<Npp8u> from(size, 1, 0, most + 60);
      from.row(0)[0] = 0;  // at least one
      const TestImage<Npp16s> voronoi(size, 2), relative(size, 2);
      const TestImage<Npp32f> exact(size, 1);
      const TestImage<Npp16u> whole(size, 1);
      size_t bytes = 0;
      ASSERT_EQ(nppiDistanceTransformPBAGetBufferSize(size, &bytes), kGood);
      const TestImage<Npp8u> scratch({static_cast<int>(bytes), 1}, 1);
      ASSERT_EQ(nppiDistanceTransformPBA_8u32f_C1R(from.data(), from.step(), 0, static_cast<Npp8u>(most),
                                                   voronoi.data(), voronoi.step(), nullptr, 0, relative.data(),
                                                   relative.step(), exact.data(), exact.step(), size, scratch.data()),
                kGood);
      ASSERT_EQ(
          nppiDistanceTransformPBA_8u16u_C1R(from.data(), from.step(), 0, static_cast<Npp8u>(most), nullptr, 0, nullptr,
                                             0, nullptr, 0, whole.data(), whole.step(), size, scratch.data()),
          kGood);
      const auto nearest = [&](int x, int y) {
        double best = 1e9;
        for (int v = 0; v < size.height; ++v)
          for (int u = 0; u < size.width; ++u)
            if (from.at(u, v) <= most) best = std::min(best, std::hypot(x - u, y - v));
        return best;
      };
      exact.expect([&](int x, int y, int) { return nearest(x, y); }, 1e-5);
      whole.expect([&](int x, int y, int) { return std::trunc(nearest(x, y) + 1e-9); });
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const int u = voronoi.at(x, y, 0), v = voronoi.at(x, y, 1);
          ASSERT_LE(from.at(u, v), most);
          ASSERT_NEAR(std::hypot(x - u, y - v), nearest(x, y), 1e-9);
          ASSERT_EQ(relative.at(x, y, 0), x - u);
          ASSERT_EQ(relative.at(x, y, 1), y - v);
        }
    }
  }
  EXPECT_EQ(nppiDistanceTransformPBAGetBufferSize({1, 1}, nullptr), NPP_NULL_POINTER_ERROR);
}

}  // namespace
}  // namespace ordito::libs::npp
