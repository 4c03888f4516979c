// Copies and fills: checked against the map of allocations, then run as stream operations.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda.h"
#include "driver/stream.hpp"

namespace ordito::driver {

class Context;

/// One side of a copy: rows of bytes, `pitch` apart, in slices `slice` apart.
struct Region {
  uint64_t base = 0;
  uint64_t pitch = 0, slice = 0;
};

struct Extent {
  uint64_t width = 0;  // bytes
  uint64_t height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// What a copy's argument says about a side.
enum class Side {
  Device,  // must be memory that the device can reach
  Host,    // any memory of the process
  Either,  // told by the address
};

struct CopyRequest {
  Region to, from;
  Side toSide = Side::Either, fromSide = Side::Either;
  Extent extent;
};

struct Fill {
  Region to;
  Extent extent;
  uint32_t value = 0;
  unsigned elementBytes = 1;
};

/// Checks a copy; then `work` does it. `pageable`: host memory that CUDA does not know takes part.
CUresult prepareCopy(const CopyRequest& request, Work& work, bool& pageable);
/// Submits a copy to `stream`. Waits when the host would see a difference: synchronous calls, and pageable host memory.
CUresult copy(Context& context, const CopyRequest& request, const std::shared_ptr<Stream>& stream, bool synchronous);

/// Checks a fill; then `work` does it.
CUresult prepareFill(const Fill& request, Work& work);
/// Fills rows with an element of 1, 2 or 4 bytes; extent.width counts bytes.
CUresult fill(Context& context, const Fill& request, const std::shared_ptr<Stream>& stream, bool synchronous);

CopyRequest linearCopy(uint64_t to, Side toSide, uint64_t from, Side fromSide, uint64_t bytes);
/// CUDA_ERROR_INVALID_VALUE for a bad descriptor, INVALID_HANDLE for an array that is none.
CUresult requestFrom(const CUDA_MEMCPY2D& copy, CopyRequest& request);
CUresult requestFrom(const CUDA_MEMCPY3D& copy, CopyRequest& request);

/// The bits that orditoPointerSides answers.
int pointerSides(uint64_t pointer);

}  // namespace ordito::driver
