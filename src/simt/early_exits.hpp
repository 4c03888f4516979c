// Where some lanes or warps of a block may have ended while others go on: behind branches that not all threads take
// alike and that have an exit in their influence. There, code needs to know which lanes are left.
#pragma once

#include <string>
#include <vector>

#include "simt/regions.hpp"

namespace ordito::simt {

struct EarlyExits {
  bool needsLive = false;     // some lane may end before others of its batch, so a mask of those left is kept
  bool partialBlock = false;  // the block's last warp has fewer than 32 threads
  std::vector<char> mayMiss;  // by resume point: lanes or warps may have ended before it

  /// May any but the kernel's start find threads missing?
  bool mayMissLater() const;
};

EarlyExits findEarlyExits(const ir::Function& function, const ir::SyncPoints& syncPoints, const ir::Shapes& shapes,
                          const Regions& regions);

/// The side of a branch that does nothing but end threads, or 2.
unsigned exitSide(const ir::Function& function, const ir::Terminator& end);
/// Does the branch lead to the end of the kernel, or forwards around it, as a GPU's exit under a predicate does? Not a
/// loop's branch back, behind which the kernel ends.
bool isPredicatedExit(const ir::Function& function, const ir::Terminator& end);

std::string print(const EarlyExits& exits, const Regions& regions);

}  // namespace ordito::simt
