// The runtime's errors, their names and what they mean: for programs that ask the runtime, and for kernels that ask in
// their own code.
#pragma once

#include "driver_types.h"

namespace ordito::driver {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* description;
};

inline constexpr ErrorText kErrorTexts[] = {
#define ERROR(name, description) {name, #name, description},
#include "base/runtime_errors.def"
};

/// Null for a number that names no error.
inline const ErrorText* findErrorText(int code) {
  for (const ErrorText& text : kErrorTexts)
    if (text.code == code) return &text;
  return nullptr;
}

}  // namespace ordito::driver
