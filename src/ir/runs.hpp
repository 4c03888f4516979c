// The instructions of a PTX function in runs: what one thread always executes from the first to the last. A run is
// what the GPU's compiler calls a block; it is longer than one of ir::Function, since a barrier does not end it, nor
// does a jump to a place that nobody else goes to.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::ir {

struct Runs {
  struct Run {
    std::vector<uint32_t> instructions;  // indices, in the order of execution
    std::vector<ptx::RegisterId> live;   // registers that somebody reads behind the run
  };
  std::vector<Run> runs;
  std::vector<char> isNeeded;  // by instruction: it has an effect, or somebody needs what it writes
};

Runs findRuns(const ptx::Function& function);

/// Calls `f(RegisterId)` for every register the instruction reads, its guard included.
template <class F>
void forEachSource(const ptx::Instruction& instruction, F&& f) {
  const auto forms = instruction.info().form.operandList();
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    if (i >= forms.size() || forms[i].kind != isa::OperandForm::Kind::Destination)
      forEachRegister(instruction.operands[i], f);
  if (instruction.guard) f(instruction.guard.reg);
}

/// Calls `f(RegisterId)` for every register the instruction writes.
template <class F>
void forEachResult(const ptx::Instruction& instruction, F&& f) {
  const auto forms = instruction.info().form.operandList();
  for (size_t i = 0; i < instruction.operands.size() && i < forms.size(); ++i)
    if (forms[i].kind == isa::OperandForm::Kind::Destination) forEachRegister(instruction.operands[i], f);
}

}  // namespace ordito::ir
