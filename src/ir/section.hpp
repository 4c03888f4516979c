// Sections of a kernel in SSA form, blocks with one way in and at most one way out, and copies of
// them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::ir {

struct Section {
  BlockId first = kNoBlock;
  BlockId exit = kNoBlock;      // or none: threads end in the section
  std::vector<BlockId> blocks;  // in ascending order; `first` is not the kernel's entry
};

/// Cuts the block in front of its instruction `at`. The rest is a new block at the end of the list, which is returned.
BlockId splitBlock(Function& function, BlockId b, size_t at);

/// The smallest section that begins at `first` and has all of `blocks` in it; nothing if there is none, or if a thread
/// can wait in it, or end though others come out of it.
std::optional<Section> findSection(const Function& function, BlockId first, const std::vector<BlockId>& blocks);

/// Makes copies of a section. Until `finish` the kernel's blocks are in no order.
class SectionCopies {
 public:
  /// The instruction that takes the place of `i`, which has the copy's names. What is appended to `before` comes in
  /// front of it.
  using Change = std::function<void(Instruction& i, std::vector<Instruction>& before)>;

  SectionCopies(Function& function, const Section& section);
  /// One more copy, to which nobody leads yet. In it `names` stand for other values of the kernel. Returns its first
  /// block.
  BlockId add(std::map<ValueId, ValueId> names, const Change& change);
  /// A value of its own, like another.
  ValueId newValue(ValueId like);
  /// Puts the kernel's blocks in reverse post-order again.
  void finish();

 private:
  void closeWithPhis();
  void leadToExit(BlockId from, BlockId copy, const std::map<ValueId, ValueId>& names);

  Function& f_;
  const Section section_;
};

}  // namespace ordito::ir
