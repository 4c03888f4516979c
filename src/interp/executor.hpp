// Executes single instructions. The class has one member function for each row of isa/ptx.def, declared by including
// the table, so that a row without a body does not link. Bodies live in files named after the manual's chapters.
//
// A body whose effect is Warp or Barrier runs once for all participating lanes; every other body runs once per active
// lane, with `thread` set to it.
#pragma once

#include <bit>

#include "interp/block.hpp"
#include "interp/counting.hpp"
#include "interp/numeric.hpp"
#include "machine/fault.hpp"
#include "machine/multifunction_unit.hpp"
#include "machine/nearest_object.hpp"

namespace ordito::ptx {
struct Fragment;
}
namespace ordito::machine {
struct Texture;
struct TexelPlaces;
struct Surface;
}  // namespace ordito::machine

namespace ordito::interp {

machine::AccessSpace accessSpace(ptx::Space space);

class Executor {
 public:
  Executor(Block& block, Warp& warp) : block_(block), warp_(warp) {}

  /// One instruction for the lanes of `group`, which all stand at it. Returns whether some lane branched backwards.
  bool step(uint32_t group);
  /// Executes the warp operations whose lanes have all arrived; returns whether there was one.
  bool completeWarpOperations();
  /// Gives `waiting`, whose barrier is complete, the barrier's result: of `arrived` threads `trueValues` contributed
  /// true.
  void finishBarrier(Thread& waiting, uint64_t arrived, uint64_t trueValues);

#define PTX(name, ...) void name();
#include "isa/ptx.def"

 private:
  using Body = void (Executor::*)();
  static const Body kBodies[];

  // Stepping (executor.cpp)
  uint32_t guardedLanes(uint32_t group);
  void runLanes(uint32_t lanes);
  void runTogether(uint32_t lanes);
  void park(uint32_t lanes);
  void select(uint32_t lane);

  // Operands of the current instruction, for the current thread (operands.cpp)
  bool is(isa::ModifierLiteral literal) const { return instruction_->is(literal); }
  bool has(isa::ModifierKind kind) const { return instruction_->has(kind); }
  isa::Type type(int slot = 0) const { return instruction_->type[slot]; }
  const ptx::Operand& operand(size_t i) const { return instruction_->operands[i]; }
  bool present(size_t i) const { return !operand(i).is(ptx::Operand::Kind::None); }
  uint64_t read(size_t i, isa::Type type) const { return read(operand(i), type).lo; }
  unsigned fieldNumber(size_t i) const;
  int64_t readSigned(size_t i, isa::Type type) const { return signExtend(read(i, type), isa::bits(type)); }
  bool readPredicate(size_t i) const { return read(i, isa::Type::pred); }
  Slot read(const ptx::Operand& operand, isa::Type type) const;
  Slot readRegister(const ptx::Operand& operand) const;
  Slot readVector(const ptx::Operand& operand, isa::Type type) const;
  uint64_t readSpecial(isa::Special special) const;
  uint64_t symbolAddress(const ptx::Operand& operand) const;
  uint64_t variableAddress(uint32_t function, uint32_t variable) const;
  void write(size_t i, isa::Type type, uint64_t bits) { write(operand(i), type, {bits, 0}); }
  void writePredicate(size_t i, bool value) { write(i, isa::Type::pred, value); }
  void write(const ptx::Operand& operand, isa::Type type, Slot value);
  void writeVector(const ptx::Operand& operand, isa::Type type, Slot value);

  /// Where an access leads.
  struct Place {
    ptx::Space space;    // generic addresses resolved
    uint64_t address;    // as the program sees it
    std::byte* pointer;  // in the host
  };
  /// What an address is wanted for.
  static constexpr uint32_t kAll = ~0u;
  struct Intent {
    machine::AccessKind kind;
    uint32_t bytes = kAll;  // of those that the instruction names
    bool checksAlignment = true;
  };

  // Events (executor.cpp)
  void raiseIssue(uint32_t group, uint32_t lanes) const;
  void raiseBranch(uint32_t group, uint32_t lanes) const;
  uint64_t* siteCounters() const;

