// cublasGetProperty and its like.
#pragma once

#include "library_types.h"

namespace ordito::libs {

/// One number of a library's version; false if it is asked for another one, or nobody takes the answer.
inline bool tellVersionPart(libraryPropertyType type, int major, int minor, int patch, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return false;
  *value = type == MAJOR_VERSION ? major : type == MINOR_VERSION ? minor : patch;
  return true;
}

}  // namespace ordito::libs
