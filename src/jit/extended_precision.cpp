// PTX ISA, "Extended-Precision Integer Arithmetic Instructions".
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::Type;
using Results = PureResults;

LlvmValue ExtendedPrecision::carryIn() {
  ptx::Operand carry;
  carry.kind = ptx::Operand::Kind::Register;
  carry.reg = i_.carryIn;
  return b_.CreateZExt(operands_.operand(carry, Type::pred, s_), type(unsignedOf(isa::bits(i_.type[0]))));
}

Results ExtendedPrecision::carryAdd(LlvmValue x, LlvmValue y, LlvmValue carry) {
  LlvmValue sum = b_.CreateAdd(x, y), out = b_.CreateICmpULT(sum, x);
  if (carry) {
    LlvmValue total = b_.CreateAdd(sum, carry);
    out = b_.CreateOr(out, b_.CreateICmpULT(total, sum));
    sum = total;
  }
  return {sum, nullptr, nullptr, nullptr, out};
}

/// The condition code after a subtraction holds the borrow.
Results ExtendedPrecision::carrySub(LlvmValue x, LlvmValue y, LlvmValue borrow) {
  LlvmValue difference = b_.CreateSub(x, y), out = b_.CreateICmpULT(x, y);
  if (borrow) {
    out = b_.CreateOr(out, b_.CreateICmpULT(difference, borrow));
    difference = b_.CreateSub(difference, borrow);
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