  // Events that listeners hear one by one (events.cpp)
  using SyncKind = machine::SyncEvent::Kind;
  struct Sync {
    SyncKind kind;
    machine::MemoryOrder order = machine::MemoryOrder::Weak;
    machine::MemoryScope scope = machine::MemoryScope::Block;
    uint32_t number = 0, threads = 0;
    uint64_t address = 0;
  };
  struct RefusedAccess {};  // thrown by askListeners
  void runHeard();
  void raiseAccess(const AccessLog& log) const;
  void raiseBulkCopy(const Place& to, const Place& from, uint32_t bytes, uint64_t mbarrier) const;
  void askListeners(ptx::Space space, uint64_t address, uint32_t bytes, machine::AccessKind kind) const;
  void askListeners(machine::AccessSpace space, uint64_t address, uint32_t bytes, machine::AccessKind kind,
                    const std::byte* image = nullptr) const;
  void askListeners(const machine::AccessEvent& event) const;
  void raiseTexel(uint64_t address, uint32_t bytes) const;
  void raiseSync(const Sync& sync) const;
  void raiseOperands() const;
  void raiseHeapFree(uint64_t address) const;
  void raiseBarrier(SyncKind kind, int barrierOperand, int countOperand);
  void raiseMbarrier(SyncKind kind, size_t address, uint32_t number);
  void raiseMeeting(uint32_t lanes, uint32_t mask);
  uint64_t window() const;
  machine::NearestObject localObject(uint64_t address) const;
  machine::WarpSite site(uint32_t lanes) const;

  // What is made of memory that nobody has written (undefined.cpp)
  struct Result {
    ptx::RegisterId reg;
    Undefined undefined;
  };
  using UndefinedUse = machine::UndefinedEvent::Use;
  const Undefined* undefinedIn(ptx::RegisterId reg) const;
  template <class F>
  void forEachUndefinedSource(F visit) const;
  std::vector<ptx::RegisterId> resultRegisters() const;
  void setUndefined(ptx::RegisterId reg, const Undefined& undefined);
  void useUndefined(const Undefined& undefined, UndefinedUse use) const;
  void judgeGuard(uint32_t group);
  void judgeOperands();
  std::vector<Result> undefinedResults();
  std::vector<Result> computedResults() const;
  std::vector<Result> movedResults(const std::vector<ptx::RegisterId>& sources);
  bool isDecidedBy(const ptx::Operand& predicate) const;
  void keepUndefined(const std::vector<Result>& results);
  void followAccesses(size_t first);
  void followLoad(uint64_t at, const AccessLog::Entry& entry);
  void followStore(uint64_t at, const AccessLog::Entry& entry);
  void followTexels(const AccessLog::Entry& entry);
  void followAtomic(uint64_t at, const AccessLog::Entry& entry);
  uint32_t originOf(const AccessLog::Entry& entry) const;
  bool isAnySourceUndefined(uint32_t lanes);
  void defineResults(uint32_t lanes);
  void taintResults(uint32_t lanes);
  void moveUndefined(size_t to, size_t from, const std::array<uint32_t, 32>& sources, uint32_t absent);
  void copyUndefined(const std::byte* to, const std::byte* from, uint64_t bytes) const;
  uint64_t hostAddress(const AccessLog::Entry& entry) const;

  // Memory (memory.cpp)
  machine::AccessKind atomicKind() const;
  void touch(machine::AccessKind kind, const Place& place, unsigned bytes);
  void touchAtomically(const Place& place, unsigned bytes);
  Place locate(size_t operandIndex, unsigned bytes, Intent intent);
  Place locateIn(ptx::Space space, size_t operandIndex, unsigned bytes, Intent intent);
  void checkShared(uint64_t address, unsigned bytes) const;
  ptx::Space genericSpace(uint64_t address) const;
  bool inShared(uint64_t address) const;
  bool isParameterAddress(size_t operandIndex) const;
  bool inParameters(uint64_t address) const;
  bool inLocalMemory(uint64_t address) const;
  bool inConstant(uint64_t address) const;
  bool mayChange(const Place& place) const {
    block_.hasActed |= place.space == ptx::Space::Global;
    return !block_.program.isReplay || place.space != ptx::Space::Global;
  }
  Slot load(const Place& place, unsigned bytes) const;
  void store(const Place& place, unsigned bytes, Slot value) const;
  void loadInstruction();
  void storeInstruction();
  uint64_t atomicUpdate(const Place& place, unsigned bytes, uint64_t operand, uint64_t compare);
  uint64_t atomicResult(uint64_t old, uint64_t operand, ptx::Space space) const;
  uint64_t& stackTop();
  uint64_t atomicExtreme(uint64_t old, uint64_t operand, bool wantsMax) const;
  void atomicInstruction(bool wantsResult);
  void atomic128(bool compares);
  void vectorAtomic(bool wantsResult);

  // Control flow (control_flow.cpp)
  const FunctionPlan& callee();
  void callExternal(const FunctionPlan& plan);
  void callDeviceRuntime(const FunctionPlan& plan);
  void returnWord(const FunctionPlan& plan, Activation& target, uint64_t word);
  void passArguments(const FunctionPlan& plan, Activation& target);
  void storeParameter(const ptx::Parameter& parameter, uint32_t base, Activation& target, const ptx::Operand& argument);
  void fetchResults(const FunctionPlan& plan, const Activation& finished);
  void leave();

