// Texture fetches, through texture objects and through texture references. Clang lowers its handler to the PTX
// instruction that the first argument names.
#ifndef __TEXTURE_FETCH_FUNCTIONS_H__
#define __TEXTURE_FETCH_FUNCTIONS_H__

#if defined(__CUDA__) && defined(__cplusplus) && __cplusplus >= 201103L

namespace ordito_detail {

/// A texture reference is a variable of the device code; its address is what instructions take for a texture object.
template <class Reference>
static __device__ __inline__ unsigned long long objectOf(Reference reference) {
  unsigned long long object;
  asm("mov.b64 %0, %1;" : "=l"(object) : "l"(reference));
  return object;
}

/// What a fetch through a reference gives: the element type, or numbers in as many components.
template <class Type, int components>
struct Fractions {};
template <class Type>
struct Fractions<Type, 1> {
  using type = float;
};
template <class Type>
struct Fractions<Type, 2> {
  using type = float2;
};
template <class Type>
struct Fractions<Type, 4> {
  using type = float4;
};

template <class Type>
struct Components {
  template <class T>
  static constexpr int count(decltype(T::w)*) {
    return 4;
  }
  template <class T>
  static constexpr int count(...) {
    return sizeof(T) > 1 && __is_class(T) ? 2 : 1;
  }
  static constexpr int value = count<Type>(nullptr);
};
// One component in a structure.
#define ORDITO_ONE(type)            \
  template <>                       \
  struct Components<type> {         \
    static constexpr int value = 1; \
  };
ORDITO_ONE(char1)
ORDITO_ONE(uchar1)
ORDITO_ONE(short1)
ORDITO_ONE(ushort1)
ORDITO_ONE(int1)
ORDITO_ONE(uint1)
ORDITO_ONE(float1)
#undef ORDITO_ONE

template <class Type, enum cudaTextureReadMode mode>
struct Fetched {
  using type = Type;
};
template <class Type>
struct Fetched<Type, cudaReadModeNormalizedFloat> {
  using type = typename Fractions<Type, Components<Type>::value>::type;
};

}  // namespace ordito_detail

// Through an object, by value and by the older form that takes a pointer to the result; and through a reference.
#define ORDITO_TEXTURE(name, builtin, dimensions, parameters, arguments)                                        \
  template <class Type>                                                                                         \
  static __device__ __inline__ void name(Type* value, cudaTextureObject_t texture, parameters) {                \
    __nv_tex_surf_handler(builtin, value, texture, arguments);                                                  \
  }                                                                                                             \
  template <class Type>                                                                                         \
  static __device__ __inline__ Type name(cudaTextureObject_t texture, parameters) {                             \
    Type value;                                                                                                 \
    __nv_tex_surf_handler(builtin, &value, texture, arguments);                                                 \
    return value;                                                                                               \
  }                                                                                                             \
  template <class Type, enum cudaTextureReadMode mode>                                                          \
  static __device__ __inline__ typename ordito_detail::Fetched<Type, mode>::type name(                          \
      texture<Type, dimensions, mode> reference, parameters) {                                                  \
    typename ordito_detail::Fetched<Type, mode>::type value;                                                    \
    __nv_tex_surf_handler(builtin, &value, (cudaTextureObject_t)ordito_detail::objectOf(reference), arguments); \
    return value;                                                                                               \
  }
#define ORDITO_C ,
ORDITO_TEXTURE(tex1Dfetch, "__itex1Dfetch", 1, int x, x)
ORDITO_TEXTURE(tex1D, "__itex1D", 1, float x, x)
ORDITO_TEXTURE(tex2D, "__itex2D", 2, float x ORDITO_C float y, x ORDITO_C y)
ORDITO_TEXTURE(tex3D, "__itex3D", 3, float x ORDITO_C float y ORDITO_C float z, x ORDITO_C y ORDITO_C z)
ORDITO_TEXTURE(tex1DLod, "__itex1DLod", 1, float x ORDITO_C float level, x ORDITO_C level)
ORDITO_TEXTURE(tex2DLod, "__itex2DLod", 2, float x ORDITO_C float y ORDITO_C float level, x ORDITO_C y ORDITO_C level)
ORDITO_TEXTURE(tex3DLod, "__itex3DLod", 3, float x ORDITO_C float y ORDITO_C float z ORDITO_C float level,
               x ORDITO_C y ORDITO_C z ORDITO_C level)
