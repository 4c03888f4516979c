// If-conversion: short divergent branches become selections.
#pragma once

#include "ir/shape.hpp"

namespace ordito::ir {

/// Where lanes may part over a few instructions that only compute, all lanes compute both sides and select: that costs
/// less than masks, and the code has no branch to specialise. Results stay the same, but not what a profiler counts.
void ifConvert(Function& function, const LaunchShape& launch);

}  // namespace ordito::ir
