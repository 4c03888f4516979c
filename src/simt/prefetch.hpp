// Loads whose address moves on by a step that is known before their loop. A grid-stride loop jumps far between
// iterations of one warp, where no hardware prefetcher follows, so the line that is read some iterations on is asked
// for now.
#pragma once

#include <map>
#include <string>

#include "ir/definitions.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// How far an address moves from one iteration of its loop to the next: `step`, the same for all lanes, times `factor`
/// bytes.
struct Advance {
  ValueId step = ir::kNoValue;
  int64_t factor = 1;
};

/// Loads from global memory whose address is grouped and whose step is a value: constant steps are the hardware's
/// business.
using Prefetches = std::map<const Instruction*, Advance>;

Prefetches findPrefetches(const ir::Function& function, const ir::Shapes& shapes, const ir::Definitions& definitions);

std::string print(const Prefetches& prefetches, const ir::Function& function);

}  // namespace ordito::simt
