// Surface reads and writes, through surface objects and through surface references. A surface instruction moves 1, 2 or
// 4 bytes, or two or four words; types of those sizes are taken apart and put together here.
#ifndef ORDITO_SURFACE_FUNCTIONS_H
#define ORDITO_SURFACE_FUNCTIONS_H

namespace ordito_detail {

template <int bytes>
struct SurfaceWords {
  unsigned int word[bytes < 4 ? 1 : bytes / 4];
};

template <class Type>
static __device__ __inline__ SurfaceWords<sizeof(Type)> surfaceWords(const Type& value) {
  static_assert(sizeof(Type) == 1 || sizeof(Type) == 2 || sizeof(Type) == 4 || sizeof(Type) == 8 || sizeof(Type) == 16,
                "a surface moves 1, 2, 4, 8 or 16 bytes at a time");
  SurfaceWords<sizeof(Type)> words = {};
  __builtin_memcpy(&words, &value, sizeof(Type));
  return words;
}

// Lists of parameters and arguments go through the macros in parentheses.
#define ORDITO_LIST(...) __VA_ARGS__

// One overload for each size. `geometry` and `place` stand in the instruction's text, `arguments` are its coordinates.
#define ORDITO_SURFACE_SIZES(name, geometry, clamp, place, parameters, arguments)                                    \
  static __device__ __inline__ void name##Read_##clamp(SurfaceWords<1>& w, cudaSurfaceObject_t s,                    \
                                                       ORDITO_LIST parameters) {                                     \
    unsigned short v;                                                                                                \
    asm volatile("suld.b." geometry ".b8." #clamp " %0, [%1, " place "];"                                            \
                 : "=h"(v)                                                                                           \
                 : "l"(s), ORDITO_LIST arguments                                                                     \
                 : "memory");                                                                                        \
    w.word[0] = v;                                                                                                   \
  }                                                                                                                  \
  static __device__ __inline__ void name##Read_##clamp(SurfaceWords<2>& w, cudaSurfaceObject_t s,                    \
                                                       ORDITO_LIST parameters) {                                     \
    unsigned short v;                                                                                                \
    asm volatile("suld.b." geometry ".b16." #clamp " %0, [%1, " place "];"                                           \
                 : "=h"(v)                                                                                           \
                 : "l"(s), ORDITO_LIST arguments                                                                     \
                 : "memory");                                                                                        \
    w.word[0] = v;                                                                                                   \
  }                                                                                                                  \
  static __device__ __inline__ void name##Read_##clamp(SurfaceWords<4>& w, cudaSurfaceObject_t s,                    \
                                                       ORDITO_LIST parameters) {                                     \
    asm volatile("suld.b." geometry ".b32." #clamp " %0, [%1, " place "];"                                           \
                 : "=r"(w.word[0])                                                                                   \
                 : "l"(s), ORDITO_LIST arguments                                                                     \
                 : "memory");                                                                                        \
  }                                                                                                                  \
  static __device__ __inline__ void name##Write_##clamp(SurfaceWords<1> w, cudaSurfaceObject_t s,                    \
                                                        ORDITO_LIST parameters) {                                    \
    asm volatile("sust.b." geometry ".b8." #clamp " [%1, " place "], %0;" ::"h"((unsigned short)w.word[0]), "l"(s),  \
                 ORDITO_LIST arguments                                                                               \
                 : "memory");                                                                                        \
  }                                                                                                                  \
  static __device__ __inline__ void name##Write_##clamp(SurfaceWords<2> w, cudaSurfaceObject_t s,                    \
                                                        ORDITO_LIST parameters) {                                    \
    asm volatile("sust.b." geometry ".b16." #clamp " [%1, " place "], %0;" ::"h"((unsigned short)w.word[0]), "l"(s), \
                 ORDITO_LIST arguments                                                                               \
                 : "memory");                                                                                        \
  }                                                                                                                  \
  static __device__ __inline__ void name##Write_##clamp(SurfaceWords<4> w, cudaSurfaceObject_t s,                    \
                                                        ORDITO_LIST parameters) {                                    \
    asm volatile("sust.b." geometry ".b32." #clamp " [%1, " place "], %0;" ::"r"(w.word[0]), "l"(s),                 \
                 ORDITO_LIST arguments                                                                               \
                 : "memory");                                                                                        \
  }

