// Values that a few instructions make from a thread's place in the grid (`threadIdx.x * 4`) are made again behind a
// resume point: that costs less than a spill slot, and LLVM sees then that the first warp's threadIdx.x starts at 0.
#pragma once

#include <string>
#include <vector>

#include "simt/liveness.hpp"

namespace ordito::simt {

/// By value: is it made again where a region that reads it begins? In a kernel whose threads can get diverged, what
/// is kept is kept for each segment and lane, and nothing is.
std::vector<char> findRematerialised(const ir::Function& function, const ir::SyncPoints& syncPoints,
                                     const ir::Shapes& shapes, const ir::Definitions& definitions,
                                     const Liveness& liveness);

std::string printRematerialised(const std::vector<char>& rematerialised, const ir::Function& function);

}  // namespace ordito::simt
