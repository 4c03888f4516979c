// What mipmapped textures answer: how a level is chosen, by number and by gradients, and how levels are blended.
// nvcc builds it for a real GPU, `ordito nvcc` for this machine; tests/gpu/check_textures.py compares.
//
// usage: mipmaps FILE        FILE: for each experiment a line "name: bytes" and the bytes of its answers
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "image_experiments.cuh"

namespace {

constexpr int kPoints = 512;

/// From 0 to 1.
float fraction(std::uint32_t n) { return static_cast<float>(hashOf(n) >> 8) / 16777216; }

/// Where a fetch goes, and how far apart its neighbours are taken to be.
struct Point {
  float x, y, z, level;
  float4 dx, dy;
  int layer;
};

std::vector<Point> points() {
  std::vector<Point> all(kPoints);
  for (int k = 0; k < kPoints; ++k) {
    const auto n = static_cast<std::uint32_t>(k) * 16;
    Point& p = all[static_cast<std::size_t>(k)];
    p.x = fraction(n) * 1.5f - 0.25f;
    p.y = fraction(n + 1) * 1.5f - 0.25f;
    p.z = fraction(n + 2) * 1.5f - 0.25f;
    p.level = k < 128 ? static_cast<float>(k - 16) / 16 : fraction(n + 3) * 9 - 1.5f;
    const float size = std::exp2(fraction(n + 4) * 10 - 8.5f);
    auto axis = [&](std::uint32_t salt) { return (fraction(n + salt) * 2 - 1) * size; };
    p.dx = make_float4(axis(5), k % 4 == 1 ? 0 : axis(6), axis(7), 0);
    p.dy = make_float4(k % 4 == 1 ? 0 : axis(8), axis(9), axis(10), 0);
    if (k % 4 == 2) p.dy = make_float4(0, 0, 0, 0);
    p.layer = k % 3;
  }
  return all;
}

// Kinds of fetches.

struct Line {
  static constexpr const char* kName = "1d";
  static constexpr int kDimensions = 1;
  static constexpr unsigned kFlags = 0;
  template <class T>
  static __device__ T plain(cudaTextureObject_t t, const Point& p) {
    return tex1D<T>(t, p.x);
  }
  template <class T>
  static __device__ T level(cudaTextureObject_t t, const Point& p) {
    return tex1DLod<T>(t, p.x, p.level);
  }
  template <class T>
  static __device__ T gradient(cudaTextureObject_t t, const Point& p) {
    return tex1DGrad<T>(t, p.x, p.dx.x, p.dy.x);
  }
};
struct Plane {
  static constexpr const char* kName = "2d";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = 0;
  template <class T>
  static __device__ T plain(cudaTextureObject_t t, const Point& p) {
    return tex2D<T>(t, p.x, p.y);
  }
  template <class T>
  static __device__ T level(cudaTextureObject_t t, const Point& p) {
    return tex2DLod<T>(t, p.x, p.y, p.level);
  }
  template <class T>
  static __device__ T gradient(cudaTextureObject_t t, const Point& p) {
    return tex2DGrad<T>(t, p.x, p.y, make_float2(p.dx.x, p.dx.y), make_float2(p.dy.x, p.dy.y));
  }
};
struct Volume {
  static constexpr const char* kName = "3d";
  static constexpr int kDimensions = 3;
  static constexpr unsigned kFlags = 0;
  template <class T>
  static __device__ T plain(cudaTextureObject_t t, const Point& p) {
    return tex3D<T>(t, p.x, p.y, p.z);
  }
  template <class T>
  static __device__ T level(cudaTextureObject_t t, const Point& p) {
    return tex3DLod<T>(t, p.x, p.y, p.z, p.level);
  }
  template <class T>
  static __device__ T gradient(cudaTextureObject_t t, const Point& p) {
    return tex3DGrad<T>(t, p.x, p.y, p.z, p.dx, p.dy);
  }
};
struct Planes {
  static constexpr const char* kName = "layers of 2d";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = cudaArrayLayered;
  template <class T>
  static __device__ T plain(cudaTextureObject_t t, const Point& p) {
    return tex2DLayered<T>(t, p.x, p.y, p.layer);
  }
  template <class T>
  static __device__ T level(cudaTextureObject_t t, const Point& p) {
    return tex2DLayeredLod<T>(t, p.x, p.y, p.layer, p.level);
  }
  template <class T>
  static __device__ T gradient(cudaTextureObject_t t, const Point& p) {
    return tex2DLayeredGrad<T>(t, p.x, p.y, p.layer, make_float2(p.dx.x, p.dx.y), make_float2(p.dy.x, p.dy.y));
  }
};
struct Cube {
  static constexpr const char* kName = "cube";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = cudaArrayCubemap;
  template <class T>
  static __device__ T plain(cudaTextureObject_t t, const Point& p) {
    return texCubemap<T>(t, p.x - 0.5f, p.y - 0.5f, p.z - 0.5f);
  }
  template <class T>
  static __device__ T level(cudaTextureObject_t t, const Point& p) {
    return texCubemapLod<T>(t, p.x - 0.5f, p.y - 0.5f, p.z - 0.5f, p.level);
  }
  template <class T>
  static __device__ T gradient(cudaTextureObject_t t, const Point& p) {
#ifdef __clang__
    return level<T>(t, p);  // gradients of cube maps are refused
#else
    return texCubemapGrad<T>(t, p.x - 0.5f, p.y - 0.5f, p.z - 0.5f, p.dx, p.dy);
#endif
  }
};

template <class Geometry, class Result>
__global__ void sample(cudaTextureObject_t texture, const Point* at, Result* out) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= kPoints) return;
  out[k] = Geometry::template plain<Result>(texture, at[k]);
  out[kPoints + k] = Geometry::template level<Result>(texture, at[k]);
  out[2 * kPoints + k] = Geometry::template gradient<Result>(texture, at[k]);
}

