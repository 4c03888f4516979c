// What textures and surfaces answer: every geometry, filter, address mode and kind of texel at awkward coordinates.
// nvcc builds it for a real GPU, `ordito nvcc` for this machine; tests/gpu/check_textures.py compares.
//
// usage: textures FILE        FILE: for each experiment a line "name: bytes" and the bytes of its answers
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "image_experiments.cuh"

namespace {

constexpr int kPoints = 160;

/// Where the textures are sampled: texels' centres and edges, just beside them, far outside, and anywhere.
std::vector<float4> coordinates(bool normalised, int width, int height, int depth) {
  std::vector<float4> all(kPoints);
  auto one = [&](int k, std::uint32_t salt, int size) {
    float at;
    const std::uint32_t noise = hashOf(static_cast<std::uint32_t>(k) * 4 + salt);
    const int texel = static_cast<int>(noise % static_cast<std::uint32_t>(3 * size)) - size;
    if (k < 40) {
      at = static_cast<float>(texel) + static_cast<float>(k % 4) * 0.25f;
    } else if (k < 80) {
      at = static_cast<float>(texel) + static_cast<float>(noise >> 12 & 511) / 512;
    } else {
      at = (static_cast<float>(noise >> 8) / 16777216 * 5 - 2) * static_cast<float>(size);
    }
    return normalised ? at / static_cast<float>(size) : at;
  };
  for (int k = 0; k < kPoints; ++k) {
    all[static_cast<std::size_t>(k)] =
        make_float4(one(k, 0, width), one(k, 1, height), one(k, 2, depth), static_cast<float>(k % 5 - 1));
  }
  return all;
}

// Geometries: how many extents an array has, and how a point is fetched.

struct Line {
  static constexpr const char* kName = "1d";
  static constexpr int kDimensions = 1;
  static constexpr unsigned kFlags = 0;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return tex1D<T>(t, p.x);
  }
};
struct Plane {
  static constexpr const char* kName = "2d";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = 0;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return tex2D<T>(t, p.x, p.y);
  }
};
struct Volume {
  static constexpr const char* kName = "3d";
  static constexpr int kDimensions = 3;
  static constexpr unsigned kFlags = 0;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return tex3D<T>(t, p.x, p.y, p.z);
  }
};
struct Lines {
  static constexpr const char* kName = "layers of 1d";
  static constexpr int kDimensions = 1;
  static constexpr unsigned kFlags = cudaArrayLayered;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return tex1DLayered<T>(t, p.x, static_cast<int>(p.w));
  }
};
struct Planes {
  static constexpr const char* kName = "layers of 2d";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = cudaArrayLayered;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return tex2DLayered<T>(t, p.x, p.y, static_cast<int>(p.w));
  }
};
struct Cube {
  static constexpr const char* kName = "cube";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = cudaArrayCubemap;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return texCubemap<T>(t, p.x, p.y, p.z);
  }
};
struct Cubes {
  static constexpr const char* kName = "layers of cubes";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = cudaArrayCubemap | cudaArrayLayered;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return texCubemapLayered<T>(t, p.x, p.y, p.z, static_cast<int>(p.w));
  }
};
template <int Component>
struct Gathered {
  static constexpr const char* kName = Component == 0 ? "gather x" : Component == 1 ? "gather y" : "gather w";
  static constexpr int kDimensions = 2;
  static constexpr unsigned kFlags = cudaArrayTextureGather;
  template <class T>
  static __device__ T fetch(cudaTextureObject_t t, float4 p) {
    return tex2Dgather<T>(t, p.x, p.y, Component);
  }
};

template <class Geometry, class Result>
__global__ void sample(cudaTextureObject_t texture, const float4* at, Result* out) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < kPoints) out[k] = Geometry::template fetch<Result>(texture, at[k]);
}

/// Texels that follow from their place: numbers between -4 and 4, or any bits.
template <class Texel>
std::vector<Texel> texels(std::size_t count, bool isFloat) {
  std::vector<Texel> all(count);
  for (std::size_t k = 0; k < count * sizeof(Texel) / 4 + 1; ++k) {
    std::uint32_t word = hashOf(static_cast<std::uint32_t>(k) + 77);
    if (isFloat) {
      const float number = static_cast<float>(word >> 8) / 16777216 * 8 - 4;
      std::memcpy(&word, &number, 4);
    }
    const std::size_t left = count * sizeof(Texel) - std::min(count * sizeof(Texel), 4 * k);
    std::memcpy(reinterpret_cast<char*>(all.data()) + 4 * k, &word, left < 4 ? left : 4);
  }
  return all;
}

