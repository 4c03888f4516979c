// PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

/// f(x, y) on whole operands, or on both halves of packed ones at once: a vector of 32-bit registers is one of twice as
/// many halves.
template <class F>
Results IntegerArithmetic::integerLanes(F&& f) {
  LlvmValue x = in(1), y = in(2);
  if (!isa::isPacked(i_.type[0])) return {f(x, y)};
  auto* halves = llvm::FixedVectorType::get(b_.getInt16Ty(), s_.vector() ? 2 * kLanes : 2);
  return {b_.CreateBitCast(f(b_.CreateBitCast(x, halves), b_.CreateBitCast(y, halves)), x->getType())};
}

Results IntegerArithmetic::Add() {
  if (i_.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::sadd_sat, {in(1), in(2)})};
  return integerLanes([&](LlvmValue x, LlvmValue y) { return b_.CreateAdd(x, y); });
}

Results IntegerArithmetic::Sub() {
  if (i_.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::ssub_sat, {in(1), in(2)})};
  return {b_.CreateSub(in(1), in(2))};
}

Results IntegerArithmetic::Mul() { return {product(in(1), in(2))}; }

Results IntegerArithmetic::Mad() {
  const Type wide = i_.is(kWide) ? unsignedOf(2 * isa::bits(i_.type[0])) : i_.type[0];
  LlvmValue p = product(in(1), in(2)), c = in(3, wide);
  if (i_.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::sadd_sat, {p, c})};
  return {b_.CreateAdd(p, c)};
}

/// The low 24 bits of each operand multiplied to 48 bits; .lo takes bits 0-31, .hi bits 16-47.
static LlvmValue product24(llvm::IRBuilder<>& b, LlvmValue x, LlvmValue y, llvm::Type* wide, bool isSigned, bool high) {
  auto extend = [&](LlvmValue v) {
    LlvmValue shifted = b.CreateShl(isSigned ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide), 40);
    return isSigned ? b.CreateAShr(shifted, 40) : b.CreateLShr(shifted, 40);
  };
  LlvmValue full = b.CreateMul(extend(x), extend(y));
  return b.CreateTrunc(high ? b.CreateLShr(full, 16) : full, x->getType());
}

Results IntegerArithmetic::Mul24() { return {product24(b_, in(1), in(2), type(Type::u64), isSigned(), i_.is(kHi))}; }

Results IntegerArithmetic::Mad24() {
  LlvmValue p = product24(b_, in(1), in(2), type(Type::u64), isSigned(), i_.is(kHi));
  if (i_.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::sadd_sat, {p, in(3)})};
  return {b_.CreateAdd(p, in(3))};
}

Results IntegerArithmetic::Sad() {
  LlvmValue x = in(1), y = in(2);
  LlvmValue less = isSigned() ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y);
  return {b_.CreateAdd(in(3), b_.CreateSelect(less, b_.CreateSub(y, x), b_.CreateSub(x, y)))};
}

/// x / safe or x % safe by floating-point division, of vectors: processors have no other. Integers of 32 bits fit a
/// double exactly, those of 16 a float, and so does every quotient's integer part: |x/y - n| >= 1/y is more than half
/// an ulp. `y` is the divisor before it was made safe.
LlvmValue IntegerArithmetic::divideAsFloats(LlvmValue x, LlvmValue y, LlvmValue safe, bool remainder) {
  const Type t = i_.type[0];
  llvm::Type* wide = type(isa::bits(t) <= 16 ? Type::f32 : Type::f64);
  LlvmValue q;
  if (isSigned()) {
    // INT_MIN / -1 wraps in PTX and would be out of range here.
    q = b_.CreateFPToSI(b_.CreateFDiv(b_.CreateSIToFP(x, wide), b_.CreateSIToFP(safe, wide)), x->getType());
    q = b_.CreateSelect(b_.CreateICmpEQ(y, number(t, ~uint64_t{0})), b_.CreateNeg(x), q);
  } else {
    q = b_.CreateFPToUI(b_.CreateFDiv(b_.CreateUIToFP(x, wide), b_.CreateUIToFP(safe, wide)), x->getType());
  }
  return remainder ? b_.CreateSub(x, b_.CreateMul(q, safe)) : q;
}