// What stands in the levels: their numbers, so that an answer tells which level it comes from, or noise.

float texel(bool isNoise, unsigned level, std::size_t k) {
  if (!isNoise) return static_cast<float>(level);
  return fraction(static_cast<std::uint32_t>(k * 16 + level) + 1000) * 8 - 4;
}
void set(float& to, float value, std::uint32_t) { to = value; }
void set(__half& to, float value, std::uint32_t) { to = __float2half(value); }
void set(uchar4& to, float, std::uint32_t n) {
  const std::uint32_t bits = hashOf(n);
  to = make_uchar4(bits & 255, bits >> 8 & 255, bits >> 16 & 255, bits >> 24);
}

template <class Texel>
void fillLevel(cudaArray_t array, unsigned level, bool isNoise) {
  cudaExtent extent;
  REQUIRE(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
  extent.height = std::max<std::size_t>(extent.height, 1), extent.depth = std::max<std::size_t>(extent.depth, 1);
  std::vector<Texel> data(extent.width * extent.height * extent.depth);
  for (std::size_t k = 0; k < data.size(); ++k)
    set(data[k], texel(isNoise, level, k), static_cast<std::uint32_t>(k * 16 + level));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(data.data(), extent.width * sizeof(Texel), extent.width, extent.height);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  REQUIRE(cudaMemcpy3D(&copy));
}

template <class Geometry, class Texel>
cudaMipmappedArray_t levelsOf(cudaExtent extent, unsigned levels, bool isNoise, cudaChannelFormatDesc format) {
  cudaMipmappedArray_t all;
  REQUIRE(cudaMallocMipmappedArray(&all, &format, extent, levels, Geometry::kFlags));
  for (unsigned k = 0; k < levels; ++k) {
    cudaArray_t level;
    REQUIRE(cudaGetMipmappedArrayLevel(&level, all, k));
    fillLevel<Texel>(level, k, isNoise);
  }
  return all;
}

struct Sampling {
  const char* name;
  cudaTextureFilterMode filter, between;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  float bias = 0, least = 0, most = 99;
};

template <class Geometry, class Result>
void sampleAll(const std::string& name, cudaMipmappedArray_t levels, const Sampling& s, cudaTextureReadMode reading) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = levels;
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = s.address;
  description.filterMode = s.filter;
  description.mipmapFilterMode = s.between;
  description.mipmapLevelBias = s.bias;
  description.minMipmapLevelClamp = s.least;
  description.maxMipmapLevelClamp = s.most;
  description.readMode = reading;
  description.normalizedCoords = 1;
  cudaTextureObject_t texture;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  const std::vector<Point> where = points();
  Point* at;
  Result* out;
  REQUIRE(cudaMalloc(&at, kPoints * sizeof(Point)));
  REQUIRE(cudaMalloc(&out, 3 * kPoints * sizeof(Result)));
  REQUIRE(cudaMemcpy(at, where.data(), kPoints * sizeof(Point), cudaMemcpyHostToDevice));
  sample<Geometry, Result><<<kPoints / 64, 64>>>(texture, at, out);
  write(name + " " + s.name + " plain", out, kPoints);
  write(name + " " + s.name + " level", out + kPoints, kPoints);
  write(name + " " + s.name + " gradient", out + 2 * kPoints, kPoints);
  REQUIRE(cudaFree(at));
  REQUIRE(cudaFree(out));
  REQUIRE(cudaDestroyTextureObject(texture));
}

