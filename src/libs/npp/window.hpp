// What a filter sees around a pixel: an image whose pixels go on outside the region of interest, or one with an edge.
#pragma once

#include "libs/npp/image.hpp"

namespace ordito::libs::npp {

/// An image whose pixels have an edge: (x, y) counts from the region of interest.
template <class T>
struct Bordered {
  Image<const T> image;
  Replicated edge;
  NppiPoint offset;
  int channels = 1;

  const T* at(int x, int y) const {
    return image.row(edge.y(y + offset.y) - offset.y) + (edge.x(x + offset.x) - offset.x) * channels;
  }
};

/// The pixels around are there.
template <class T>
struct Unbordered {
  Image<const T> image;
  int channels = 1;

  const T* at(int x, int y) const { return image.row(y) + static_cast<ptrdiff_t>(x) * channels; }
};

inline NppStatus checkBorder(NppiSize size, NppiPoint offset, NppiBorderType border) {
  if (border != NPP_BORDER_REPLICATE) return NPP_NOT_SUPPORTED_MODE_ERROR;
  if (size.width <= 0 || size.height <= 0) return NPP_SIZE_ERROR;
  const bool isInside = offset.x >= 0 && offset.y >= 0 && offset.x < size.width && offset.y < size.height;
  return isInside ? NPP_SUCCESS : NPP_SIZE_ERROR;
}

inline NppStatus checkMask(NppiSize mask, NppiPoint anchor) {
  if (mask.width <= 0 || mask.height <= 0) return NPP_MASK_SIZE_ERROR;
  const bool isInside = anchor.x >= 0 && anchor.y >= 0 && anchor.x < mask.width && anchor.y < mask.height;
  return isInside ? NPP_SUCCESS : NPP_ANCHOR_ERROR;
}

}  // namespace ordito::libs::npp
