// Link-time optimisation: the bitcode of several parts (base/link_code.hpp) compiled as one program, by libNVVM.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::nvjitlink {

/// Is libNVVM there? It is built where LLVM is.
bool hasOptimiser();

/// PTX of the modules; `options` are those of nvvmCompileProgram.
Expected<std::string> optimised(const std::vector<std::string>& modules, const std::vector<std::string>& options);

}  // namespace ordito::nvjitlink
