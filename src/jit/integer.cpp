// PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".
#include "jit/lower.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = Lower::Results;

Type Lower::unsignedOf(unsigned bits) {
  return bits == 8 ? Type::u8 : bits == 16 ? Type::u16 : bits == 32 ? Type::u32 : Type::u64;
}
Type Lower::signedOf(unsigned bits) {
  return bits == 8 ? Type::s8 : bits == 16 ? Type::s16 : bits == 32 ? Type::s32 : Type::s64;
}

LlvmValue Lower::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<LlvmValue> arguments) {
  return b.CreateIntrinsic(id, {arguments[0]->getType()},
                           llvm::SmallVector<llvm::Value*>(arguments.begin(), arguments.end()));
}

namespace {
constexpr auto kHi = isa::mod<ModifierKind::MulMode>("hi");
constexpr auto kWide = isa::mod<ModifierKind::MulMode>("wide");
}  // namespace

/// f(x, y) on whole operands, or on both halves of packed ones at once: a vector of 32-bit registers is one of twice as
/// many halves.
template <class F>
Results Lower::integerLanes(F&& f) {
  LlvmValue x = in(1), y = in(2);
  if (!isa::isPacked(i.type[0])) return {f(x, y)};
  auto* halves = llvm::FixedVectorType::get(b.getInt16Ty(), s.vector() ? 2 * kLanes : 2);
  return {b.CreateBitCast(f(b.CreateBitCast(x, halves), b.CreateBitCast(y, halves)), x->getType())};
}

Results Lower::Add() {
  if (i.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::sadd_sat, {in(1), in(2)})};
  return integerLanes([&](LlvmValue x, LlvmValue y) { return b.CreateAdd(x, y); });
}

Results Lower::Sub() {
  if (i.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::ssub_sat, {in(1), in(2)})};
  return {b.CreateSub(in(1), in(2))};
}

LlvmValue Lower::carryIn() {
  ptx::Operand carry;
  carry.kind = ptx::Operand::Kind::Register;
  carry.reg = i.carryIn;
  return b.CreateZExt(operands.operand(carry, Type::pred, s), type(unsignedOf(isa::bits(i.type[0]))));
}

Results Lower::carryAdd(LlvmValue x, LlvmValue y, LlvmValue carry) {
  LlvmValue sum = b.CreateAdd(x, y), out = b.CreateICmpULT(sum, x);
  if (carry) {
    LlvmValue total = b.CreateAdd(sum, carry);
    out = b.CreateOr(out, b.CreateICmpULT(total, sum));
    sum = total;
  }
  return {sum, nullptr, nullptr, nullptr, out};
}

/// The condition code after a subtraction holds the borrow.
Results Lower::carrySub(LlvmValue x, LlvmValue y, LlvmValue borrow) {
  LlvmValue difference = b.CreateSub(x, y), out = b.CreateICmpULT(x, y);
  if (borrow) {
    out = b.CreateOr(out, b.CreateICmpULT(difference, borrow));
    difference = b.CreateSub(difference, borrow);
  }
  return {difference, nullptr, nullptr, nullptr, out};
}

Results Lower::AddCc() { return carryAdd(in(1), in(2), nullptr); }
Results Lower::Addc() { return carryAdd(in(1), in(2), carryIn()); }
Results Lower::SubCc() { return carrySub(in(1), in(2), nullptr); }
Results Lower::Subc() { return carrySub(in(1), in(2), carryIn()); }
Results Lower::MadCc() { return carryAdd(product(in(1), in(2)), in(3), nullptr); }
Results Lower::Madc() { return carryAdd(product(in(1), in(2)), in(3), carryIn()); }

LlvmValue Lower::mulHigh(LlvmValue x, LlvmValue y, unsigned bits, bool isSigned) {
  llvm::Type* wide = s.vector() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b.getIntNTy(2 * bits), kLanes))
                                : b.getIntNTy(2 * bits);
  auto extend = [&](LlvmValue v) { return isSigned ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide); };
  LlvmValue full = b.CreateMul(extend(x), extend(y));
  return b.CreateTrunc(b.CreateLShr(full, bits), x->getType());
}

/// mul.lo, .hi or .wide of two operands.
LlvmValue Lower::product(LlvmValue x, LlvmValue y) {
  const unsigned bits = isa::bits(i.type[0]);
  if (i.is(kHi)) return mulHigh(x, y, bits, isSigned());
  if (!i.is(kWide)) return b.CreateMul(x, y);
  llvm::Type* wide = type(unsignedOf(2 * bits));
  return isSigned() ? b.CreateMul(b.CreateSExt(x, wide), b.CreateSExt(y, wide))
                    : b.CreateMul(b.CreateZExt(x, wide), b.CreateZExt(y, wide));
}

