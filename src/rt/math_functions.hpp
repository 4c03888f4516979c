// External functions that compiled code calls lane by lane: those of CUDA's mathematical library for which there is no
// vector code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ordito::rt {

struct ScalarFunction {
  std::string_view name;  // in PTX, and as a symbol for the linker
  void* address;
  std::string signature;  // result and arguments: f, d, i (32 bits), l (64 bits, pointers), v (none)
};

const std::vector<ScalarFunction>& scalarFunctions();
const ScalarFunction* findScalar(std::string_view name);

}  // namespace ordito::rt
