// The differences from a GPU that are known and why, read from known.txt.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::gpu {

/// Up to `ulp` units in the last place off, NaNs with other bits, or other results altogether, in the instructions that
/// `pattern` names (`*` stands for anything).
struct Known {
  std::string pattern, engine;
  uint64_t ulp = 0;
  bool isNan = false;
  bool isValue = false;  // the GPU's compiler emulates the instruction otherwise than the manual defines it
  mutable bool used = false;
};

Expected<std::vector<Known>> readKnown(const std::string& path);
bool matches(std::string_view pattern, std::string_view text);

}  // namespace ordito::gpu
