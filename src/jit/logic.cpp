// PTX ISA, "Logic and Shift Instructions".
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

Results LogicAndShift::And() { return {b_.CreateAnd(in(1), in(2))}; }
Results LogicAndShift::Or() { return {b_.CreateOr(in(1), in(2))}; }
Results LogicAndShift::Xor() { return {b_.CreateXor(in(1), in(2))}; }
Results LogicAndShift::Not() { return {b_.CreateNot(in(1))}; }

Results LogicAndShift::Cnot() {
  return {b_.CreateZExt(b_.CreateICmpEQ(in(1), number(i_.type[0], 0)), type(i_.type[0]))};
}

/// Any function of three bits, the operands from `first` on, as the sum of its minterms; LLVM folds it (and finds
/// vpternlog).
LlvmValue LogicAndShift::lop3(size_t first, uint8_t table) {
  LlvmValue x[3] = {in(first, Type::b32), in(first + 1, Type::b32), in(first + 2, Type::b32)};
  LlvmValue result = number(Type::b32, 0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    LlvmValue term = nullptr;
    for (unsigned k = 0; k < 3; ++k) {
      LlvmValue bit = row >> (2 - k) & 1 ? x[k] : b_.CreateNot(x[k]);
      term = term ? b_.CreateAnd(term, bit) : bit;
    }
    result = b_.CreateOr(result, term);
  }
  return result;
}

Results LogicAndShift::Lop3() { return {lop3(1, static_cast<uint8_t>(i_.operands[4].bits))}; }

Results LogicAndShift::Lop3Bool() {
  LlvmValue value = lop3(2, static_cast<uint8_t>(i_.operands[5].bits));
  LlvmValue nonzero = b_.CreateICmpNE(value, number(Type::b32, 0));
  LlvmValue with = in(6, Type::pred);
  return {value, i_.mods.name(ModifierKind::BoolOp) == "or" ? b_.CreateOr(nonzero, with) : b_.CreateAnd(nonzero, with)};
}

/// PTX clamps the amount at the width; LLVM leaves that undefined.
LlvmValue LogicAndShift::shift(LlvmValue x, LlvmValue amount, unsigned bits, bool left, bool arithmetic) {
  const Type u = unsignedOf(bits);
  LlvmValue tooFar = b_.CreateICmpUGE(amount, number(Type::u32, bits));
  LlvmValue n = b_.CreateZExtOrTrunc(b_.CreateSelect(tooFar, number(Type::u32, bits - 1), amount), type(u));
  if (arithmetic) return b_.CreateAShr(x, n);
  return b_.CreateSelect(tooFar, number(u, 0), left ? b_.CreateShl(x, n) : b_.CreateLShr(x, n));
}

Results LogicAndShift::Shl() {
  const unsigned bits = isa::bits(i_.type[0]);
  return {shift(in(1, unsignedOf(bits)), in(2, Type::u32), bits, true, false)};
}

Results LogicAndShift::Shr() {
  const unsigned bits = isa::bits(i_.type[0]);
  return {shift(in(1, unsignedOf(bits)), in(2, Type::u32), bits, false, isSigned())};
}

/// A 64-bit value {b, a} shifted by the low 5 bits (.wrap) or by at most 32 (.clamp); .l gives the upper word, .r the
/// lower.
Results LogicAndShift::Shf() {
  const bool wrap = i_.mods.name(ModifierKind::ShiftMode) == "wrap",
             left = i_.mods.name(ModifierKind::ShiftDirection) == "l";
  LlvmValue low = in(1, Type::u32), high = in(2, Type::u32), n = in(3, Type::u32);
  n = wrap ? b_.CreateAnd(n, number(Type::u32, 31)) : intrinsic(llvm::Intrinsic::umin, {n, number(Type::u32, 32)});
  LlvmValue wide =
      b_.CreateOr(b_.CreateShl(b_.CreateZExt(high, type(Type::u64)), 32), b_.CreateZExt(low, type(Type::u64)));
  LlvmValue amount = b_.CreateZExt(n, type(Type::u64));
  LlvmValue shifted = left ? b_.CreateLShr(b_.CreateShl(wide, amount), 32) : b_.CreateLShr(wide, amount);
  return {b_.CreateTrunc(shifted, type(Type::u32))};
}

/// Bytes picked out of {b, a} by the nibbles of c; a nibble's top bit asks for the byte's sign eight times.
Results LogicAndShift::Prmt() {
  if (i_.has(ModifierKind::PrmtMode)) {
    // The modes are fixed tables of selectors, indexed by the low two bits of c.
    static constexpr uint16_t kTables[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                               {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                               {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    const auto& table = kTables[i_.mods[ModifierKind::PrmtMode] - 1];
    LlvmValue c = b_.CreateAnd(in(3, Type::u32), number(Type::u32, 3)), selector = number(Type::u32, table[0]);
    for (unsigned k = 1; k < 4; ++k)
      selector = b_.CreateSelect(b_.CreateICmpEQ(c, number(Type::u32, k)), number(Type::u32, table[k]), selector);
    return {permute(selector)};
  }
  return {permute(in(3, Type::u32))};
}

/// prmt by a selector of four nibbles.
LlvmValue LogicAndShift::permute(LlvmValue selector) {
  LlvmValue wide = b_.CreateOr(b_.CreateShl(b_.CreateZExt(in(2, Type::u32), type(Type::u64)), 32),
                               b_.CreateZExt(in(1, Type::u32), type(Type::u64)));
  LlvmValue result = number(Type::u32, 0);
  const bool mode = i_.has(ModifierKind::PrmtMode);
  for (unsigned n = 0; n < 4; ++n) {
    LlvmValue nibble = b_.CreateAnd(b_.CreateLShr(selector, 4 * n), number(Type::u32, 15));
    LlvmValue shift = b_.CreateShl(b_.CreateZExt(b_.CreateAnd(nibble, number(Type::u32, 7)), type(Type::u64)), 3);
    LlvmValue byte = b_.CreateAnd(b_.CreateTrunc(b_.CreateLShr(wide, shift), type(Type::u32)), number(Type::u32, 255));
    if (!mode) {
      LlvmValue isNegative = b_.CreateICmpNE(b_.CreateAnd(byte, number(Type::u32, 128)), number(Type::u32, 0));
      LlvmValue sign = b_.CreateSelect(isNegative, number(Type::u32, 255), number(Type::u32, 0));
      byte = b_.CreateSelect(b_.CreateICmpNE(b_.CreateAnd(nibble, number(Type::u32, 8)), number(Type::u32, 0)), sign,
                             byte);
    }
    result = b_.CreateOr(result, b_.CreateShl(byte, 8 * n));
  }
  return result;
}

}  // namespace ordito::jit
