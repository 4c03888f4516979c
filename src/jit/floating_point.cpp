// PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions".
//
// Arithmetic is IEEE and never fused or split. f16 and bf16 are computed in wider formats and rounded once: f32 holds
// sums and products of them so exactly that rounding again is harmless (2p + 2 bits, Figueroa 1995); an fma is rounded
// to odd in f64 and again in f32, which makes the last rounding exact (Boldo and Melquiond 2008). Roundings other than
// to nearest go through the runtime's helpers, lane by lane.
//
// An f16 or bf16 NaN gets NVIDIA's bits here. An f32 NaN gets them only where the bits are looked at (nan_plan.hpp).
#include "jit/lower.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = Lower::Results;

namespace {

bool isHalf(Type t) { return t == Type::f16 || t == Type::bf16; }

double smallestNormal(Type t) { return t == Type::f64 ? 0x1p-1022 : t == Type::f16 ? 0x1p-14 : 0x1p-126; }

/// Below this, a number rounded to the format's precision without a limit of the exponent is less than the smallest
/// normal one: half an ulp under it.
double tinyBelow(Type t) {
  return t == Type::f16 ? 0x1p-14 - 0x1p-26 : t == Type::bf16 ? 0x1p-126 - 0x1p-135 : smallestNormal(t);
}

constexpr double kScale = 0x1p64;  // brings products near the smallest normal f32 far into the normal range

}  // namespace

bool Lower::isNearest() const { return !i.has(ModifierKind::Rounding) || i.mods.name(ModifierKind::Rounding) == "rn"; }

LlvmValue Lower::real(LlvmValue like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

/// A number of magnitude below `limit` becomes zero of its sign.
LlvmValue Lower::flushBelow(LlvmValue v, LlvmValue judged, double limit) {
  LlvmValue zero = b.CreateIntrinsic(llvm::Intrinsic::copysign, {v->getType()}, {real(v, 0), v});
  return b.CreateSelect(b.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {judged}), real(judged, limit)), zero, v);
}

/// .ftz on an operand: a subnormal becomes zero of its sign.
LlvmValue Lower::flush(LlvmValue v, Type t) {
  return i.has(ModifierKind::Flush) ? flushBelow(v, v, smallestNormal(t)) : v;
}

/// .ftz judges a product, quotient or fma by its value rounded to 24 bits without a limit of the exponent: just below
/// the smallest normal number it rounds up to that as a subnormal, and yet is flushed. `scaled` is the operation done
/// 2^64 times larger, where nothing is subnormal.
LlvmValue Lower::flushTiny(LlvmValue v, llvm::function_ref<LlvmValue()> scaled) {
  if ((i.type[0] != Type::f32 && i.type[0] != Type::f32x2) || !i.has(ModifierKind::Flush)) return v;
  return flushBelow(v, scaled(), smallestNormal(Type::f32) * kScale);
}

LlvmValue Lower::scaleUp(LlvmValue v) { return b.CreateFMul(v, real(v, kScale)); }

/// An f16 or bf16, given as its bits, in f32.
LlvmValue Lower::widenHalf(LlvmValue bits, Type t) {
  if (t == Type::f16) return b.CreateFPExt(b.CreateBitCast(bits, type(Type::f16)), type(Type::f32));
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, type(Type::u32)), 16), type(Type::f32));
}

/// Operand `k` in the type to compute in: f16 and bf16 as f32.
LlvmValue Lower::floatIn(size_t k, Type t) { return flush(isHalf(t) ? widenHalf(in(k, Type::u16), t) : in(k, t), t); }

LlvmValue Lower::floatIn(size_t k) { return floatIn(k, i.type[0]); }

/// Half `half` of packed operand `k`, as f32.
LlvmValue Lower::halfIn(size_t k, Type packedType, unsigned half) {
  LlvmValue word = in(k, Type::u32);
  const Type t = isa::element(packedType);
  return flush(widenHalf(b.CreateTrunc(half ? b.CreateLShr(word, 16) : word, type(Type::u16)), t), t);
}

