// Emits the LLVM function that runs one thread block of one kernel.
//
// The function is a loop over the regions between barriers; a region is a loop over groups of `coarsening` warps;
// inside, every PTX instruction is done for a whole warp ("part" below) at a time. values.cpp keeps SSA values in stack
// slots (LLVM turns them into registers); control.cpp turns the CFG into plain branches where lanes agree and into
// masks where they may not; the chapters (integer.cpp …) hold the instructions; memory.cpp the accesses.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "ir/ir.hpp"
#include "jit/counter_term.hpp"
#include "jit/target.hpp"
#include "machine/counters.hpp"
#include "machine/device_runtime.hpp"
#include "machine/events.hpp"
#include "machine/kernel.hpp"
#include "machine/layout.hpp"
#include "ptx/matrix.hpp"
#include "simt/access_pattern.hpp"
#include "simt/accesses.hpp"
#include "simt/plan.hpp"

namespace ordito::jit {

using ir::BlockId;
using ir::Instruction;
using ir::kLanes;
using ir::ValueId;
using simt::classify;
using simt::isOrdered;
using simt::NanPlan;
using simt::Places;
using simt::placesOf;
using simt::Run;
using simt::runWidth;
using LlvmValue = llvm::Value*;
using Parts =
    std::vector<LlvmValue>;  // one entry per part (warp of the group); for masks an empty vector means "all lanes"

/// What the emitted function tells the Executable.
struct EmittedKernel {
  size_t scratchBytes = 0;
  size_t localBytes = 0;
  size_t nonTemporalBytes = 0;
  CounterTerms counters;
  std::vector<std::string> sleefNames;  // declared math functions, to be resolved at link time
};

/// A refusal met while emitting; caught at the boundary of emitKernel and turned into an Error (bodies stay free of
/// plumbing).
struct Refusal {
  std::string message;
};

/// The value of an SSA name while its block is emitted.
struct CachedValue {
  std::vector<Parts> bases;  // grouped: [part][group]
  Parts vectors;             // general, or made from the bases on demand; null where not made yet
};

/// Where an SSA value lives between blocks.
struct Slots {
  std::vector<std::vector<llvm::AllocaInst*>>
      bases;  // [part][group]; parts share one slot when the value is the same for all warps
  std::vector<llvm::AllocaInst*> vectors;  // [part]
};

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
  /// Does the region being emitted give the value?
  bool isDefinedHere(ValueId v) const { return region_->defines(plan_.definitions[v]); }
  void emitRegion(uint32_t resumePoint);
  void emitReturn(machine::BlockStatus status);
  void makeState();
  void beginLines(const std::string& name);
  void setLine(uint32_t line);
  void spillForBarrier(uint32_t resumePoint, const Parts& mask = {});
  void reloadAfterBarrier(uint32_t resumePoint);
  void rematerialise(ValueId v);
  bool isMadeHere(const Instruction& i) const;
  bool isWhereItWas(ValueId v) const;
  LlvmValue spillSlotOf(ValueId v);
  LlvmValue scratchAddress(size_t offset);
  LlvmValue scratchOfGroup(size_t offset, size_t bytesPerGroup);
  /// May code be compiled for warps all of whose lanes are there, besides that for any warp? Not what a block of a
  /// large kernel runs once.
  bool hasFullVersion() const {
    const simt::Regions& regions = plan_.regions;
    const bool runsOnce =
        currentResumePoint_ == 0 && regions.resumePoints.size() > 1 && regions.instructions > simt::cost::kLargeKernel;
    return !plan_.exits.needsLive || (!baseline_ && !runsOnce);
  }
  LlvmValue frameField(size_t offset, llvm::Type* type, const char* name);
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
  void keepLanes(LlvmValue value, LlvmValue spillSlot, LlvmValue mask);
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
  void forget(ValueId v);
  void assignPhis(BlockId from, BlockId to, const Parts& mask);
  void addPending(BlockId b, const Parts& mask);
  Parts takePending(BlockId b);
  void endRegion(uint32_t nextState, bool isWhole = false);
  void arrive(BlockId to, uint32_t version);
  void clearPending(uint32_t component, uint32_t version);
  bool isWorthSpecialising(BlockId b, uint32_t version) const;
  uint32_t optimisticVersion(BlockId to, uint32_t version);
  llvm::BasicBlock* newBlock(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }
  std::vector<llvm::AllocaInst*>& pendingSlots(BlockId b);
  void emitTrap(const ir::Terminator& end, const Parts& mask);
  void emitCode(BlockId b);

