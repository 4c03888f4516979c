// Inlines every call of a device function that has a body, so that the later passes see one function without calls.
// An indirect call becomes a comparison with each function that it can mean. Functions that can reach themselves are in
// the kernel once (ir/shared_functions.hpp).
#pragma once

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ir/shared_functions.hpp"
#include "ptx/module.hpp"

namespace ordito::ir {

struct Inlined {
  ptx::Function function;
  std::vector<std::pair<uint32_t, uint32_t>>
      origin;  // of each variable: function index, variable index in that function
  Stack stack;
};

/// The kernel with all calls of functions with bodies replaced by their bodies. Calls of functions without a body
/// (math, printf) stay. The address of a function is that of its entry in `module.functions`. `announces`,
/// `hasZones`: see buildCfg.
Expected<Inlined> inlineCalls(const ptx::Module& module, const ptx::Function& kernel, bool announces = false,
                              bool hasZones = false);

/// A `pmevent` that stands for an instruction of the program which has none of its own.
ptx::Instruction announcement(const ptx::Instruction& of);

}  // namespace ordito::ir
