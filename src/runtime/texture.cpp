// Texture and surface objects, and the texture and surface references of programs from before CUDA 12: what the
// program describes, turned into what the driver's textures are made of.
#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/array.hpp"
#include "runtime/registry.hpp"

using namespace ordito::runtime;

namespace {

/// Descriptions of live objects, for the calls that ask for them.
struct Described {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  cudaResourceViewDesc view{};
};

class Descriptions {
 public:
  void add(uint64_t handle, const Described& d) {
    const std::scoped_lock lock(mutex_);
    all_[handle] = d;
  }
  void remove(uint64_t handle) {
    const std::scoped_lock lock(mutex_);
    all_.erase(handle);
  }
  template <class Use>
  cudaError_t with(uint64_t handle, Use&& use) {
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return finish(cudaErrorInvalidValue);
    use(found->second);
    return cudaSuccess;
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, Described> all_;
};

Descriptions& descriptions() {
  static Descriptions& all = *new Descriptions;
  return all;
}

cudaError_t setLinear(CUDA_RESOURCE_DESC& to, const void* memory, const cudaChannelFormatDesc& format, size_t bytes) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  to.resType = CU_RESOURCE_TYPE_LINEAR;
  auto& line = to.res.linear;
  line.devPtr = address(memory);
  line.sizeInBytes = bytes;
  return toDriver(format, line.format, line.numChannels);
}

cudaError_t setPlane(CUDA_RESOURCE_DESC& to, const void* memory, const cudaChannelFormatDesc& format, size_t width,
                     size_t height, size_t pitch) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  to.resType = CU_RESOURCE_TYPE_PITCH2D;
  auto& plane = to.res.pitch2D;
  plane.devPtr = address(memory);
  plane.width = width;
  plane.height = height;
  plane.pitchInBytes = pitch;
  return toDriver(format, plane.format, plane.numChannels);
}

cudaError_t setArray(CUDA_RESOURCE_DESC& to, cudaArray_const_t array) {
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  to.resType = CU_RESOURCE_TYPE_ARRAY;
  to.res.array.hArray = handle(const_cast<cudaArray_t>(array));
  return cudaSuccess;
}

cudaError_t setMipmap(CUDA_RESOURCE_DESC& to, cudaMipmappedArray_t mipmap) {
  if (mipmap == nullptr) return cudaErrorInvalidResourceHandle;
  to.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  to.res.mipmap.hMipmappedArray = handle(mipmap);
  return cudaSuccess;
}

cudaError_t toDriver(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC& to) {
  switch (resource.resType) {
    case cudaResourceTypeArray: return setArray(to, resource.res.array.array);
    case cudaResourceTypeMipmappedArray: return setMipmap(to, resource.res.mipmap.mipmap);
    case cudaResourceTypeLinear:
      return setLinear(to, resource.res.linear.devPtr, resource.res.linear.desc, resource.res.linear.sizeInBytes);
    case cudaResourceTypePitch2D: {
      const auto& plane = resource.res.pitch2D;
      return setPlane(to, plane.devPtr, plane.desc, plane.width, plane.height, plane.pitchInBytes);
    }
  }
  return cudaErrorInvalidValue;
}

