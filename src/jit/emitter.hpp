// Emits the LLVM function that runs one thread block of one kernel.
//
// The function is a loop over the regions between barriers; a region is a loop over groups of `coarsening` warps;
// inside, every PTX instruction is done for a whole warp ("part" below) at a time. Values keeps SSA
// values in stack slots (LLVM turns them into registers); control.cpp turns the CFG into plain branches where lanes
// agree and into masks where they may not; Instructions holds the chapters.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>

#include <functional>
#include <map>
#include <optional>

#include "jit/barrier_reductions.hpp"
#include "jit/spill_slots.hpp"

namespace ordito::jit {

class Emitter {
 public:
  /// The plan must outlive the emitter, which reads it only.
  Emitter(llvm::Module& module, const simt::Plan& plan, const machine::KernelLayout& layout, const Target& target);
  EmittedKernel emit(const std::string& name);
  /// Emits the function that `run-apart` calls (simt/parting.hpp), from the plan of a single warp: f(frame, first warp)
  /// runs `warps` warps. It is called `name` in the code of the group; see nameOfApart.
  EmittedKernel emitApart(const std::string& name, unsigned warps);

  static std::string nameOfApart(const std::string& name) { return name + "_apart"; }

 private:
  friend class CodeLowering;
  // ---- emitter.cpp: the skeleton
  // -------------------------------------------------------------------------------------------------------
  llvm::Function* declare(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters);
  void emitFunction(unsigned groups);
  void emitPrologue();
  void emitRegions();
  const simt::RegionCode& codeOf(uint32_t resumePoint) const;
  void emitRegion(uint32_t resumePoint);
  void emitReturn(machine::BlockStatus status);
  void makeState();
  void beginLines(const std::string& name);
  void setLine(uint32_t line);
  Parts initialLive();

  // ---- stepping.cpp: blocks whose threads can get diverged
  // ----------------------------------------------------------------------------------------------------
  void emitScheduledStart(llvm::BasicBlock* round, llvm::PHINode* state);
  void emitScheduledRegions(llvm::BasicBlock* round, llvm::PHINode* state, llvm::BasicBlock* done);
  void enterScheduledRegion(uint32_t resumePoint, LlvmValue lanes);
  void emitScheduledRegion(const simt::RegionCode& code, LlvmValue lanes, llvm::SwitchInst* choice);
  void enterScheduled(uint32_t resumePoint);
  void emitBreak(uint32_t resumePoint);
  LlvmValue laneScheduler();
  void takeBarrierResults(uint32_t resumePoint, LlvmValue lanes);
  void emitSyncPoint(BlockId b, const Parts& mask);
  static const ptx::Operand* barrierOperand(const Instruction& i, std::string_view name);
  void checkBarrierNumber(const Instruction& i, uint32_t line);
  void noteSpin(BlockId header, const Parts& lanes, uint32_t limit);
  void stopSpinning(BlockId header, LlvmValue bits, const Parts& lanes);

  // ---- control.cpp: what the lowering of SIMT code (code_lowering.hpp) is made of
  // ----------------------------------------------------------------------------------------------
  void runApart();
  void assignPhis(BlockId from, BlockId to, const Parts& mask);
  std::vector<llvm::AllocaInst*>& pendingSlots(BlockId b);
  void emitTrap(const ir::Terminator& end);
  void emitCode(BlockId b);

