// The work behind `ordito nvcc`, once its command line is read.
#pragma once

#include "cli/nvcc_commands.hpp"
#include "cli/nvcc_options.hpp"

namespace ordito::cli {

/// Does what the options ask for. The result is the exit status.
int build(NvccOptions options, Toolchain tools);

}  // namespace ordito::cli
