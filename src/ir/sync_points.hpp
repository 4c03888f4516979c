// Where threads of a block may have to wait for one another, and how far that can take them diverged.
//
// Barriers that all threads reach together only cut the kernel. Any other wait (a barrier that only some threads reach
// or that takes a thread count, a loop that spins until another thread writes) lets threads pass the same place at
// different times, until the next barrier at which all of them meet. The blocks in between are an *independently
// scheduled region*. What is computed there and lives across a synchronisation point needs a spill slot for each warp,
// or for each lane, unless every thread is sure to have the same: because it is *schedule-invariant*, computed from the
// thread's place, the parameters and constants alone, so that every pass gives the same; or, where all meet and thus
// pass for the same time, because it depends on no memory.
#pragma once

#include <set>
#include <vector>

#include "ir/graph.hpp"
#include "ir/ir.hpp"
#include "ir/loops.hpp"
#include "ir/shape.hpp"

namespace ordito::ir {

struct SyncPoints {
  /// Who can be diverged with whom.
  enum class Stepping : uint8_t {
    Together,  // nobody: all are barriers that the whole block reaches
    Warps,     // warps, each as a whole
    Lanes,     // lanes of one warp
  };
  Stepping stepping = Stepping::Together;   // the worst of all independently scheduled regions
  std::vector<BlockId> resumePoints;        // where threads go on: the entry, targets of barriers, spin headers
  std::vector<Loop> spins;                  // loops whose end may depend on what another thread writes
  std::vector<Stepping> independentRegion;  // by block: who may be diverged while it runs
  std::vector<char> meets;                  // by block: ends at a barrier that all threads of the block reach together
  std::vector<char> differs;                // by block: threads diverged may leave it on different edges
  std::vector<Stepping>
      scheduleVariant;       // by value: who may have another one, where it lives across a synchronisation point
  std::set<uint32_t> apart;  // PTX lines of warp operations that lanes may reach from two sides of a branch
  bool polls = false;        // a loop with such a barrier in it waits for other blocks

  bool diverges() const { return stepping != Stepping::Together; }
  /// The loop that spins with `header`, or null.
  const Loop* spinAt(BlockId header) const {
    for (const Loop& s : spins)
      if (s.header == header) return &s;
    return nullptr;
  }
  /// Must threads that reach the end of block `b`, a barrier, wait while others go on?
  bool isIndependent(const Function& f, BlockId b) const {
    return f.blocks[b].end.kind == Terminator::Kind::Barrier && !meets[b];
  }
};

SyncPoints findSyncPoints(const Analyses& analyses, const LaunchShape& launch);

/// The control-flow graph without the edges behind barriers.
Graph graphBetweenSyncPoints(const Function& function);

/// Adds the PTX lines of the warp operations that lanes diverged may reach. Returns whether there were new ones.
bool addWarpSyncPoints(const Function& function, const SyncPoints& syncPoints, std::set<uint32_t>& lines);

}  // namespace ordito::ir
