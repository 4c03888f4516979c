// What NPP answers for warps, rotations, images of other sizes, images over each other, curves and sharper images. Of
// each result a hash of its bytes.
#include <npp.h>

#include "cases.hpp"

namespace {

constexpr int kWidth = 16, kHeight = 12;
constexpr NppiSize kSize{kWidth, kHeight};
constexpr NppiRect kAll{0, 0, kWidth, kHeight}, kPart{2, 1, 9, 8};

NppStreamContext context() {
  NppStreamContext c{};
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  c.nMultiProcessorCount = p.multiProcessorCount;
  c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
  c.nSharedMemPerBlock = p.sharedMemPerBlock;
  c.nCudaDevAttrComputeCapabilityMajor = p.major;
  c.nCudaDevAttrComputeCapabilityMinor = p.minor;
  return c;
}

/// Random numbers by a seed, or all 7 for the seed 0; floating-point numbers are whole ones below 1000.
template <class T>
struct Picture {
  explicit Picture(int channels, unsigned seed, int height = kHeight)
      : count(kWidth * height * channels), step(kWidth * channels * static_cast<int>(sizeof(T))) {
    std::vector<T> values(count);
    unsigned random = seed;
    for (T& value : values) {
      random = random * 1664525U + 1013904223U;
      value = static_cast<T>(seed == 0 ? 7 : sizeof(T) < 4 ? random >> (32 - 8 * sizeof(T)) : (random >> 16) % 1000);
    }
    cudaMalloc(&data, count * sizeof(T));
    cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }

  Answer answer(NppStatus status) const {
    std::vector<unsigned char> bytes(count * sizeof(T));
    cudaDeviceSynchronize();
    cudaMemcpy(bytes.data(), data, bytes.size(), cudaMemcpyDeviceToHost);
    uint32_t hash = 2166136261U;
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 16777619U;
    return Answer{status, shown(hash)};
  }

