// Copies of code for distances that all lanes share. `i ^ distance` and `t & (distance - 1)` make addresses of which
// nothing is known while the kernel is compiled, though programs (bitonic sorts, butterflies, transforms) use powers of
// two. So what depends on such a distance is copied: for 1, 2, 4, 8 and 16 lanes, where the lanes of a warp change
// places among themselves in a way that is known then; and for multiples of 32, which leave the lanes in order. What is
// right for any distance stays, and is chosen where none of these fits.
#pragma once

#include "ir/shape.hpp"

namespace ordito::ir {

/// Results stay the same, and so does what a profiler counts: copies count as what they are copies of, and what chooses
/// one does not count.
void specialise(Function& function, const LaunchShape& launch);

}  // namespace ordito::ir
