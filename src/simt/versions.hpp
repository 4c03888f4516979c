// Where code is worth a second version. At most divergent branches the lanes happen to agree, so the code under one may
// be emitted once more for the case that they do, without masks: `if (i < n)` costs a test per warp and not a mask on
// every access.
//
// How many of these copies are made is decided where code is written (build_code.hpp), since a version begins where
// another ends and each spends of what the kernel may grow.
#pragma once

#include <string>
#include <vector>

#include "simt/facts.hpp"

namespace ordito::simt {

struct Versions {
  /// By divergent branch, then by block: does it lie between the branch and its join? Empty for other blocks.
  std::vector<std::vector<char>> influence;
  /// By block: does it end at a divergent branch whose code is short enough, and has memory accesses or loops in it?
  std::vector<char> isWorthCopy;
};

Versions findVersions(const ir::Function& function, const ir::Shapes& shapes);

std::string print(const Versions& versions);

}  // namespace ordito::simt
