// The code of a masked component (masks.hpp): one straight sequence in topological order. Each block has a set of lanes
// that wait to run it, is skipped when that is empty, and adds its lanes to those that wait for its successors; a loop
// is repeated until nobody waits at its header. Behind the component lanes are together again and code is plain. Old
// values survive in lanes that do not take part because phis are blended on edges and everything else is only read
// where it was written (LCSSA). What a loop carries around is not blended where nobody who has left reads it
// (free_phis.hpp).
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "simt/build_code.hpp"
#include "simt/code_versions.hpp"
#include "simt/code_writer.hpp"

namespace ordito::simt {

/// By value: may lanes still read the one that they computed in an iteration, when others are in the next?
using OutlivingValues = std::vector<char>;

/// `run` for a block of the kernel, and the event of its end.
void runBlock(CodeWriter& writer, const CodeInputs& inputs, const OutlivingValues& outliving, BlockId b, MaskId lanes,
              bool hasLane);

/// What lanes do that leave blocks through which they go together, on the edge from a block to another.
using Leave = std::function<void(BlockId from, BlockId to)>;

/// Blocks whose branches all `lanes` take alike, each written where `at` says.
void writeTogether(CodeWriter& writer, const CodeInputs& inputs, const OutlivingValues& outliving,
                   const std::vector<BlockId>& blocks, MaskId lanes, const std::vector<CodeBlockId>& at,
                   const Leave& leave);

class MaskedCode {
 public:
  struct Place {
    const Region& region;
    bool isScheduled;
    const Masks& masks;
  };
  MaskedCode(CodeWriter& writer, const CodeInputs& inputs, const Place& place, OutlivingValues& outliving)
      : w_(writer), in_(inputs), f_(inputs.function), place_(place), outliving_(outliving) {}
  /// Appends the code of these blocks.
  void write(const std::vector<BlockId>& blocks) { writeSequence(blocks, ir::kNoBlock); }

 private:
  void writeSequence(const std::vector<BlockId>& nodes, BlockId cut);
  void writeLoop(const std::vector<BlockId>& loop, BlockId header);
  void writeStretch(const Stretch& stretch);
  bool writeUniformLoop(const std::vector<BlockId>& loop);
  void writeBlock(BlockId b);
  void writeEnd(BlockId b, MaskId lanes);
  void goOn(BlockId to, MaskId lanes);
  void leave(BlockId from, BlockId to, MaskId lanes);
  BlockId headerOf(const std::vector<BlockId>& loop) const;
  BlockId uniformHeader(const std::vector<BlockId>& loop) const;
  bool repeats(const std::vector<BlockId>& component, BlockId header) const;
  ir::Graph graphWithSyncPoints(const std::vector<BlockId>& nodes, BlockId cut) const;
  std::vector<BlockId> waitingPlaces(const std::vector<BlockId>& loop, BlockId header) const;
  bool isClosed(BlockId behind) const;
  std::vector<BlockId> partedPlaces(const std::vector<BlockId>& loop, BlockId header) const;
  void noteOutliving(const std::vector<BlockId>& loop, const std::vector<BlockId>& waits);
  std::vector<ValueId> deadAtEndOf(const std::vector<BlockId>& loop) const;

  CodeWriter& w_;
  const CodeInputs& in_;
  const ir::Function& f_;
  const Place place_;
  OutlivingValues& outliving_;
  std::map<std::pair<BlockId, BlockId>, std::vector<ValueId>> free_;  // phis, by the edge that leads around a loop
};

}  // namespace ordito::simt