Results Lower::Mul() { return {product(in(1), in(2))}; }

Results Lower::Mad() {
  const Type wide = i.is(kWide) ? unsignedOf(2 * isa::bits(i.type[0])) : i.type[0];
  LlvmValue p = product(in(1), in(2)), c = in(3, wide);
  if (i.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::sadd_sat, {p, c})};
  return {b.CreateAdd(p, c)};
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

Results Lower::Mul24() { return {product24(b, in(1), in(2), type(Type::u64), isSigned(), i.is(kHi))}; }

Results Lower::Mad24() {
  LlvmValue p = product24(b, in(1), in(2), type(Type::u64), isSigned(), i.is(kHi));
  if (i.has(ModifierKind::Saturate)) return {intrinsic(llvm::Intrinsic::sadd_sat, {p, in(3)})};
  return {b.CreateAdd(p, in(3))};
}

Results Lower::Sad() {
  LlvmValue x = in(1), y = in(2);
  LlvmValue less = isSigned() ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
  return {b.CreateAdd(in(3), b.CreateSelect(less, b.CreateSub(y, x), b.CreateSub(x, y)))};
}

/// x86 traps on division by zero and on INT_MIN / -1; lanes that are masked off hold anything, so divisors are made
/// safe first. PTX leaves x/0 undefined; NVIDIA's GPUs give all ones. A uniform divisor that is a power of two, the
/// usual case by far, takes a mask or a shift.
LlvmValue Lower::divide(LlvmValue x, LlvmValue y, bool remainder) {
  const unsigned bits = isa::bits(i.type[0]);
  const Type t = i.type[0];
  y = b.CreateFreeze(y);  // else LLVM may take a lane that is off for 0 here and for not 0 there
  LlvmValue isZero = b.CreateICmpEQ(y, number(t, 0));
  LlvmValue safe = b.CreateSelect(isZero, number(t, 1), y);
  auto plain = [&]() -> LlvmValue {
    if (s.vector() && bits <= 32) {
      // 32-bit integers fit a double exactly, and so does every quotient's integer part: |x/y - n| >= 1/y is more than
      // half an ulp.
      llvm::Type* wide = type(Type::f64);
      LlvmValue quotient = isSigned() ? b.CreateFDiv(b.CreateSIToFP(x, wide), b.CreateSIToFP(safe, wide))
                                      : b.CreateFDiv(b.CreateUIToFP(x, wide), b.CreateUIToFP(safe, wide));
      LlvmValue q = b.CreateIntrinsic(isSigned() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                      {x->getType(), wide}, {quotient});
      // INT_MIN / -1 saturates to INT_MAX; PTX wraps.
      if (isSigned()) q = b.CreateSelect(b.CreateICmpEQ(y, number(t, ~uint64_t{0})), b.CreateNeg(x), q);
      return remainder ? b.CreateSub(x, b.CreateMul(q, safe)) : q;
    }
    if (!isSigned()) return remainder ? b.CreateURem(x, safe) : b.CreateUDiv(x, safe);
    // INT_MIN / -1 wraps to INT_MIN; dividing by 1 instead gives just that, and remainder 0.
    LlvmValue wraps = b.CreateAnd(b.CreateICmpEQ(x, number(t, uint64_t{1} << (bits - 1))),
                                  b.CreateICmpEQ(y, number(t, ~uint64_t{0})));
    LlvmValue divisor = b.CreateSelect(wraps, number(t, 1), safe);
    return remainder ? b.CreateSRem(x, divisor) : b.CreateSDiv(x, divisor);
  };
  LlvmValue atZero = number(t, ~uint64_t{0});
  if (i.operands[2].kind == ptx::Operand::Kind::Integer && i.operands[2].bits)
    return remainder ? (isSigned() ? b.CreateSRem(x, safe) : b.CreateURem(x, safe))
                     : (isSigned() && i.operands[2].bits == ~uint64_t{0} ? b.CreateNeg(x)
                        : isSigned()                                     ? b.CreateSDiv(x, safe)
                                                                         : b.CreateUDiv(x, safe));
  const auto& divisor = i.operands[2];
  const bool uniform =
      s.vector() && divisor.kind == ptx::Operand::Kind::Register && context.plan.shapes[divisor.reg].isUniform();
  if (!uniform) return b.CreateSelect(isZero, atZero, plain());
  return b.CreateSelect(isZero, atZero, pure.divideByUniform(x, divisor.reg, s.part, isSigned(), remainder, plain));
}