  // ---- masks.cpp
  // ---------------------------------------------------------------------------------------------------------------------------
  LlvmValue toStorage(LlvmValue mask);
  LlvmValue fromStorage(LlvmValue stored);
  llvm::Type* storageType();
  LlvmValue anyLane(LlvmValue mask);
  LlvmValue anyLane(const Parts& mask);
  LlvmValue laneBits(LlvmValue mask);  // i32
  LlvmValue allOnes();
  LlvmValue noLanes();
  Parts conditionMask(ValueId condition, bool negated);
  Parts both(const Parts& a, const Parts& b);
  Parts butNot(const Parts& a, const Parts& b);
  Parts liveMask(uint32_t version);
  LlvmValue maskOf(const Parts& mask, unsigned part) { return mask.empty() ? nullptr : mask[part]; }
  Parts guardedMask(const Instruction& i);

  // ---- values.cpp
  // --------------------------------------------------------------------------------------------------------------------------
  llvm::Type* typeOf(isa::Type t, bool vector);
  llvm::Type* valueType(ValueId v, bool vector) { return typeOf(f_.values[v].type, vector); }
  void makeSlots();
  CachedValue& cached(ValueId v);
  LlvmValue baseOf(ValueId v, unsigned part, unsigned group);
  LlvmValue vectorOf(ValueId v, unsigned part);
  void define(ValueId v, CachedValue value);
  void defineVector(ValueId v, Parts vectors);
  void store(ValueId v, const CachedValue& value, const Parts& mask);
  LlvmValue splat(LlvmValue scalar);
  LlvmValue fromBases(const ir::Shape& shape, const Parts& bases, llvm::Type* scalarType);
  LlvmValue regroup(const ir::Shape& shape, const Parts& bases, unsigned groups, unsigned group, bool addPattern);
  LlvmValue patternVector(const ir::Pattern& p, llvm::Type* scalarType);
  LlvmValue constant(isa::Type t, uint64_t bits, bool vector);
  LlvmValue convertBits(LlvmValue v, llvm::Type* to);
  LlvmValue mended(ValueId v, LlvmValue x);
  LlvmValue specialBase(isa::Special s, unsigned part);
  LlvmValue specialVector(isa::Special s, unsigned part);
  LlvmValue symbolAddress(const ptx::Operand& o, unsigned bits);
  bool isGrouped(ValueId v) const { return shapes_[v].isGrouped(); }
  unsigned partsOf(ValueId v) const { return simt::partsOf(shapes_, v); }

