// The outermost structure of what compilers register; the driver reads what is inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ordito::runtime {

/// The structure in section .nvFatBinSegment.
struct FatBinaryWrapper {
  uint32_t magic;              // driver::kWrapperMagic
  uint32_t version;            // 2: nvcc -rdc=true, `objects` holds the images
  const void* image;           // fat binary
  const void* const* objects;  // version 2: one fat binary for each object file, ended by null
};

/// The fat binaries that have to be linked with one another. A single element, or none, means that there is nothing to
/// link.
std::vector<const void*> linkedImages(const std::vector<const void*>& wrappers);

/// Bytes of a fat binary, header included.
size_t fatBinarySize(const void* image);

}  // namespace ordito::runtime
