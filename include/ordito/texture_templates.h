// texture<> and surface<>, and the calls that bind them.
#ifndef ORDITO_TEXTURE_TEMPLATES_H
#define ORDITO_TEXTURE_TEMPLATES_H

#if defined(__CUDA__)
#define ORDITO_BUILTIN_TEXTURE __attribute__((device_builtin_texture_type))
#define ORDITO_BUILTIN_SURFACE __attribute__((device_builtin_surface_type))
#else
#define ORDITO_BUILTIN_TEXTURE
#define ORDITO_BUILTIN_SURFACE
#endif

template <class Type, int dimensions = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct ORDITO_BUILTIN_TEXTURE texture : public textureReference {
  texture(int normalised = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
          enum cudaTextureAddressMode address = cudaAddressModeClamp)
      : texture(normalised, filter, address, cudaCreateChannelDesc<Type>()) {}
  texture(int normalised, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
          struct cudaChannelFormatDesc format)
      : textureReference() {
    normalized = normalised;
    filterMode = filter;
    for (int d = 0; d < 3; ++d) addressMode[d] = address;
    channelDesc = format;
  }
};

template <class Type, int dimensions = cudaSurfaceType1D>
struct surface;

template <int dimensions>
struct ORDITO_BUILTIN_SURFACE surface<void, dimensions> : public surfaceReference {
  surface() : surfaceReference() {}
};

template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<Type, dimensions, mode>& reference,
                                          const void* memory, const struct cudaChannelFormatDesc& format,
                                          size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, static_cast<const textureReference*>(&reference), memory, &format, bytes);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t* offset, const texture<Type, dimensions, mode>& reference,
                                          const void* memory, size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, reference, memory, reference.channelDesc, bytes);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<Type, dimensions, mode>& reference,
                                            const void* memory, const struct cudaChannelFormatDesc& format,
                                            size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, static_cast<const textureReference*>(&reference), memory, &format, width, height,
                           pitch);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<Type, dimensions, mode>& reference,
                                            const void* memory, size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, reference, memory, reference.channelDesc, width, height, pitch);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<Type, dimensions, mode>& reference,
                                                 cudaArray_const_t array, const struct cudaChannelFormatDesc& format) {
  return cudaBindTextureToArray(static_cast<const textureReference*>(&reference), array, &format);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<Type, dimensions, mode>& reference,
                                                 cudaArray_const_t array) {
  return cudaBindTextureToArray(reference, array, reference.channelDesc);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToMipmappedArray(const texture<Type, dimensions, mode>& reference,
                                                          cudaMipmappedArray_const_t mipmap) {
  return cudaBindTextureToMipmappedArray(static_cast<const textureReference*>(&reference), mipmap,
                                         &reference.channelDesc);
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<Type, dimensions, mode>& reference) {
  return cudaUnbindTexture(static_cast<const textureReference*>(&reference));
}
template <class Type, int dimensions, enum cudaTextureReadMode mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset,
                                                        const texture<Type, dimensions, mode>& reference) {
  return cudaGetTextureAlignmentOffset(offset, static_cast<const textureReference*>(&reference));
}
template <class Type, int dimensions>
static inline cudaError_t cudaBindSurfaceToArray(const surface<Type, dimensions>& reference, cudaArray_const_t array,
                                                 const struct cudaChannelFormatDesc& format) {
  return cudaBindSurfaceToArray(static_cast<const surfaceReference*>(&reference), array, &format);
}
template <class Type, int dimensions>
static inline cudaError_t cudaBindSurfaceToArray(const surface<Type, dimensions>& reference, cudaArray_const_t array) {
  struct cudaChannelFormatDesc format;
  const cudaError_t known = cudaGetChannelDesc(&format, array);
  return known == cudaSuccess ? cudaBindSurfaceToArray(reference, array, format) : known;
}

#endif
