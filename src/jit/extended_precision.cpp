// PTX ISA, "Extended-Precision Integer Arithmetic Instructions".
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::Type;
using Results = PureResults;

LlvmValue ExtendedPrecision::carryIn() {
  ptx::Operand carry;
  carry.kind = ptx::Operand::Kind::Register;
  carry.reg = i.carryIn;
  return b.CreateZExt(operands.operand(carry, Type::pred, s), type(unsignedOf(isa::bits(i.type[0]))));
}

Results ExtendedPrecision::carryAdd(LlvmValue x, LlvmValue y, LlvmValue carry) {
  LlvmValue sum = b.CreateAdd(x, y), out = b.CreateICmpULT(sum, x);
  if (carry) {
    LlvmValue total = b.CreateAdd(sum, carry);
    out = b.CreateOr(out, b.CreateICmpULT(total, sum));
    sum = total;
  }
  return {sum, nullptr, nullptr, nullptr, out};
}

/// The condition code after a subtraction holds the borrow.
Results ExtendedPrecision::carrySub(LlvmValue x, LlvmValue y, LlvmValue borrow) {
  LlvmValue difference = b.CreateSub(x, y), out = b.CreateICmpULT(x, y);
  if (borrow) {
    out = b.CreateOr(out, b.CreateICmpULT(difference, borrow));
    difference = b.CreateSub(difference, borrow);
  }
  return {difference, nullptr, nullptr, nullptr, out};
}

Results ExtendedPrecision::AddCc() { return carryAdd(in(1), in(2), nullptr); }

Results ExtendedPrecision::Addc() { return carryAdd(in(1), in(2), carryIn()); }

Results ExtendedPrecision::SubCc() { return carrySub(in(1), in(2), nullptr); }

Results ExtendedPrecision::Subc() { return carrySub(in(1), in(2), carryIn()); }

Results ExtendedPrecision::MadCc() { return carryAdd(product(in(1), in(2)), in(3), nullptr); }

Results ExtendedPrecision::Madc() { return carryAdd(product(in(1), in(2)), in(3), carryIn()); }

}  // namespace ordito::jit
