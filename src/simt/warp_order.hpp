// In which order the warps of a block go through a region.
//
// Programs exist that race behind a barrier, and are right on every GPU. Each warp reads there what a reduction has
// left in shared memory, and goes on to the next reduction, whose first store is to the same place: nothing says that
// the others have read by then. A GPU's warps leave a barrier together, and all have read before one of them gets as
// far. Here a warp runs to the next barrier before another begins. But it is nearly always the first warp or thread of
// a block that stores where all others read, since what a block has found is kept at the beginning. So where a region
// behind a barrier both reads shared memory and stores to it, its last warp goes first.
//
// What a kernel prints comes in the order in which its warps run: there the first warp stays the first. So it does
// where listeners are told of each access: a race is what the checker is to find. The interpreter keeps the same rule
// (interp/block.cpp), for all that comes behind a barrier.
#pragma once

#include <string>
#include <vector>

#include "simt/regions.hpp"

namespace ordito::simt {

struct WarpOrder {
  std::vector<char> lastFirst;  // by resume point
};

WarpOrder findWarpOrder(const ir::Function& function, const Regions& regions, const Facts& facts);

std::string print(const WarpOrder& order, const Regions& regions);

}  // namespace ordito::simt
