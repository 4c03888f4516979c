// Where threads of a block may have to wait for one another, and how far that can take them out of step.
//
// Barriers that all threads reach together only cut the kernel. Any other wait (a barrier that only some threads reach
// or that takes a thread count, a loop that spins until another thread writes) lets threads pass the same place at
// different times. What then lives across such a stop needs a place for each warp, or for each lane, unless it is
// *steady*: computed from the thread's place, the parameters and constants alone, so that every pass gives the same.
#pragma once

#include <vector>

#include "ir/ir.hpp"
#include "ir/shape.hpp"

namespace ordito::ir {

struct Stops {
  /// Who can be out of step with whom.
  enum class Stepping : uint8_t {
    Together,  // nobody: all stops are barriers that the whole block reaches
    Warps,     // warps, each as a whole
    Lanes,     // lanes of one warp
  };
  struct Spin {
    BlockId header = kNoBlock;
    std::vector<char> members;  // by block
  };

  Stepping stepping = Stepping::Together;
  std::vector<BlockId> points;  // where threads go on behind a stop: the entry, targets of barriers, spin headers
  std::vector<Spin> spins;      // loops whose end may depend on what another thread writes
  std::vector<char> unsteady;   // by value: lives across a stop and is not steady; empty for Together

  bool parks() const { return stepping != Stepping::Together; }
  /// The loop that spins with `header`, or null.
  const Spin* spinAt(BlockId header) const {
    for (const Spin& s : spins)
      if (s.header == header) return &s;
    return nullptr;
  }
};

Stops findStops(const Function& function, const LaunchShape& launch);

}  // namespace ordito::ir
