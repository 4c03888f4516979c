// CUDA arrays: the driver's, as the runtime API describes them.
#pragma once

#include "runtime/call.hpp"

/// The driver's array and nothing more.
struct cudaArray : CUarray_st {
  size_t elementBytes() const {
    const cudaChannelFormatDesc f = format();
    return static_cast<size_t>(f.x + f.y + f.z + f.w) / 8;
  }
  size_t rows() const { return descriptor.Height == 0 ? 1 : descriptor.Height; }
  size_t slices() const { return descriptor.Depth == 0 ? 1 : descriptor.Depth; }
  size_t rowBytes() const { return descriptor.Width * elementBytes(); }
  cudaExtent extent() const { return {descriptor.Width, descriptor.Height, descriptor.Depth}; }
  cudaChannelFormatDesc format() const;
};

namespace ordito::runtime {

inline CUarray handle(cudaArray_t array) { return static_cast<CUarray_st*>(array); }
inline CUmipmappedArray handle(cudaMipmappedArray_t array) { return reinterpret_cast<CUmipmappedArray>(array); }

/// Channels of equal width, one, two or four of them: what arrays and textures can have.
cudaError_t toDriver(const cudaChannelFormatDesc& format, CUarray_format& kind, unsigned& channels);

}  // namespace ordito::runtime
