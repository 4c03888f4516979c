// What the operands of an instruction must be. The table's syntax lines say how many there are; the rules here say of
// which type each is, where that is not simply the instruction's own type (a shift amount, the predicate of setp, the
// wide result of mul.wide).
#pragma once

#include "ptx/module.hpp"

namespace ordito::ptx {

/// The type that operand `index` of `i` is read or written as. None for addresses, labels, calls and absent operands.
isa::Type operandType(const Instruction& i, size_t index);

/// The state space that `i` names, Generic if it names none; .param::entry and .param::func are Param, .shared::cta is
/// Shared.
Space spaceOf(const Instruction& i);
/// The same for the address that is operand `k`: cp.async has two, one of shared memory.
Space spaceOf(const Instruction& i, size_t k);

}  // namespace ordito::ptx