 public:
  // ---- what the chapters use
  // -----------------------------------------------------------------------------------------------------------------
  /// What a pure instruction gives: destinations in syntax order, the carry last.
  using Results = std::array<LlvmValue, 5>;
  /// Where a body's operands come from: lane vectors of one part, or the scalars of one group.
  struct Source {
    unsigned part = 0;
    int group = -1;       // -1: vectors
    unsigned groups = 1;  // of the result, when scalar
    bool addPattern = false;
    bool vector() const { return group < 0; }
  };
  /// Operand `k` of `i`, as type `t`.
  LlvmValue operand(const Instruction& i, size_t k, isa::Type t, const Source& s);
  LlvmValue operand(const ptx::Operand& o, isa::Type t, const Source& s);
  /// The same, where an f32 NaN's bits will be seen.
  LlvmValue exactBits(const ptx::Operand& o, isa::Type t, const Source& s);
  llvm::IRBuilder<>& ir() { return b_; }
  llvm::Type* type(isa::Type t, const Source& s) { return typeOf(t, s.vector()); }
  LlvmValue number(isa::Type t, uint64_t bits, const Source& s) { return constant(t, bits, s.vector()); }
  bool isUniformValue(ValueId v) const { return shapes_[v].isUniform(); }
  /// `place & chosen`, with the same `chosen` for all lanes, where the warp's base of `place` and the lanes' pattern
  /// have no bit in common: each gives its own bits, those below 2^patternBits being the pattern's.
  struct ChosenBits {
    LlvmValue ofBase = nullptr, ofPattern = nullptr;  // a scalar, and a vector that may be the same for all warps
    unsigned patternBits = 0;
  };
  /// Says of a comparison that no lane fulfils it (or, `negated`, all do) unless `open`, and then the lanes that
  /// `lanes` says.
  void noteComparison(const Instruction& i, LlvmValue open, LlvmValue lanes, bool negated);
  /// Is that the value of operand `k` of `i`, made in the block that is being emitted?
  std::optional<ChosenBits> chosenBits(const Instruction& i, size_t k, isa::Type t, const Source& s);
  /// x / d or x % d where all lanes divide by the same d: a shift or a mask if d is a power of two, else what `general`
  /// emits.
  LlvmValue divideByUniform(LlvmValue x, ValueId d, unsigned part, bool isSigned, bool remainder,
                            llvm::function_ref<LlvmValue()> general);
  /// Calls a scalar helper of the runtime once for each lane.
  LlvmValue perLane(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, const Source& s);
  LlvmValue sharedBase() { return b_.CreatePtrToInt(shared_, b_.getInt64Ty()); }
  LlvmValue sharedBytes();
  /// A scalar 64-bit number as an operand of type `t`.
  LlvmValue convertScalar(LlvmValue v, isa::Type t, const Source& s);
  /// cvta(.to).local: the generic address of an offset into the thread's local memory, or back.
  LlvmValue localGeneric(LlvmValue a, const Instruction& i, const Source& s);
  LlvmValue isLocalAddress(LlvmValue a, const Source& s);
  LlvmValue isSharedAddress(LlvmValue a, const Source& s);
  LlvmValue isConstantAddress(LlvmValue a, const Source& s);
  LlvmValue isParameterAddress(LlvmValue a, const Source& s);
  /// f32 values with the NaN that a GPU computes in place of any other.
  LlvmValue canonicalNan(LlvmValue v);
  const NanPlan& nans() const { return plan_.nans; }
  [[noreturn]] void refuse(const Instruction& i, const std::string& what);
  /// A call of the SLEEF function for `name` ("sinf_u10"), done in the widest vectors the host has.
  LlvmValue vectorCall(const std::string& symbol, llvm::ArrayRef<LlvmValue> arguments, unsigned lanes);
  LlvmValue multifunction(std::string_view name, LlvmValue x);
  LlvmValue sleef(const std::string& name, llvm::ArrayRef<LlvmValue> arguments, bool isDouble);

 private:
  // ---- dispatch.cpp: from instruction to chapter
  // ------------------------------------------------------------------------------------------
  void emitInstruction(const Instruction& i);
  void emitPure(const Instruction& i);
  void emitWidening(const Instruction& i);
  void checkWidening(const std::vector<Parts>& bases, LlvmValue wraps, const ir::Pattern& pattern, bool isSigned);
  Results pureBody(const Instruction& i, const Source& s);

