// PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions"; float_body.hpp says how they
// are computed.
#include <llvm/IR/PatternMatch.h>

#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

Results FloatingPoint::AddF() { return floatBinary(llvm::Instruction::FAdd); }
Results FloatingPoint::SubF() { return floatBinary(llvm::Instruction::FSub); }
Results FloatingPoint::MulF() { return floatBinary(llvm::Instruction::FMul); }

/// .oob: where an operand is the NaN that stands for what lies outside of a tensor, the result is zero.
LlvmValue FloatingPoint::zeroOutside(LlvmValue result) {
  constexpr uint64_t kOutOfBounds = 0x7FFF, kField = 0xFFFF;
  const Type word = isa::isPacked(i_.type[0]) ? Type::u32 : Type::u16;
  LlvmValue bits = b_.CreateBitCast(result, type(word));
  for (unsigned shift = 0; shift < isa::bits(word); shift += 16) {
    LlvmValue outside = nullptr;
    for (size_t k = 1; k <= 3; ++k) {
      LlvmValue field = b_.CreateAnd(in(k, word), number(word, kField << shift));
      LlvmValue is = b_.CreateICmpEQ(field, number(word, kOutOfBounds << shift));
      outside = outside ? b_.CreateOr(outside, is) : is;
    }
    bits = b_.CreateSelect(outside, b_.CreateAnd(bits, number(word, ~(kField << shift))), bits);
  }
  return b_.CreateBitCast(bits, result->getType());
}

Results FloatingPoint::FmaF() {
  Results r = multiplyAdd();
  return i_.has(ModifierKind::OutOfBounds) ? Results{zeroOutside(r[0])} : r;
}

Results FloatingPoint::multiplyAdd() {
  const Type t = i_.type[0];
  auto wide = [&](LlvmValue v) { return b_.CreateFPExt(v, type(Type::f64)); };
  // A product of two f16 is exact in f32, and the sum with its last bit made odd rounds to f16 as the exact one does
  // (Boldo and Melquiond 2008). Products of bf16 may be too small or too large for f32; their sums, which come as
  // products by 1 before sm_90, are not.
  const bool isF16 = isa::element(t) == Type::f16;
  using namespace llvm::PatternMatch;
  auto half = [&](LlvmValue x, LlvmValue y, LlvmValue z) {
    if (!isF16 && match(y, m_SpecificFP(1))) return b_.CreateFAdd(x, z);
    if (!isF16 && match(y, m_SpecificFP(-1))) return b_.CreateFSub(z, x);
    if (isF16) return addToOdd(b_.CreateFMul(x, y), z);
    return narrowToOdd(addToOdd(b_.CreateFMul(wide(x), wide(y)), wide(z)));
  };
  if (isa::isPacked(t)) return packed([&](const auto& read) { return half(read(1), read(2), read(3)); });
  LlvmValue x = floatIn(1), y = floatIn(2), z = floatIn(3);
  if (isHalf(t)) return floatOut(half(x, y, z), t);
  auto compute = [&](LlvmValue p, LlvmValue q, LlvmValue r) {
    return isNearest() ? intrinsic(llvm::Intrinsic::fma, {p, q, r}) : directed("fma", {p, q, r}, t);
  };
  return floatOut(flushTiny(compute(x, y, z), [&] { return compute(scaleUp(x), y, scaleUp(z)); }), t);
}

/// Two f32 side by side in 64 bits. Their NaNs are seen as bits.
Results FloatingPoint::pairs(size_t sources, llvm::function_ref<LlvmValue(llvm::ArrayRef<LlvmValue>)> f) {
  LlvmValue result = number(Type::u64, 0);
  for (unsigned half = 0; half < 2; ++half) {
    llvm::SmallVector<LlvmValue> v;
    for (size_t k = 1; k <= sources; ++k) {
      LlvmValue word = b_.CreateTrunc(b_.CreateLShr(in(k, Type::u64), uint64_t{32} * half), type(Type::u32));
      v.push_back(flush(b_.CreateBitCast(word, type(Type::f32)), Type::f32));
    }
    LlvmValue bits = b_.CreateBitCast(operands_.canonicalNan(floatOut(f(v), Type::f32)[0]), type(Type::u32));
    result = b_.CreateOr(result, b_.CreateShl(b_.CreateZExt(bits, result->getType()), uint64_t{32} * half));
  }
  return {result};
}

