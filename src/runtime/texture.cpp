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

/// Channels of equal width, one, two or four of them.
cudaError_t setFormat(orditoImage& image, const cudaChannelFormatDesc& format) {
  const int channels[] = {format.x, format.y, format.z, format.w};
  unsigned count = 0;
  while (count < 4 && channels[count] != 0) ++count;
  for (unsigned i = 0; i < count; ++i)
    if (channels[i] != channels[0]) return cudaErrorInvalidChannelDescriptor;
  if (count != 1 && count != 2 && count != 4) return cudaErrorInvalidChannelDescriptor;
  if (format.f != cudaChannelFormatKindSigned && format.f != cudaChannelFormatKindUnsigned &&
      format.f != cudaChannelFormatKindFloat)
    return cudaErrorInvalidChannelDescriptor;
  image.channels = count;
  image.bits = static_cast<unsigned>(channels[0]);
  image.kind = static_cast<int>(format.f);
  return cudaSuccess;
}

cudaError_t setArray(orditoImage& image, const cudaArray* array) {
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  const bool layered = (array->flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  image.memory = array->memory;
  image.pitch = array->pitch;
  image.slice_pitch = array->pitch * array->rows();
  image.width = static_cast<unsigned>(array->extent.width);
  image.height = static_cast<unsigned>(array->extent.height);
  (layered ? image.layers : image.depth) = static_cast<unsigned>(array->extent.depth);
  return setFormat(image, array->format);
}

cudaError_t setLinear(orditoImage& image, const void* memory, const cudaChannelFormatDesc& format, size_t bytes) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t wrong = setFormat(image, format); wrong != cudaSuccess) return wrong;
  image.is_linear = 1;
  image.memory = address(memory);
  image.width = static_cast<unsigned>(bytes / (image.channels * image.bits / 8));
  image.pitch = bytes;
  return cudaSuccess;
}

cudaError_t setPlane(orditoImage& image, const void* memory, const cudaChannelFormatDesc& format, size_t width,
                     size_t height, size_t pitch) {
  if (memory == nullptr || width == 0 || height == 0) return cudaErrorInvalidValue;
  if (const cudaError_t wrong = setFormat(image, format); wrong != cudaSuccess) return wrong;
  if (pitch < width * image.channels * image.bits / 8) return cudaErrorInvalidValue;
  image.memory = address(memory);
  image.width = static_cast<unsigned>(width);
  image.height = static_cast<unsigned>(height);
  image.pitch = pitch;
  return cudaSuccess;
}

cudaError_t imageOf(orditoImage& image, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray: return setArray(image, resource.res.array.array);
    case cudaResourceTypeLinear:
      return setLinear(image, resource.res.linear.devPtr, resource.res.linear.desc, resource.res.linear.sizeInBytes);
    case cudaResourceTypePitch2D: {
      const auto& plane = resource.res.pitch2D;
      return setPlane(image, plane.devPtr, plane.desc, plane.width, plane.height, plane.pitchInBytes);
    }
    default: return unsupportedUse("cudaCreateTextureObject", "a mipmapped array");
  }
}

/// How a texture is read. Integers of 32 bits have no fraction of 1 that they could be read as.
cudaError_t setReading(orditoImage& image, const cudaTextureDesc& texture) {
  for (int d = 0; d < 3; ++d) image.address_mode[d] = static_cast<int>(texture.addressMode[d]);
  image.filter_mode = static_cast<int>(texture.filterMode);
  image.reads_floats = texture.readMode == cudaReadModeNormalizedFloat;
  image.is_normalised = texture.normalizedCoords != 0;
  image.is_srgb = texture.sRGB != 0;
  for (int c = 0; c < 4; ++c) image.border[c] = texture.borderColor[c];
  const bool integers = image.kind != static_cast<int>(cudaChannelFormatKindFloat);
  if (integers && image.reads_floats && image.bits == 32) return cudaErrorInvalidNormSetting;
  if (integers && !image.reads_floats && image.filter_mode != 0 && image.is_linear == 0)
    return cudaErrorInvalidFilterSetting;
  return cudaSuccess;
}

