// The work behind `ordito nvcc`, once its command line is read.
#pragma once

#include "frontend/nvcc_commands.hpp"
#include "frontend/nvcc_options.hpp"

namespace ordito::frontend {

/// Does what the options ask for. The result is the exit status.
int build(NvccOptions options, Toolchain tools);

}  // namespace ordito::frontend
