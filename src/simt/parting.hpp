// Where the warps of a coarsened batch may start anew, one by one. The coarsened code of a batch that is not whole
// would be as long as that of a whole one, and only blocks at the border run it: so where lanes end before the kernel
// has left a trace (`if (row >= n) return;`), or are missing from the start, a function for single warps runs the
// batch's.
#pragma once

#include <string>
#include <vector>

#include "ir/sync_points.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

struct Parting {
  /// May the kernel have such a function? It has one region, as the program has it, no counters, and
  /// threads that stay converged.
  bool isAllowed = false;
  /// By block: it ends at a branch that ends some lanes, and nothing is seen of what came before.
  std::vector<char> startsAnew;
};

Parting findParting(const ir::Function& function, const ir::SyncPoints& syncPoints, const ir::Shapes& shapes,
                    const Facts& facts);

std::string print(const Parting& parting);

}  // namespace ordito::simt