/// x86 traps on division by zero and on INT_MIN / -1; lanes that are masked off hold anything, so divisors are made
/// safe first. PTX leaves x/0 undefined; NVIDIA's GPUs give all ones. A uniform divisor that is a power of two, the
/// usual case by far, takes a mask or a shift.
LlvmValue IntegerArithmetic::divide(LlvmValue x, LlvmValue y, bool remainder) {
  const unsigned bits = isa::bits(i_.type[0]);
  const Type t = i_.type[0];
  y = b_.CreateFreeze(y);  // else LLVM may take a lane that is off for 0 here and for not 0 there
  LlvmValue isZero = b_.CreateICmpEQ(y, number(t, 0));
  LlvmValue safe = b_.CreateSelect(isZero, number(t, 1), y);
  auto plain = [&]() -> LlvmValue {
    if (s_.vector() && bits <= 32) return divideAsFloats(x, y, safe, remainder);
    if (!isSigned()) return remainder ? b_.CreateURem(x, safe) : b_.CreateUDiv(x, safe);
    // INT_MIN / -1 wraps to INT_MIN; dividing by 1 instead gives just that, and remainder 0.
    LlvmValue wraps = b_.CreateAnd(b_.CreateICmpEQ(x, number(t, uint64_t{1} << (bits - 1))),
                                   b_.CreateICmpEQ(y, number(t, ~uint64_t{0})));
    LlvmValue divisor = b_.CreateSelect(wraps, number(t, 1), safe);
    return remainder ? b_.CreateSRem(x, divisor) : b_.CreateSDiv(x, divisor);
  };
  LlvmValue atZero = number(t, ~uint64_t{0});
  if (i_.operands[2].kind == ptx::Operand::Kind::Integer && i_.operands[2].bits)
    return remainder ? (isSigned() ? b_.CreateSRem(x, safe) : b_.CreateURem(x, safe))
                     : (isSigned() && i_.operands[2].bits == ~uint64_t{0} ? b_.CreateNeg(x)
                        : isSigned()                                      ? b_.CreateSDiv(x, safe)
                                                                          : b_.CreateUDiv(x, safe));
  const auto& divisor = i_.operands[2];
  const bool uniform =
      s_.vector() && divisor.kind == ptx::Operand::Kind::Register && context_.plan.shapes[divisor.reg].isUniform();
  if (!uniform) return b_.CreateSelect(isZero, atZero, plain());
  return b_.CreateSelect(isZero, atZero, divideByUniform(x, divisor.reg, remainder, plain));
}

/// x / d or x % d where all lanes divide by the same d: a shift or a mask if d is a power of two, else what `general`
/// emits.
LlvmValue IntegerArithmetic::divideByUniform(LlvmValue x, ValueId d, bool remainder,
                                             llvm::function_ref<LlvmValue()> general) {
  llvm::Type* scalarType = x->getType()->getScalarType();
  const unsigned bits = scalarType->getScalarSizeInBits();
  LlvmValue divisor = values_.convertBits(values_.baseOf(d, s_.part, 0), scalarType);
  LlvmValue low = b_.CreateSub(divisor, llvm::ConstantInt::get(scalarType, 1));
  LlvmValue isPower = b_.CreateAnd(b_.CreateICmpEQ(b_.CreateAnd(divisor, low), llvm::ConstantInt::get(scalarType, 0)),
                                   b_.CreateICmpSGT(divisor, llvm::ConstantInt::get(scalarType, 0)));
  auto* power = context_.newBlock("powerof2");
  auto* other = context_.newBlock("anydivisor");
  auto* on = context_.newBlock("divided");
  b_.CreateCondBr(isPower, power, other);
  b_.SetInsertPoint(power);
  LlvmValue mask = values_.splat(low);
  LlvmValue log = values_.splat(b_.CreateIntrinsic(llvm::Intrinsic::cttz, {scalarType}, {divisor, b_.getTrue()}));
  // Signed division rounds toward zero: negative dividends get d - 1 added first.
  LlvmValue biased = isSigned() ? b_.CreateAdd(x, b_.CreateAnd(b_.CreateAShr(x, bits - 1), mask)) : x;
  LlvmValue fast;
  if (remainder)
    fast = isSigned() ? b_.CreateSub(x, b_.CreateAnd(biased, b_.CreateNot(mask))) : b_.CreateAnd(x, mask);
  else
    fast = isSigned() ? b_.CreateAShr(biased, log) : b_.CreateLShr(biased, log);
  auto* powerEnd = b_.GetInsertBlock();
  b_.CreateBr(on);
  b_.SetInsertPoint(other);
  LlvmValue slow = general();
  auto* otherEnd = b_.GetInsertBlock();
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
  auto* result = b_.CreatePHI(x->getType(), 2);
  result->addIncoming(fast, powerEnd);
  result->addIncoming(slow, otherEnd);
  return result;
}

