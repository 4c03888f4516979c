// Entries of the driver API that are there only to say that they are missing.
#pragma once

#include <string_view>

namespace ordito::driver {

/// Names the call on stderr, once, and returns CUDA_ERROR_NOT_SUPPORTED.
int reportMissing(const char* name);
bool isMissing(std::string_view name);

}  // namespace ordito::driver
