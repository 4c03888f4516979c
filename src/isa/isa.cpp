// Compiles the table once, so that a bad row fails in this file first.
#include "isa/isa.hpp"

namespace ordito::isa {
static_assert(sizeof(kOps) / sizeof(kOps[0]) == static_cast<size_t>(Op::Count));
static_assert(sizeof(kModifiers) / sizeof(kModifiers[0]) == static_cast<size_t>(ModifierKind::Count));
static_assert(info(Op::Setp).form.operandCount == 4 && info(Op::Setp).form.operands[1].paired);
static_assert(info(Op::Ld).form.operands[1].kind == OperandForm::Kind::Address);
static_assert(mod<ModifierKind::Rounding>("rz").value == 3);
}  // namespace ordito::isa
