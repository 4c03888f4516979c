// NPP: images of luma and two differences of colour, with as many differences as pixels or a quarter of them, and their
// way to red, green and blue and back. The weights are the manual's, in single precision; results are cut to whole
// numbers, as a GPU's are (compared with one's for 40,000 colours in each conversion).
#include <array>

#include "libs/npp/image.hpp"
#include "nppi_color_conversion.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

using Pixel = std::array<Npp8u, 3>;

Npp8u cut(float value) { return value <= 0 ? Npp8u{0} : value >= 255 ? Npp8u{255} : static_cast<Npp8u>(value); }

/// How luma and differences (less 128) become a colour.
struct Decoding {
  float luma, least, redOfV, greenOfU, greenOfV, blueOfU;

  Pixel operator()(Npp8u lumaOf, Npp8u uOf, Npp8u vOf) const {
    const float y = luma * (static_cast<float>(lumaOf) - least), u = static_cast<float>(uOf) - 128,
                v = static_cast<float>(vOf) - 128;
    return {cut(y + redOfV * v), cut(y - greenOfU * u - greenOfV * v), cut(y + blueOfU * u)};
  }
};
constexpr Decoding kYuv{1, 0, 1.13983F, 0.39465F, 0.58060F, 2.03211F};
constexpr Decoding kYuv709{1, 0, 1.28033F, 0.21482F, 0.38059F, 2.12798F};
constexpr Decoding kYCbCr{1.164F, 16, 1.596F, 0.392F, 0.813F, 2.017F};
constexpr Decoding kYCbCr709{1.164F, 16, 1.793F, 0.213F, 0.534F, 2.115F};

using Encoding = Pixel (*)(float r, float g, float b);

Pixel toYuv(float r, float g, float b) {
  const float y = 0.299F * r + 0.587F * g + 0.114F * b;
  return {cut(y), cut(0.492F * (b - y) + 128), cut(0.877F * (r - y) + 128)};
}
Pixel toYCbCr(float r, float g, float b) {
  return {cut(0.257F * r + 0.504F * g + 0.098F * b + 16), cut(-0.148F * r - 0.291F * g + 0.439F * b + 128),
          cut(0.439F * r - 0.368F * g - 0.071F * b + 128)};
}

/// Of a pixel in memory, whose first number is red's or blue's.
Pixel encoded(Encoding encoding, const Npp8u* pixel, bool isBgr) {
  return encoding(pixel[isBgr ? 2 : 0], pixel[1], pixel[isBgr ? 0 : 2]);
}
void put(Npp8u* to, const Pixel& pixel, bool isBgr) {
  to[isBgr ? 2 : 0] = pixel[0], to[1] = pixel[1], to[isBgr ? 0 : 2] = pixel[2];
}

/// to = f(pixel) for each pixel of three numbers.
template <class F>
NppStatus convert(const NppStreamContext& c, const char* name, Image<const Npp8u> from, Image<Npp8u> to, NppiSize size,
                  F f) {
  if (const NppStatus bad = check(size, from, to)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    const Npp8u* pixel = from.row(y);
    Npp8u* result = to.row(y);
    for (int x = 0; x < size.width; ++x, pixel += 3, result += 3) f(pixel, result);
  });
}

/// Differences that stand for two by two pixels: planes of their own, or pairs in one plane.
struct Chroma {
  Image<const Npp8u> u, v;
  int apart;  // from one to the next
};

NppStatus checkHalved(NppiSize size) { return size.width % 2 || size.height % 2 ? NPP_SIZE_ERROR : NPP_SUCCESS; }

NppStatus decode(const NppStreamContext& c, const char* name, const Decoding& decoding, Image<const Npp8u> luma,
                 Chroma chroma, Image<Npp8u> to, NppiSize size, bool isBgr) {
  if (const NppStatus bad = check(size, luma, chroma.u, chroma.v, to)) return bad;
  if (const NppStatus bad = checkHalved(size)) return bad;
  return forRows(c, name, size.height, [=](int y) {
    const Npp8u *const us = chroma.u.row(y / 2), *const vs = chroma.v.row(y / 2);
    for (int x = 0; x < size.width; ++x)
      put(to.row(y) + 3 * x, decoding(luma.row(y)[x], us[x / 2 * chroma.apart], vs[x / 2 * chroma.apart]), isBgr);
  });
}

NppStatus decodePlanes(const NppStreamContext& c, const char* name, const Decoding& decoding, const Npp8u* const* from,
                       const int* steps, Npp8u* to, int toStep, NppiSize size, bool isBgr) {
  if (!from || !steps) return NPP_NULL_POINTER_ERROR;
  return decode(c, name, decoding, Image{from[0], steps[0]}, {Image{from[1], steps[1]}, Image{from[2], steps[2]}, 1},
                Image{to, toStep}, size, isBgr);
}
NppStatus decodePairs(const NppStreamContext& c, const char* name, const Decoding& decoding, const Npp8u* const* from,
                      int step, Npp8u* to, int toStep, NppiSize size, bool isBgr) {
  if (!from || !from[1]) return NPP_NULL_POINTER_ERROR;
  return decode(c, name, decoding, Image{from[0], step}, {Image{from[1], step}, Image{from[1] + 1, step}, 2},
                Image{to, toStep}, size, isBgr);
}

