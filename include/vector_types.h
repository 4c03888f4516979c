// The built-in vector types with the sizes and alignments of the CUDA C++ programming guide, and dim3.
// Usable in CUDA, C++ and C.
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define ORDITO_VECTOR1(name, type, bytes)                     \
  struct __attribute__((aligned(bytes))) name##1 { type x; }; \
  typedef struct name##1 name##1
#define ORDITO_VECTOR2(name, type, bytes)                        \
  struct __attribute__((aligned(bytes))) name##2 { type x, y; }; \
  typedef struct name##2 name##2
#define ORDITO_VECTOR3(name, type, bytes)                           \
  struct __attribute__((aligned(bytes))) name##3 { type x, y, z; }; \
  typedef struct name##3 name##3
#define ORDITO_VECTOR4(name, type, bytes)                              \
  struct __attribute__((aligned(bytes))) name##4 { type x, y, z, w; }; \
  typedef struct name##4 name##4
// A vector of three is aligned like its element; the others to their size, 16 bytes at most.
#define ORDITO_VECTORS(name, type, align1, align2, align4) \
  ORDITO_VECTOR1(name, type, align1);                      \
  ORDITO_VECTOR2(name, type, align2);                      \
  ORDITO_VECTOR3(name, type, align1);                      \
  ORDITO_VECTOR4(name, type, align4)

ORDITO_VECTORS(char, signed char, 1, 2, 4);
ORDITO_VECTORS(uchar, unsigned char, 1, 2, 4);
ORDITO_VECTORS(short, short, 2, 4, 8);
ORDITO_VECTORS(ushort, unsigned short, 2, 4, 8);
ORDITO_VECTORS(int, int, 4, 8, 16);
ORDITO_VECTORS(uint, unsigned int, 4, 8, 16);
ORDITO_VECTORS(long, long int, 8, 16, 16);
ORDITO_VECTORS(ulong, unsigned long int, 8, 16, 16);
ORDITO_VECTORS(longlong, long long int, 8, 16, 16);
ORDITO_VECTORS(ulonglong, unsigned long long int, 8, 16, 16);
ORDITO_VECTORS(float, float, 4, 8, 16);
ORDITO_VECTORS(double, double, 8, 16, 16);

// CUDA 13 gave the vectors of four 64-bit elements names that say how they are aligned.
#define ORDITO_ALIGNED_VECTOR4(name, type, bytes)            \
  struct __attribute__((aligned(bytes))) name##_##bytes##a { \
    type x, y, z, w;                                         \
  };                                                         \
  typedef struct name##_##bytes##a name##_##bytes##a
ORDITO_ALIGNED_VECTOR4(long4, long int, 16);
ORDITO_ALIGNED_VECTOR4(long4, long int, 32);
ORDITO_ALIGNED_VECTOR4(ulong4, unsigned long int, 16);
ORDITO_ALIGNED_VECTOR4(ulong4, unsigned long int, 32);
ORDITO_ALIGNED_VECTOR4(longlong4, long long int, 16);
ORDITO_ALIGNED_VECTOR4(longlong4, long long int, 32);
ORDITO_ALIGNED_VECTOR4(ulonglong4, unsigned long long int, 16);
ORDITO_ALIGNED_VECTOR4(ulonglong4, unsigned long long int, 32);
ORDITO_ALIGNED_VECTOR4(double4, double, 16);
ORDITO_ALIGNED_VECTOR4(double4, double, 32);

#undef ORDITO_ALIGNED_VECTOR4
#undef ORDITO_VECTORS
#undef ORDITO_VECTOR1
#undef ORDITO_VECTOR2
#undef ORDITO_VECTOR3
#undef ORDITO_VECTOR4

struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
#if __cplusplus >= 201103L
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#else
  __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ operator uint3() const {
    uint3 t;
    t.x = x;
    t.y = y;
    t.z = z;
    return t;
  }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