  // ---- what the skeleton and the control flow take from the classes below, by short names
  // ----------------------------------------------------------------------------------------------------------------
  using SlotList = std::vector<llvm::AllocaInst*>;
  llvm::BasicBlock* newBlock(const char* name) { return c_.newBlock(name); }
  LlvmValue helper(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, bool noReturn = false) {
    return c_.helper(name, result, arguments, noReturn);
  }
  LlvmValue frameField(size_t offset, llvm::Type* type, const char* name) { return c_.frameField(offset, type, name); }
  LlvmValue scratchAddress(size_t offset) { return c_.scratchAddress(offset); }
  LlvmValue scratchOfGroup(size_t offset, size_t bytes) { return c_.scratchOfGroup(offset, bytes); }
  llvm::Type* storageType() { return t_.masks.storageType(); }
  LlvmValue toStorage(LlvmValue mask) { return t_.masks.toStorage(mask); }
  LlvmValue fromStorage(LlvmValue stored) { return t_.masks.fromStorage(stored); }
  LlvmValue allOnes() { return t_.masks.allOnes(); }
  LlvmValue noLanes() { return t_.masks.noLanes(); }
  LlvmValue laneBits(LlvmValue mask) { return t_.masks.laneBits(mask); }
  LlvmValue anyLane(LlvmValue mask) { return t_.masks.anyLane(mask); }
  LlvmValue anyLane(const Parts& mask) { return t_.masks.anyLane(mask); }
  Parts both(const Parts& a, const Parts& b) { return t_.masks.both(a, b); }
  Parts butNot(const Parts& a, const Parts& b) { return t_.masks.butNot(a, b); }
  Parts conditionMask(ValueId condition, bool negated) { return t_.values.conditionMask(condition, negated); }
  LlvmValue splat(LlvmValue scalar) { return t_.values.splat(scalar); }
  LlvmValue patternVector(const ir::Pattern& p, llvm::Type* type) { return t_.values.patternVector(p, type); }
  LlvmValue constant(isa::Type t, uint64_t bits, bool vector) { return t_.values.constant(t, bits, vector); }
  LlvmValue convertBits(LlvmValue v, llvm::Type* to) { return t_.values.convertBits(v, to); }
  llvm::Type* valueType(ValueId v, bool vector) { return t_.values.valueType(v, vector); }
  CachedValue& cached(ValueId v) { return t_.values.cached(v); }
  LlvmValue baseOf(ValueId v, unsigned part, unsigned group) { return t_.values.baseOf(v, part, group); }
  LlvmValue vectorOf(ValueId v, unsigned part) { return t_.values.vectorOf(v, part); }
  unsigned partsOf(ValueId v) const { return t_.values.partsOf(v); }
  LlvmValue fromBases(const ir::Shape& s, const Parts& bases, llvm::Type* type) {
    return t_.values.fromBases(s, bases, type);
  }
  LlvmValue regroup(const ir::Shape& s, const Parts& bases, unsigned groups, unsigned group, bool addPattern) {
    return t_.values.regroup(s, bases, groups, group, addPattern);
  }
  void store(ValueId v, const CachedValue& value, const Parts& mask) { t_.values.store(v, value, mask); }
  void forget(ValueId v) { t_.values.forget(v); }
  void makeSlots() { t_.values.makeSlots(); }
  LlvmValue mended(ValueId v, LlvmValue x) { return t_.operands.mended(v, x); }
  LlvmValue operand(const ptx::Operand& o, isa::Type t, const Source& s) { return t_.operands.operand(o, t, s); }
  void forEachLane(LlvmValue mask, llvm::function_ref<void(LlvmValue lane)> body) { t_.calls.forEachLane(mask, body); }
  void makePrivateSlots() {
    c_.result.localBytes = plan_.privateSlots.localBytes;
    t_.privates.makeSlots();
  }
  void raiseIssues(const ir::Block& block) { t_.counting.raiseIssues(block); }
  void raiseGuardedIssue(const Instruction& i) { t_.counting.raiseGuardedIssue(i); }
  void raiseEnd(const ir::Terminator& end, const Parts& mask, bool divergent, ValueId condition) {
    t_.counting.raiseEnd(end, mask, divergent, condition);
  }
  void raiseExit(const ir::Terminator& end, const Parts& mask) { t_.counting.raiseExit(end, mask); }
  void flushCounters() { t_.counting.flush(); }
  void finishCounters() { t_.counting.finish(); }
  void emitInstruction(const Instruction& i) { instructions_.emit(i); }
  bool isDefinedHere(ValueId v) const { return spillSlots_.isDefinedHere(v); }
  LlvmValue spillSlotOf(ValueId v) { return spillSlots_.addressOf(v); }
  void keepLanes(LlvmValue value, LlvmValue slot, LlvmValue mask) { spillSlots_.keepLanes(value, slot, mask); }
  void spillForBarrier(uint32_t resumePoint, const Parts& mask = {}) { spillSlots_.spill(resumePoint, mask); }
  void reloadAfterBarrier(uint32_t resumePoint) { spillSlots_.reload(resumePoint); }
  void clearPrivateCopies() { copies_.clear(); }
  void addPrivateCopies() { copies_.addUp(); }
  void clearBarrierReduction() { reductions_.clear(); }
  void arriveAtBarrierReduction(const Instruction& i, const Parts& mask) { reductions_.arrive(i, mask); }
  void takeBarrierReduction(uint32_t resumePoint) { reductions_.take(resumePoint); }
  void deliverBarrierReduction(uint32_t resumePoint) { reductions_.deliver(resumePoint); }

