// What ptxas prints with -v: registers, stack, shared and constant memory of each kernel.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/module.hpp"

namespace ordito::frontend {

/// The lines for all kernels of a module on an architecture, as ptxas words them. The registers are estimates
/// (registers/estimate.hpp).
std::string resourceUsage(const ptx::Module& module, uint32_t sm);

}  // namespace ordito::frontend
