// See instruction_body.hpp.
#include "jit/instruction_body.hpp"

namespace ordito::jit {

using isa::Type;

Type InstructionBody::unsignedOf(unsigned bits) {
  return bits == 8 ? Type::u8 : bits == 16 ? Type::u16 : bits == 32 ? Type::u32 : Type::u64;
}

LlvmValue InstructionBody::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<LlvmValue> arguments) {
  return b_.CreateIntrinsic(id, {arguments[0]->getType()},
                            llvm::SmallVector<llvm::Value*>(arguments.begin(), arguments.end()));
}

/// Operand `k`, which the result is made of unchanged; see NanPlan.
LlvmValue InstructionBody::passIn(size_t k) {
  const auto& d = i_.operands[0];
  const bool mixed =
      i_.type[0] == Type::f32 && d.kind == ptx::Operand::Kind::Register && context_.plan.nans.isMixed(d.reg);
  return mixed ? b_.CreateBitCast(in(k, Type::u32), type(Type::f32)) : in(k);
}

/// `width` bits of `word` from bit `at` on, as a number of `width` or more bits.
LlvmValue InstructionBody::part(LlvmValue word, unsigned at, unsigned width, bool isSigned, unsigned bits) {
  LlvmValue wide = b_.CreateZExtOrTrunc(word, type(unsignedOf(bits)));
  wide = b_.CreateShl(wide, bits - at - width);
  return isSigned ? b_.CreateAShr(wide, bits - width) : b_.CreateLShr(wide, bits - width);
}

LlvmValue InstructionBody::clampTo(LlvmValue v, unsigned width, bool isSigned) {
  const uint64_t high = (uint64_t{1} << (width - isSigned)) - 1, low = isSigned ? ~high : 0;
  auto limit = [&](uint64_t n) { return llvm::ConstantInt::get(v->getType(), n, true); };
  return intrinsic(llvm::Intrinsic::smin, {intrinsic(llvm::Intrinsic::smax, {v, limit(low)}), limit(high)});
}

LlvmValue InstructionBody::mulHigh(LlvmValue x, LlvmValue y, unsigned bits, bool isSigned) {
  llvm::Type* wide = s_.vector() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b_.getIntNTy(2 * bits), kLanes))
                                 : b_.getIntNTy(2 * bits);
  auto extend = [&](LlvmValue v) { return isSigned ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
  LlvmValue full = b_.CreateMul(extend(x), extend(y));
  return b_.CreateTrunc(b_.CreateLShr(full, bits), x->getType());
}

/// mul.lo, .hi or .wide of two operands.
LlvmValue InstructionBody::product(LlvmValue x, LlvmValue y) {
  const unsigned bits = isa::bits(i_.type[0]);
  if (i_.is(kHi)) return mulHigh(x, y, bits, isSigned());
  if (!i_.is(kWide)) return b_.CreateMul(x, y);
  llvm::Type* wide = type(unsignedOf(2 * bits));
  return isSigned() ? b_.CreateMul(b_.CreateSExt(x, wide), b_.CreateSExt(y, wide))
                    : b_.CreateMul(b_.CreateZExt(x, wide), b_.CreateZExt(y, wide));
}

}  // namespace ordito::jit
