// See image_descriptor.hpp.
#include "driver/image_descriptor.hpp"

#include <memory>

#include "driver/array.hpp"
#include "driver/results.hpp"

namespace ordito::driver {

namespace {

using machine::ChannelKind;
CUresult setFormat(machine::Image& image, CUarray_format format, unsigned channels) {
  const unsigned bytes = channelBytes(format);
  if (bytes == 0 || (channels != 1 && channels != 2 && channels != 4)) return CUDA_ERROR_INVALID_VALUE;
  image.channels = uint8_t(channels);
  image.bits = uint8_t(8 * bytes);
  const bool isFloat = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
  image.kind = isFloat                              ? ChannelKind::Float
               : format >= CU_AD_FORMAT_SIGNED_INT8 ? ChannelKind::Signed
                                                    : ChannelKind::Unsigned;
  return CUDA_SUCCESS;
}

CUresult setArray(machine::Image& image, CUarray array) {
  if (!isLive(array)) return CUDA_ERROR_INVALID_HANDLE;
  const CUDA_ARRAY3D_DESCRIPTOR& d = array->descriptor;
  image.memory = reinterpret_cast<std::byte*>(array->memory);
  image.pitch = array->pitch;
  image.slicePitch = array->pitch * rows(*array);
  image.width = uint32_t(d.Width);
  image.height = uint32_t(d.Height);
  (isLayered(d) ? image.layers : image.depth) = uint32_t(d.Depth);
  return setFormat(image, d.Format, d.NumChannels);
}

CUresult setLinear(machine::Image& image, const decltype(CUDA_RESOURCE_DESC::res.linear)& line) {
  if (!line.devPtr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = setFormat(image, line.format, line.numChannels)) return bad;
  image.isLinear = true;
  image.memory = reinterpret_cast<std::byte*>(line.devPtr);
  image.width = uint32_t(line.sizeInBytes / image.texelBytes());
  image.pitch = line.sizeInBytes;
  return image.width ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult setPlane(machine::Image& image, const decltype(CUDA_RESOURCE_DESC::res.pitch2D)& plane) {
  if (!plane.devPtr || !plane.width || !plane.height) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = setFormat(image, plane.format, plane.numChannels)) return bad;
  if (plane.pitchInBytes < plane.width * image.texelBytes()) return CUDA_ERROR_INVALID_VALUE;
  image.memory = reinterpret_cast<std::byte*>(plane.devPtr);
  image.width = uint32_t(plane.width);
  image.height = uint32_t(plane.height);
  image.pitch = plane.pitchInBytes;
  return CUDA_SUCCESS;
}

/// The levels that the view names, or all. Their descriptors stay for ever, as those of objects do (api_texture.cpp).
CUresult setMipmap(machine::Texture& t, CUmipmappedArray mipmap, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (!isLive(mipmap)) return CUDA_ERROR_INVALID_HANDLE;
  const size_t first = view ? view->firstMipmapLevel : 0,
               last = view ? view->lastMipmapLevel : mipmap->levels.size() - 1;
  if (first > last || last >= mipmap->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = setArray(t, mipmap->levels[first])) return bad;
  auto smaller = std::make_unique<machine::Image[]>(last - first);
  for (size_t k = first + 1; k <= last; ++k)
    if (CUresult bad = setArray(smaller[k - first - 1], mipmap->levels[k])) return bad;
  t.levels = uint8_t(last - first + 1);
  t.smaller = smaller.release();
  return CUDA_SUCCESS;
}

CUresult setResource(machine::Texture& t, const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC* view) {
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: return setArray(t, resource.res.array.hArray);
    case CU_RESOURCE_TYPE_LINEAR: return setLinear(t, resource.res.linear);
    case CU_RESOURCE_TYPE_PITCH2D: return setPlane(t, resource.res.pitch2D);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return setMipmap(t, resource.res.mipmap.hMipmappedArray, view);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/// A view's format: texels of as many bytes, read otherwise. The enumeration goes through one, two and four channels of
/// each of these.
CUresult setViewFormat(machine::Image& image, CUresourceViewFormat format) {
  constexpr CUarray_format kFormats[] = {
      CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
      CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
  if (format == 0) return CUDA_SUCCESS;
  if (format > 3 * std::size(kFormats))
    return remember(CUDA_ERROR_NOT_SUPPORTED, "a resource view of block-compressed texels is not supported");
  const uint32_t bytes = image.texelBytes();
  if (CUresult bad = setFormat(image, kFormats[(format - 1) / 3], 1u << (format - 1) % 3)) return bad;
  return image.texelBytes() == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// The part of an image that a view names.
CUresult setView(machine::Image& image, const CUDA_RESOURCE_VIEW_DESC& view) {
  if (CUresult bad = setViewFormat(image, view.format)) return bad;
  if (!image.layers) return CUDA_SUCCESS;
  if (view.firstLayer > view.lastLayer || view.lastLayer >= image.layers) return CUDA_ERROR_INVALID_VALUE;
  image.memory += view.firstLayer * image.slicePitch;
  image.layers = view.lastLayer - view.firstLayer + 1;
  return CUDA_SUCCESS;
}

CUresult applyView(machine::Texture& t, const CUDA_RESOURCE_VIEW_DESC& view) {
  if (view.width && view.width != t.width) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = setView(t, view)) return bad;
  for (unsigned k = 1; k < t.levels; ++k)
    if (CUresult bad = setView(const_cast<machine::Image&>(t.level(k)), view)) return bad;
  return CUDA_SUCCESS;
}

CUresult setReading(machine::Texture& t, const CUDA_TEXTURE_DESC& reading) {
  for (int d = 0; d < 3; ++d) t.address[d] = machine::AddressMode(reading.addressMode[d]);
  t.filtersLinearly = reading.filterMode == CU_TR_FILTER_MODE_LINEAR;
  t.isNormalised = reading.flags & CU_TRSF_NORMALIZED_COORDINATES;
  t.isSrgb = reading.flags & CU_TRSF_SRGB;
  // Integers of 32 bits have no fraction of 1 that they could be read as.
  t.readsFloats = t.bits < 32 && !(reading.flags & CU_TRSF_READ_AS_INTEGER);
  std::copy(reading.borderColor, reading.borderColor + 4, t.border);
  t.filtersLevels = reading.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  t.levelBias = reading.mipmapLevelBias;
  t.leastLevel = reading.minMipmapLevelClamp;
  t.mostLevel = reading.maxMipmapLevelClamp;
  if (t.levels > 1 && !t.isNormalised) return CUDA_ERROR_INVALID_VALUE;
  if (t.levels > 1 && reading.maxAnisotropy > 1)
    return remember(CUDA_ERROR_NOT_SUPPORTED, "anisotropic filtering of a mipmapped texture is not supported");
  if (reading.flags & CU_TRSF_SEAMLESS_CUBEMAP && t.filtersLinearly)
    return remember(CUDA_ERROR_NOT_SUPPORTED, "filtering across the edges of a cube map is not supported");
  return CUDA_SUCCESS;
}

}  // namespace

CUresult describeTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& reading,
                         const CUDA_RESOURCE_VIEW_DESC* view, machine::Texture& t) {
  t.role = machine::Image::Role::Texture;
  if (CUresult bad = setResource(t, resource, view)) return bad;
  if (view)
    if (CUresult bad = applyView(t, *view)) return bad;
  return setReading(t, reading);
}

CUresult describeSurface(const CUDA_RESOURCE_DESC& resource, machine::Surface& surface) {
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  surface.role = machine::Image::Role::Surface;
  return setArray(surface, resource.res.array.hArray);
}

}  // namespace ordito::driver
