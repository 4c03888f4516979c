// Driver API: texture and surface references, from before CUDA 12. A reference is a variable of a module, and what the
// program says of it one call at a time; every call brings the variable up to date.
#include <map>
#include <memory>
#include <mutex>

#include "driver/api.hpp"
#include "driver/array.hpp"

using namespace ordito::driver;

struct CUtexref_st {
  CUdeviceptr place = 0;  // of the module's variable; 0 for one that cuTexRefCreate made
  bool isBound = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC reading{};
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 1;
};

struct CUsurfref_st {
  CUdeviceptr place = 0;
  CUarray array = nullptr;
};

namespace {

/// One reference for each variable, for ever.
template <class Reference>
CUresult referenceOf(Reference** reference, CUmodule module, const char* name) {
  static std::mutex mutex;
  static auto& all = *new std::map<CUdeviceptr, std::unique_ptr<Reference>>;
  if (!reference) return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr place = 0;
  if (CUresult bad = cuModuleGetGlobal(&place, nullptr, module, name)) return bad;
  const std::scoped_lock lock(mutex);
  auto& found = all[place];
  if (!found) found = std::make_unique<Reference>(Reference{.place = place});
  *reference = found.get();
  return CUDA_SUCCESS;
}

CUresult update(const CUtexref_st& r) {
  return r.isBound && r.place ? orditoTextureBind(r.place, &r.resource, &r.reading) : CUDA_SUCCESS;
}

/// Changes a reference as `how` says, and its variable with it.
template <class How>
CUresult change(CUtexref reference, const How& how) {
  if (!reference) return CUDA_ERROR_INVALID_VALUE;
  how(*reference);
  return update(*reference);
}

CUresult bindTo(CUtexref reference, const CUDA_RESOURCE_DESC& resource) {
  return change(reference, [&](CUtexref_st& r) { r.resource = resource, r.isBound = true; });
}

CUDA_RESOURCE_DESC resourceOf(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

template <class Value, class Get>
CUresult answer(Value* value, CUtexref reference, const Get& get) {
  if (!value || !reference) return CUDA_ERROR_INVALID_VALUE;
  *value = get(*reference);
  return CUDA_SUCCESS;
}

bool isBoundTo(CUtexref reference, CUresourcetype type) {
  return reference && reference->isBound && reference->resource.resType == type;
}

}  // namespace

CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name) {
  return referenceOf(reference, module, name);
}
CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name) {
  return referenceOf(reference, module, name);
}

CUresult cuTexRefCreate(CUtexref* reference) {
  if (!reference) return CUDA_ERROR_INVALID_VALUE;
  *reference = new CUtexref_st;
  return CUDA_SUCCESS;
}

CUresult cuTexRefDestroy(CUtexref reference) {
  if (!reference || reference->place) return CUDA_ERROR_INVALID_VALUE;
  delete reference;
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned int) {
  return isLive(array) ? bindTo(reference, resourceOf(array)) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray mipmap, unsigned int) {
  if (!isLive(mipmap)) return CUDA_ERROR_INVALID_HANDLE;
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmap;
  return bindTo(reference, resource);
}

CUresult cuTexRefSetAddress(size_t* offset, CUtexref reference, CUdeviceptr memory, size_t bytes) {
  if (!reference) return CUDA_ERROR_INVALID_VALUE;
  if (offset) *offset = 0;  // any address will do for a texture
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {memory, reference->format, reference->channels, bytes};
  return bindTo(reference, resource);
}

CUresult cuTexRefSetAddress2D(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr memory, size_t pitch) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {memory, d->Format, d->NumChannels, d->Width, d->Height, pitch};
  return bindTo(reference, resource);
}

CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels) {
  return change(reference, [&](CUtexref_st& r) {
    r.format = format, r.channels = unsigned(channels);
    if (r.isBound && r.resource.resType == CU_RESOURCE_TYPE_LINEAR)
      r.resource.res.linear.format = format, r.resource.res.linear.numChannels = unsigned(channels);
  });
}

