// The intermediate representation that the JIT compiles: a control-flow graph of PTX instructions in SSA form.
//
// An instruction stays what the PTX manual calls it (ptx::Instruction); the IR adds basic blocks, phis, and for each
// instruction the values that PTX leaves implicit: the carry flag, and the old value of a destination that a false
// guard keeps. So every pass and every message can speak PTX.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ir/graph.hpp"
#include "ir/shared_functions.hpp"
#include "ptx/module.hpp"

namespace ordito::ir {

using ValueId = ptx::RegisterId;
using BlockId = uint32_t;
inline constexpr ValueId kNoValue = ptx::kNoRegister;
inline constexpr BlockId kNoBlock = ~0u;

struct Instruction : ptx::Instruction {
  Instruction() = default;
  explicit Instruction(const ptx::Instruction& i) : ptx::Instruction(i) {}
  std::array<ValueId, 2> prior = {kNoValue,
                                  kNoValue};        // with a guard: the destinations' values where the guard is false
  ValueId carryIn = kNoValue, carryOut = kNoValue;  // the condition-code register of add.cc/addc…
  bool operator==(const Instruction&) const = default;
};

struct Phi {
  ValueId value = kNoValue;
  std::vector<ValueId> incoming;  // by index in Block::predecessors
  bool operator==(const Phi&) const = default;
};

/// How a block ends.
struct Terminator {
  enum class Kind : uint8_t {
    Jump,     // to target[0]
    Branch,   // to target[0] where `condition` (xor `negated`) holds, else to target[1]
    Exit,     // the thread ends
    Barrier,  // threads meet (`barrier`), then go on at target[0]
    Trap,     // the launch ends with a fault
  };
  /// Why Kind::Trap ends the launch. A trap that is not the program's own has its cause as an operand.
  enum class Cause : uint8_t { Trap, StackOverflow, BadCall, BadIndex };
  Kind kind = Kind::Exit;
  Cause cause = Cause::Trap;
  bool negated = false;
  bool isInstruction = false;  // written in the PTX (a bra, ret …), so counters count it
  ValueId condition = kNoValue;
  std::array<BlockId, 2> target = {kNoBlock, kNoBlock};
  uint32_t line = 0;
  Instruction
      barrier;  // Kind::Barrier: the bar.sync / bar.red / bar.arrive, or bar.warp.sync at a synchronisation point
  bool operator==(const Terminator&) const = default;

  unsigned targetCount() const {
    return kind == Kind::Branch ? 2 : kind == Kind::Jump || kind == Kind::Barrier ? 1 : 0;
  }
};

struct Block {
  std::vector<Phi> phis;
  std::vector<Instruction> code;
  Terminator end;
  std::vector<BlockId> predecessors;
  uint32_t line = 0;
  bool operator==(const Block&) const = default;
};

/// A block that does nothing but end the thread.
inline bool isExitOnly(const Block& b) {
  return b.code.empty() && b.phis.empty() && b.end.kind == Terminator::Kind::Exit;
}

struct Function {
  const ptx::Module* module = nullptr;
  const ptx::Function* kernel = nullptr;  // as parsed, before inlining
  std::vector<ptx::Register> values;      // after SSA: one definition each
  std::vector<ptx::Variable> variables;   // of the kernel and of the functions inlined into it
  std::vector<std::pair<uint32_t, uint32_t>>
      origin;                 // of each variable: function index in the module and variable index there
  Stack stack;                // of calls; known where it has zones
  std::vector<Block> blocks;  // [0] is the entry; in reverse post-order
};

/// Calls `f(ValueId&)` for each value that the operand reads (address bases and vector elements included).
template <class OperandT, class F>
void forEachRegister(OperandT& operand, F&& f) {
  using Kind = ptx::Operand::Kind;
  if ((operand.kind == Kind::Register || operand.kind == Kind::Address) && operand.reg != kNoValue) f(operand.reg);
  for (auto& element : operand.elements) forEachRegister(element, f);
}

/// Calls `f(ValueId&)` for every value the instruction reads, guard, prior and carry included.
template <class InstructionT, class F>
void forEachUse(InstructionT& instruction, F&& f) {
  const auto forms = instruction.info().form.operandList();
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i < forms.size() && forms[i].kind == isa::OperandForm::Kind::Destination) continue;
    forEachRegister(instruction.operands[i], f);
  }
  if (instruction.guard.reg != kNoValue) f(instruction.guard.reg);
  for (auto& p : instruction.prior)
    if (p != kNoValue) f(p);
  if (instruction.carryIn != kNoValue) f(instruction.carryIn);
}

/// Calls `f(ValueId&, index)` for every value the instruction writes; `index` counts them from 0.
template <class InstructionT, class F>
void forEachDefinition(InstructionT& instruction, F&& f) {
  const auto forms = instruction.info().form.operandList();
  unsigned index = 0;
  for (size_t i = 0; i < instruction.operands.size() && i < forms.size(); ++i)
    if (forms[i].kind == isa::OperandForm::Kind::Destination)
      forEachRegister(instruction.operands[i], [&](auto& reg) { f(reg, index++); });
  if (instruction.carryOut != kNoValue) f(instruction.carryOut, index++);
}

/// Calls `f(ValueId&)` for every value the terminator reads.
template <class TerminatorT, class F>
void forEachUse(TerminatorT& end, F&& f)
  requires requires { end.condition; }
{
  if (end.condition != kNoValue) f(end.condition);
  if (end.kind == Terminator::Kind::Barrier) forEachUse(end.barrier, f);
}

/// Calls `f(ValueId)` for what the phis of `to` get along the edge from `from`.
template <class F>
void forEachIncoming(const Function& function, BlockId from, BlockId to, F&& f) {
  const Block& block = function.blocks[to];
  for (const Phi& phi : block.phis)
    for (size_t p = 0; p < block.predecessors.size(); ++p)
      if (block.predecessors[p] == from) f(phi.incoming[p]);
}

/// The graph of the blocks.
Graph controlFlow(const Function& function);
/// Of each block; where all threads end is a node behind the last block. kNoNode: no way leads there.
std::vector<uint32_t> immediatePostDominators(const Function& function);

/// Fills Block::predecessors from the blocks' ends.
void fillPredecessors(Function& function);

/// Builds the CFG of a kernel: direct calls of functions with a body are inlined, unreachable blocks dropped, guarded
/// control flow made explicit. In the PTX lines `warpSyncPoints`, an
/// instruction that names the lanes it works with (shfl.sync …) begins a block behind a synchronisation point,
/// bar.warp.sync, where these lanes meet. `announces`: an instruction of the program that the graph has no instruction
/// for (a call that is inlined, a guard that became a branch) is announced by a `pmevent` in its place, which does
/// nothing but be counted. `hasZones`: for code that tells of accesses; each knows the local variable that it may
/// touch, where that can be said, and local variables have room around them (ptx/local_objects.hpp).
Expected<Function> buildCfg(const ptx::Module& module, const ptx::Function& kernel,
                            const std::set<uint32_t>& warpSyncPoints = {}, bool announces = false,
                            bool hasZones = false);

/// Renames registers so that each has one definition, with pruned phis (Cytron et al., TOPLAS 1991), and closes loops
/// (LCSSA): a value defined in a loop and used outside passes through a phi in the exit block, where lanes that left in
/// different iterations meet.
void buildSsa(Function& function);

/// Checks what every pass may rely on (ir/verify.cpp lists it); returns the first violation, for asserts and tests.
Expected<> verify(const Function& function);

}  // namespace ordito::ir