Results FloatingPoint::pairBinary(unsigned opcode, const char* name) {
  const auto op = static_cast<llvm::Instruction::BinaryOps>(opcode);
  auto compute = [&](LlvmValue x, LlvmValue y) {
    return isNearest() ? b_.CreateBinOp(op, x, y) : directed(name, {x, y}, Type::f32);
  };
  return pairs(2, [&](llvm::ArrayRef<LlvmValue> v) {
    LlvmValue result = compute(v[0], v[1]);
    return op == llvm::Instruction::FMul ? flushTiny(result, [&] { return compute(scaleUp(v[0]), v[1]); }) : result;
  });
}

Results FloatingPoint::AddPair() { return pairBinary(llvm::Instruction::FAdd, "add"); }
Results FloatingPoint::SubPair() { return pairBinary(llvm::Instruction::FSub, "sub"); }
Results FloatingPoint::MulPair() { return pairBinary(llvm::Instruction::FMul, "mul"); }

Results FloatingPoint::FmaPair() {
  auto compute = [&](LlvmValue x, LlvmValue y, LlvmValue z) {
    return isNearest() ? intrinsic(llvm::Intrinsic::fma, {x, y, z}) : directed("fma", {x, y, z}, Type::f32);
  };
  return pairs(3, [&](llvm::ArrayRef<LlvmValue> v) {
    return flushTiny(compute(v[0], v[1], v[2]), [&] { return compute(scaleUp(v[0]), v[1], scaleUp(v[2])); });
  });
}

/// mad.f32 and mad.f64 are fma since sm_20.
Results FloatingPoint::MadF() { return FmaF(); }

/// abs (clear the sign bit) or neg (flip it) of f16 or bf16 bits, one or two in a register; a NaN becomes the canonical
/// one.
LlvmValue FloatingPoint::changeHalfSign(bool flips) {
  const Type t = i_.type[0], element = isa::element(t);
  LlvmValue x = in(1, isa::isPacked(t) ? Type::u32 : Type::u16);
  llvm::Type* whole = x->getType();
  llvm::Type* halves =
      isa::isPacked(t) ? llvm::FixedVectorType::get(b_.getInt16Ty(), s_.vector() ? 2 * kLanes : 2) : whole;
  auto constant = [&](uint64_t n) { return llvm::ConstantInt::get(halves, n); };
  x = b_.CreateBitCast(x, halves);
  const uint64_t infinity = element == Type::f16 ? 0x7C00 : 0x7F80, normal = element == Type::f16 ? 0x0400 : 0x0080;
  LlvmValue magnitude = b_.CreateAnd(x, constant(0x7FFF));
  LlvmValue r = flips ? b_.CreateXor(x, constant(0x8000)) : magnitude;
  if (i_.has(ModifierKind::Flush))
    r = b_.CreateSelect(b_.CreateICmpULT(magnitude, constant(normal)), b_.CreateAnd(r, constant(0x8000)), r);
  r = b_.CreateSelect(b_.CreateICmpUGT(magnitude, constant(infinity)), constant(0x7FFF), r);
  return b_.CreateBitCast(r, whole);
}

Results FloatingPoint::AbsF() {
  const Type t = i_.type[0];
  if (isa::bits(isa::element(t)) == 16) return {changeHalfSign(false)};
  return {flush(intrinsic(llvm::Intrinsic::fabs, {in(1)}), t)};
}

Results FloatingPoint::NegF() {
  const Type t = i_.type[0];
  if (isa::bits(isa::element(t)) == 16) return {changeHalfSign(true)};
  return {flush(b_.CreateFNeg(in(1)), t)};
}