CUDA_TEXTURE_DESC toDriver(const cudaTextureDesc& texture) {
  CUDA_TEXTURE_DESC to{};
  for (int d = 0; d < 3; ++d) to.addressMode[d] = static_cast<CUaddress_mode>(texture.addressMode[d]);
  to.filterMode = static_cast<CUfilter_mode>(texture.filterMode);
  to.flags = (texture.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
             (texture.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
             (texture.sRGB != 0 ? CU_TRSF_SRGB : 0u) | (texture.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
  to.maxAnisotropy = texture.maxAnisotropy;
  to.mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
  to.mipmapLevelBias = texture.mipmapLevelBias;
  to.minMipmapLevelClamp = texture.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
  std::copy(texture.borderColor, texture.borderColor + 4, to.borderColor);
  return to;
}

CUDA_RESOURCE_VIEW_DESC toDriver(const cudaResourceViewDesc& view) {
  CUDA_RESOURCE_VIEW_DESC to{};
  to.format = static_cast<CUresourceViewFormat>(view.format);
  to.width = view.width, to.height = view.height, to.depth = view.depth;
  to.firstMipmapLevel = view.firstMipmapLevel, to.lastMipmapLevel = view.lastMipmapLevel;
  to.firstLayer = view.firstLayer, to.lastLayer = view.lastLayer;
  return to;
}

CUarray_format formatOf(const CUDA_RESOURCE_DESC& resource) {
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_LINEAR: return resource.res.linear.format;
    case CU_RESOURCE_TYPE_PITCH2D: return resource.res.pitch2D.format;
    case CU_RESOURCE_TYPE_ARRAY: return resource.res.array.hArray->descriptor.Format;
    default: break;
  }
  CUarray level = nullptr;
  cuMipmappedArrayGetLevel(&level, resource.res.mipmap.hMipmappedArray, 0);
  return level != nullptr ? level->descriptor.Format : CU_AD_FORMAT_FLOAT;
}

bool isFloat(CUarray_format format) { return format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT; }

/// Integers of 32 bits have no fraction of 1 that they could be read as, and integers read as such cannot be blended.
cudaError_t checkReading(const CUDA_RESOURCE_DESC& resource, const cudaTextureDesc& texture) {
  const CUarray_format format = formatOf(resource);
  if (isFloat(format)) return cudaSuccess;
  const bool isWide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
  const bool readsFloats = texture.readMode == cudaReadModeNormalizedFloat;
  if (readsFloats && isWide) return cudaErrorInvalidNormSetting;
  if (!readsFloats && texture.filterMode != cudaFilterModePoint && resource.resType != CU_RESOURCE_TYPE_LINEAR)
    return cudaErrorInvalidFilterSetting;
  return cudaSuccess;
}

cudaTextureDesc readingOf(const textureReference& reference, bool readsFloats) {
  cudaTextureDesc texture{};
  for (int d = 0; d < 3; ++d) texture.addressMode[d] = reference.addressMode[d];
  texture.filterMode = reference.filterMode;
  texture.readMode = readsFloats ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.sRGB = reference.sRGB;
  texture.normalizedCoords = reference.normalized;
  texture.maxAnisotropy = reference.maxAnisotropy;
  texture.mipmapFilterMode = reference.mipmapFilterMode;
  texture.mipmapLevelBias = reference.mipmapLevelBias;
  texture.minMipmapLevelClamp = reference.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = reference.maxMipmapLevelClamp;
  return texture;
}

/// Binds a texture reference to what `describe` says.
template <class Describe>
cudaError_t bindTexture(const textureReference* reference, Describe&& describe) {
  return call([&]() -> cudaError_t {
    CUdeviceptr place = 0;
    bool readsFloats = false;
    const cudaError_t found = Registry::instance().reference(reference, &place, &readsFloats);
    if (found != cudaSuccess) return found == cudaErrorInvalidSymbol ? cudaErrorInvalidTexture : found;
    CUDA_RESOURCE_DESC resource{};
    if (const cudaError_t wrong = describe(resource); wrong != cudaSuccess) return wrong;
    const cudaTextureDesc reading = readingOf(*reference, readsFloats && !isFloat(formatOf(resource)));
    if (const cudaError_t wrong = checkReading(resource, reading); wrong != cudaSuccess) return wrong;
    const CUDA_TEXTURE_DESC description = toDriver(reading);
    return toRuntime(orditoTextureBind(place, &resource, &description));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  if (texture == nullptr || resource == nullptr || description == nullptr) return finish(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    CUDA_RESOURCE_DESC what{};
    if (const cudaError_t wrong = toDriver(*resource, what); wrong != cudaSuccess) return wrong;
    if (const cudaError_t wrong = checkReading(what, *description); wrong != cudaSuccess) return wrong;
    const CUDA_TEXTURE_DESC reading = toDriver(*description);
    const CUDA_RESOURCE_VIEW_DESC part = view != nullptr ? toDriver(*view) : CUDA_RESOURCE_VIEW_DESC{};
    const CUresult made = cuTexObjectCreate(texture, &what, &reading, view != nullptr ? &part : nullptr);
    if (made == CUDA_SUCCESS)
      descriptions().add(*texture, {*resource, *description, view != nullptr ? *view : cudaResourceViewDesc{}});
    return toRuntime(made);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call([&] {
    descriptions().remove(texture);
    return texture == 0 ? CUDA_SUCCESS : cuTexObjectDestroy(texture);
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  if (resource == nullptr) return finish(cudaErrorInvalidValue);
  return descriptions().with(texture, [&](const Described& d) { *resource = d.resource; });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture) {
  if (description == nullptr) return finish(cudaErrorInvalidValue);
  return descriptions().with(texture, [&](const Described& d) { *description = d.texture; });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t texture) {
  if (view == nullptr) return finish(cudaErrorInvalidValue);
  return descriptions().with(texture, [&](const Described& d) { *view = d.view; });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  if (surface == nullptr || resource == nullptr) return finish(cudaErrorInvalidValue);
  if (resource->resType != cudaResourceTypeArray) return finish(cudaErrorInvalidChannelDescriptor);
  return call([&]() -> cudaError_t {
    CUDA_RESOURCE_DESC what{};
    if (const cudaError_t wrong = toDriver(*resource, what); wrong != cudaSuccess) return wrong;
    const CUresult made = cuSurfObjectCreate(surface, &what);
    if (made == CUDA_SUCCESS) descriptions().add(*surface, {*resource, {}, {}});
    return toRuntime(made);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call([&] {
    descriptions().remove(surface);
    return surface == 0 ? CUDA_SUCCESS : cuSurfObjectDestroy(surface);
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  if (resource == nullptr) return finish(cudaErrorInvalidValue);
  return descriptions().with(surface, [&](const Described& d) { *resource = d.resource; });
}

cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* memory,
                            const cudaChannelFormatDesc* format, size_t bytes) {
  if (offset != nullptr) *offset = 0;
  if (reference == nullptr || format == nullptr) return finish(cudaErrorInvalidValue);
  return bindTexture(reference, [&](CUDA_RESOURCE_DESC& what) {
    // Programs pass the largest size there is and mean the rest of the allocation.
    size_t left = bytes;
    CUdeviceptr base = 0;
    size_t whole = 0;
    if (cuMemGetAddressRange(&base, &whole, address(memory)) == CUDA_SUCCESS)
      left = std::min(bytes, whole - static_cast<size_t>(address(memory) - base));
    return setLinear(what, memory, *format, left);
  });
}

cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* memory,
                              const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
  if (offset != nullptr) *offset = 0;
  if (reference == nullptr || format == nullptr) return finish(cudaErrorInvalidValue);
  return bindTexture(reference,
                     [&](CUDA_RESOURCE_DESC& what) { return setPlane(what, memory, *format, width, height, pitch); });
}

cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* /*format*/) {
  if (reference == nullptr) return finish(cudaErrorInvalidValue);
  return bindTexture(reference, [&](CUDA_RESOURCE_DESC& what) { return setArray(what, array); });
}

cudaError_t cudaBindTextureToMipmappedArray(const textureReference* reference, cudaMipmappedArray_const_t mipmap,
                                            const cudaChannelFormatDesc* /*format*/) {
  if (reference == nullptr) return finish(cudaErrorInvalidValue);
  return bindTexture(
      reference, [&](CUDA_RESOURCE_DESC& what) { return setMipmap(what, const_cast<cudaMipmappedArray_t>(mipmap)); });
}

cudaError_t cudaUnbindTexture(const textureReference* reference) {
  return call([&]() -> cudaError_t {
    CUdeviceptr place = 0;
    bool readsFloats = false;
    if (Registry::instance().reference(reference, &place, &readsFloats) != cudaSuccess) return cudaErrorInvalidTexture;
    return toRuntime(orditoTextureBind(place, nullptr, nullptr));
  });
}

cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* reference) {
  if (offset == nullptr || reference == nullptr) return finish(cudaErrorInvalidValue);
  *offset = 0;  // any address will do for a texture
  return cudaSuccess;
}

cudaError_t cudaGetTextureReference(const textureReference** reference, const void* symbol) {
  if (reference == nullptr) return finish(cudaErrorInvalidValue);
  *reference = static_cast<const textureReference*>(symbol);
  return cudaSuccess;
}

cudaError_t cudaBindSurfaceToArray(const surfaceReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* /*format*/) {
  return call([&]() -> cudaError_t {
    CUdeviceptr place = 0;
    bool unused = false;
    const cudaError_t found = Registry::instance().reference(reference, &place, &unused);
    if (found != cudaSuccess) return found == cudaErrorInvalidSymbol ? cudaErrorInvalidSurface : found;
    CUDA_RESOURCE_DESC what{};
    if (const cudaError_t wrong = setArray(what, array); wrong != cudaSuccess) return wrong;
    return toRuntime(orditoSurfaceBind(place, &what));
  });
}

cudaError_t cudaGetSurfaceReference(const surfaceReference** reference, const void* symbol) {
  if (reference == nullptr) return finish(cudaErrorInvalidValue);
  *reference = static_cast<const surfaceReference*>(symbol);
  return cudaSuccess;
}

// CUDA 11.6 to 11.8 had the larger description under names of its own.
cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                       const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return cudaCreateTextureObject(object, resource, texture, view);
}
cudaError_t cudaGetTextureObjectTextureDesc_v2(cudaTextureDesc* texture, cudaTextureObject_t object) {
  return cudaGetTextureObjectTextureDesc(texture, object);
}

}  // extern "C"
