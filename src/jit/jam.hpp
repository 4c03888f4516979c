// How many warps of a block advance together in one loop body.
#pragma once

#include "ir/ir.hpp"
#include "ir/shape.hpp"
#include "jit/target.hpp"

namespace ordito::jit {

/// Jamming pays in loops that all warps walk alike: it multiplies independent work per iteration and shares loads of
/// values that warps have in common (2-3 times on matrix products). It does not where lanes leave a loop at different
/// times (but for short loops whose warps share cache lines), nor where a loop carries so many vectors that they would
/// spill.
unsigned chooseJam(const ir::Function& function, const ir::LaunchShape& launch, const Target& target);

}  // namespace ordito::jit
