// Which blocks of a kernel can be run thread by thread (by_thread.hpp).
#pragma once

#include "simt/by_thread.hpp"

namespace ordito::simt {

class StretchRules {
 public:
  explicit StretchRules(const StretchInputs& inputs) : in_(inputs), f_(inputs.analyses.function()) {}

  /// Why the blocks from `first` on, each with its flag in `members`, cannot be run so; nothing if they can.
  std::string_view obstacleTo(BlockId first, const std::vector<char>& members) const;
  /// The one block outside to which members lead; none if there are several.
  BlockId exitOf(const std::vector<char>& members) const;
  /// Values that members make and others read: the phis of the exit, and what lies between loops (what a loop makes
  /// goes through phis).
  std::vector<ValueId> leavesOf(const std::vector<char>& members) const;

 private:
  std::string_view obstacleIn(BlockId b, BlockId first, const std::vector<char>& members) const;
  std::string_view obstacleTo(const Instruction& i) const;
  std::string_view obstacleBehind(const std::vector<char>& members) const;

  const StretchInputs& in_;
  const ir::Function& f_;
};

}  // namespace ordito::simt