/// f32 or f64 to f64 + f64 with the last bit set when something was cut off.
LlvmValue Lower::addToOdd(LlvmValue x, LlvmValue y) {
  LlvmValue sum = b.CreateFAdd(x, y), part = b.CreateFSub(sum, x);
  LlvmValue error = b.CreateFAdd(b.CreateFSub(x, b.CreateFSub(sum, part)), b.CreateFSub(y, part));
  LlvmValue grows = b.CreateICmpEQ(b.CreateFCmpOGT(error, real(error, 0)), b.CreateFCmpOGT(sum, real(sum, 0)));
  return stepToOdd(sum, b.CreateFCmpONE(error, real(error, 0)), grows);
}

/// f64 to f32, with the last bit set when something was cut off.
LlvmValue Lower::narrowToOdd(LlvmValue v) {
  LlvmValue narrow = b.CreateFPTrunc(v, type(Type::f32)), back = b.CreateFPExt(narrow, v->getType());
  LlvmValue grows = b.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {back}), intrinsic(llvm::Intrinsic::fabs, {v}));
  return stepToOdd(narrow, b.CreateFCmpONE(back, v), grows);
}

/// Where `v` is inexact and even, its neighbour of larger magnitude (`grows`) or smaller.
LlvmValue Lower::stepToOdd(LlvmValue v, LlvmValue inexact, LlvmValue grows) {
  const Type u = unsignedOf(v->getType()->getScalarSizeInBits());
  LlvmValue bits = b.CreateBitCast(v, type(u));
  LlvmValue even = b.CreateICmpEQ(b.CreateAnd(bits, number(u, 1)), number(u, 0));
  LlvmValue stepped = b.CreateAdd(bits, b.CreateSelect(grows, number(u, 1), number(u, ~uint64_t{0})));
  return b.CreateBitCast(b.CreateSelect(b.CreateAnd(inexact, even), stepped, bits), v->getType());
}

/// .sat: NaN becomes 0; .relu: negative numbers and -0 become 0.
LlvmValue Lower::clamp(LlvmValue v) {
  if (i.has(ModifierKind::Relu)) v = b.CreateSelect(b.CreateFCmpOLE(v, real(v, 0)), real(v, 0), v);
  if (i.mods.name(ModifierKind::Saturate) != "sat") return v;
  v = b.CreateSelect(b.CreateFCmpOGT(v, real(v, 0)), v, real(v, 0));
  return b.CreateSelect(b.CreateFCmpOGT(v, real(v, 1)), real(v, 1), v);
}

/// A result in its final type, with .ftz, .sat and .relu.
Results Lower::floatOut(LlvmValue v, Type t) {
  if (i.has(ModifierKind::Flush)) v = flushBelow(v, v, tinyBelow(t));
  v = clamp(v);
  return {isHalf(t) ? b.CreateBitCast(halfBits(v, t), type(t)) : v};
}

/// Does `f(read)` on each half of packed operands; read(k) is that half of operand k as f32.
Results Lower::packed(llvm::function_ref<LlvmValue(llvm::function_ref<LlvmValue(size_t)>)> f) {
  const Type element = isa::element(i.type[0]);
  LlvmValue halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    auto read = [&](size_t k) { return halfIn(k, i.type[0], half); };
    LlvmValue v = floatOut(f(read), element)[0];
    halves[half] = b.CreateZExt(b.CreateBitCast(v, type(Type::u16)), type(Type::u32));
  }
  return {b.CreateOr(halves[0], b.CreateShl(halves[1], 16))};
}

/// An operation with a directed rounding, through the runtime.
LlvmValue Lower::directed(const char* operation, llvm::ArrayRef<LlvmValue> arguments, Type t) {
  const std::string name = fmt::format("ordito_{}_{}_{}", operation, i.mods.name(ModifierKind::Rounding), isa::name(t));
  return calls.perLane(name.c_str(), type(t)->getScalarType(), arguments, s);
}

