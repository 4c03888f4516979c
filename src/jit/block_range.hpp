// One call of a kernel's code runs a range of blocks, so that what all blocks have in common is read once and a small
// block costs little more than its instructions: a call by itself, with its guard, takes as long as ten warps of saxpy.
//
// Code whose blocks may be suspended, or that tells listeners of each block, runs one block a call.
#pragma once

#include "jit/emission_context.hpp"

namespace ordito::jit {

class BlockRange : private Emitting {
 public:
  explicit BlockRange(EmissionContext& context) : Emitting(context) {}

  /// Begins the loop over `count` blocks, of which the frame names the first. What is emitted behind it runs for each.
  void begin(LlvmValue count);
  /// Ends it; code goes on behind the last block.
  void end();

 private:
  /// Of the frame's field for dimension `d`.
  LlvmValue addressOf(size_t field, unsigned d);

  llvm::BasicBlock* head_ = nullptr;
  llvm::PHINode* left_ = nullptr;
};

/// May one call run several blocks of the kernel?
inline bool runsRanges(const simt::Plan& plan) { return !plan.syncPoints.diverges() && !plan.facts.accesses; }

}  // namespace ordito::jit
