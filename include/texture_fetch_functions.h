// Texture fetches through texture objects. Clang lowers its handler to the PTX instruction that the first argument
// names.
#ifndef __TEXTURE_FETCH_FUNCTIONS_H__
#define __TEXTURE_FETCH_FUNCTIONS_H__

#if defined(__CUDA__) && defined(__cplusplus) && __cplusplus >= 201103L

// By value, and by the older form that takes a pointer to the result.
#define ORDITO_TEXTURE(name, builtin, parameters, arguments)                                     \
  template <class Type>                                                                          \
  static __device__ __inline__ void name(Type* value, cudaTextureObject_t texture, parameters) { \
    __nv_tex_surf_handler(builtin, value, texture, arguments);                                   \
  }                                                                                              \
  template <class Type>                                                                          \
  static __device__ __inline__ Type name(cudaTextureObject_t texture, parameters) {              \
    Type value;                                                                                  \
    __nv_tex_surf_handler(builtin, &value, texture, arguments);                                  \
    return value;                                                                                \
  }
#define ORDITO_COMMA ,
ORDITO_TEXTURE(tex1Dfetch, "__itex1Dfetch", int x, x)
ORDITO_TEXTURE(tex1D, "__itex1D", float x, x)
ORDITO_TEXTURE(tex2D, "__itex2D", float x ORDITO_COMMA float y, x ORDITO_COMMA y)
ORDITO_TEXTURE(tex3D, "__itex3D", float x ORDITO_COMMA float y ORDITO_COMMA float z, x ORDITO_COMMA y ORDITO_COMMA z)
ORDITO_TEXTURE(tex1DLod, "__itex1DLod", float x ORDITO_COMMA float level, x ORDITO_COMMA level)
ORDITO_TEXTURE(tex2DLod, "__itex2DLod", float x ORDITO_COMMA float y ORDITO_COMMA float level,
               x ORDITO_COMMA y ORDITO_COMMA level)
ORDITO_TEXTURE(tex1DLayered, "__itex1DLayered", float x ORDITO_COMMA int layer, x ORDITO_COMMA layer)
ORDITO_TEXTURE(tex2DLayered, "__itex2DLayered", float x ORDITO_COMMA float y ORDITO_COMMA int layer,
               x ORDITO_COMMA y ORDITO_COMMA layer)
ORDITO_TEXTURE(texCubemap, "__itexCubemap", float x ORDITO_COMMA float y ORDITO_COMMA float z,
               x ORDITO_COMMA y ORDITO_COMMA z)
#undef ORDITO_COMMA
#undef ORDITO_TEXTURE

#endif
#endif