/// A NaN operand loses to a number (.NaN: wins), and -0 is less than +0. Of two f64 NaNs the second is returned.
LlvmValue FloatingPoint::chooseFloat(LlvmValue x, LlvmValue y, bool isMax) {
  const bool isDouble = x->getType()->getScalarType()->isDoubleTy();
  LlvmValue r = intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {x, y});
  const Type bits = isDouble ? Type::u64 : Type::u32;
  LlvmValue xb = b_.CreateBitCast(x, type(bits)), yb = b_.CreateBitCast(y, type(bits));
  LlvmValue zero = b_.CreateBitCast(isMax ? b_.CreateAnd(xb, yb) : b_.CreateOr(xb, yb), x->getType());
  r = b_.CreateSelect(b_.CreateFCmpOEQ(x, y), zero, r);
  if (isDouble) {
    LlvmValue quiet = b_.CreateBitCast(b_.CreateOr(yb, number(bits, uint64_t{1} << 51)), y->getType());
    r = b_.CreateSelect(b_.CreateFCmpUNO(x, x), b_.CreateSelect(b_.CreateFCmpUNO(y, y), quiet, y), r);
  }
  if (i_.has(ModifierKind::NanMode))
    r = b_.CreateSelect(b_.CreateFCmpUNO(x, y), llvm::ConstantFP::getQNaN(x->getType()), r);
  return r;
}

/// .xorsign.abs: the magnitudes are compared, the result gets the product's sign.
LlvmValue FloatingPoint::minMaxElement(LlvmValue x, LlvmValue y, bool isMax) {
  if (!i_.has(ModifierKind::XorSign)) return chooseFloat(x, y, isMax);
  auto size = [&](LlvmValue v) { return intrinsic(llvm::Intrinsic::fabs, {v}); };
  const Type u = unsignedOf(x->getType()->getScalarSizeInBits());
  LlvmValue chosen = chooseFloat(size(x), size(y), isMax);
  LlvmValue sign = b_.CreateXor(b_.CreateBitCast(x, type(u)), b_.CreateBitCast(y, type(u)));
  LlvmValue result =
      b_.CreateIntrinsic(llvm::Intrinsic::copysign, {x->getType()}, {chosen, b_.CreateBitCast(sign, x->getType())});
  return b_.CreateSelect(b_.CreateFCmpUNO(chosen, chosen), chosen, result);
}

Results FloatingPoint::floatMinMax(bool isMax) {
  if (isa::isPacked(i_.type[0]))
    return packed([&](const auto& read) { return minMaxElement(read(1), read(2), isMax); });
  // .xorsign takes the sign of a NaN, too.
  auto read = [&](size_t k) {
    const bool seesBits = i_.has(ModifierKind::XorSign) && i_.type[0] == Type::f32;
    return seesBits ? flush(operands_.exactBits(i_.operands[k], Type::f32, s_), Type::f32) : floatIn(k);
  };
  return floatOut(minMaxElement(read(1), read(2), isMax), i_.type[0]);
}

Results FloatingPoint::MinF() { return floatMinMax(false); }
Results FloatingPoint::MaxF() { return floatMinMax(true); }

/// The sign of a, the magnitude of b: bits.
Results FloatingPoint::Copysign() {
  const unsigned width = isa::bits(i_.type[0]);
  const Type u = unsignedOf(width);
  const uint64_t sign = uint64_t{1} << (width - 1);
  return {b_.CreateBitCast(
      b_.CreateOr(b_.CreateAnd(in(1, u), number(u, sign)), b_.CreateAnd(in(2, u), number(u, sign - 1))),
      type(i_.type[0]))};
}

Results FloatingPoint::Testp() {
  static constexpr std::pair<std::string_view, unsigned> kTests[] = {{"finite", llvm::fcFinite},
                                                                     {"infinite", llvm::fcInf},
                                                                     {"number", llvm::fcFinite | llvm::fcInf},
                                                                     {"notanumber", llvm::fcNan},
                                                                     {"normal", llvm::fcNormal | llvm::fcZero},
                                                                     {"subnormal", llvm::fcSubnormal}};
  for (auto [name, test] : kTests)
    if (i_.mods.name(ModifierKind::TestOp) == name)
      return {b_.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {type(i_.type[0])}, {in(1), b_.getInt32(test)})};
  context_.refuse(i_, "unknown test");
}

}  // namespace ordito::jit