Results Lower::Div() { return {divide(in(1), in(2), false)}; }
Results Lower::Rem() { return {divide(in(1), in(2), true)}; }
Results Lower::Abs() { return {b.CreateIntrinsic(llvm::Intrinsic::abs, {type(i.type[0])}, {in(1), b.getFalse()})}; }
Results Lower::Neg() { return {b.CreateNeg(in(1))}; }

Results Lower::minMax(bool isMax) {
  const bool isSigned = isa::isSigned(isa::element(i.type[0]));
  const auto id = isMax      ? (isSigned ? llvm::Intrinsic::smax : llvm::Intrinsic::umax)
                  : isSigned ? llvm::Intrinsic::smin
                             : llvm::Intrinsic::umin;
  return integerLanes([&](LlvmValue x, LlvmValue y) {
    LlvmValue v = intrinsic(id, {x, y});
    return i.has(ModifierKind::Relu) ? intrinsic(llvm::Intrinsic::smax, {v, llvm::Constant::getNullValue(v->getType())})
                                     : v;
  });
}

Results Lower::Min() { return minMax(false); }
Results Lower::Max() { return minMax(true); }

Results Lower::Popc() { return {b.CreateZExtOrTrunc(intrinsic(llvm::Intrinsic::ctpop, {in(1)}), type(Type::u32))}; }

Results Lower::Clz() {
  return {b.CreateZExtOrTrunc(b.CreateIntrinsic(llvm::Intrinsic::ctlz, {type(i.type[0])}, {in(1), b.getFalse()}),
                              type(Type::u32))};
}

/// The most significant bit that differs from the sign; all ones if there is none. .shiftamt gives the left shift that
/// would bring it to the top.
Results Lower::Bfind() {
  const unsigned bits = isa::bits(i.type[0]);
  LlvmValue x = in(1);
  if (isSigned()) x = b.CreateSelect(b.CreateICmpSLT(x, number(i.type[0], 0)), b.CreateNot(x), x);
  LlvmValue zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {type(i.type[0])}, {x, b.getFalse()});
  LlvmValue position = i.has(ModifierKind::ShiftAmount) ? zeros : b.CreateSub(number(i.type[0], bits - 1), zeros);
  LlvmValue found = b.CreateICmpNE(x, number(i.type[0], 0));
  return {b.CreateSelect(found, b.CreateZExtOrTrunc(position, type(Type::u32)), number(Type::u32, ~0u))};
}

Results Lower::Fns() {
  return {calls.perLane("ordito_fns", b.getInt32Ty(), {in(1, Type::u32), in(2, Type::u32), in(3, Type::u32)}, s)};
}
Results Lower::Brev() { return {intrinsic(llvm::Intrinsic::bitreverse, {in(1)})}; }

/// Where a bit field begins or how long it is: the low 8 bits of operand `k` for 32-bit types, and for 64-bit types, as
/// GPUs have it, the whole of it, which more than 255 need not be.
LlvmValue Lower::fieldNumber(size_t k) {
  const unsigned bits = isa::bits(i.type[0]);
  LlvmValue n = in(k, Type::u32), limit = number(Type::u32, 255);
  n = bits == 32 ? b.CreateAnd(n, limit) : intrinsic(llvm::Intrinsic::umin, {n, limit});
  return b.CreateZExtOrTrunc(n, type(unsignedOf(bits)));
}

/// Bits beyond the top are the sign (or zero).
Results Lower::Bfe() {
  const unsigned bits = isa::bits(i.type[0]);
  const Type t = i.type[0], u = unsignedOf(bits);
  LlvmValue position = fieldNumber(2), length = fieldNumber(3), x = in(1);
  LlvmValue end = b.CreateAdd(position, length);
  LlvmValue last = intrinsic(llvm::Intrinsic::umin, {b.CreateSub(end, number(u, 1)), number(u, bits - 1)});
  // Shift the field up to the top, then down again with the sign.
  LlvmValue up = b.CreateSub(number(u, bits - 1), last);
  LlvmValue raised = b.CreateShl(x, up);
  LlvmValue down = b.CreateAdd(up, position);
  LlvmValue tooFar = b.CreateICmpUGE(down, number(u, bits));
  LlvmValue amount = b.CreateSelect(tooFar, number(u, bits - 1), down);
  LlvmValue field =
      isSigned() ? b.CreateAShr(raised, amount) : b.CreateSelect(tooFar, number(u, 0), b.CreateLShr(raised, amount));
  return {b.CreateSelect(b.CreateICmpEQ(length, number(u, 0)), number(t, 0), field)};
}

