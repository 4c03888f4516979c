// Operands and instructions as passes make them.
#pragma once

#include <utility>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::ir {

/// Also of a value in SSA form. `negated` is for predicates.
inline ptx::Operand registerOperand(ptx::RegisterId reg, bool negated = false) {
  ptx::Operand o;
  o.kind = ptx::Operand::Kind::Register;
  o.reg = reg;
  o.negated = negated;
  return o;
}

inline ptx::Operand integerOperand(uint64_t bits) {
  ptx::Operand o;
  o.kind = ptx::Operand::Kind::Integer;
  o.bits = bits;
  return o;
}

/// Without a guard and modifiers; `line` is that of the PTX text.
inline Instruction makeInstruction(isa::Op op, isa::Type type, std::vector<ptx::Operand> operands, uint32_t line) {
  Instruction i;
  i.op = op;
  i.type[0] = type;
  i.operands = std::move(operands);
  i.line = line;
  return i;
}

}  // namespace ordito::ir
