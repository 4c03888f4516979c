// Inlines every direct call of a device function that has a body, so that the later passes see one function without
// calls.
#pragma once

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace ordito::ir {

struct Inlined {
  ptx::Function function;
  std::vector<std::pair<uint32_t, uint32_t>>
      origin;  // of each variable: function index, variable index in that function
};

/// The kernel with all calls of functions with bodies replaced by their bodies. Calls of functions without a body
/// (math, printf) stay. Recursion and indirect calls are errors that name the function and the PTX line.
Expected<Inlined> inlineCalls(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace ordito::ir
