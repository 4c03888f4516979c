// Divisions, square roots and remainders are sequences, some of them subroutines with registers of their own. The
// numbers are what a kernel with one such instruction takes beyond the same kernel with an addition, as ptxas 13.0
// reports it for sm_75 to sm_120, alone and among eight live values.
#include "registers/expansions.hpp"

namespace ordito::registers {
namespace {

using isa::Op;

bool isExact(const ir::Instruction& i) { return !i.has(isa::ModifierKind::Precision); }

unsigned ofDivision(const ir::Instruction& i, bool isWide) {
  const bool byConstant = !i.operands[2].is(ptx::Operand::Kind::Register);
  if (isWide) return byConstant ? 6 : isa::isSigned(i.type[0]) ? 10 : 7;
  return byConstant ? 2 : isa::isSigned(i.type[0]) ? 5 : 4;
}

}  // namespace

unsigned temporariesOf(const ir::Instruction& i) {
  const bool isWide = isa::bits(i.type[0]) == 64;
  switch (i.op) {
    case Op::DivF: return isWide ? 11 : isExact(i) ? 5 : 0;
    case Op::Rcp: return !isExact(i) ? 0 : isWide ? 6 : 4;
    case Op::Sqrt: return !isExact(i) ? 0 : isWide ? 9 : 2;
    case Op::Div:
    case Op::Rem: return ofDivision(i, isWide);
    case Op::Mul:
    case Op::Mad:
      if (!isWide || i.is(isa::mod<isa::ModifierKind::MulMode>("wide"))) return 0;
      return i.is(isa::mod<isa::ModifierKind::MulMode>("hi")) ? 5 : 2;
    default: return 0;
  }
}

}  // namespace ordito::registers
