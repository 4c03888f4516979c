// Which libraries a program is linked with. Ours are named by their path: a Makefile's -L may lead into another
// toolkit, whose libraries of the same names need a GPU.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/nvcc_commands.hpp"

namespace ordito::cli {

/// What the linker gets for an input file, a library (-l) or an option: nothing for the runtime, which is linked
/// anyway; our library in the place of one of the same name; everything else as it is. An error says what is missing.
Expected<std::vector<std::string>> linkerInput(const Toolchain& tools, const NvccOptions& options,
                                               const NvccOptions::Item& item);

}  // namespace ordito::cli
