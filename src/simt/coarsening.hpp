// How many warps of a block advance together in one loop body. It multiplies the independent work of an iteration and
// shares loads of values that warps have in common (2-3 times on matrix products). It pays in loops that all warps walk
// alike. It does not where lanes leave a loop at different times (but for short loops whose warps share cache lines),
// nor where a loop carries so many vectors that they would spill.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/sync_points.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// Of a region.
struct Coarsening {
  unsigned factor = 1;      // warps
  std::string_view reason;  // in words
};

/// By resume point; for the launch, processor and counters of `facts`, whose own factors do not matter.
std::vector<Coarsening> chooseCoarsening(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints,
                                         const Facts& facts);
CoarseningFactors factorsOf(const std::vector<Coarsening>& regions);

/// By block: is it in a region where several warps advance together? Empty: none is.
std::vector<char> coarsenedBlocks(const ir::Function& function, const ir::SyncPoints& syncPoints, const Facts& facts);

std::string print(const std::vector<Coarsening>& regions);

}  // namespace ordito::simt
