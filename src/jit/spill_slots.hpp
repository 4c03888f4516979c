// What lives across a barrier, for each warp in the block's scratch memory: its spill slot.
#pragma once

#include "jit/instructions.hpp"

namespace ordito::jit {

class SpillSlots : private Chapter {
 public:
  SpillSlots(Tools& tools, Instructions& instructions) : Chapter(tools), instructions_(instructions) {}

  void spill(uint32_t resumePoint, const Parts& mask = {});
  void reload(uint32_t resumePoint);
  /// Of the spill slot of one of the warps that advance together.
  LlvmValue addressOf(ValueId v, unsigned part = 0);
  void keepLanes(LlvmValue value, LlvmValue spillSlot, LlvmValue mask);
  /// Does the region being emitted give the value?
  bool isDefinedHere(ValueId v) const { return c_.at.region->defines(plan_.definitions()[v]); }

 private:
  bool isWhereItWas(ValueId v) const;

  Instructions& instructions_;
};

}  // namespace ordito::jit
