// How many warps of a block advance together in one loop body. It multiplies the independent work of an iteration and
// shares loads of values that warps have in common (2-3 times on matrix products). It pays in loops that all warps walk
// alike. It does not where lanes leave a loop at different times (but for short loops whose warps share cache lines),
// nor where a loop carries so many vectors that they would spill.
#pragma once

#include <string>
#include <string_view>

#include "ir/sync_points.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

struct Coarsening {
  unsigned factor = 1;      // warps
  std::string_view reason;  // in words
};

/// For the launch, processor and counters of `facts`, whose own factor does not matter.
Coarsening chooseCoarsening(const ir::Function& function, const ir::SyncPoints& syncPoints, const Facts& facts);

std::string print(const Coarsening& coarsening);

}  // namespace ordito::simt