  // ---- memory.cpp
  // ----------------------------------------------------------------------------------------------------------------------------
  /// A memory operand as host addresses.
  struct Address {
    unsigned groups = 1;
    ir::Pattern pattern{};     // bytes
    std::vector<Parts> bases;  // grouped: [part][group], i64
    Parts vectors;             // general: <32 x i64>
    bool warpVarying = true;
    bool streams = false;  // a store that may go round the caches
    ptx::Space space = ptx::Space::Generic;
    bool isGrouped() const { return vectors.empty(); }
    bool patternless() const { return pattern == ir::Pattern{}; }
  };
  Address addressOf(const Instruction& i, size_t k);
  void emitLoad(const Instruction& i);
  void emitStore(const Instruction& i);
  void emitAtomic(const Instruction& i);
  LlvmValue localFrame(unsigned part, LlvmValue offsets);
  LlvmValue loadLanes(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask);
  void storeLanes(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask);
  LlvmValue loadStrided(const Address& a, unsigned part, int64_t offset, llvm::Type* element);
  void storeStrided(const Address& a, unsigned part, int64_t offset, LlvmValue value);
  std::vector<LlvmValue> loadInterleaved(const Address& a, unsigned part, unsigned count, llvm::Type* element,
                                         LlvmValue mask);
  std::vector<LlvmValue> loadPlaces(const Address& a, unsigned part, unsigned count, llvm::Type* element);
  std::vector<LlvmValue> shareOut8(const std::vector<LlvmValue>& r);
  std::vector<LlvmValue> shareOut16(const std::vector<LlvmValue>& r);
  LlvmValue shuffle8(LlvmValue a, LlvmValue b, std::initializer_list<int> lanes);
  bool storeInterleaved(const Address& a, unsigned part, const std::vector<LlvmValue>& values, LlvmValue mask);
  LlvmValue gather(LlvmValue addresses, llvm::Type* element, LlvmValue mask);
  void scatter(LlvmValue addresses, LlvmValue value, LlvmValue mask);
  bool isWorthTesting();
  LlvmValue areNeighbours(LlvmValue addresses, unsigned bytes, LlvmValue mask);
  void byNeighbourhood(LlvmValue addresses, unsigned bytes, LlvmValue mask, const std::function<void()>& near,
                       const std::function<void()>& far);
  // ---- neighbouring_loads.cpp
  std::vector<LlvmValue> loadWords(LlvmValue addresses, unsigned count, LlvmValue mask);
  std::vector<LlvmValue> loadVectorGeneral(LlvmValue addresses, unsigned count, llvm::Type* element, LlvmValue mask);
  bool emitNeighbouringLoads(const Instruction& i);

  LlvmValue loadGeneral(LlvmValue addresses, llvm::Type* element, LlvmValue mask);
  void storeGeneral(LlvmValue addresses, LlvmValue value, LlvmValue mask);
  void storeVectorsGeneral(LlvmValue addresses, const std::vector<LlvmValue>& values, LlvmValue mask);
  LlvmValue loadScalar(LlvmValue address, int64_t offset, llvm::Type* element, LlvmValue any);
  bool canMask(llvm::Type* element) const;
  llvm::Function* sparseStore(llvm::Type* element);
  LlvmValue dummyAddress();
  LlvmValue pointer(LlvmValue address, int64_t offset = 0);
  LlvmValue lanesOf(LlvmValue vector, unsigned first, unsigned count);
  LlvmValue addressVector(const Address& a, unsigned part, int64_t offset);
  LlvmValue extendLoaded(LlvmValue v, const Instruction& i, ValueId to, bool vector);
  llvm::Type* memoryType(isa::Type t);
  void prefetchNext(const Instruction& i, const Address& a, unsigned bytes);
  void storeWhole(LlvmValue address, LlvmValue value);
  void compilerFence();
  LlvmValue atomicOnce(const Instruction& i, LlvmValue address, LlvmValue operand, LlvmValue compare, ptx::Space space);
  LlvmValue sharedOffsets(const Instruction& i, size_t k, const Address& a, unsigned part);
  std::vector<LlvmValue> sharedAddresses(LlvmValue offsets, unsigned copies);
  struct AtomicOperands;
  void emitUnreadAtomic(const Instruction& i, const AtomicOperands& o, LlvmValue offsets, unsigned copies);
  void emitCounts(const Instruction& i, size_t at, const Address& a);
  LlvmValue emitAtomicByLanes(const Instruction& i, const AtomicOperands& o, LlvmValue addresses, LlvmValue lanes,
                              LlvmValue before);
  bool slotLoad(const Instruction& i);
  bool slotStore(const Instruction& i);
  void makePrivateSlots();
  /// Emits a loop over the active lanes; `body` gets the lane's number.
  void forEachLane(LlvmValue mask, llvm::function_ref<void(LlvmValue lane)> body);