Results Lower::floatBinary(unsigned opcode) {
  const auto op = static_cast<llvm::Instruction::BinaryOps>(opcode);
  const Type t = i.type[0];
  if (isa::isPacked(t)) return packed([&](const auto& read) { return b.CreateBinOp(op, read(1), read(2)); });
  const char* name = op == llvm::Instruction::FAdd   ? "add"
                     : op == llvm::Instruction::FSub ? "sub"
                     : op == llvm::Instruction::FMul ? "mul"
                                                     : "div";
  auto compute = [&](LlvmValue x, LlvmValue y) {
    return isNearest() ? b.CreateBinOp(op, x, y) : directed(name, {x, y}, t);
  };
  LlvmValue x = floatIn(1), y = floatIn(2), result = compute(x, y);
  if (op == llvm::Instruction::FMul || op == llvm::Instruction::FDiv)
    result = flushTiny(result, [&] { return compute(scaleUp(x), y); });
  return floatOut(result, t);
}

Results Lower::AddF() { return floatBinary(llvm::Instruction::FAdd); }
Results Lower::SubF() { return floatBinary(llvm::Instruction::FSub); }
Results Lower::MulF() { return floatBinary(llvm::Instruction::FMul); }

/// .oob: where an operand is the NaN that stands for what lies outside of a tensor, the result is zero.
LlvmValue Lower::zeroOutside(LlvmValue result) {
  constexpr uint64_t kOutOfBounds = 0x7FFF, kField = 0xFFFF;
  const Type word = isa::isPacked(i.type[0]) ? Type::u32 : Type::u16;
  LlvmValue bits = b.CreateBitCast(result, type(word));
  for (unsigned shift = 0; shift < isa::bits(word); shift += 16) {
    LlvmValue outside = nullptr;
    for (size_t k = 1; k <= 3; ++k) {
      LlvmValue field = b.CreateAnd(in(k, word), number(word, kField << shift));
      LlvmValue is = b.CreateICmpEQ(field, number(word, kOutOfBounds << shift));
      outside = outside ? b.CreateOr(outside, is) : is;
    }
    bits = b.CreateSelect(outside, b.CreateAnd(bits, number(word, ~(kField << shift))), bits);
  }
  return b.CreateBitCast(bits, result->getType());
}

Results Lower::FmaF() {
  Results r = multiplyAdd();
  return i.has(ModifierKind::OutOfBounds) ? Results{zeroOutside(r[0])} : r;
}