CUresult cuTexRefSetAddressMode(CUtexref reference, int axis, CUaddress_mode mode) {
  if (axis < 0 || axis > 2) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUtexref_st& r) { r.reading.addressMode[axis] = mode; });
}
CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode) {
  return change(reference, [&](CUtexref_st& r) { r.reading.filterMode = mode; });
}
CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode) {
  return change(reference, [&](CUtexref_st& r) { r.reading.mipmapFilterMode = mode; });
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias) {
  return change(reference, [&](CUtexref_st& r) { r.reading.mipmapLevelBias = bias; });
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most) {
  return change(reference,
                [&](CUtexref_st& r) { r.reading.minMipmapLevelClamp = least, r.reading.maxMipmapLevelClamp = most; });
}
CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned int ratio) {
  return change(reference, [&](CUtexref_st& r) { r.reading.maxAnisotropy = ratio; });
}
CUresult cuTexRefSetBorderColor(CUtexref reference, float* colour) {
  if (!colour) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUtexref_st& r) { std::copy(colour, colour + 4, r.reading.borderColor); });
}
CUresult cuTexRefSetFlags(CUtexref reference, unsigned int flags) {
  return change(reference, [&](CUtexref_st& r) { r.reading.flags = flags; });
}

CUresult cuTexRefGetAddress(CUdeviceptr* memory, CUtexref reference) {
  if (!isBoundTo(reference, CU_RESOURCE_TYPE_LINEAR) && !isBoundTo(reference, CU_RESOURCE_TYPE_PITCH2D))
    return CUDA_ERROR_INVALID_VALUE;
  return answer(memory, reference, [](const CUtexref_st& r) {
    return r.resource.resType == CU_RESOURCE_TYPE_LINEAR ? r.resource.res.linear.devPtr : r.resource.res.pitch2D.devPtr;
  });
}
CUresult cuTexRefGetArray(CUarray* array, CUtexref reference) {
  if (!isBoundTo(reference, CU_RESOURCE_TYPE_ARRAY)) return CUDA_ERROR_INVALID_VALUE;
  return answer(array, reference, [](const CUtexref_st& r) { return r.resource.res.array.hArray; });
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* mipmap, CUtexref reference) {
  if (!isBoundTo(reference, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)) return CUDA_ERROR_INVALID_VALUE;
  return answer(mipmap, reference, [](const CUtexref_st& r) { return r.resource.res.mipmap.hMipmappedArray; });
}
CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref reference, int axis) {
  if (axis < 0 || axis > 2) return CUDA_ERROR_INVALID_VALUE;
  return answer(mode, reference, [&](const CUtexref_st& r) { return r.reading.addressMode[axis]; });
}
CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return answer(mode, reference, [](const CUtexref_st& r) { return r.reading.filterMode; });
}
CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref reference) {
  if (channels && reference) *channels = int(reference->channels);
  return answer(format, reference, [](const CUtexref_st& r) { return r.format; });
}
CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return answer(mode, reference, [](const CUtexref_st& r) { return r.reading.mipmapFilterMode; });
}
CUresult cuTexRefGetMipmapLevelBias(float* bias, CUtexref reference) {
  return answer(bias, reference, [](const CUtexref_st& r) { return r.reading.mipmapLevelBias; });
}
CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref reference) {
  if (CUresult bad = answer(least, reference, [](const CUtexref_st& r) { return r.reading.minMipmapLevelClamp; }))
    return bad;
  return answer(most, reference, [](const CUtexref_st& r) { return r.reading.maxMipmapLevelClamp; });
}
CUresult cuTexRefGetMaxAnisotropy(int* ratio, CUtexref reference) {
  return answer(ratio, reference, [](const CUtexref_st& r) { return int(r.reading.maxAnisotropy); });
}
CUresult cuTexRefGetBorderColor(float* colour, CUtexref reference) {
  if (!colour || !reference) return CUDA_ERROR_INVALID_VALUE;
  std::copy(reference->reading.borderColor, reference->reading.borderColor + 4, colour);
  return CUDA_SUCCESS;
}
CUresult cuTexRefGetFlags(unsigned int* flags, CUtexref reference) {
  return answer(flags, reference, [](const CUtexref_st& r) { return r.reading.flags; });
}

/// A kernel uses the references of its module whether a program says so or not.
CUresult cuParamSetTexRef(CUfunction, int, CUtexref reference) {
  return reference ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned int) {
  if (!reference) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_RESOURCE_DESC resource = resourceOf(array);
  const CUresult bound = orditoSurfaceBind(reference->place, &resource);
  if (bound == CUDA_SUCCESS) reference->array = array;
  return bound;
}

CUresult cuSurfRefGetArray(CUarray* array, CUsurfref reference) {
  if (!array || !reference || !reference->array) return CUDA_ERROR_INVALID_VALUE;
  *array = reference->array;
  return CUDA_SUCCESS;
}

/// The same by its name of CUDA 3.2 to 4.0.
extern "C" CUresult cuTexRefSetAddress2D_v2(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* descriptor,
                                            CUdeviceptr memory, size_t pitch) {
  return cuTexRefSetAddress2D_v3(reference, descriptor, memory, pitch);
}
