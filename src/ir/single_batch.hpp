// Barriers of blocks whose warps all run side by side.
#pragma once

#include "ir/ir.hpp"
#include "ir/sync_points.hpp"

namespace ordito::ir {

/// The function for blocks whose warps one piece of code runs together, instruction by instruction: a plain barrier
/// that all threads reach together (`syncPoints`) has nothing to wait for and becomes a jump. Reductions and barriers
/// with a number or thread count that is known at run time only stay. Returns nothing if there is no barrier to
/// replace.
std::optional<Function> withoutPlainBarriers(const Function& function, const SyncPoints& syncPoints);

}  // namespace ordito::ir