#define ORDITO_SURFACE_PAIRS(name, geometry, clamp, place, parameters, arguments)                                     \
  static __device__ __inline__ void name##Read_##clamp(SurfaceWords<8>& w, cudaSurfaceObject_t s,                     \
                                                       ORDITO_LIST parameters) {                                      \
    asm volatile("suld.b." geometry ".v2.b32." #clamp " {%0, %1}, [%2, " place "];"                                   \
                 : "=r"(w.word[0]), "=r"(w.word[1])                                                                   \
                 : "l"(s), ORDITO_LIST arguments                                                                      \
                 : "memory");                                                                                         \
  }                                                                                                                   \
  static __device__ __inline__ void name##Write_##clamp(SurfaceWords<8> w, cudaSurfaceObject_t s,                     \
                                                        ORDITO_LIST parameters) {                                     \
    asm volatile("sust.b." geometry ".v2.b32." #clamp " [%2, " place "], {%0, %1};" ::"r"(w.word[0]), "r"(w.word[1]), \
                 "l"(s), ORDITO_LIST arguments                                                                        \
                 : "memory");                                                                                         \
  }

#define ORDITO_SURFACE_QUADS(name, geometry, clamp, place, parameters, arguments)                             \
  static __device__ __inline__ void name##Read_##clamp(SurfaceWords<16>& w, cudaSurfaceObject_t s,            \
                                                       ORDITO_LIST parameters) {                              \
    asm volatile("suld.b." geometry ".v4.b32." #clamp " {%0, %1, %2, %3}, [%4, " place "];"                   \
                 : "=r"(w.word[0]), "=r"(w.word[1]), "=r"(w.word[2]), "=r"(w.word[3])                         \
                 : "l"(s), ORDITO_LIST arguments                                                              \
                 : "memory");                                                                                 \
  }                                                                                                           \
  static __device__ __inline__ void name##Write_##clamp(SurfaceWords<16> w, cudaSurfaceObject_t s,            \
                                                        ORDITO_LIST parameters) {                             \
    asm volatile("sust.b." geometry ".v4.b32." #clamp " [%4, " place "], {%0, %1, %2, %3};" ::"r"(w.word[0]), \
                 "r"(w.word[1]), "r"(w.word[2]), "r"(w.word[3]), "l"(s), ORDITO_LIST arguments                \
                 : "memory");                                                                                 \
  }

#define ORDITO_SURFACE_CLAMP(name, geometry, clamp, two, three, five, parameters, arguments) \
  ORDITO_SURFACE_SIZES(name, geometry, clamp, two, parameters, arguments)                    \
  ORDITO_SURFACE_PAIRS(name, geometry, clamp, three, parameters, arguments)                  \
  ORDITO_SURFACE_QUADS(name, geometry, clamp, five, parameters, arguments)

// `two`, `three`, `five`: the coordinates, numbered from the place behind one, two and four words and the surface.
#define ORDITO_SURFACE(name, geometry, two, three, five, parameters, arguments)        \
  ORDITO_SURFACE_CLAMP(name, geometry, trap, two, three, five, parameters, arguments)  \
  ORDITO_SURFACE_CLAMP(name, geometry, clamp, two, three, five, parameters, arguments) \
  ORDITO_SURFACE_CLAMP(name, geometry, zero, two, three, five, parameters, arguments)
ORDITO_SURFACE(surface1D, "1d", "{%2}", "{%3}", "{%5}", (int x), ("r"(x)))
ORDITO_SURFACE(surface2D, "2d", "{%2, %3}", "{%3, %4}", "{%5, %6}", (int x, int y), ("r"(x), "r"(y)))
ORDITO_SURFACE(surface3D, "3d", "{%2, %3, %4, %4}", "{%3, %4, %5, %5}", "{%5, %6, %7, %7}", (int x, int y, int z),
               ("r"(x), "r"(y), "r"(z)))
ORDITO_SURFACE(surface1DLayered, "a1d", "{%2, %3}", "{%3, %4}", "{%5, %6}", (int x, int layer), ("r"(layer), "r"(x)))
ORDITO_SURFACE(surface2DLayered, "a2d", "{%2, %3, %4, %4}", "{%3, %4, %5, %5}", "{%5, %6, %7, %7}",
               (int x, int y, int layer), ("r"(layer), "r"(x), "r"(y)))