  // Helpers of single chapters
  uint64_t addCarry(uint64_t a, uint64_t b, bool carryIn);
  uint64_t product(uint64_t a, uint64_t b) const;
  void carryChain(bool usesCarry, bool subtracts);
  void minMax(bool wantsMax);
  void multiply24(bool adds);
  void multiplyAddCarry(bool usesCarry);
  template <class F>
  void packedInteger(F body);
  template <class F>
  void floatLanes(size_t sources, F body);
  void floatArithmetic(FloatOp op, size_t sources);
  void floatPair(FloatOp op, size_t sources);
  uint64_t finishFloat(uint64_t bits, isa::Type element) const;
  void minMaxF(bool wantsMax);
  uint64_t minMaxElement(isa::Type element, uint64_t a, uint64_t b, bool wantsMax) const;
  void approximate(machine::Multifunction function);
  void approximateDouble(uint32_t (*upperWord)(uint32_t));
  void changeSign(uint64_t (*change)(uint64_t bits, Format format));
  Tiny tiny() const { return has(isa::ModifierKind::Flush) ? Tiny::Flush : Tiny::Keep; }
  bool compare(isa::Type type, uint64_t a, uint64_t b) const;
  bool combine(bool compared, bool c) const;
  void setResult(bool hasBool);
  void setPredicates(bool hasBool);
  uint64_t convert(uint64_t bits) const;
  bool flushes(isa::Type to) const;
  void packIntegers(bool hasC);
  void packSmall();
  void unpackSmall();
  uint64_t clampConverted(uint64_t bits, isa::Type to) const;
  void arrive(uint32_t barrierOperand, int countOperand, int valueOperand);
  void arriveOnly();
  uint32_t barrierNumber(size_t operand);
  uint32_t barrierThreads(size_t operand);
  void shuffle();
  void vote(uint32_t mask);

  // Textures and surfaces (texture.cpp)
  uint64_t imageHandle(const ptx::Operand& o) const;
  const machine::Texture& texture(const ptx::Operand& o);
  const machine::Surface& surface(const ptx::Operand& o);
  std::array<uint32_t, 4> imageCoordinates(size_t k) const;
  template <class Number>
  void imageNumbers(size_t k, Number (&numbers)[4]) const;
  void fetchTexture(size_t offset);
  std::byte* surfaceAccess(machine::AccessKind kind, size_t k, unsigned bytes);
  uint64_t touchTexels(const machine::Texture& t, const machine::TexelPlaces& texels) const;
  void touchSurface(machine::AccessKind kind, const std::byte* place, unsigned bytes);

  // Video (video.cpp)
  int64_t videoSource(size_t k, isa::Type type) const;
  __extension__ void finishVideo(__int128 result, bool isSigned);
  template <class F>
  void video(F body);
  void videoShift(bool left);
  bool videoCompare(int64_t a, int64_t b) const;
  template <class F>
  void videoParts(unsigned parts, F body);

  // Matrices (matrix.cpp)
  template <class F>
  void eachElement(const ptx::Fragment& fragment, F body);
  void multiplyMatrices();
  template <class F>
  void eachMatrixElement(size_t registers, size_t address, F body);
  struct FragmentPlace {
    uint32_t lane;
    Place place;
    uint64_t bit;  // where it begins
  };
  using FragmentPlaces = std::vector<std::vector<FragmentPlace>>;  // by element
  void raiseFragment(const ptx::Fragment& f, machine::AccessKind kind, const FragmentPlaces& places);
  void loadMatrix();
  void storeMatrix();
  Place rowOfTile(size_t address, unsigned matrix, unsigned row);

  // Asynchronous copies and mbarriers (asynchronous.cpp)
  template <class F>
  uint64_t mbarrier(size_t address, F change);
  template <class F>
  uint64_t changeMbarrier(const Place& place, F change);
  unsigned bulkCopy(ptx::Space to, ptx::Space from, uint64_t mbarrier = 0);
  void bulkCopyToShared(ptx::Space from);
  void mbarrierArrive(uint64_t count, uint64_t expects, bool drops);
  void touchMbarrier(const Place& place);
  uint64_t mbarrierPhase();
  void mbarrierTested(bool isOver);
  void mbarrierTest();
  void mbarrierTestParity();

  [[noreturn]] void fault(machine::FaultKind kind, uint64_t address, std::string detail) const;

  Block& block_;
  Warp& warp_;
  Thread* thread_ = nullptr;
  const ptx::Instruction* instruction_ = nullptr;  // of the thread
  uint32_t active_ = 0;                            // lanes that execute the current instruction
  AccessLog accesses_;
  bool wentBackwards_ = false;
};

}  // namespace ordito::interp