/// The mean of four differences that are cut already, cut again.
NppStatus encodePlanes(const NppStreamContext& c, const char* name, Encoding encoding, Image<const Npp8u> from,
                       Npp8u* const* to, const int* steps, NppiSize size, bool isBgr) {
  if (!to || !steps) return NPP_NULL_POINTER_ERROR;
  const Image luma{to[0], steps[0]}, u{to[1], steps[1]}, v{to[2], steps[2]};
  if (const NppStatus bad = check(size, from, luma, u, v)) return bad;
  if (const NppStatus bad = checkHalved(size)) return bad;
  return forRows(c, name, size.height / 2, [=](int y) {
    for (int x = 0; x < size.width / 2; ++x) {
      int sumU = 0, sumV = 0;
      for (const int i : {0, 1})
        for (const int j : {0, 1}) {
          const Pixel pixel = encoded(encoding, from.row(2 * y + i) + 3 * (2 * x + j), isBgr);
          luma.row(2 * y + i)[2 * x + j] = pixel[0];
          sumU += pixel[1], sumV += pixel[2];
        }
      u.row(y)[x] = static_cast<Npp8u>(sumU / 4), v.row(y)[x] = static_cast<Npp8u>(sumV / 4);
    }
  });
}

}  // namespace

#define C3_PARAMETERS (const Npp8u* from, int fromStep, Npp8u* to, int toStep, NppiSize size)
#define C3_ARGUMENTS (from, fromStep, to, toStep, size)
#define ENCODE(name, encoding, isBgr)                                                                           \
  BOTH_FORMS(name, C3_PARAMETERS, C3_ARGUMENTS) {                                                               \
    return convert(                                                                                             \
        context, #name, Image{from, fromStep}, Image{to, toStep}, size,                                         \
        [](const Npp8u* pixel, Npp8u* result) { std::ranges::copy(encoded(encoding, pixel, isBgr), result); }); \
  }
#define DECODE(name, decoding, isBgr)                                                                           \
  BOTH_FORMS(name, C3_PARAMETERS, C3_ARGUMENTS) {                                                               \
    return convert(                                                                                             \
        context, #name, Image{from, fromStep}, Image{to, toStep}, size,                                         \
        [](const Npp8u* pixel, Npp8u* result) { put(result, decoding(pixel[0], pixel[1], pixel[2]), isBgr); }); \
  }
ENCODE(nppiRGBToYUV_8u_C3R, toYuv, false)
ENCODE(nppiBGRToYUV_8u_C3R, toYuv, true)
ENCODE(nppiRGBToYCbCr_8u_C3R, toYCbCr, false)
DECODE(nppiYUVToRGB_8u_C3R, kYuv, false)
DECODE(nppiYUVToBGR_8u_C3R, kYuv, true)
DECODE(nppiYCbCrToRGB_8u_C3R, kYCbCr, false)

#define DECODE_PAIRS(name, decoding, isBgr)                                                        \
  BOTH_FORMS(name, (const Npp8u* const* from, int fromStep, Npp8u* to, int toStep, NppiSize size), \
             (from, fromStep, to, toStep, size)) {                                                 \
    return decodePairs(context, #name, decoding, from, fromStep, to, toStep, size, isBgr);         \
  }
DECODE_PAIRS(nppiNV12ToRGB_8u_P2C3R, kYuv, false)
DECODE_PAIRS(nppiNV12ToBGR_8u_P2C3R, kYuv, true)
DECODE_PAIRS(nppiNV12ToRGB_709HDTV_8u_P2C3R, kYuv709, false)
DECODE_PAIRS(nppiNV12ToBGR_709HDTV_8u_P2C3R, kYuv709, true)
DECODE_PAIRS(nppiNV12ToRGB_709CSC_8u_P2C3R, kYCbCr709, false)
DECODE_PAIRS(nppiNV12ToBGR_709CSC_8u_P2C3R, kYCbCr709, true)

#define DECODE_PLANES(name, decoding, isBgr)                                                         \
  BOTH_FORMS(name, (const Npp8u* const* from, int* fromSteps, Npp8u* to, int toStep, NppiSize size), \
             (from, fromSteps, to, toStep, size)) {                                                  \
    return decodePlanes(context, #name, decoding, from, fromSteps, to, toStep, size, isBgr);         \
  }
DECODE_PLANES(nppiYUV420ToRGB_8u_P3C3R, kYuv, false)
DECODE_PLANES(nppiYUV420ToBGR_8u_P3C3R, kYuv, true)
DECODE_PLANES(nppiYCbCr420ToRGB_8u_P3C3R, kYCbCr, false)
DECODE_PLANES(nppiYCbCr420ToBGR_8u_P3C3R, kYCbCr, true)
DECODE_PLANES(nppiYCbCr420ToBGR_709CSC_8u_P3C3R, kYCbCr709, true)

#define ENCODE_PLANES(name, encoding, isBgr)                                                        \
  BOTH_FORMS(name, (const Npp8u* from, int fromStep, Npp8u** to, int* toSteps, NppiSize size),      \
             (from, fromStep, to, toSteps, size)) {                                                 \
    return encodePlanes(context, #name, encoding, Image{from, fromStep}, to, toSteps, size, isBgr); \
  }
ENCODE_PLANES(nppiRGBToYUV420_8u_C3P3R, toYuv, false)
ENCODE_PLANES(nppiRGBToYCbCr420_8u_C3P3R, toYCbCr, false)
ENCODE_PLANES(nppiBGRToYCbCr420_8u_C3P3R, toYCbCr, true)
