// The kernel as a list of machine-like operations: what is left of PTX when copies, dead code, constants and folded
// operands are gone. Scheduling and pressure need no more than who defines and reads which registers, how long a result
// takes, and which accesses to memory must stay in order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "registers/values.hpp"

namespace ordito::registers {

using RegisterId = uint32_t;  // a virtual register of the program

/// An access to memory, as far as order goes.
struct Access {
  enum class Kind : uint8_t { None, Load, Store, Fence };
  Kind kind = Kind::None;
  uint8_t space = 0;  // 0: any
  ValueId base = ir::kNoValue;
  int64_t offset = 0;
  uint32_t bytes = 0;
};

struct Node {
  const ir::Instruction* source = nullptr;  // null: the condition of a branch
  std::vector<RegisterId> uses, definitions;
  Access access;
  uint16_t latency = 4;     // cycles until the result is there
  uint8_t temporaries = 0;  // registers that it needs beside operands and results while it executes
};

struct ProgramBlock {
  std::vector<Node> nodes;
  std::vector<RegisterId> phis;
  std::vector<std::vector<RegisterId>> incoming;  // by phi, by index in predecessors
  std::vector<BlockId> predecessors, successors;
  std::vector<RegisterId> liveIn, liveOut;  // sorted; without the phis
  BlockId endsAs = ir::kNoBlock;            // the block of the kernel whose terminator ends this one
};

struct Program {
  std::vector<ProgramBlock> blocks;
  std::vector<uint8_t> words;  // by register: 32-bit general registers that it takes, 0 for predicates and uniform ones
};

/// The operations of a kernel.
Program lower(const Values& values);

/// Joins blocks, and predicates short sides of branches.
void mergeBlocks(Program& program);

/// Loops of one block that the assembler unrolls, unrolled.
void unrollLoops(Program& program, const Values& values);

/// Fills ProgramBlock::liveIn and liveOut.
void findLiveness(Program& program);

/// All of the above.
Program programOf(const Values& values);

/// Orders a block as an assembler does that wants results early and at most `limit` registers.
class Scheduler {
 public:
  Scheduler(const Program& program, const ProgramBlock& block);
  Scheduler(Scheduler&&) noexcept;
  ~Scheduler();
  std::vector<uint32_t> order(unsigned limit) const;
  /// The most 32-bit registers that live at once when the block's nodes execute in this order.
  unsigned pressure(const std::vector<uint32_t>& order) const;

  struct Fixed;

 private:
  const ProgramBlock& block_;
  std::unique_ptr<Fixed> fixed_;
};

std::string print(const Program& program);

}  // namespace ordito::registers