Results IntegerArithmetic::Div() { return {divide(in(1), in(2), false)}; }
Results IntegerArithmetic::Rem() { return {divide(in(1), in(2), true)}; }
Results IntegerArithmetic::Abs() {
  return {b_.CreateIntrinsic(llvm::Intrinsic::abs, {type(i_.type[0])}, {in(1), b_.getFalse()})};
}
Results IntegerArithmetic::Neg() { return {b_.CreateNeg(in(1))}; }

Results IntegerArithmetic::minMax(bool isMax) {
  const bool isSigned = isa::isSigned(isa::element(i_.type[0]));
  const auto id = isMax      ? (isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                  : isSigned ? llvm::Intrinsic::smin
                             : llvm::Intrinsic::umin;
  return integerLanes([&](LlvmValue x, LlvmValue y) {
    LlvmValue v = intrinsic(id, {x, y});
    return i_.has(ModifierKind::Relu)
               ? intrinsic(llvm::Intrinsic::smax, {v, llvm::Constant::getNullValue(v->getType())})
               : v;
  });
}

Results IntegerArithmetic::Min() { return minMax(false); }
Results IntegerArithmetic::Max() { return minMax(true); }

Results IntegerArithmetic::Popc() {
  return {b_.CreateZExtOrTrunc(intrinsic(llvm::Intrinsic::ctpop, {in(1)}), type(Type::u32))};
}

Results IntegerArithmetic::Clz() {
  return {b_.CreateZExtOrTrunc(b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {type(i_.type[0])}, {in(1), b_.getFalse()}),
                               type(Type::u32))};
}

/// The most significant bit that differs from the sign; all ones if there is none. .shiftamt gives the left shift that
/// would bring it to the top.
Results IntegerArithmetic::Bfind() {
  const unsigned bits = isa::bits(i_.type[0]);
  LlvmValue x = in(1);
  if (isSigned()) x = b_.CreateSelect(b_.CreateICmpSLT(x, number(i_.type[0], 0)), b_.CreateNot(x), x);
  LlvmValue zeros = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {type(i_.type[0])}, {x, b_.getFalse()});
  LlvmValue position = i_.has(ModifierKind::ShiftAmount) ? zeros : b_.CreateSub(number(i_.type[0], bits - 1), zeros);
  LlvmValue found = b_.CreateICmpNE(x, number(i_.type[0], 0));
  return {b_.CreateSelect(found, b_.CreateZExtOrTrunc(position, type(Type::u32)), number(Type::u32, ~0u))};
}

