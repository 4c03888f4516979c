// make_int2(x, y) and its relatives: a constructor for each built-in vector type.
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#if defined(__cplusplus)
#define ORDITO_MAKE static inline __host__ __device__
#define ORDITO_MAKE_VECTORS(name, type)                                \
  ORDITO_MAKE name##1 make_##name##1(type x) {                         \
    name##1 v;                                                         \
    v.x = x;                                                           \
    return v;                                                          \
  }                                                                    \
  ORDITO_MAKE name##2 make_##name##2(type x, type y) {                 \
    name##2 v;                                                         \
    v.x = x;                                                           \
    v.y = y;                                                           \
    return v;                                                          \
  }                                                                    \
  ORDITO_MAKE name##3 make_##name##3(type x, type y, type z) {         \
    name##3 v;                                                         \
    v.x = x;                                                           \
    v.y = y;                                                           \
    v.z = z;                                                           \
    return v;                                                          \
  }                                                                    \
  ORDITO_MAKE name##4 make_##name##4(type x, type y, type z, type w) { \
    name##4 v;                                                         \
    v.x = x;                                                           \
    v.y = y;                                                           \
    v.z = z;                                                           \
    v.w = w;                                                           \
    return v;                                                          \
  }

ORDITO_MAKE_VECTORS(char, signed char)
ORDITO_MAKE_VECTORS(uchar, unsigned char)
ORDITO_MAKE_VECTORS(short, short)
ORDITO_MAKE_VECTORS(ushort, unsigned short)
ORDITO_MAKE_VECTORS(int, int)
ORDITO_MAKE_VECTORS(uint, unsigned int)
ORDITO_MAKE_VECTORS(long, long int)
ORDITO_MAKE_VECTORS(ulong, unsigned long int)
ORDITO_MAKE_VECTORS(longlong, long long int)
ORDITO_MAKE_VECTORS(ulonglong, unsigned long long int)
ORDITO_MAKE_VECTORS(float, float)
ORDITO_MAKE_VECTORS(double, double)

#define ORDITO_MAKE_ALIGNED_VECTOR4(name, type)                  \
  ORDITO_MAKE name make_##name(type x, type y, type z, type w) { \
    name v;                                                      \
    v.x = x;                                                     \
    v.y = y;                                                     \
    v.z = z;                                                     \
    v.w = w;                                                     \
    return v;                                                    \
  }
ORDITO_MAKE_ALIGNED_VECTOR4(long4_16a, long int)
ORDITO_MAKE_ALIGNED_VECTOR4(long4_32a, long int)
ORDITO_MAKE_ALIGNED_VECTOR4(ulong4_16a, unsigned long int)
ORDITO_MAKE_ALIGNED_VECTOR4(ulong4_32a, unsigned long int)
ORDITO_MAKE_ALIGNED_VECTOR4(longlong4_16a, long long int)
ORDITO_MAKE_ALIGNED_VECTOR4(longlong4_32a, long long int)
ORDITO_MAKE_ALIGNED_VECTOR4(ulonglong4_16a, unsigned long long int)
ORDITO_MAKE_ALIGNED_VECTOR4(ulonglong4_32a, unsigned long long int)
ORDITO_MAKE_ALIGNED_VECTOR4(double4_16a, double)
ORDITO_MAKE_ALIGNED_VECTOR4(double4_32a, double)

#undef ORDITO_MAKE_ALIGNED_VECTOR4
#undef ORDITO_MAKE_VECTORS
#undef ORDITO_MAKE
#endif

#endif