  // ---- matrix.cpp
  // --------------------------------------------------------------------------------------------------------------------------------
  /// A fragment's matrix in memory: for all lanes of a warp the same place and distance of rows or columns.
  struct FragmentMemory {
    ptx::Fragment fragment;
    bool byColumns = false;
    LlvmValue base = nullptr, strideBytes = nullptr;
  };
  void emitMatrix(const Instruction& i);
  void emitMatrixProduct(const Instruction& i);
  llvm::Function* matrixFunction(const Instruction& i, llvm::ArrayRef<llvm::Type*> parameters, unsigned results);
  void defineElements(const Instruction& i, const std::vector<Parts>& values);
  LlvmValue rowAddresses(const Instruction& i, size_t k, unsigned part, unsigned matrices);
  LlvmValue loadRows(llvm::ArrayRef<LlvmValue> rows);
  void storeRows(llvm::ArrayRef<LlvmValue> rows, LlvmValue words);
  LlvmValue transposed(LlvmValue words);
  void emitTileLoad(const Instruction& i);
  void emitTileStore(const Instruction& i);
  void emitTileMove(const Instruction& i);
  LlvmValue elementAddresses(const FragmentMemory& m, unsigned element);
  FragmentMemory fragmentMemory(const Instruction& i, size_t registers, size_t address, unsigned part);
  void emitFragmentLoad(const Instruction& i);
  void emitFragmentStore(const Instruction& i);

  // ---- texture.cpp
  // -------------------------------------------------------------------------------------------------------------------------------
  void emitImage(const Instruction& i);
  void emitTextureFetch(const Instruction& i, size_t offset);
  void defineResidency(const Instruction& i);
  void emitImageQuery(const Instruction& i);
  void emitSurfaceLoad(const Instruction& i);
  void emitSurfaceStore(const Instruction& i);
  void emitSurfaceReduction(const Instruction& i);
  LlvmValue surfacePlaces(const Instruction& i, size_t k, unsigned bytes, const Parts& mask, unsigned part);
  LlvmValue imageHandles(const ptx::Operand& o, unsigned part);
  LlvmValue imageNumbers(const ptx::Operand* list, isa::Type t, unsigned part);
  llvm::AllocaInst* laneArrays(llvm::Type* element, unsigned count);
  LlvmValue laneArray(llvm::AllocaInst* arrays, unsigned k);
  LlvmValue lanesOrAll(const Parts& mask, unsigned part);

  // ---- asynchronous.cpp
  // --------------------------------------------------------------------------------------------------------------------------
  LlvmValue wantedBytes(const Instruction& i, unsigned bytes, unsigned part);
  void emitAsyncCopy(const Instruction& i);
  void emitVectorAtomic(const Instruction& i);
  void emitElect(const Instruction& i);

  // ---- mbarrier.cpp, wide.cpp
  // --------------------------------------------------------------------------------------------------------------------------
  void emitMbarrier(const Instruction& i);
  void emitBulkCopy(const Instruction& i);
  void emitWideLoad(const Instruction& i, const Address& a, const Parts& mask);
  void emitWideStore(const Instruction& i);
  void emitWideAtomic(const Instruction& i);
  LlvmValue wideHalf(LlvmValue wide, unsigned half);
  LlvmValue wideOf(LlvmValue low, LlvmValue high);

  // ---- alignment.cpp
  // ----------------------------------------------------------------------------------------------------------------------------
  void checkAlignment(const Instruction& i, size_t k, unsigned bytes, const Parts& mask);
  void failIfMisaligned(LlvmValue bad, const Instruction& i, const Parts& mask);

