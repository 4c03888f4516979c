// Arrays as the rest of the driver sees them: handles are checked against those that live.
#pragma once

#include <vector>

#include "driver/context.hpp"
#include "driver/extensions.hpp"

namespace ordito::driver {

/// Bytes of a channel; 0 for formats that no array here has.
unsigned channelBytes(CUarray_format format);

inline size_t elementBytes(const CUarray_st& array) {
  return size_t{channelBytes(array.descriptor.Format)} * array.descriptor.NumChannels;
}
inline size_t rowBytes(const CUarray_st& array) { return array.descriptor.Width * elementBytes(array); }
inline size_t rows(const CUarray_st& array) { return array.descriptor.Height ? array.descriptor.Height : 1; }
inline size_t slices(const CUarray_st& array) { return array.descriptor.Depth ? array.descriptor.Depth : 1; }

/// Is its depth a number of layers or faces?
inline bool isLayered(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return d.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

bool isLive(const CUarray_st* array);
bool isLive(const CUmipmappedArray_st* mipmap);

/// Their handles are not valid any more. Their memory is the context's to free.
void endArraysOf(const Context& context);

}  // namespace ordito::driver

struct CUmipmappedArray_st {
  std::vector<CUarray> levels;
};
