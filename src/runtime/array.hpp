// CUDA arrays: pitched device memory with an element format.
//
// A GPU stores them in an order of its own for the sake of its texture caches; here rows are plain, so copies are
// copies of rows.
#pragma once

#include "runtime/call.hpp"

struct cudaArray {
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  size_t element_bytes = 0;
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // as the program gave it: 0 in a dimension that the array does not have
  unsigned flags = 0;

  size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  size_t rowBytes() const { return extent.width * element_bytes; }
};