/// The |n|-th set bit from `base` upwards or, n < 0, downwards, which is upwards in the reversed word: by halves, each
/// with a count of its bits. n = 0 asks for the bit at `base` itself.
Results IntegerArithmetic::Fns() {
  auto word = [&](uint64_t n) { return number(Type::u32, n); };
  LlvmValue mask = in(1, Type::u32), base = in(2, Type::u32), n = in(3, Type::u32);
  LlvmValue isDown = b_.CreateICmpSLT(n, word(0)), isHere = b_.CreateICmpEQ(n, word(0));
  LlvmValue inside = b_.CreateICmpULT(base, word(32)), least = b_.CreateAnd(base, word(31));
  LlvmValue from = b_.CreateSelect(isDown, b_.CreateXor(least, word(31)), least);
  mask = b_.CreateSelect(isDown, intrinsic(llvm::Intrinsic::bitreverse, {mask}), mask);
  LlvmValue left = b_.CreateLShr(mask, from);
  left = b_.CreateSelect(isHere, b_.CreateAnd(left, word(1)), left);
  LlvmValue count = b_.CreateSelect(isHere, word(1), b_.CreateSelect(isDown, b_.CreateNeg(n), n)), position = from;
  auto bitsIn = [&](LlvmValue x) { return intrinsic(llvm::Intrinsic::ctpop, {x}); };
  LlvmValue found = b_.CreateAnd(inside, b_.CreateICmpUGE(bitsIn(left), count));
  for (unsigned width = 16; width; width /= 2) {
    LlvmValue lower = bitsIn(b_.CreateAnd(left, word((uint64_t{1} << width) - 1)));
    LlvmValue isAbove = b_.CreateICmpUGT(count, lower);
    count = b_.CreateSelect(isAbove, b_.CreateSub(count, lower), count);
    position = b_.CreateSelect(isAbove, b_.CreateAdd(position, word(width)), position);
    left = b_.CreateSelect(isAbove, b_.CreateLShr(left, word(width)), left);
  }
  position = b_.CreateSelect(isDown, b_.CreateSub(word(31), position), position);
  LlvmValue result = b_.CreateSelect(found, position, word(~uint32_t{0}));
  // The least number has no absolute value; GPUs give 0.
  return {b_.CreateSelect(b_.CreateICmpEQ(n, word(0x80000000)), word(0), result)};
}
Results IntegerArithmetic::Brev() { return {intrinsic(llvm::Intrinsic::bitreverse, {in(1)})}; }

/// Where a bit field begins or how long it is: the low 8 bits of operand `k` for 32-bit types, and for 64-bit types, as
/// GPUs have it, the whole of it, which more than 255 need not be.
LlvmValue IntegerArithmetic::fieldNumber(size_t k) {
  const unsigned bits = isa::bits(i_.type[0]);
  LlvmValue n = in(k, Type::u32), limit = number(Type::u32, 255);
  n = bits == 32 ? b_.CreateAnd(n, limit) : intrinsic(llvm::Intrinsic::umin, {n, limit});
  return b_.CreateZExtOrTrunc(n, type(unsignedOf(bits)));
}

/// Bits beyond the top are the sign (or zero).
Results IntegerArithmetic::Bfe() {
  const unsigned bits = isa::bits(i_.type[0]);
  const Type t = i_.type[0], u = unsignedOf(bits);
  LlvmValue position = fieldNumber(2), length = fieldNumber(3), x = in(1);
  LlvmValue end = b_.CreateAdd(position, length);
  LlvmValue last = intrinsic(llvm::Intrinsic::umin, {b_.CreateSub(end, number(u, 1)), number(u, bits - 1)});
  // Shift the field up to the top, then down again with the sign.
  LlvmValue up = b_.CreateSub(number(u, bits - 1), last);
  LlvmValue raised = b_.CreateShl(x, up);
  LlvmValue down = b_.CreateAdd(up, position);
  LlvmValue tooFar = b_.CreateICmpUGE(down, number(u, bits));
  LlvmValue amount = b_.CreateSelect(tooFar, number(u, bits - 1), down);
  LlvmValue field =
      isSigned() ? b_.CreateAShr(raised, amount) : b_.CreateSelect(tooFar, number(u, 0), b_.CreateLShr(raised, amount));
  return {b_.CreateSelect(b_.CreateICmpEQ(length, number(u, 0)), number(t, 0), field)};
}

