// Which values are computed in one place and used where other lanes may be active.
//
// A compiler moves `&shared[threadIdx.x - 1]` in front of the `if (threadIdx.x > 0)` and out of the loop around it.
// What lane 0 computes there is nonsense that nobody reads, so nothing may be concluded from it.
#pragma once

#include <vector>

#include "ir/analyses.hpp"

namespace ordito::ir {

/// For each value: is it, or a value computed from it, used in a block that is not joined to the one that defines it by
/// jumps alone?
std::vector<char> speculatedValues(const Analyses& analyses);

}  // namespace ordito::ir