#undef ORDITO_SURFACE
#undef ORDITO_SURFACE_CLAMP
#undef ORDITO_SURFACE_QUADS
#undef ORDITO_SURFACE_PAIRS
#undef ORDITO_SURFACE_SIZES
#undef ORDITO_LIST

}  // namespace ordito_detail

// The functions of CUDA: x counts bytes. Objects, then references.
#define ORDITO_SURFACE(name, detail, dimensions, parameters, arguments)                                      \
  template <class Type>                                                                                      \
  static __device__ __inline__ void name##read(Type* value, cudaSurfaceObject_t surface, parameters,         \
                                               enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    ordito_detail::SurfaceWords<sizeof(Type)> words;                                                         \
    if (mode == cudaBoundaryModeTrap)                                                                        \
      ordito_detail::detail##Read_trap(words, surface, arguments);                                           \
    else if (mode == cudaBoundaryModeClamp)                                                                  \
      ordito_detail::detail##Read_clamp(words, surface, arguments);                                          \
    else                                                                                                     \
      ordito_detail::detail##Read_zero(words, surface, arguments);                                           \
    __builtin_memcpy(value, &words, sizeof(Type));                                                           \
  }                                                                                                          \
  template <class Type>                                                                                      \
  static __device__ __inline__ Type name##read(cudaSurfaceObject_t surface, parameters,                      \
                                               enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    Type value;                                                                                              \
    name##read(&value, surface, arguments, mode);                                                            \
    return value;                                                                                            \
  }                                                                                                          \
  template <class Type>                                                                                      \
  static __device__ __inline__ void name##write(Type value, cudaSurfaceObject_t surface, parameters,         \
                                                enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    if (mode == cudaBoundaryModeTrap)                                                                        \
      ordito_detail::detail##Write_trap(ordito_detail::surfaceWords(value), surface, arguments);             \
    else if (mode == cudaBoundaryModeClamp)                                                                  \
      ordito_detail::detail##Write_clamp(ordito_detail::surfaceWords(value), surface, arguments);            \
    else                                                                                                     \
      ordito_detail::detail##Write_zero(ordito_detail::surfaceWords(value), surface, arguments);             \
  }                                                                                                          \
  template <class Type>                                                                                      \
  static __device__ __inline__ void name##read(Type* value, surface<void, dimensions> reference, parameters, \
                                               enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    name##read(value, (cudaSurfaceObject_t)ordito_detail::objectOf(reference), arguments, mode);             \
  }                                                                                                          \
  template <class Type>                                                                                      \
  static __device__ __inline__ Type name##read(surface<void, dimensions> reference, parameters,              \
                                               enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {   \
    return name##read<Type>((cudaSurfaceObject_t)ordito_detail::objectOf(reference), arguments, mode);       \
  }                                                                                                          \
  template <class Type>                                                                                      \
  static __device__ __inline__ void name##write(Type value, surface<void, dimensions> reference, parameters, \
                                                enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    name##write(value, (cudaSurfaceObject_t)ordito_detail::objectOf(reference), arguments, mode);            \
  }
#define ORDITO_C ,
ORDITO_SURFACE(surf1D, surface1D, cudaSurfaceType1D, int x, x)
ORDITO_SURFACE(surf2D, surface2D, cudaSurfaceType2D, int x ORDITO_C int y, x ORDITO_C y)
ORDITO_SURFACE(surf3D, surface3D, cudaSurfaceType3D, int x ORDITO_C int y ORDITO_C int z, x ORDITO_C y ORDITO_C z)
ORDITO_SURFACE(surf1DLayered, surface1DLayered, cudaSurfaceType1DLayered, int x ORDITO_C int layer, x ORDITO_C layer)
ORDITO_SURFACE(surf2DLayered, surface2DLayered, cudaSurfaceType2DLayered, int x ORDITO_C int y ORDITO_C int layer,
               x ORDITO_C y ORDITO_C layer)
ORDITO_SURFACE(surfCubemap, surface2DLayered, cudaSurfaceTypeCubemap, int x ORDITO_C int y ORDITO_C int face,
               x ORDITO_C y ORDITO_C face)
ORDITO_SURFACE(surfCubemapLayered, surface2DLayered, cudaSurfaceTypeCubemapLayered,
               int x ORDITO_C int y ORDITO_C int layerAndFace, x ORDITO_C y ORDITO_C layerAndFace)
#undef ORDITO_C
#undef ORDITO_SURFACE

#endif