  // ---- warp.cpp, synchronization.cpp, control_flow.cpp
  // -----------------------------------------------------------------------------------
  void emitWarp(const Instruction& i);
  void emitShuffle(const Instruction& i);
  void emitVote(const Instruction& i);
  void emitMatch(const Instruction& i);
  void emitRedux(const Instruction& i);
  void defineWarpResult(const Instruction& i, ValueId result, const Parts& answers);
  LlvmValue memberMask(const Instruction& i, unsigned part);
  void emitCall(const Instruction& i);
  void emitMathCall(const Instruction& i, const std::string& name);
  LlvmValue callArgument(const Instruction& i, size_t k, isa::Type t, unsigned part);
  void callResult(const Instruction& i, const Parts& values);
  LlvmValue callLanes(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, unsigned part);
  void emitPrintf(const Instruction& i);
  void emitDeviceRuntime(const Instruction& i, const machine::DeviceFunction& function);
  llvm::SmallVector<LlvmValue> deviceWords(const Instruction& i, std::string_view signature, unsigned part);
  void emitAssertFail(const Instruction& i);
  LlvmValue privateCopy(unsigned copy);
  void clearPrivateCopies();
  void addPrivateCopies();
  LlvmValue arePrivatised(const Parts& offsets);
  void arriveAtBarrierReduction(const Instruction& i, const Parts& mask);
  void clearBarrierReduction();
  void takeBarrierReduction(uint32_t resumePoint);
  void deliverBarrierReduction(uint32_t resumePoint);
  LlvmValue loopAtomicAdd(LlvmValue p, LlvmValue x, LlvmValue flushes);
  LlvmValue sumOnce(LlvmValue old, LlvmValue x, LlvmValue flushes);
  bool emitVectorMath(const Instruction& i, const std::string& name);
  LlvmValue paramAddress(const ptx::Operand& o, unsigned part);
  LlvmValue helper(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, bool noReturn = false);

  // ---- counting.cpp
  // --------------------------------------------------------------------------------------------------------------------------
  // The chapters raise events (machine/events.hpp); who listens is known here alone. Without listeners nothing is
  // emitted.
  struct AccessEvent {
    machine::AccessKind kind;
    const Address& at;
    int64_t offset;     // of all lanes, beside the address
    const Parts& mask;  // who takes part
    unsigned bytes;     // of a lane
  };
  void raise(const Instruction& i, const AccessEvent& e);
  void raiseCopy(const Instruction& i, const Address& from, const Address& to, const Parts& mask, unsigned bytes);
  void raiseImageAccess(const Instruction& i, machine::Counter requests);
  void raiseTileAccess(const Instruction& i, size_t address, unsigned matrices, machine::AccessKind kind);
  void raiseFragmentAccess(const Instruction& i, size_t registers, size_t address, machine::AccessKind kind);
  void raiseIssues(const ir::Block& block);
  void raiseGuardedIssue(const Instruction& i);
  void raiseEnd(const ir::Terminator& end, const Parts& mask, bool divergent, ValueId condition);
  void raiseExit(const ir::Terminator& end, const Parts& mask);
  uint32_t openWord();
  void countLines(machine::Counter c, const std::vector<uint32_t>& lines, llvm::function_ref<void()> once);
  void addToWord(uint32_t word, LlvmValue amount);
  void count(machine::Counter c, LlvmValue amount);  // i64
  void countLanes(machine::Counter c, const Parts& mask, uint64_t times = 1);
  void countWarps(machine::Counter c, uint64_t times, const Parts& mask);
  void countGeneric(const AccessEvent& e);
  LlvmValue unitsOf(const Instruction& i, const AccessEvent& e);
  LlvmValue sectorsOfGroup(const Address& a, LlvmValue base, unsigned first, unsigned width, unsigned bytes);
  LlvmValue groupsLieApart(const Address& a, unsigned part, unsigned bytes, int64_t offset);
  LlvmValue sectorsOfMask(LlvmValue start, LlvmValue lanes, unsigned bytes);
  LlvmValue inMemory(LlvmValue vector);
  LlvmValue sectorsByLane(const AccessEvent& e, unsigned part);
  LlvmValue sharedByLane(const AccessEvent& e, unsigned part);
  LlvmValue unless(LlvmValue condition, LlvmValue fast, llvm::function_ref<LlvmValue()> slow);
  LlvmValue sectorsOfPairs(const Address& a, unsigned parts, int64_t offset);
  LlvmValue sectorsOfAscending(const AccessEvent& e, unsigned part);
  LlvmValue sharedOfGroups(const AccessEvent& e, unsigned parts);
  LlvmValue sectorsOf(const AccessEvent& e, unsigned part);
  LlvmValue wavefrontsOf(const AccessEvent& e, unsigned part);
  void flushCounters();
  void finishCounters();

