// The passes over the IR, by name: what the compiler runs and `ordito opt` runs alone.
#pragma once

#include <span>
#include <string_view>

#include "ir/ir.hpp"
#include "ir/shape.hpp"

namespace ordito::ir {

struct Pass {
  std::string_view name;
  std::string_view summary;
  void (*run)(Function& function, const LaunchShape& launch);
};

/// All passes, in the order in which the compiler runs those that it runs.
std::span<const Pass> passes();

/// The pass with this name, or null.
const Pass* findPass(std::string_view name);

/// Runs the pass. A debug build checks the function behind it, and ends the process with the pass's name and the IR
/// where an invariant is broken.
void runPass(const Pass& pass, Function& function, const LaunchShape& launch);

/// Do debug builds, of which this is one, verify what every pass leaves?
bool verifiesPasses();
/// What a pass left is wrong, which is our own mistake: says so and ends the process. `text` is the code.
[[noreturn]] void failBehind(std::string_view pass, std::string_view problem, std::string_view text);

}  // namespace ordito::ir
