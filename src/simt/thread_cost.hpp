// What an iteration of a loop takes, as vectors of 32 lanes and thread by thread. Estimates in quarters of a cycle:
// they need not be right, only to say which is less.
#pragma once

#include <optional>

#include "ir/definitions.hpp"
#include "ir/loops.hpp"
#include "ptx/operands.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

struct ThreadCost {
  double asVectors = 0, byThread = 0;
  unsigned walks = 0;      // accesses that read on where the same thread has read in the iteration before
  unsigned scattered = 0;  // accesses whose lanes lie apart
};

/// Of a loop of `nest`, for a kernel whose shapes are those of whole warps.
class ThreadCosts {
 public:
  ThreadCosts(const ir::Function& function, const ir::Shapes& shapes, const ir::Definitions& definitions,
              const ir::LoopNest& nest, const Processor& processor)
      : f_(function), shapes_(shapes), definitions_(definitions), nest_(nest), processor_(processor) {}
  ThreadCost of(const ir::Loop& loop) const;
  /// How many bytes an address in `block` moves in each iteration of the innermost loop around it; nothing if that is
  /// no constant. An index of 32 bits is taken to stay within them.
  std::optional<int64_t> stepOf(ValueId address, BlockId block) const;

 private:
  /// Of what is done in each iteration of the loop.
  struct Share {
    double iterations;  // of inner loops, to one of the outermost
    double lanes;       // that are busy, of 32
  };
  Share shareOf(BlockId block, const ir::Loop& loop) const;
  bool partsLanes(const ir::Loop& loop) const;
  bool leaves(BlockId block, const ir::Loop& loop) const;
  bool isWalk(ValueId address, BlockId block) const;
  std::optional<int64_t> advance(ValueId v, const ir::Loop& loop, unsigned depth) const;
  std::optional<int64_t> advance(const ptx::Operand& o, const ir::Loop& loop, unsigned depth) const;
  std::optional<int64_t> counterStep(ValueId v, const ir::Phi& phi, const ir::Loop& loop) const;
  std::optional<int64_t> constantAdded(ValueId sum, ValueId v) const;
  void addAccess(ThreadCost& cost, const Instruction& i, const ptx::MemoryAccess& m, BlockId block, Share share) const;
  void addArithmetic(ThreadCost& cost, const Instruction& i, Share share) const;
  void addBranch(ThreadCost& cost, BlockId block, Share share) const;

  const ir::Function& f_;
  const ir::Shapes& shapes_;
  const ir::Definitions& definitions_;
  const ir::LoopNest& nest_;
  const Processor& processor_;
};

}  // namespace ordito::simt
