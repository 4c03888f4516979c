// Regions of threads that can get diverged: a loop around the lane scheduler, which says which region which lanes of a
// warp run next, until all meet again.
#pragma once

#include "jit/kernel_parts.hpp"

namespace ordito::jit {

class ScheduledRegions : private Chapter {
 public:
  explicit ScheduledRegions(KernelParts& parts) : Chapter(parts.tools), parts_(parts), state_(parts.state) {}

  void start(llvm::BasicBlock* round, llvm::PHINode* state);
  void emit(llvm::BasicBlock* round, llvm::PHINode* state, llvm::BasicBlock* done);
  void enter(uint32_t resumePoint);
  void emitBreak(uint32_t resumePoint);
  void checkBarrierNumber(const Instruction& i, uint32_t line);
  void stop(BlockId b, const Parts& mask);
  void noteSpin(BlockId header, const Parts& lanes, uint32_t limit);
  void stopSpinning(BlockId header, LlvmValue bits, const Parts& lanes);

 private:
  void emitRegion(const simt::RegionCode& code, LlvmValue lanes, llvm::SwitchInst* choice);
  void enterRegion(uint32_t resumePoint, LlvmValue lanes);
  void takeBarrierResults(uint32_t resumePoint, LlvmValue lanes);
  LlvmValue laneScheduler();
  void stopForWarp(const ir::Terminator& end, LlvmValue lanes);
  void stopAtBarrier(BlockId b, const Parts& mask, LlvmValue lanes);

  KernelParts& parts_;
  RegionState& state_;
  llvm::BasicBlock *scheduledIteration_ = nullptr, *suspend_ = nullptr;
};

}  // namespace ordito::jit
