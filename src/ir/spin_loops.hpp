// Loops that go round until another thread writes something: whoever is in one needs the others to go on.
#pragma once

#include <vector>

#include "ir/definitions.hpp"
#include "ir/graph.hpp"
#include "ir/ir.hpp"
#include "ir/loops.hpp"

namespace ordito::ir {

struct SpinLoops {
  std::vector<Loop> spins;  // whose end may depend on what another thread writes
  bool polls = false;       // there is such a loop with a barrier in every iteration: it waits for other blocks
};

SpinLoops findSpinLoops(const Function& function, const Graph& controlFlow, const Definitions& definitions);

/// Do the loop's threads look at nothing but phases of mbarriers? Then only threads of their own block can let them go
/// on.
bool onlyTestsPhases(const Function& function, const Loop& loop);

}  // namespace ordito::ir
