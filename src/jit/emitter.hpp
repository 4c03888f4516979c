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
  /// From now on, groups of warps some of whose lanes end at once run one warp at a time, in a function of their own:
  /// the coarsened code of a warp that is not whole is as long as that of a whole one, and hardly ever runs. To be
  /// called before `emit`; only for kernels of one region, without counters.
  void partWarps(const std::string& name) { apartName_ = name; }
  /// Has `emit` called that function?
  bool hasParted() const { return apart_ != nullptr; }
  /// Emits it, from this Emitter's shapes, which are those of single warps: f(frame, first warp) runs `warps` warps.
  EmittedKernel emitApart(const std::string& name, unsigned warps);

 private:
  // ---- emitter.cpp: the skeleton
  // -------------------------------------------------------------------------------------------------------
  llvm::Function* declare(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters);
  void emitFunction(unsigned groups);
  void emitPrologue();
  void emitRegions();
  void beginRegion(simt::Region region);
  void emitRegion(uint32_t resumePoint);
  void emitReturn(machine::BlockStatus status);
  void makeState();
  void beginLines(const std::string& name);
  void setLine(uint32_t line);
  /// May code be compiled for warps all of whose lanes are there, besides that for any warp? Not what a block of a
  /// large kernel runs once.
  bool hasFullVersion() const {
    const simt::Regions& regions = plan_.regions;
    const bool runsOnce =
        currentResumePoint_ == 0 && regions.resumePoints.size() > 1 && regions.instructions > simt::cost::kLargeKernel;
    return !plan_.exits.needsLive || (!baseline_ && !runsOnce);
  }
  Parts initialLive();

  // ---- stepping.cpp: blocks whose threads can get diverged
  // ----------------------------------------------------------------------------------------------------
  struct SpinIterations {
    llvm::AllocaInst *before, *count;  // who went round last time, and how often nobody has left since
  };
  void emitScheduledStart(llvm::BasicBlock* round, llvm::PHINode* state);
  void emitScheduledRegions(llvm::BasicBlock* round, llvm::PHINode* state, llvm::BasicBlock* done);
  void enterScheduledRegion(uint32_t resumePoint, LlvmValue lanes);
  bool comesInPart(uint32_t resumePoint) const;
  void enterScheduled(uint32_t resumePoint);
  void emitBreak(uint32_t resumePoint);
  LlvmValue laneScheduler();
  void takeBarrierResults(uint32_t resumePoint, LlvmValue lanes);
  void emitSyncPoint(BlockId b, const Parts& mask);
  static const ptx::Operand* barrierOperand(const Instruction& i, std::string_view name);
  void checkBarrierNumber(const Instruction& i, uint32_t line);
  void noteSpin(BlockId header, uint32_t version);
  SpinIterations beginSpinIterations();
  void endSpinIteration(BlockId header, LlvmValue waiting, llvm::BasicBlock* loop, llvm::BasicBlock* after,
                        const SpinIterations& turns);

  // ---- control.cpp: blocks, branches, masks
  // ----------------------------------------------------------------------------------------------
  /// How a piece of code is specialised: `full` = no lane of the group has ended; `assumed` = divergent branches on
  /// which all lanes agreed.
  struct Version {
    bool full = true;
    std::vector<BlockId> assumed;
    auto operator<=>(const Version&) const = default;
  };
  using BlockKey = std::pair<uint32_t, BlockId>;  // version number, block
  uint32_t versionNumber(const Version& v);
  const simt::Masks& masksOf(uint32_t version);
  uint32_t versionAt(uint32_t version, BlockId block);
  llvm::BasicBlock* blockFor(BlockId b, uint32_t version);
  llvm::BasicBlock* componentFor(uint32_t component, uint32_t version);
  void drainWork();
  void emitUniformBlock(BlockId b, uint32_t version);
  void emitUniformEnd(BlockId b, uint32_t version);
  void emitDivergentEnd(BlockId b, uint32_t version);
  void emitRetire(BlockId b, uint32_t version, unsigned side);
  void endRetiring(llvm::BasicBlock* die);
  bool canPartAt(BlockId b) const;
  void branchOnBase(const ir::Terminator& end, llvm::BasicBlock* const all[2]);
  void runApart();
  void goTo(BlockId from, BlockId to, uint32_t version);
  void emitComponent(uint32_t component, uint32_t version);
  ir::Graph graphWithSyncPoints(const std::vector<BlockId>& nodes, BlockId cut) const;
  void emitSequence(const std::vector<BlockId>& nodes, uint32_t version, BlockId cut);
  void emitMaskedBlock(BlockId b, uint32_t version);
  void emitMaskedEnd(BlockId b, uint32_t version, const Parts& mask);
  bool emitUniformLoop(const std::vector<BlockId>& loop, uint32_t version);
  void noteWhatOutlivesIterations(const std::vector<BlockId>& loop, BlockId header);
  void forgetDefinitions(const std::vector<BlockId>& loop);
  void assignPhis(BlockId from, BlockId to, const Parts& mask);
  void addPending(BlockId b, const Parts& mask);
  Parts takePending(BlockId b);
  void endRegion(uint32_t nextState, bool isWhole = false);
  void arrive(BlockId to, uint32_t version);
  void clearPending(uint32_t component, uint32_t version);
  bool isWorthSpecialising(BlockId b, uint32_t version) const;
  uint32_t optimisticVersion(BlockId to, uint32_t version);
  std::vector<llvm::AllocaInst*>& pendingSlots(BlockId b);
  void emitTrap(const ir::Terminator& end, const Parts& mask);
  void emitCode(BlockId b);
  Parts liveMask(uint32_t version);

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
  std::vector<char>& outlivesIteration_ = t_.values.outlivesIteration();  // see noteWhatOutlivesIterations
  std::set<Alignment::Root>& checkedRoots_ = t_.alignment.checkedRoots();
  std::map<AccessEvents::Groups, LlvmValue>& countedGroups_ = t_.events.countedGroups();
  Parts& mask_ = c_.at.mask;
  bool& maskHasLane_ = c_.at.hasLane;
  uint32_t& currentLine_ = c_.at.line;
  llvm::AllocaInst*& counters_ = t_.counting.words();

  LlvmValue firstGroup_ = nullptr, groupsEnd_ = nullptr;  // of those that the function runs
  std::string apartName_;  // of a function for single warps, if the kernel may have one: see partWarps
  llvm::Function* apart_ = nullptr;
  llvm::AllocaInst* nextState_ = nullptr;
  std::vector<llvm::AllocaInst*> live_;  // per part

  bool inScheduled_ = false;  // the code being emitted is that of lanes diverged
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

  std::vector<Version> versions_;
  std::map<Version, uint32_t> versionNumbers_;
  std::map<uint32_t, simt::Masks> masks_;  // of the region, by version
  std::map<BlockKey, llvm::BasicBlock*> blocks_;
  std::map<BlockKey, llvm::BasicBlock*> components_;
  std::vector<std::function<void()>> work_;
  size_t asked_ = 0;                    // instructions of the versions of blocks that are or will be emitted
  std::optional<simt::Region> region_;  // whose code is being emitted
  std::map<BlockId, std::vector<llvm::AllocaInst*>> pending_;
  llvm::DISubprogram* lines_ = nullptr;  // debug information that maps machine code to PTX lines
};

}  // namespace ordito::jit