Results Lower::Bfi() {
  const unsigned bits = isa::bits(i.type[0]);
  const Type u = unsignedOf(bits);
  LlvmValue position = fieldNumber(3), length = fieldNumber(4);
  LlvmValue ones =
      b.CreateSelect(b.CreateICmpUGE(length, number(u, bits)), number(u, ~uint64_t{0}),
                     b.CreateSub(b.CreateShl(number(u, 1), b.CreateAnd(length, number(u, bits - 1))), number(u, 1)));
  LlvmValue inside = b.CreateICmpULT(position, number(u, bits));
  LlvmValue amount = b.CreateAnd(position, number(u, bits - 1));
  LlvmValue mask = b.CreateSelect(inside, b.CreateShl(ones, amount), number(u, 0));
  return {b.CreateOr(b.CreateAnd(b.CreateShl(in(1), amount), mask), b.CreateAnd(in(2), b.CreateNot(mask)))};
}

/// A mask of `b` ones from bit `a` up. .clamp limits both to 32, .wrap takes them modulo 32.
Results Lower::Bmsk() {
  const bool wrap = i.mods.name(ModifierKind::ShiftMode) == "wrap";
  auto limit = [&](LlvmValue v) {
    return wrap ? b.CreateAnd(v, number(Type::u32, 31)) : intrinsic(llvm::Intrinsic::umin, {v, number(Type::u32, 32)});
  };
  LlvmValue position = limit(in(1, Type::u32)), width = limit(in(2, Type::u32));
  LlvmValue wide =
      b.CreateSub(b.CreateShl(number(Type::u64, 1), b.CreateZExt(width, type(Type::u64))), number(Type::u64, 1));
  return {b.CreateTrunc(b.CreateShl(wide, b.CreateZExt(position, type(Type::u64))), type(Type::u32))};
}

Results Lower::Szext() {
  const bool wrap = i.mods.name(ModifierKind::ShiftMode) == "wrap";
  LlvmValue n = in(2, Type::u32), x = in(1);
  LlvmValue width =
      wrap ? b.CreateAnd(n, number(Type::u32, 31)) : intrinsic(llvm::Intrinsic::umin, {n, number(Type::u32, 32)});
  LlvmValue up = b.CreateSub(number(Type::u32, 32), width);
  LlvmValue isZero = b.CreateICmpEQ(width, number(Type::u32, 0));
  LlvmValue amount = b.CreateSelect(isZero, number(Type::u32, 0), up);
  LlvmValue field =
      isSigned() ? b.CreateAShr(b.CreateShl(x, amount), amount) : b.CreateLShr(b.CreateShl(x, amount), amount);
  return {b.CreateSelect(isZero, number(Type::u32, 0), field)};
}

/// Two products of a's halves and two of b's bytes added to c.
Results Lower::Dp2a() {
  const unsigned first = i.mods.name(ModifierKind::HalfOfDot) == "hi" ? 16 : 0;
  LlvmValue x = in(1, Type::u32), y = in(2, Type::u32), sum = in(3, Type::u32);
  for (unsigned n = 0; n < 2; ++n)
    sum = b.CreateAdd(sum, b.CreateMul(part(x, 16 * n, 16, isa::isSigned(i.type[1]), 32),
                                       part(y, first + 8 * n, 8, isa::isSigned(i.type[2]), 32)));
  return {sum};
}

/// Four byte products added to c.
Results Lower::Dp4a() {
  LlvmValue x = in(1, Type::u32), y = in(2, Type::u32), sum = in(3, Type::u32);
  auto byte = [&](LlvmValue v, unsigned n, bool isSigned) {
    LlvmValue top = b.CreateShl(v, 24 - 8 * n);
    return isSigned ? b.CreateAShr(top, 24) : b.CreateLShr(top, 24);
  };
  for (unsigned n = 0; n < 4; ++n)
    sum = b.CreateAdd(sum, b.CreateMul(byte(x, n, isa::isSigned(i.type[1])), byte(y, n, isa::isSigned(i.type[2]))));
  return {sum};
}

}  // namespace ordito::jit