  size_t count;
  int step;
  T* data = nullptr;
};

constexpr int kWays[] = {NPPI_INTER_NN, NPPI_INTER_LINEAR, NPPI_INTER_CUBIC, NPPI_INTER_SUPER, NPPI_INTER_LANCZOS};

std::string named(const char* what, double detail, int how) {
  char text[99];
  std::snprintf(text, sizeof text, "%s %g, interpolation %d", what, detail, how);
  return text;
}

void warps(Cases& cases, const NppStreamContext& c) {
  const double turned[2][3] = {{0.8, 0.1, 1.25}, {-0.15, 0.9, 2.5}}, shifted[2][3] = {{1, 0, 0.5}, {0, 1, -0.25}};
  const double tilted[3][3] = {{0.8, 0.1, 1.25}, {-0.1, 0.9, 2.5}, {0.002, -0.001, 1}};
  const NppiRect to{1, 0, 14, 11}, wide{1, 0, kWidth, kHeight}, beyond{kWidth, 0, 4, 4};
  const Picture<Npp8u> one(1, 1), three(3, 2);
  const Picture<Npp32f> real(1, 3);
#define WARP(name, function, from, T, channels, region, target, matrix)                                         \
  cases(named(name, 0, how).c_str(), [&] {                                                                      \
    const Picture<T> result(channels, 0);                                                                       \
    return result.answer(                                                                                       \
        function##_Ctx(from.data, kSize, from.step, region, result.data, result.step, target, matrix, how, c)); \
  })
  for (const int how : kWays) {
    WARP("affine", nppiWarpAffine_8u_C1R, one, Npp8u, 1, kAll, kAll, turned);
    WARP("affine of a part", nppiWarpAffine_8u_C1R, one, Npp8u, 1, kPart, to, turned);
    WARP("affine of a wide region", nppiWarpAffine_8u_C1R, one, Npp8u, 1, wide, kAll, turned);
    WARP("affine of nothing", nppiWarpAffine_8u_C1R, one, Npp8u, 1, beyond, kAll, turned);
    WARP("shifted", nppiWarpAffine_8u_C1R, one, Npp8u, 1, kAll, kAll, shifted);
    WARP("shifted floats", nppiWarpAffine_32f_C1R, real, Npp32f, 1, kPart, kAll, shifted);
    WARP("affine back", nppiWarpAffineBack_8u_C3R, three, Npp8u, 3, kPart, to, turned);
    WARP("perspective", nppiWarpPerspective_8u_C1R, one, Npp8u, 1, kAll, kAll, tilted);
    WARP("perspective back", nppiWarpPerspectiveBack_8u_C1R, one, Npp8u, 1, kPart, to, tilted);
    for (const double angle : {0.0, 30.0, 90.0})
      for (const NppiRect& region : {kAll, kPart})
        cases(named(region.x ? "rotated part" : "rotated", angle, how).c_str(), [&] {
          const Picture<Npp8u> result(1, 0);
          return result.answer(nppiRotate_8u_C1R_Ctx(one.data, kSize, one.step, region, result.data, result.step, kAll,
                                                     angle, 1, 9, how, c));
        });
  }
}

void sizes(Cases& cases, const NppStreamContext& c) {
  const Picture<Npp8u> one(1, 1), three(3, 2);
  const Picture<Npp32f> real(1, 3);
  for (const int how : kWays) {
    for (const double factor : {0.5, 0.7, 1.0, 1.7})
      for (const NppiRect& region : {kAll, kPart})
        cases(named(region.x ? "by a factor, of a part" : "by a factor", factor, how).c_str(), [&] {
          const Picture<Npp8u> result(1, 0);
          return result.answer(nppiResizeSqrPixel_8u_C1R_Ctx(one.data, kSize, one.step, region, result.data,
                                                             result.step, kAll, factor, factor, 0, 0, how, c));
        });
    cases(named("by a factor and moved", 1.25, how).c_str(), [&] {
      const Picture<Npp8u> result(1, 0);
      return result.answer(nppiResizeSqrPixel_8u_C1R_Ctx(one.data, kSize, one.step, kAll, result.data, result.step,
                                                         kAll, 1.25, 1.25, 2, -1, how, c));
    });
#define RESIZE(name, type, channels, from, region)                                                                \
  for (const int width : {3, 5, 9, 11, 13, 16})                                                                   \
  cases(named(name, width, how).c_str(), [&] {                                                                    \
    const Picture<Npp##type> result(channels, 0);                                                                 \
    return result.answer(nppiResize_##type##_C##channels##R_Ctx(from.data, from.step, kSize, region, result.data, \
                                                                result.step, kSize, {0, 1, width, 7}, how, c));   \
  })
    RESIZE("resized", 8u, 1, one, kAll);
    RESIZE("resized part", 8u, 1, one, kPart);
    RESIZE("resized pixels of three", 8u, 3, three, kPart);
    RESIZE("resized floats", 32f, 1, real, kPart);
  }
}

void colours(Cases& cases, const NppStreamContext& c) {
  const Picture<Npp8u> first(4, 5), second(4, 6);
  const Picture<Npp16u> wide(4, 5), wider(4, 6);
#define COMPOSE(name, type, a, b)                                                                                  \
  cases(named(name, operation, 0).c_str(), [&] {                                                                   \
    const Picture<Npp##type> result(4, 0);                                                                         \
    return result.answer(nppiAlphaComp_##type##_AC4R_Ctx(a.data, a.step, b.data, b.step, result.data, result.step, \
                                                         kSize, static_cast<NppiAlphaOp>(operation), c));          \
  })
#define PREMULTIPLY(name, type, a)                                                                               \
  cases(name, [&] {                                                                                              \
    const Picture<Npp##type> result(4, 0);                                                                       \
    return result.answer(nppiAlphaPremul_##type##_AC4R_Ctx(a.data, a.step, result.data, result.step, kSize, c)); \
  })
  for (int operation = 0; operation < 12; ++operation) {
    COMPOSE("composition of bytes", 8u, first, second);
    COMPOSE("composition of wide numbers", 16u, wide, wider);
  }
  PREMULTIPLY("premultiplied bytes", 8u, first);
  PREMULTIPLY("premultiplied wide numbers", 16u, wide);
}

void curves(Cases& cases, const NppStreamContext& c) {
  const Picture<Npp8u> many(3, 4, 64), image(1, 1);
#define CURVE(name, function)                                                                              \
  cases(name, [&] {                                                                                        \
    const Picture<Npp8u> result(3, 0, 64);                                                                 \
    return result.answer(function##_Ctx(many.data, many.step, result.data, result.step, {kWidth, 64}, c)); \
  })
  CURVE("gamma", nppiGammaFwd_8u_C3R);
  CURVE("gamma back", nppiGammaInv_8u_C3R);
  cases("sharper", [&] {
    const Picture<Npp8u> result(1, 0);
    return result.answer(nppiFilterSharpenBorder_8u_C1R_Ctx(image.data, image.step, kSize, {0, 0}, result.data,
                                                            result.step, kSize, NPP_BORDER_REPLICATE, c));
  });
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  const NppStreamContext c = context();
  warps(cases, c);
  sizes(cases, c);
  colours(cases, c);
  curves(cases, c);
}
