// Loads of which it is known where they read next, and where no hardware prefetcher follows.
//
// A grid-stride loop jumps far between iterations of one warp; its step is known before the loop, so the line that is
// read some iterations on is asked for now. And a block that reads small pieces far apart, as the rows of a tile, waits
// for each of them anew; the next block of the same worker reads on behind each piece (block forms,
// ir/block_forms.hpp), so its pieces are asked for while this block computes.
#pragma once

#include <map>
#include <string>

#include "ir/definitions.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// How far an address moves from one iteration of its loop to the next: `step`, the same for all lanes, times `factor`
/// bytes. Without a step: by `factor` bytes from a block to the next.
struct Advance {
  ValueId step = ir::kNoValue;
  int64_t factor = 1;
  bool isToNextBlock() const { return step == ir::kNoValue; }
};

/// Loads from global memory whose address is segmented. In loops constant steps are the hardware's business.
using Prefetches = std::map<const Instruction*, Advance>;

Prefetches findPrefetches(const ir::Analyses& analyses, const ir::Shapes& shapes, const ir::LaunchShape& launch);

std::string print(const Prefetches& prefetches, const ir::Function& function);

}  // namespace ordito::simt