std::vector<__half> halves(std::size_t count) {
  std::vector<__half> all;
  for (float f : texels<float>(count, true)) all.push_back(__float2half(f));
  return all;
}

/// An array of the geometry's extents with these texels.
struct Extents {
  int width, height, depth;
  std::size_t count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(depth);
  }
};

template <class Geometry>
Extents extents() {
  constexpr bool isCube = (Geometry::kFlags & cudaArrayCubemap) != 0,
                 isLayered = (Geometry::kFlags & cudaArrayLayered) != 0;
  if (isCube) return {6, 6, isLayered ? 12 : 6};
  return {7, Geometry::kDimensions > 1 ? 5 : 1, Geometry::kDimensions > 2 ? 4 : isLayered ? 3 : 1};
}

template <class Geometry, class Texel>
cudaArray_t arrayOf(const std::vector<Texel>& data, cudaChannelFormatDesc format, unsigned flags) {
  const Extents e = extents<Geometry>();
  const bool isLayered = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  const auto width = static_cast<std::size_t>(e.width), height = static_cast<std::size_t>(e.height),
             depth = static_cast<std::size_t>(e.depth);
  cudaArray_t array;
  REQUIRE(cudaMalloc3DArray(&array, &format,
                            make_cudaExtent(width, Geometry::kDimensions > 1 ? height : 0,
                                            Geometry::kDimensions > 2 || isLayered ? depth : 0),
                            flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<Texel*>(data.data()), width * sizeof(Texel), width, height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, height, depth);
  copy.kind = cudaMemcpyHostToDevice;
  REQUIRE(cudaMemcpy3D(&copy));
  return array;
}

struct Sampling {
  cudaTextureFilterMode filter;
  cudaTextureAddressMode address;
  bool normalised;
  std::string name() const {
    const char* modes[] = {"wrap", "clamp", "mirror", "border"};
    return std::string(filter == cudaFilterModeLinear ? "linear " : "point ") + modes[address] +
           (normalised ? " normalised" : "");
  }
};

template <class Geometry, class Result>
void sampleAll(const std::string& name, cudaTextureObject_t texture, bool normalised) {
  const Extents e = extents<Geometry>();
  const bool isCube = (Geometry::kFlags & cudaArrayCubemap) != 0;
  const std::vector<float4> points =
      isCube ? coordinates(false, 1, 1, 1) : coordinates(normalised, e.width, e.height, e.depth);
  float4* at;
  Result* out;
  REQUIRE(cudaMalloc(&at, kPoints * sizeof(float4)));
  REQUIRE(cudaMalloc(&out, kPoints * sizeof(Result)));
  REQUIRE(cudaMemcpy(at, points.data(), kPoints * sizeof(float4), cudaMemcpyHostToDevice));
  sample<Geometry, Result><<<(kPoints + 63) / 64, 64>>>(texture, at, out);
  write(name, out, kPoints);
  REQUIRE(cudaFree(at));
  REQUIRE(cudaFree(out));
}

template <class Geometry, class Result, class Texel>
void textures(const char* kind, const std::vector<Texel>& data, cudaTextureReadMode reading, bool filters,
              bool isSrgb = false, cudaChannelFormatDesc format = cudaCreateChannelDesc<Texel>()) {
  cudaArray_t array = arrayOf<Geometry>(data, format, Geometry::kFlags);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const bool isCube = (Geometry::kFlags & cudaArrayCubemap) != 0;
  for (cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    if (filter == cudaFilterModeLinear && !filters) continue;
    for (cudaTextureAddressMode address :
         {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
      for (bool normalised : {false, true}) {
        if (isCube && (!normalised || address != cudaAddressModeClamp)) continue;
        cudaTextureDesc description{};
        for (auto& mode : description.addressMode) mode = address;
        description.filterMode = filter;
        description.readMode = reading;
        description.normalizedCoords = normalised;
        description.sRGB = isSrgb;
        const float border[4] = {0.25f, -0.5f, 0.75f, 1.0f};
        std::memcpy(description.borderColor, border, sizeof border);
        cudaTextureObject_t texture;
        REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
        sampleAll<Geometry, Result>(
            std::string(Geometry::kName) + " " + kind + " " + Sampling{filter, address, normalised}.name(), texture,
            normalised);
        REQUIRE(cudaDestroyTextureObject(texture));
      }
    }
  }
  REQUIRE(cudaFreeArray(array));
}

template <class Geometry>
void kindsOfTexels() {
  const std::size_t count = extents<Geometry>().count();
  textures<Geometry, float>("float", texels<float>(count, true), cudaReadModeElementType, true);
  textures<Geometry, float4>("float4", texels<float4>(count, true), cudaReadModeElementType, true);
  textures<Geometry, float>("half", halves(count), cudaReadModeElementType, true, false, cudaCreateChannelDescHalf());
  textures<Geometry, float4>("uchar4 as float", texels<uchar4>(count, false), cudaReadModeNormalizedFloat, true);
  textures<Geometry, float2>("short2 as float", texels<short2>(count, false), cudaReadModeNormalizedFloat, true);
  textures<Geometry, char2>("char2", texels<char2>(count, false), cudaReadModeElementType, false);
  textures<Geometry, uint4>("uint4", texels<uint4>(count, false), cudaReadModeElementType, false);
}

void gathers() {
  const std::size_t count = extents<Plane>().count();
  textures<Gathered<0>, float4>("float4", texels<float4>(count, true), cudaReadModeElementType, true);
  textures<Gathered<1>, float4>("float4", texels<float4>(count, true), cudaReadModeElementType, true);
  textures<Gathered<3>, uint4>("uint4", texels<uint4>(count, false), cudaReadModeElementType, false);
  textures<Gathered<0>, float4>("uchar as float", texels<unsigned char>(count, false), cudaReadModeNormalizedFloat,
                                true);
}

/// Textures of plain memory: by texel's number, and of two dimensions.
__global__ void byNumber(cudaTextureObject_t texture, float* out) {
  const int k = static_cast<int>(threadIdx.x);
  out[k] = tex1Dfetch<float>(texture, k - 16);
}

void memory() {
  const std::vector<float> data = texels<float>(64, true);
  float *linear, *out;
  REQUIRE(cudaMalloc(&linear, 64 * sizeof(float)));
  REQUIRE(cudaMalloc(&out, 128 * sizeof(float)));
  REQUIRE(cudaMemcpy(linear, data.data(), 64 * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = linear;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 48 * sizeof(float);
  cudaTextureDesc description{};
  cudaTextureObject_t texture;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  byNumber<<<1, 128>>>(texture, out);
  write("by number", out, 128);
  REQUIRE(cudaDestroyTextureObject(texture));

  const Extents e = extents<Plane>();
  const auto width = static_cast<std::size_t>(e.width), height = static_cast<std::size_t>(e.height);
  void* rows;
  std::size_t pitch;
  REQUIRE(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
  REQUIRE(cudaMemcpy2D(rows, pitch, data.data(), width * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
  cudaResourceDesc pitched{};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = rows;
  pitched.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  pitched.res.pitch2D.width = width;
  pitched.res.pitch2D.height = height;
  pitched.res.pitch2D.pitchInBytes = pitch;
  for (cudaTextureAddressMode address : {cudaAddressModeClamp, cudaAddressModeBorder}) {
    cudaTextureDesc sampling{};
    for (auto& mode : sampling.addressMode) mode = address;
    sampling.filterMode = cudaFilterModeLinear;
    REQUIRE(cudaCreateTextureObject(&texture, &pitched, &sampling, nullptr));
    sampleAll<Plane, float>("pitched " + Sampling{cudaFilterModeLinear, address, false}.name(), texture, false);
    REQUIRE(cudaDestroyTextureObject(texture));
  }
  REQUIRE(cudaFree(rows));
  REQUIRE(cudaFree(linear));
  REQUIRE(cudaFree(out));
}

// Surfaces: coordinates in bytes along a row; outside, a read gives zero or the nearest texel.

template <class Geometry, class T, cudaSurfaceBoundaryMode Mode>
__device__ T surfaceRead(cudaSurfaceObject_t s, int x, int y, int z, int layer) {
  const int byte = x * static_cast<int>(sizeof(T));
  if constexpr (Geometry::kDimensions == 3) {
    return surf3Dread<T>(s, byte, y, z, Mode);
  } else if constexpr (Geometry::kFlags != 0) {
    return Geometry::kDimensions == 1 ? surf1DLayeredread<T>(s, byte, layer, Mode)
                                      : surf2DLayeredread<T>(s, byte, y, layer, Mode);
  } else {
    return Geometry::kDimensions == 1 ? surf1Dread<T>(s, byte, Mode) : surf2Dread<T>(s, byte, y, Mode);
  }
}

template <class Geometry, class T, cudaSurfaceBoundaryMode Mode>
__device__ void surfaceWrite(T value, cudaSurfaceObject_t s, int x, int y, int z, int layer) {
  const int byte = x * static_cast<int>(sizeof(T));
  if constexpr (Geometry::kDimensions == 3) {
    surf3Dwrite(value, s, byte, y, z, Mode);
  } else if constexpr (Geometry::kFlags != 0) {
    if (Geometry::kDimensions == 1) {
      surf1DLayeredwrite(value, s, byte, layer, Mode);
    } else {
      surf2DLayeredwrite(value, s, byte, y, layer, Mode);
    }
  } else if (Geometry::kDimensions == 1) {
    surf1Dwrite(value, s, byte, Mode);
  } else {
    surf2Dwrite(value, s, byte, y, Mode);
  }
}

/// Thread k looks at a place of its own in and around the surface.
struct Spot {
  int x, y, z, layer;
};
__device__ Spot spotOf(int k, Extents e) { return {k % 13 - 3, k / 13 % 9 - 2, k / 5 % 8 - 2, k % e.depth}; }

template <class Geometry, class T, cudaSurfaceBoundaryMode Mode>
__global__ void readSurface(cudaSurfaceObject_t s, Extents e, T* out) {
  const int k = static_cast<int>(threadIdx.x);
  const Spot p = spotOf(k, e);
  out[k] = surfaceRead<Geometry, T, Mode>(s, p.x, p.y, p.z, p.layer);
}

/// What lands on one place is the same whoever writes it, since clamped writes would else race.
template <class Geometry, class T, cudaSurfaceBoundaryMode Mode>
__global__ void writeSurface(cudaSurfaceObject_t s, Extents e, T value) {
  const Spot p = spotOf(static_cast<int>(threadIdx.x), e);
  if ((p.x + p.y + p.z) % 2 == 0) surfaceWrite<Geometry, T, Mode>(value, s, p.x, p.y, p.z, p.layer);
}

template <class Geometry, class T, cudaSurfaceBoundaryMode Mode>
void surface(const std::string& name, T value, bool isFloat) {
  const Extents e = extents<Geometry>();
  cudaArray_t array = arrayOf<Geometry>(texels<T>(e.count(), isFloat), cudaCreateChannelDesc<T>(),
                                        Geometry::kFlags | cudaArraySurfaceLoadStore);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object;
  REQUIRE(cudaCreateSurfaceObject(&object, &resource));
  T* out;
  REQUIRE(cudaMalloc(&out, 512 * sizeof(T)));
  readSurface<Geometry, T, Mode><<<1, 512>>>(object, e, out);
  write(name + " read", out, 512);
  writeSurface<Geometry, T, Mode><<<1, 512>>>(object, e, value);
  readSurface<Geometry, T, Mode><<<1, 512>>>(object, e, out);
  write(name + " written", out, 512);
  REQUIRE(cudaFree(out));
  REQUIRE(cudaDestroySurfaceObject(object));
  REQUIRE(cudaFreeArray(array));
}

template <class Geometry, cudaSurfaceBoundaryMode Mode>
void surfacesOf(const char* mode) {
  const std::string name = std::string("surface ") + Geometry::kName + " " + mode + " ";
  surface<Geometry, unsigned char, Mode>(name + "uchar", 0x5A, false);
  surface<Geometry, short2, Mode>(name + "short2", make_short2(-1234, 4321), false);
  surface<Geometry, float, Mode>(name + "float", -2.5f, true);
  surface<Geometry, float4, Mode>(name + "float4", make_float4(1, -2, 3, -4), true);
}

template <class Geometry>
void surfaces() {
  surfacesOf<Geometry, cudaBoundaryModeZero>("zero");
  surfacesOf<Geometry, cudaBoundaryModeClamp>("clamp");
}

}  // namespace

int main(int argc, char** argv) {
  return record(argc, argv, [] {
    kindsOfTexels<Line>();
    kindsOfTexels<Plane>();
    kindsOfTexels<Volume>();
    kindsOfTexels<Lines>();
    kindsOfTexels<Planes>();
    kindsOfTexels<Cube>();
    kindsOfTexels<Cubes>();
    gathers();
    textures<Plane, float4>("sRGB", texels<uchar4>(extents<Plane>().count(), false), cudaReadModeNormalizedFloat, true,
                            true);
    memory();
    surfaces<Line>();
    surfaces<Plane>();
    surfaces<Volume>();
    surfaces<Lines>();
    surfaces<Planes>();
  });
}