  // ---- state
  // -----------------------------------------------------------------------------------------------------------------------------------
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
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  LlvmValue frame_ = nullptr;
  LlvmValue parameters_ = nullptr, shared_ = nullptr, scratch_ = nullptr, local_ = nullptr, globals_ = nullptr;
  LlvmValue ctaid_[3] = {}, nctaid_[3] = {};
  LlvmValue group_ = nullptr;                             // number of the group of warps being run
  LlvmValue firstGroup_ = nullptr, groupsEnd_ = nullptr;  // of those that the function runs
  std::string apartName_;  // of a function for single warps, if the kernel may have one: see partWarps
  llvm::Function* apart_ = nullptr;
  llvm::AllocaInst* nextState_ = nullptr;
  std::vector<llvm::AllocaInst*> live_;  // per part

  std::vector<char> outlivesIteration_;  // see noteWhatOutlivesIterations
  unsigned neighbourTests_ = 0;          // see isWorthTesting
  const ir::Block* emitted_ = nullptr;   // whose code is being emitted
  struct Comparison {
    LlvmValue open, lanes;
    bool negated;
  };
  std::map<ValueId, Comparison> comparisons_;  // of that block
  bool inScheduled_ = false;                   // the code being emitted is that of lanes diverged
  llvm::BasicBlock *scheduledIteration_ = nullptr, *suspend_ = nullptr;
  uint32_t currentResumePoint_ = 0;
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
      nullptr;                                // past the store of the lanes that have not ended; null if all must store
  const bool diverges_;                       // threads can get diverged somewhere: see stepping.cpp
  llvm::AllocaInst* spins_ = nullptr;         // turns of spinning loops in the running region
  llvm::AllocaInst* widened_ = nullptr;       // what checkWidening shows its helper
  llvm::AllocaInst* vectorStores_ = nullptr;  // what storeVectorsGeneral stores: elements, addresses

  std::vector<Slots> slots_;
  std::map<ValueId, CachedValue> valueCache_;
  std::vector<Version> versions_;
  std::map<Version, uint32_t> versionNumbers_;
  std::map<uint32_t, simt::Masks> masks_;  // of the region, by version
  std::map<BlockKey, llvm::BasicBlock*> blocks_;
  std::map<BlockKey, llvm::BasicBlock*> components_;
  std::vector<std::function<void()>> work_;
  size_t asked_ = 0;                    // instructions of the versions of blocks that are or will be emitted
  std::optional<simt::Region> region_;  // whose code is being emitted
  std::map<BlockId, std::vector<llvm::AllocaInst*>> pending_;
  std::set<std::tuple<ValueId, unsigned, uint64_t>> checkedRoots_;  // in the PTX block being emitted
  Parts mask_;                                                      // of the code being emitted; empty: all lanes
  uint32_t currentLine_ = 0;
  llvm::DISubprogram* lines_ = nullptr;  // debug information that maps machine code to PTX lines

  struct PrivateSlot {
    llvm::Type* type;
    std::vector<llvm::AllocaInst*> parts;
  };
  std::map<simt::PrivateSlots::Key, PrivateSlot> privateSlots_;
  llvm::AllocaInst* counters_ = nullptr;         // EmittedKernel::counters.words of them
  std::vector<llvm::CallInst*> counterFlushes_;  // told how many when all is emitted
  uint32_t blockWord_ = 0;                       // counts how often the code being emitted runs
  bool maskHasLane_ = false;                     // it is skipped where `mask_` is empty
  std::map<std::tuple<ValueId, unsigned, int64_t>, LlvmValue> countedGroups_;  // in the block being emitted
  EmittedKernel result_;
};

}  // namespace ordito::jit