ORDITO_TEXTURE(tex1DGrad, "__itex1DGrad", 1, float x ORDITO_C float dx ORDITO_C float dy, x ORDITO_C dx ORDITO_C dy)
ORDITO_TEXTURE(tex2DGrad, "__itex2DGrad_v2", 2, float x ORDITO_C float y ORDITO_C float2 dx ORDITO_C float2 dy,
               x ORDITO_C y ORDITO_C& dx ORDITO_C& dy)
ORDITO_TEXTURE(tex3DGrad, "__itex3DGrad_v2", 3,
               float x ORDITO_C float y ORDITO_C float z ORDITO_C float4 dx ORDITO_C float4 dy,
               x ORDITO_C y ORDITO_C z ORDITO_C& dx ORDITO_C& dy)
ORDITO_TEXTURE(tex1DLayered, "__itex1DLayered", cudaTextureType1DLayered, float x ORDITO_C int layer, x ORDITO_C layer)
ORDITO_TEXTURE(tex2DLayered, "__itex2DLayered", cudaTextureType2DLayered, float x ORDITO_C float y ORDITO_C int layer,
               x ORDITO_C y ORDITO_C layer)
ORDITO_TEXTURE(tex1DLayeredLod, "__itex1DLayeredLod", cudaTextureType1DLayered,
               float x ORDITO_C int layer ORDITO_C float level, x ORDITO_C layer ORDITO_C level)
ORDITO_TEXTURE(tex2DLayeredLod, "__itex2DLayeredLod", cudaTextureType2DLayered,
               float x ORDITO_C float y ORDITO_C int layer ORDITO_C float level,
               x ORDITO_C y ORDITO_C layer ORDITO_C level)
ORDITO_TEXTURE(texCubemap, "__itexCubemap", cudaTextureTypeCubemap, float x ORDITO_C float y ORDITO_C float z,
               x ORDITO_C y ORDITO_C z)
ORDITO_TEXTURE(texCubemapLod, "__itexCubemapLod", cudaTextureTypeCubemap,
               float x ORDITO_C float y ORDITO_C float z ORDITO_C float level, x ORDITO_C y ORDITO_C z ORDITO_C level)
ORDITO_TEXTURE(texCubemapLayered, "__itexCubemapLayered", cudaTextureTypeCubemapLayered,
               float x ORDITO_C float y ORDITO_C float z ORDITO_C int layer, x ORDITO_C y ORDITO_C z ORDITO_C layer)
ORDITO_TEXTURE(texCubemapLayeredLod, "__itexCubemapLayeredLod", cudaTextureTypeCubemapLayered,
               float x ORDITO_C float y ORDITO_C float z ORDITO_C int layer ORDITO_C float level,
               x ORDITO_C y ORDITO_C z ORDITO_C layer ORDITO_C level)
ORDITO_TEXTURE(tex1DLayeredGrad, "__itex1DLayeredGrad", cudaTextureType1DLayered,
               float x ORDITO_C int layer ORDITO_C float dx ORDITO_C float dy, x ORDITO_C layer ORDITO_C dx ORDITO_C dy)
ORDITO_TEXTURE(tex2DLayeredGrad, "__itex2DLayeredGrad_v2", cudaTextureType2DLayered,
               float x ORDITO_C float y ORDITO_C int layer ORDITO_C float2 dx ORDITO_C float2 dy,
               x ORDITO_C y ORDITO_C layer ORDITO_C& dx ORDITO_C& dy)
ORDITO_TEXTURE(texCubemapGrad, "__itexCubemapGrad_v2", cudaTextureTypeCubemap,
               float x ORDITO_C float y ORDITO_C float z ORDITO_C float4 dx ORDITO_C float4 dy,
               x ORDITO_C y ORDITO_C z ORDITO_C& dx ORDITO_C& dy)
ORDITO_TEXTURE(texCubemapLayeredGrad, "__itexCubemapLayeredGrad_v2", cudaTextureTypeCubemapLayered,
               float x ORDITO_C float y ORDITO_C float z ORDITO_C int layer ORDITO_C float4 dx ORDITO_C float4 dy,
               x ORDITO_C y ORDITO_C z ORDITO_C layer ORDITO_C& dx ORDITO_C& dy)
#undef ORDITO_C
#undef ORDITO_TEXTURE

template <class Type>
static __device__ __inline__ Type tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0) {
  Type value;
  __nv_tex_surf_handler("__itex2Dgather", &value, texture, x, y, component);
  return value;
}
template <class Type>
static __device__ __inline__ void tex2Dgather(Type* value, cudaTextureObject_t texture, float x, float y,
                                              int component = 0) {
  __nv_tex_surf_handler("__itex2Dgather", value, texture, x, y, component);
}

#include "ordito/surface_functions.h"

#endif
#endif
