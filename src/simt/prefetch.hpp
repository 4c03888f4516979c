// Loads of which it is known where they read next, and where no hardware prefetcher follows.
//
// A grid-stride loop jumps far between iterations of one warp; its step is known before the loop, so the line that is
// read some iterations on is asked for now. And a block that reads small pieces far apart, as the rows of a tile, waits
// for each of them anew; the next block of the same worker reads on behind each piece (block forms,
// ir/block_forms.hpp), so its pieces are asked for while this block computes. So are those of a block that reads
// several pieces, one for each of its loads, since each block begins a stream of its own; and the one piece of a block
// that stays with it in a loop with barriers: the hardware does not follow a stream that stands still for so long.
//
// To ask for memory that is not there costs a walk through the page table each time. Many loops over the grid's stride
// have few iterations, or one, since the grid covers all: they ask only while they will get that far, and what their
// first iterations read the block before asks for in its own.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/definitions.hpp"
#include "simt/facts.hpp"

namespace ordito::simt {

/// A loop goes on while `counter`, which grows by `step`, is below `limit`: numbers of lane 0, read as `type`. What is
/// read some iterations on exists if the counter is below its limit by then.
struct StaysWhile {
  ValueId counter = ir::kNoValue;
  ptx::Operand step, limit;  // immediates, or registers that are the same for all lanes
  isa::Type type{};
};

/// How far an address moves from one iteration of its loop to the next: `step`, the same for all lanes, times `factor`
/// bytes. Without a step: by `factor` bytes from a block to the next.
struct Advance {
  enum class When : uint8_t {
    Ahead,
    Among,   // line by line between the load's own vectors, where all of them together would have to wait in a queue
    Behind,  // of the rows of a tile each is a piece of its own, and so many lines would stand before those needed now
  };
  ValueId step = ir::kNoValue;
  int64_t factor = 1;
  When when = When::Ahead;
  std::optional<StaysWhile> staysWhile = {};  // none: it is not known, and asked anyway
  int64_t nextBlock = 0;                      // bytes to where the next block reads in the same iteration; 0: not known
  bool isToNextBlock() const { return step == ir::kNoValue; }
};

/// Loads from global memory whose address is segmented. In loops constant steps are the hardware's business.
using Prefetches = std::map<const Instruction*, Advance>;

Prefetches findPrefetches(const ir::Analyses& analyses, const ir::Shapes& shapes, const ir::LaunchShape& launch);

std::string print(const Prefetches& prefetches, const ir::Function& function);

}  // namespace ordito::simt
