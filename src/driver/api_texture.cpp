// Textures and surfaces: the descriptors of machine/image.hpp, made, bound and forgotten.
#include <memory>
#include <mutex>
#include <new>
#include <set>

#include "driver/api.hpp"
#include "driver/extensions.hpp"
#include "machine/image.hpp"

using namespace ordito::driver;
using namespace ordito;

namespace {

/// All objects that programs hold handles of, so that a stale handle is an error and not a wild access.
template <class Descriptor>
class Objects {
 public:
  uint64_t add(const Descriptor& descriptor) {
    std::lock_guard lock(mutex_);
    auto* object = new Descriptor(descriptor);
    live_.insert(object);
    return reinterpret_cast<uint64_t>(object);
  }

  /// The memory of a destroyed object stays, without a role, so that a kernel that still uses the handle gets the
  /// fault.
  bool retire(uint64_t handle) {
    std::lock_guard lock(mutex_);
    auto* object = reinterpret_cast<Descriptor*>(handle);
    if (!live_.erase(object)) return false;
    object->role = machine::Image::Role::None;
    return true;
  }

 private:
  std::mutex mutex_;
  std::set<Descriptor*> live_;
};

Objects<machine::Texture>& textures() {
  static auto* const objects = new Objects<machine::Texture>;
  return *objects;
}

Objects<machine::Surface>& surfaces() {
  static auto* const objects = new Objects<machine::Surface>;
  return *objects;
}

void fill(machine::Image& to, const orditoImage& from, machine::Image::Role role) {
  constexpr machine::ChannelKind kKinds[] = {machine::ChannelKind::Signed, machine::ChannelKind::Unsigned,
                                             machine::ChannelKind::Float};
  to.role = role;
  to.channels = static_cast<uint8_t>(from.channels);
  to.bits = static_cast<uint8_t>(from.bits);
  to.kind = kKinds[from.kind];
  to.isLinear = from.is_linear != 0;
  to.memory = reinterpret_cast<std::byte*>(from.memory);
  to.pitch = from.pitch;
  to.slicePitch = from.slice_pitch;
  to.width = from.width;
  to.height = from.height;
  to.depth = from.depth;
  to.layers = from.layers;
}

machine::Texture textureFrom(const orditoImage& image) {
  machine::Texture t;
  fill(t, image, machine::Image::Role::Texture);
  for (int d = 0; d < 3; ++d) t.address[d] = static_cast<machine::AddressMode>(image.address_mode[d]);
  t.filtersLinearly = image.filter_mode != 0;
  t.isNormalised = image.is_normalised != 0;
  t.readsFloats = image.reads_floats != 0;
  t.isSrgb = image.is_srgb != 0;
  for (int c = 0; c < 4; ++c) t.border[c] = image.border[c];
  return t;
}

machine::Surface surfaceFrom(const orditoImage& image) {
  machine::Surface s;
  fill(s, image, machine::Image::Role::Surface);
  return s;
}

bool isValid(const orditoImage& image) {
  const bool isFormat = (image.channels == 1 || image.channels == 2 || image.channels == 4) &&
                        (image.bits == 8 || image.bits == 16 || image.bits == 32) && image.kind >= 0 && image.kind <= 2;
  return isFormat && image.memory && image.width && !(image.kind == 2 && image.bits == 8);
}

/// A variable of type .texref or .surfref has room for its descriptor.
template <class Descriptor>
CUresult bind(CUdeviceptr place, const orditoImage* image, Descriptor (*make)(const orditoImage&)) {
  if (!place || (image && !isValid(*image))) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult failed = cuCtxSynchronize()) return failed;
  auto* variable = reinterpret_cast<Descriptor*>(place);
  image ? new (variable) Descriptor(make(*image)) : new (variable) Descriptor;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult orditoTextureCreate(CUtexObject* texture, const orditoImage* image) {
  if (!texture || !image || !isValid(*image)) return CUDA_ERROR_INVALID_VALUE;
  *texture = textures().add(textureFrom(*image));
  return CUDA_SUCCESS;
}

/// A kernel that was launched before may still read through the object: as with memory, destroying waits.
CUresult orditoTextureDestroy(CUtexObject texture) {
  ORDITO_CONTEXT(context);
  context->group.synchronizeAll();
  return textures().retire(texture) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult orditoTextureBind(CUdeviceptr place, const orditoImage* image) { return bind(place, image, textureFrom); }

CUresult orditoSurfaceCreate(CUsurfObject* surface, const orditoImage* image) {
  if (!surface || !image || !isValid(*image)) return CUDA_ERROR_INVALID_VALUE;
  *surface = surfaces().add(surfaceFrom(*image));
  return CUDA_SUCCESS;
}

CUresult orditoSurfaceDestroy(CUsurfObject surface) {
  ORDITO_CONTEXT(context);
  context->group.synchronizeAll();
  return surfaces().retire(surface) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult orditoSurfaceBind(CUdeviceptr place, const orditoImage* image) { return bind(place, image, surfaceFrom); }
