// Driver API: texture and surface objects. A program describes a resource and how to read it; what comes of that is a
// descriptor of machine/image.hpp, whose address is the object's handle.
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "driver/api.hpp"
#include "driver/image_descriptor.hpp"

using namespace ordito::driver;
using namespace ordito;

namespace {

/// All objects that programs hold handles of, so that a stale handle is an error and not a wild access.
template <class Descriptor, class Described>
class Objects {
 public:
  uint64_t add(const Descriptor& descriptor, const Described& described) {
    const std::scoped_lock lock(mutex_);
    auto* object = new Descriptor(descriptor);
    live_.emplace(object, described);
    return reinterpret_cast<uint64_t>(object);
  }

  /// The memory of a destroyed object stays, without a role, so that a kernel that still uses the handle gets the
  /// fault.
  bool retire(uint64_t handle) {
    const std::scoped_lock lock(mutex_);
    auto* object = reinterpret_cast<Descriptor*>(handle);
    if (!live_.erase(object)) return false;
    object->role = machine::Image::Role::None;
    return true;
  }

  template <class Use>
  CUresult with(uint64_t handle, const Use& use) {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(reinterpret_cast<Descriptor*>(handle));
    if (found == live_.end()) return CUDA_ERROR_INVALID_VALUE;
    use(found->second);
    return CUDA_SUCCESS;
  }

 private:
  std::mutex mutex_;
  std::map<Descriptor*, Described> live_;
};

struct DescribedTexture {
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC reading;
  CUDA_RESOURCE_VIEW_DESC view;
};

auto& textures() {
  static auto* const objects = new Objects<machine::Texture, DescribedTexture>;
  return *objects;
}

auto& surfaces() {
  static auto* const objects = new Objects<machine::Surface, CUDA_RESOURCE_DESC>;
  return *objects;
}

/// A variable of type .texref or .surfref has room for its descriptor.
template <class Descriptor>
CUresult bind(CUdeviceptr place, const Descriptor& descriptor) {
  if (!place) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult failed = cuCtxSynchronize()) return failed;
  new (reinterpret_cast<Descriptor*>(place)) Descriptor(descriptor);
  return CUDA_SUCCESS;
}

/// A kernel that was launched before may still read through the object: as with memory, destroying waits.
template <class All>
CUresult destroy(All& all, uint64_t handle) {
  ORDITO_CONTEXT(context);
  context->group.synchronizeAll();
  return all.retire(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* reading,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  if (!texture || !resource || !reading) return CUDA_ERROR_INVALID_VALUE;
  machine::Texture t;
  if (CUresult bad = describeTexture(*resource, *reading, view, t)) return bad;
  *texture = textures().add(t, {*resource, *reading, view ? *view : CUDA_RESOURCE_VIEW_DESC{}});
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject texture) { return destroy(textures(), texture); }

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject texture) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  return textures().with(texture, [&](const DescribedTexture& d) { *resource = d.resource; });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* reading, CUtexObject texture) {
  if (!reading) return CUDA_ERROR_INVALID_VALUE;
  return textures().with(texture, [&](const DescribedTexture& d) { *reading = d.reading; });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject texture) {
  if (!view) return CUDA_ERROR_INVALID_VALUE;
  return textures().with(texture, [&](const DescribedTexture& d) { *view = d.view; });
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  if (!surface || !resource) return CUDA_ERROR_INVALID_VALUE;
  machine::Surface s;
  if (CUresult bad = describeSurface(*resource, s)) return bad;
  *surface = surfaces().add(s, *resource);
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) { return destroy(surfaces(), surface); }

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject surface) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  return surfaces().with(surface, [&](const CUDA_RESOURCE_DESC& d) { *resource = d; });
}

CUresult orditoTextureBind(CUdeviceptr place, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* reading) {
  machine::Texture t;
  if (resource)
    if (CUresult bad = describeTexture(*resource, *reading, nullptr, t)) return bad;
  return bind(place, t);
}

CUresult orditoSurfaceBind(CUdeviceptr place, const CUDA_RESOURCE_DESC* resource) {
  machine::Surface s;
  if (resource)
    if (CUresult bad = describeSurface(*resource, s)) return bad;
  return bind(place, s);
}