cudaError_t readingOf(const textureReference& reference, bool reads_floats, orditoImage& image) {
  cudaTextureDesc texture{};
  for (int d = 0; d < 3; ++d) texture.addressMode[d] = reference.addressMode[d];
  texture.filterMode = reference.filterMode;
  texture.readMode = reads_floats && image.kind != static_cast<int>(cudaChannelFormatKindFloat)
                         ? cudaReadModeNormalizedFloat
                         : cudaReadModeElementType;
  texture.sRGB = reference.sRGB;
  texture.normalizedCoords = reference.normalized;
  return setReading(image, texture);
}

/// Binds a texture reference to what `describe` says.
template <class Describe>
cudaError_t bindTexture(const textureReference* reference, Describe&& describe) {
  return call([&]() -> cudaError_t {
    CUdeviceptr place = 0;
    bool reads_floats = false;
    const cudaError_t found = Registry::instance().reference(reference, &place, &reads_floats);
    if (found != cudaSuccess) return found == cudaErrorInvalidSymbol ? cudaErrorInvalidTexture : found;
    orditoImage image{};
    if (const cudaError_t wrong = describe(image); wrong != cudaSuccess) return wrong;
    if (const cudaError_t wrong = readingOf(*reference, reads_floats, image); wrong != cudaSuccess) return wrong;
    return toRuntime(orditoTextureBind(place, &image));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  if (texture == nullptr || resource == nullptr || description == nullptr) return finish(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    orditoImage image{};
    if (const cudaError_t wrong = imageOf(image, *resource); wrong != cudaSuccess) return wrong;
    if (const cudaError_t wrong = setReading(image, *description); wrong != cudaSuccess) return wrong;
    const CUresult made = orditoTextureCreate(texture, &image);
    if (made == CUDA_SUCCESS)
      descriptions().add(*texture, {*resource, *description, view != nullptr ? *view : cudaResourceViewDesc{}});
    return toRuntime(made);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call([&] {
    descriptions().remove(texture);
    return texture == 0 ? CUDA_SUCCESS : orditoTextureDestroy(texture);
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
    orditoImage image{};
    if (const cudaError_t wrong = setArray(image, resource->res.array.array); wrong != cudaSuccess) return wrong;
    const CUresult made = orditoSurfaceCreate(surface, &image);
    if (made == CUDA_SUCCESS) descriptions().add(*surface, {*resource, {}, {}});
    return toRuntime(made);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call([&] {
    descriptions().remove(surface);
    return surface == 0 ? CUDA_SUCCESS : orditoSurfaceDestroy(surface);
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
  return bindTexture(reference, [&](orditoImage& image) {
    // Programs pass the largest size there is and mean the rest of the allocation.
    size_t left = bytes;
    CUdeviceptr base = 0;
    size_t whole = 0;
    if (cuMemGetAddressRange(&base, &whole, address(memory)) == CUDA_SUCCESS)
      left = std::min(bytes, whole - static_cast<size_t>(address(memory) - base));
    return setLinear(image, memory, *format, left);
  });
}

cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* memory,
                              const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
  if (offset != nullptr) *offset = 0;
  if (reference == nullptr || format == nullptr) return finish(cudaErrorInvalidValue);
  return bindTexture(reference,
                     [&](orditoImage& image) { return setPlane(image, memory, *format, width, height, pitch); });
}

cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc* /*format*/) {
  if (reference == nullptr) return finish(cudaErrorInvalidValue);
  return bindTexture(reference, [&](orditoImage& image) { return setArray(image, array); });
}

cudaError_t cudaUnbindTexture(const textureReference* reference) {
  return call([&]() -> cudaError_t {
    CUdeviceptr place = 0;
    bool reads_floats = false;
    if (Registry::instance().reference(reference, &place, &reads_floats) != cudaSuccess) return cudaErrorInvalidTexture;
    return toRuntime(orditoTextureBind(place, nullptr));
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
    orditoImage image{};
    if (const cudaError_t wrong = setArray(image, array); wrong != cudaSuccess) return wrong;
    return toRuntime(orditoSurfaceBind(place, &image));
  });
}

cudaError_t cudaGetSurfaceReference(const surfaceReference** reference, const void* symbol) {
  if (reference == nullptr) return finish(cudaErrorInvalidValue);
  *reference = static_cast<const surfaceReference*>(symbol);
  return cudaSuccess;
}

}  // extern "C"
