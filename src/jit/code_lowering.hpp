// From SIMT code (simt/code.hpp) to LLVM, an operation at a time. What is decided has been decided in simt; here an
// operation has one way to be done.
#pragma once

#include <map>

#include "jit/scheduled_regions.hpp"

namespace ordito::jit {

/// Lowers the code of one region.
class CodeLowering : private Chapter {
 public:
  CodeLowering(KernelParts& parts, ScheduledRegions& scheduled, const simt::RegionCode& region);
  /// The entry for `resumePoint` begins where LLVM instructions are being inserted now.
  void enterHere(uint32_t resumePoint);
  /// Lanes that the scheduler brings to the entries, as 32 bits.
  void give(LlvmValue lanes) { given_ = lanes; }
  /// All blocks.
  void lower();

 private:
  using Op = simt::CodeOp;
  using Operation = simt::CodeOperation;
  /// A spinning loop's iterations so far.
  struct Spin {
    llvm::AllocaInst *before, *count;  // who went round last time, and how often nobody has left since
  };

  void lower(simt::CodeBlockId b);
  void lower(const Operation& o);
  Parts makeMask(const Operation& o);
  Parts kept();
  bool lowerState(const Operation& o);
  bool lowerSynchronisation(const Operation& o);
  void lowerEnd(const Operation& o);
  void run(const Operation& o);
  void setLive(const Parts& lanes);
  void retire(const Parts& lanes);
  void wait(BlockId b, const Parts& lanes);
  void clearWaiting(BlockId b);
  void branchOnBase(const Operation& o);
  void branchWhole(const Operation& o);
  Spin beginSpin();
  void branchSpin(const Operation& o);
  // ---- stretches.cpp
  llvm::AllocaInst* makeRecord(const simt::Stretch& stretch);
  void runThreads(const Operation& o);
  // ---- block_lowering.cpp: what the operations are made of
  Parts launched();
  void emitCode(BlockId b);
  void runApart();
  void assignPhis(BlockId from, BlockId to, const Parts& mask, const std::vector<ValueId>& freely = {});
  std::vector<llvm::AllocaInst*>& waitingSlots(BlockId b);
  void emitTrap(const ir::Terminator& end);

  llvm::BasicBlock* at(simt::CodeBlockId b);
  llvm::BasicBlock* target(const Operation& o, unsigned k);
  const Parts& maskFor(simt::MaskId m) const { return m == simt::kAllLanes ? allLanes_ : lanes_[m]; }

  KernelParts& parts_;
  RegionState& state_;
  ScheduledRegions& scheduled_;
  const simt::RegionCode& code_;
  simt::CodeBlockId block_ = 0;
  LlvmValue given_ = nullptr;
  const Parts allLanes_;      // empty
  std::vector<Parts> lanes_;  // by number
  std::vector<llvm::BasicBlock*> blocks_;
  std::vector<std::vector<simt::CodeBlockId>> heirs_;  // by block: those that inherit its values
  std::map<simt::CodeBlockId, std::map<ValueId, CachedValue>> starts_;
  std::map<BlockId, Spin> spinning_;  // by header
};

}  // namespace ordito::jit
