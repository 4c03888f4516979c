// Who can call whom in a module: what an indirect call can mean, which functions can reach themselves, and which a
// kernel would repeat too often.
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

/// May the function be meant by an indirect call of that prototype?
bool matches(const ptx::Prototype& prototype, const ptx::Function& function);

/// Longer than this, in instructions of PTX, no kernel gets by replacing calls.
inline constexpr double kMostInstructions = 8000;

/// The functions that `kernel` has once, whoever calls them: the recursive ones, and of a kernel that would be too long
/// those which it would repeat most.
std::set<uint32_t> keptOnce(const ptx::Module& module, const CallGraph& calls, const ptx::Function& kernel);

}  // namespace ordito::ir