template <class Geometry>
cudaExtent extentOf(std::size_t size) {
  const bool isCube = (Geometry::kFlags & cudaArrayCubemap) != 0,
             isLayered = (Geometry::kFlags & cudaArrayLayered) != 0;
  return make_cudaExtent(size,
                         Geometry::kDimensions < 2 ? 0
                         : isCube                  ? size
                                                   : size / 2,
                         isCube                       ? 6
                         : isLayered                  ? 3
                         : Geometry::kDimensions == 3 ? size / 4
                                                      : 0);
}

/// Which levels are taken, to the 256th.
template <class Geometry>
void numbers() {
  const Sampling all[] = {
      {"point", cudaFilterModePoint, cudaFilterModePoint},
      {"linear", cudaFilterModePoint, cudaFilterModeLinear},
      {"bias", cudaFilterModePoint, cudaFilterModeLinear, cudaAddressModeClamp, 0.7f},
      {"clamps", cudaFilterModePoint, cudaFilterModeLinear, cudaAddressModeClamp, 0, 1.3f, 3.6f},
      {"clamps and bias", cudaFilterModePoint, cudaFilterModePoint, cudaAddressModeClamp, -1.55f, 0.8f, 2.7f},
  };
  const std::string name = std::string(Geometry::kName) + " numbers";
  auto levels = levelsOf<Geometry, float>(extentOf<Geometry>(64), 7, false, cudaCreateChannelDesc<float>());
  for (const Sampling& s : all) sampleAll<Geometry, float>(name, levels, s, cudaReadModeElementType);
  REQUIRE(cudaFreeMipmappedArray(levels));
}

template <class Geometry, class Texel, class Result>
void noise(const char* kind, cudaTextureReadMode reading,
           cudaChannelFormatDesc format = cudaCreateChannelDesc<Texel>()) {
  const Sampling all[] = {
      {"point", cudaFilterModePoint, cudaFilterModePoint, cudaAddressModeWrap},
      {"linear", cudaFilterModeLinear, cudaFilterModePoint, cudaAddressModeClamp},
      {"both linear", cudaFilterModeLinear, cudaFilterModeLinear, cudaAddressModeMirror},
      {"both linear border", cudaFilterModeLinear, cudaFilterModeLinear, cudaAddressModeBorder},
  };
  const std::string name = std::string(Geometry::kName) + " " + kind;
  auto levels = levelsOf<Geometry, Texel>(extentOf<Geometry>(20), 4, true, format);
  for (const Sampling& s : all) sampleAll<Geometry, Result>(name, levels, s, reading);
  REQUIRE(cudaFreeMipmappedArray(levels));
}

template <class Geometry>
void kinds() {
  numbers<Geometry>();
  noise<Geometry, float, float>("float", cudaReadModeElementType);
  noise<Geometry, uchar4, float4>("uchar4", cudaReadModeNormalizedFloat);
  noise<Geometry, __half, float>("half", cudaReadModeElementType, cudaCreateChannelDescHalf());
}

}  // namespace

int main(int argc, char** argv) {
  return record(argc, argv, [] {
    kinds<Line>();
    kinds<Plane>();
    kinds<Volume>();
    kinds<Planes>();
    kinds<Cube>();
  });
}