Results IntegerArithmetic::Bfi() {
  const unsigned bits = isa::bits(i_.type[0]);
  const Type u = unsignedOf(bits);
  LlvmValue position = fieldNumber(3), length = fieldNumber(4);
  LlvmValue ones = b_.CreateSelect(
      b_.CreateICmpUGE(length, number(u, bits)), number(u, ~uint64_t{0}),
      b_.CreateSub(b_.CreateShl(number(u, 1), b_.CreateAnd(length, number(u, bits - 1))), number(u, 1)));
  LlvmValue inside = b_.CreateICmpULT(position, number(u, bits));
  LlvmValue amount = b_.CreateAnd(position, number(u, bits - 1));
  LlvmValue mask = b_.CreateSelect(inside, b_.CreateShl(ones, amount), number(u, 0));
  return {b_.CreateOr(b_.CreateAnd(b_.CreateShl(in(1), amount), mask), b_.CreateAnd(in(2), b_.CreateNot(mask)))};
}

/// A mask of `b` ones from bit `a` up. .clamp limits both to 32, .wrap takes them modulo 32.
Results IntegerArithmetic::Bmsk() {
  const bool wrap = i_.mods.name(ModifierKind::ShiftMode) == "wrap";
  auto limit = [&](LlvmValue v) {
    return wrap ? b_.CreateAnd(v, number(Type::u32, 31)) : intrinsic(llvm::Intrinsic::umin, {v, number(Type::u32, 32)});
  };
  LlvmValue position = limit(in(1, Type::u32)), width = limit(in(2, Type::u32));
  LlvmValue wide =
      b_.CreateSub(b_.CreateShl(number(Type::u64, 1), b_.CreateZExt(width, type(Type::u64))), number(Type::u64, 1));
  return {b_.CreateTrunc(b_.CreateShl(wide, b_.CreateZExt(position, type(Type::u64))), type(Type::u32))};
}

Results IntegerArithmetic::Szext() {
  const bool wrap = i_.mods.name(ModifierKind::ShiftMode) == "wrap";
  LlvmValue n = in(2, Type::u32), x = in(1);
  LlvmValue width =
      wrap ? b_.CreateAnd(n, number(Type::u32, 31)) : intrinsic(llvm::Intrinsic::umin, {n, number(Type::u32, 32)});
  LlvmValue up = b_.CreateSub(number(Type::u32, 32), width);
  LlvmValue isZero = b_.CreateICmpEQ(width, number(Type::u32, 0));
  LlvmValue amount = b_.CreateSelect(isZero, number(Type::u32, 0), up);
  LlvmValue field =
      isSigned() ? b_.CreateAShr(b_.CreateShl(x, amount), amount) : b_.CreateLShr(b_.CreateShl(x, amount), amount);
  return {b_.CreateSelect(isZero, number(Type::u32, 0), field)};
}

/// Two products of a's halves and two of b's bytes added to c.
Results IntegerArithmetic::Dp2a() {
  const unsigned first = i_.mods.name(ModifierKind::HalfOfDot) == "hi" ? 16 : 0;
  LlvmValue x = in(1, Type::u32), y = in(2, Type::u32), sum = in(3, Type::u32);
  for (unsigned n = 0; n < 2; ++n)
    sum = b_.CreateAdd(sum, b_.CreateMul(part(x, 16 * n, 16, isa::isSigned(i_.type[1]), 32),
                                         part(y, first + 8 * n, 8, isa::isSigned(i_.type[2]), 32)));
  return {sum};
}

/// Four byte products added to c.
Results IntegerArithmetic::Dp4a() {
  LlvmValue x = in(1, Type::u32), y = in(2, Type::u32), sum = in(3, Type::u32);
  auto byte = [&](LlvmValue v, unsigned n, bool isSigned) {
    LlvmValue top = b_.CreateShl(v, 24 - 8 * n);
    return isSigned ? b_.CreateAShr(top, 24) : b_.CreateLShr(top, 24);
  };
  for (unsigned n = 0; n < 4; ++n)
    sum = b_.CreateAdd(sum, b_.CreateMul(byte(x, n, isa::isSigned(i_.type[1])), byte(y, n, isa::isSigned(i_.type[2]))));
  return {sum};
}

}  // namespace ordito::jit
