// What is run thread by thread. Where each thread walks memory of its own, such as a row of a sparse matrix, the lanes
// of a warp read 32 places in each turn, for which a gather takes as long as 32 loads, and they go round until the last
// of them is done. One thread after the other, as a program for a CPU would, reads on in one place, and nobody waits
// for anybody.
//
// What is chosen are loops. Those that follow each other (compilers unroll a loop by four, and have another one for the
// rest) become one stretch with what lies between them. A stretch is a function of its own, whose plan is that of warps
// of one lane (LaunchShape::byThread): every value is uniform, so instructions are done by the same bodies as scalars,
// and there are no masks. What it finds and what it leaves goes through a record in memory, in which values that differ
// are arrays of 32.
//
// Where counters listen, stretches are innermost loops alone, and say what has to be counted of them
// (counted_iterations.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/definitions.hpp"
#include "ir/sync_points.hpp"
#include "simt/counted_iterations.hpp"
#include "simt/facts.hpp"
#include "simt/private_slots.hpp"

namespace ordito::simt {

/// Blocks with one way in and one way out.
struct Stretch {
  /// A value in the record.
  struct Entry {
    ValueId value;
    bool isShared;  // one for all lanes
    uint32_t offset;
  };
  BlockId first = ir::kNoBlock;
  BlockId exit = ir::kNoBlock;  // to which all threads leave
  std::vector<BlockId> blocks;  // in the kernel's order
  std::vector<Entry> finds;     // what its blocks read and others have made
  std::vector<Entry> leaves;    // what they make and others read
  uint32_t recordBytes = 0;
  std::optional<CountedIterations> counted;

  bool contains(BlockId b) const;
};

struct Stretches {
  /// What was thought of one of the kernel's loops.
  struct Verdict {
    BlockId header;
    std::string_view obstacle;             // why it is not run so; nothing if it is, or takes no less time
    unsigned asVectors = 0, byThread = 0;  // cycles that a warp's turn is estimated to take
    bool isChosen = false;
    bool isClose = false;  // the estimates are too close to each other to be trusted
  };
  std::vector<Stretch> stretches;
  std::vector<Verdict> verdicts;

  bool hasCloseCall() const;

  /// The one that the block belongs to, or null.
  const Stretch* with(BlockId b) const;
  /// The one that begins there, or null.
  const Stretch* from(BlockId b) const;
};

/// The parts of the plan that the choice depends on.
struct StretchInputs {
  const ir::Analyses& analyses;
  const ir::SyncPoints& syncPoints;
  const Facts& facts;
  const ir::Shapes& shapes;
  const PrivateSlots& privateSlots;
};

Stretches findStretches(const StretchInputs& inputs);

std::string print(const Stretches& stretches, const ir::Function& function);

}  // namespace ordito::simt