  // ---- state
  // -----------------------------------------------------------------------------------------------------------------------------------
  Tools t_;
  Instructions instructions_{t_};
  SpillSlots spillSlots_{t_, instructions_};
  BarrierReductions reductions_{t_};
  PrivatisedCopies copies_{t_};

  EmissionContext& c_ = t_.context;
  llvm::LLVMContext& context_;
  llvm::Module& module_;
  const simt::Plan& plan_;
  const ir::Function& f_;
  const ir::SyncPoints& syncPoints_;
  const ir::Shapes& shapes_;
  const machine::KernelLayout& layout_;
  const Target& target_;
  const bool counting_, baseline_;
  const unsigned coarsening_, warps_, groups_;
  llvm::IRBuilder<>& b_ = c_.b;
  llvm::Function*& function_ = c_.function;
  llvm::BasicBlock*& entry_ = c_.entry;
  LlvmValue& frame_ = c_.frame;
  LlvmValue &parameters_ = c_.memory.parameters, &shared_ = c_.memory.shared, &scratch_ = c_.memory.scratch,
            &local_ = c_.memory.local, &globals_ = c_.memory.globals;
  LlvmValue (&ctaid_)[3] = c_.memory.ctaid, (&nctaid_)[3] = c_.memory.nctaid;
  LlvmValue& group_ = c_.at.group;
  EmittedKernel& result_ = c_.result;
  const ir::Block*& emitted_ = c_.at.block;
  std::map<ValueId, Comparison>& comparisons_ = instructions_.comparisons().all();
  uint32_t& currentResumePoint_ = c_.at.resumePoint;
  std::vector<Slots>& slots_ = t_.values.slots();
  std::map<ValueId, CachedValue>& valueCache_ = t_.values.cache();
  std::set<Alignment::Root>& checkedRoots_ = t_.alignment.checkedRoots();
  std::map<AccessEvents::Groups, LlvmValue>& countedGroups_ = t_.events.countedGroups();
  Parts& mask_ = c_.at.mask;
  bool& maskHasLane_ = c_.at.hasLane;
  uint32_t& currentLine_ = c_.at.line;
  llvm::AllocaInst*& counters_ = t_.counting.words();

  LlvmValue firstGroup_ = nullptr, groupsEnd_ = nullptr;  // of those that the function runs
  llvm::AllocaInst* nextState_ = nullptr;
  std::vector<llvm::AllocaInst*> live_;  // per part

  const std::vector<ValueId>*& keeping_ = t_.values.keeping();
  llvm::BasicBlock *scheduledIteration_ = nullptr, *suspend_ = nullptr;
  llvm::BasicBlock* regionLatch_ = nullptr;
  /// A value of all warps that the region changes: where it is, what it was before the region, and what it is behind
  /// it.
  struct SharedValue {
    llvm::AllocaInst* slot;
    LlvmValue before;
    llvm::AllocaInst* after;
  };
  std::vector<SharedValue> sharedValues_;
  llvm::BasicBlock* regionAdvance_ =
      nullptr;                         // past the store of the lanes that have not ended; null if all must store
  const bool diverges_;                // threads can get diverged somewhere: see stepping.cpp
  llvm::AllocaInst* spins_ = nullptr;  // turns of spinning loops in the running region

  const simt::Region*& region_ = c_.at.region;
  std::map<BlockId, std::vector<llvm::AllocaInst*>> pending_;
  llvm::DISubprogram* lines_ = nullptr;  // debug information that maps machine code to PTX lines
};

}  // namespace ordito::jit
