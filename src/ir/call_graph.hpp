// Who can call whom in a module: what an indirect call can mean, and which functions can reach themselves.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::ir {

/// Functions by their index in `module.functions`.
struct CallGraph {
  std::vector<uint32_t> targets;  // of indirect calls: device functions with a body whose address somebody takes
  std::set<uint32_t> recursive;   // that can reach themselves
};

CallGraph callGraph(const ptx::Module& module);

}  // namespace ordito::ir