Results Lower::multiplyAdd() {
  const Type t = i.type[0];
  auto wide = [&](LlvmValue v) { return b.CreateFPExt(v, type(Type::f64)); };
  auto half = [&](LlvmValue x, LlvmValue y, LlvmValue z) {
    return narrowToOdd(addToOdd(b.CreateFMul(wide(x), wide(y)), wide(z)));
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
Results Lower::pairs(size_t sources, llvm::function_ref<LlvmValue(llvm::ArrayRef<LlvmValue>)> f) {
  LlvmValue result = number(Type::u64, 0);
  for (unsigned half = 0; half < 2; ++half) {
    llvm::SmallVector<LlvmValue> v;
    for (size_t k = 1; k <= sources; ++k) {
      LlvmValue word = b.CreateTrunc(b.CreateLShr(in(k, Type::u64), uint64_t{32} * half), type(Type::u32));
      v.push_back(flush(b.CreateBitCast(word, type(Type::f32)), Type::f32));
    }
    LlvmValue bits = b.CreateBitCast(operands.canonicalNan(floatOut(f(v), Type::f32)[0]), type(Type::u32));
    result = b.CreateOr(result, b.CreateShl(b.CreateZExt(bits, result->getType()), uint64_t{32} * half));
  }
  return {result};
}

Results Lower::pairBinary(unsigned opcode, const char* name) {
  const auto op = static_cast<llvm::Instruction::BinaryOps>(opcode);
  auto compute = [&](LlvmValue x, LlvmValue y) {
    return isNearest() ? b.CreateBinOp(op, x, y) : directed(name, {x, y}, Type::f32);
  };
  return pairs(2, [&](llvm::ArrayRef<LlvmValue> v) {
    LlvmValue result = compute(v[0], v[1]);
    return op == llvm::Instruction::FMul ? flushTiny(result, [&] { return compute(scaleUp(v[0]), v[1]); }) : result;
  });
}

Results Lower::AddPair() { return pairBinary(llvm::Instruction::FAdd, "add"); }
Results Lower::SubPair() { return pairBinary(llvm::Instruction::FSub, "sub"); }
Results Lower::MulPair() { return pairBinary(llvm::Instruction::FMul, "mul"); }

Results Lower::FmaPair() {
  auto compute = [&](LlvmValue x, LlvmValue y, LlvmValue z) {
    return isNearest() ? intrinsic(llvm::Intrinsic::fma, {x, y, z}) : directed("fma", {x, y, z}, Type::f32);
  };
  return pairs(3, [&](llvm::ArrayRef<LlvmValue> v) {
    return flushTiny(compute(v[0], v[1], v[2]), [&] { return compute(scaleUp(v[0]), v[1], scaleUp(v[2])); });
  });
}

/// mad.f32 and mad.f64 are fma since sm_20.
Results Lower::MadF() { return FmaF(); }

Results Lower::DivF() {
  const auto precision = i.mods.name(ModifierKind::Precision);
  return precision == "approx" || precision == "full" ? approximateQuotient(precision == "full")
                                                      : floatBinary(llvm::Instruction::FDiv);
}

Results Lower::Rcp() {
  const Type t = i.type[0];
  if (i.mods.name(ModifierKind::Precision) == "approx")
    return t == Type::f64 ? Results{approximateDouble("rcp", in(1))} : approximate("rcp");
  auto compute = [&](LlvmValue one, LlvmValue x) {
    return isNearest() ? b.CreateFDiv(one, x) : directed("div", {one, x}, t);
  };
  LlvmValue x = floatIn(1), result = compute(real(x, 1), x);
  return floatOut(flushTiny(result, [&] { return compute(real(x, kScale), x); }), t);
}

Results Lower::Sqrt() {
  if (i.mods.name(ModifierKind::Precision) == "approx") return approximate("sqrt");
  LlvmValue x = floatIn(1);
  return floatOut(isNearest() ? intrinsic(llvm::Intrinsic::sqrt, {x}) : directed("sqrt", {x}, i.type[0]), i.type[0]);
}

/// abs (clear the sign bit) or neg (flip it) of f16 or bf16 bits, one or two in a register; a NaN becomes the canonical
/// one.
LlvmValue Lower::changeHalfSign(bool flips) {
  const Type t = i.type[0], element = isa::element(t);
  LlvmValue x = in(1, isa::isPacked(t) ? Type::u32 : Type::u16);
  llvm::Type* whole = x->getType();
  llvm::Type* halves =
      isa::isPacked(t) ? llvm::FixedVectorType::get(b.getInt16Ty(), s.vector() ? 2 * kLanes : 2) : whole;
  auto constant = [&](uint64_t n) { return llvm::ConstantInt::get(halves, n); };
  x = b.CreateBitCast(x, halves);
  const uint64_t infinity = element == Type::f16 ? 0x7C00 : 0x7F80, normal = element == Type::f16 ? 0x0400 : 0x0080;
  LlvmValue magnitude = b.CreateAnd(x, constant(0x7FFF));
  LlvmValue r = flips ? b.CreateXor(x, constant(0x8000)) : magnitude;
  if (i.has(ModifierKind::Flush))
    r = b.CreateSelect(b.CreateICmpULT(magnitude, constant(normal)), b.CreateAnd(r, constant(0x8000)), r);
  r = b.CreateSelect(b.CreateICmpUGT(magnitude, constant(infinity)), constant(0x7FFF), r);
  return b.CreateBitCast(r, whole);
}

Results Lower::AbsF() {
  const Type t = i.type[0];
  if (isa::bits(isa::element(t)) == 16) return {changeHalfSign(false)};
  return {flush(intrinsic(llvm::Intrinsic::fabs, {in(1)}), t)};
}

Results Lower::NegF() {
  const Type t = i.type[0];
  if (isa::bits(isa::element(t)) == 16) return {changeHalfSign(true)};
  return {flush(b.CreateFNeg(in(1)), t)};
}

/// A NaN operand loses to a number (.NaN: wins), and -0 is less than +0. Of two f64 NaNs the second is returned.
LlvmValue Lower::chooseFloat(LlvmValue x, LlvmValue y, bool isMax) {
  const bool isDouble = x->getType()->getScalarType()->isDoubleTy();
  LlvmValue r = intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {x, y});
  const Type bits = isDouble ? Type::u64 : Type::u32;
  LlvmValue xb = b.CreateBitCast(x, type(bits)), yb = b.CreateBitCast(y, type(bits));
  LlvmValue zero = b.CreateBitCast(isMax ? b.CreateAnd(xb, yb) : b.CreateOr(xb, yb), x->getType());
  r = b.CreateSelect(b.CreateFCmpOEQ(x, y), zero, r);
  if (isDouble) {
    LlvmValue quiet = b.CreateBitCast(b.CreateOr(yb, number(bits, uint64_t{1} << 51)), y->getType());
    r = b.CreateSelect(b.CreateFCmpUNO(x, x), b.CreateSelect(b.CreateFCmpUNO(y, y), quiet, y), r);
  }
  if (i.has(ModifierKind::NanMode))
    r = b.CreateSelect(b.CreateFCmpUNO(x, y), llvm::ConstantFP::getQNaN(x->getType()), r);
  return r;
}

/// .xorsign.abs: the magnitudes are compared, the result gets the product's sign.
LlvmValue Lower::minMaxElement(LlvmValue x, LlvmValue y, bool isMax) {
  if (!i.has(ModifierKind::XorSign)) return chooseFloat(x, y, isMax);
  auto size = [&](LlvmValue v) { return intrinsic(llvm::Intrinsic::fabs, {v}); };
  const Type u = unsignedOf(x->getType()->getScalarSizeInBits());
  LlvmValue chosen = chooseFloat(size(x), size(y), isMax);
  LlvmValue sign = b.CreateXor(b.CreateBitCast(x, type(u)), b.CreateBitCast(y, type(u)));
  LlvmValue result =
      b.CreateIntrinsic(llvm::Intrinsic::copysign, {x->getType()}, {chosen, b.CreateBitCast(sign, x->getType())});
  return b.CreateSelect(b.CreateFCmpUNO(chosen, chosen), chosen, result);
}

Results Lower::floatMinMax(bool isMax) {
  if (isa::isPacked(i.type[0])) return packed([&](const auto& read) { return minMaxElement(read(1), read(2), isMax); });
  // .xorsign takes the sign of a NaN, too.
  auto read = [&](size_t k) {
    const bool seesBits = i.has(ModifierKind::XorSign) && i.type[0] == Type::f32;
    return seesBits ? flush(operands.exactBits(i.operands[k], Type::f32, s), Type::f32) : floatIn(k);
  };
  return floatOut(minMaxElement(read(1), read(2), isMax), i.type[0]);
}

Results Lower::MinF() { return floatMinMax(false); }
Results Lower::MaxF() { return floatMinMax(true); }

/// The sign of a, the magnitude of b: bits.
Results Lower::Copysign() {
  const unsigned width = isa::bits(i.type[0]);
  const Type u = unsignedOf(width);
  const uint64_t sign = uint64_t{1} << (width - 1);
  return {b.CreateBitCast(
      b.CreateOr(b.CreateAnd(in(1, u), number(u, sign)), b.CreateAnd(in(2, u), number(u, sign - 1))), type(i.type[0]))};
}

Results Lower::Testp() {
  static constexpr std::pair<std::string_view, unsigned> kTests[] = {{"finite", llvm::fcFinite},
                                                                     {"infinite", llvm::fcInf},
                                                                     {"number", llvm::fcFinite | llvm::fcInf},
                                                                     {"notanumber", llvm::fcNan},
                                                                     {"normal", llvm::fcNormal | llvm::fcZero},
                                                                     {"subnormal", llvm::fcSubnormal}};
  for (auto [name, test] : kTests)
    if (i.mods.name(ModifierKind::TestOp) == name)
      return {b.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {type(i.type[0])}, {in(1), b.getInt32(test)})};
  context.refuse(i, "unknown test");
}

}  // namespace ordito::jit
