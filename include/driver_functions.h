// make_cudaExtent and its relatives.
#ifndef __DRIVER_FUNCTIONS_H__
#define __DRIVER_FUNCTIONS_H__

#include "driver_types.h"

#if defined(__cplusplus)
#define ORDITO_MAKE static inline __host__ __device__
#else
#define ORDITO_MAKE static inline
#endif

ORDITO_MAKE struct cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t xsize, size_t ysize) {
  struct cudaPitchedPtr p;
  p.ptr = pointer, p.pitch = pitch, p.xsize = xsize, p.ysize = ysize;
  return p;
}

ORDITO_MAKE struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos p;
  p.x = x, p.y = y, p.z = z;
  return p;
}

ORDITO_MAKE struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  struct cudaExtent e;
  e.width = width, e.height = height, e.depth = depth;
  return e;
}
#undef ORDITO_MAKE

#endif
