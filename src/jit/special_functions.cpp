// PTX ISA: the approximate instructions. They give the bits of a GPU's special function unit, which
// machine/multifunction_unit.hpp computes on a register's lanes; here is what a GPU's compiler puts around the unit, as
// instructions. machine/multifunction_unit.cpp has the same for one number.
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

namespace {

constexpr double kSmallestNormal = 0x1p-126;

}  // namespace

LlvmValue SpecialFunctions::isSmaller(LlvmValue x, double limit) {
  return b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {x}), real(x, limit));
}

LlvmValue SpecialFunctions::bitsOf(LlvmValue x) {
  return b_.CreateBitCast(x, type(unsignedOf(x->getType()->getScalarSizeInBits())));
}

/// The unit itself takes subnormal numbers for zero and gives zero for them. Without .ftz they are scaled before and
/// after.
LlvmValue SpecialFunctions::withSubnormals(std::string_view function, LlvmValue x) {
  auto scaled = [&](LlvmValue condition, double scale, llvm::function_ref<LlvmValue(LlvmValue)> restore) {
    LlvmValue r = calls_.multifunction(function, b_.CreateSelect(condition, b_.CreateFMul(x, real(x, scale)), x));
    return b_.CreateSelect(condition, restore(r), r);
  };
  auto times = [&](double scale) { return [this, scale](LlvmValue r) { return b_.CreateFMul(r, real(r, scale)); }; };
  if (function == "rcp") {
    LlvmValue large = b_.CreateFCmpOGT(intrinsic(llvm::Intrinsic::fabs, {x}), real(x, 0x1p126));
    LlvmValue scale = b_.CreateSelect(isSmaller(x, kSmallestNormal), real(x, 0x1p24),
                                      b_.CreateSelect(large, real(x, 0.25), real(x, 1)));
    return b_.CreateFMul(calls_.multifunction(function, b_.CreateFMul(x, scale)), scale);
  }
  if (function == "rsqrt") return scaled(isSmaller(x, kSmallestNormal), 0x1p24, times(0x1p12));
  if (function == "sqrt") return scaled(isSmaller(x, kSmallestNormal), 0x1p24, times(0x1p-12));
  if (function == "lg2")
    return scaled(isSmaller(x, kSmallestNormal), 0x1p24, [&](LlvmValue r) { return b_.CreateFSub(r, real(r, 24)); });
  if (function == "ex2")
    return scaled(b_.CreateFCmpOLT(x, real(x, -126)), 0.5, [&](LlvmValue r) { return b_.CreateFMul(r, r); });
  return calls_.multifunction(function, x);
}

/// An f32 cut, not rounded, to what f16 or bf16 can hold.
LlvmValue SpecialFunctions::cutToHalf(LlvmValue v, Type t) {
  const uint64_t kept = t == Type::f16 ? 0xFFFFE000 : 0xFFFF0000;
  LlvmValue normal = b_.CreateBitCast(b_.CreateAnd(bitsOf(v), number(Type::u32, kept)), v->getType());
  if (t == Type::bf16) return normal;
  LlvmValue units = intrinsic(llvm::Intrinsic::trunc, {b_.CreateFMul(v, real(v, 0x1p24))});
  return b_.CreateSelect(isSmaller(v, 0x1p-14), b_.CreateFMul(units, real(v, 0x1p-24)), normal);
}

/// f16 and bf16 are computed as f32 and cut.
Results SpecialFunctions::approximate(std::string_view function) {
  const Type t = i_.type[0], element = isa::element(t);
  if (element == Type::f32) {
    LlvmValue x = in(1);
    return floatOut(i_.has(ModifierKind::Flush) ? calls_.multifunction(function, x) : withSubnormals(function, x), t);
  }
  auto half = [&](LlvmValue x) { return cutToHalf(calls_.multifunction(function, x), element); };
  if (isa::isPacked(t)) return packed([&](const auto& read) { return half(read(1)); });
  return floatOut(half(floatIn(1)), t);
}

/// div.approx and div.full multiply by a reciprocal; .full scales both operands where that would vanish.
Results SpecialFunctions::approximateQuotient(bool full) {
  LlvmValue x = floatIn(1), y = floatIn(2), scale = real(y, 1);
  if (full)
    scale = b_.CreateSelect(b_.CreateFCmpOGT(intrinsic(llvm::Intrinsic::fabs, {y}), real(y, 0x1p126)), real(y, 0.25),
                            scale);
  if (!i_.has(ModifierKind::Flush)) scale = b_.CreateSelect(isSmaller(y, kSmallestNormal), real(y, 0x1p24), scale);
  LlvmValue dividend = b_.CreateFMul(x, scale), reciprocal = calls_.multifunction("rcp", b_.CreateFMul(y, scale));
  if (i_.has(ModifierKind::Flush)) dividend = flush(dividend, Type::f32);
  return floatOut(
      flushTiny(b_.CreateFMul(reciprocal, dividend), [&] { return b_.CreateFMul(reciprocal, scaleUp(dividend)); }),
      Type::f32);
}

/// The f64 forms of rcp and rsqrt with .approx.ftz look at the upper word, and give one: 20 bits of fraction, for which
/// the unit works as it does for an f32.
LlvmValue SpecialFunctions::approximateDouble(std::string_view function, LlvmValue x) {
  auto constant = [&](uint64_t v) { return number(Type::u32, v); };
  const bool isRoot = function == "rsqrt";
  LlvmValue upper = b_.CreateTrunc(b_.CreateLShr(bitsOf(x), 32), type(Type::u32));
  LlvmValue sign = b_.CreateAnd(upper, constant(0x80000000)), fraction = b_.CreateAnd(upper, constant(0xFFFFF));
  LlvmValue biased = b_.CreateAnd(b_.CreateLShr(upper, constant(20)), constant(0x7FF));
  LlvmValue exponent = b_.CreateSub(biased, constant(1023));
  LlvmValue odd = isRoot ? b_.CreateAnd(exponent, constant(1)) : constant(0);
  LlvmValue power = b_.CreateNeg(isRoot ? b_.CreateAShr(exponent, constant(1)) : exponent);
  LlvmValue argument =
      b_.CreateOr(b_.CreateShl(b_.CreateAdd(constant(127), odd), constant(23)), b_.CreateShl(fraction, constant(3)));
  LlvmValue answer = bitsOf(calls_.multifunction(function, b_.CreateBitCast(argument, type(Type::f32))));
  LlvmValue place = b_.CreateAdd(b_.CreateAdd(b_.CreateLShr(answer, constant(23)), power), constant(1023 - 127));
  LlvmValue digits = b_.CreateAnd(b_.CreateLShr(answer, constant(3)), constant(0xFFFFF));
  LlvmValue result = b_.CreateSelect(b_.CreateICmpSGT(place, constant(0)),
                                     b_.CreateOr(b_.CreateShl(place, constant(20)), digits), constant(0));
  LlvmValue isInfinite = b_.CreateICmpEQ(biased, constant(0x7FF));
  result = b_.CreateSelect(isInfinite, constant(0), result);
  result = isRoot ? b_.CreateSelect(b_.CreateICmpNE(sign, constant(0)), constant(0x7FFFFFFF), result)
                  : b_.CreateOr(result, sign);
  result = b_.CreateSelect(b_.CreateICmpEQ(biased, constant(0)), b_.CreateOr(sign, constant(0x7FF00000)), result);
  LlvmValue isNan = b_.CreateAnd(isInfinite, b_.CreateICmpNE(fraction, constant(0)));
  result = b_.CreateSelect(isNan, constant(0x7FFFFFFF), result);
  return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(result, type(Type::u64)), 32), type(Type::f64));
}

/// rsqrt.approx.f64 is code of the GPU's compiler: a start from the unit and one step of third order.
LlvmValue SpecialFunctions::reciprocalRootOfDouble(LlvmValue x) {
  auto fma = [&](LlvmValue p, LlvmValue q, LlvmValue r) { return intrinsic(llvm::Intrinsic::fma, {p, q, r}); };
  LlvmValue isSmall = isSmaller(x, 0x1p-1022), scaled = b_.CreateSelect(isSmall, b_.CreateFMul(x, real(x, 0x1p54)), x);
  LlvmValue y = approximateDouble("rsqrt", scaled);
  LlvmValue error = fma(b_.CreateFNeg(b_.CreateFMul(y, y)), scaled, real(x, 1));
  LlvmValue result = fma(fma(error, real(x, 0.375), real(x, 0.5)), b_.CreateFMul(y, error), y);
  result = b_.CreateFMul(result, b_.CreateSelect(isSmall, real(x, 0x1p27), real(x, 1)));
  LlvmValue infinity = llvm::ConstantFP::getInfinity(x->getType());
  LlvmValue ofZero = b_.CreateIntrinsic(llvm::Intrinsic::copysign, {x->getType()}, {infinity, x});
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, infinity), real(x, 0), result);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(x, 0)), ofZero, result);
  LlvmValue noNumber = b_.CreateBitCast(number(Type::u64, uint64_t{0xFFF80000} << 32), x->getType());
  result = b_.CreateSelect(b_.CreateFCmpOLT(x, real(x, 0)), noNumber, result);
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), b_.CreateFAdd(x, x), result);
}

Results SpecialFunctions::DivF() {
  const auto precision = i_.mods.name(ModifierKind::Precision);
  return precision == "approx" || precision == "full" ? approximateQuotient(precision == "full")
                                                      : floatBinary(llvm::Instruction::FDiv);
}

Results SpecialFunctions::Rcp() {
  const Type t = i_.type[0];
  if (i_.mods.name(ModifierKind::Precision) == "approx")
    return t == Type::f64 ? Results{approximateDouble("rcp", in(1))} : approximate("rcp");
  auto compute = [&](LlvmValue one, LlvmValue x) {
    return isNearest() ? b_.CreateFDiv(one, x) : directed("div", {one, x}, t);
  };
  LlvmValue x = floatIn(1), result = compute(real(x, 1), x);
  return floatOut(flushTiny(result, [&] { return compute(real(x, kScale), x); }), t);
}

Results SpecialFunctions::Sqrt() {
  if (i_.mods.name(ModifierKind::Precision) == "approx") return approximate("sqrt");
  LlvmValue x = floatIn(1);
  return floatOut(isNearest() ? intrinsic(llvm::Intrinsic::sqrt, {x}) : directed("sqrt", {x}, i_.type[0]), i_.type[0]);
}

Results SpecialFunctions::Rsqrt() {
  if (i_.type[0] != Type::f64) return approximate("rsqrt");
  return {i_.has(ModifierKind::Flush) ? approximateDouble("rsqrt", in(1)) : reciprocalRootOfDouble(in(1))};
}

Results SpecialFunctions::Sin() { return approximate("sin"); }
Results SpecialFunctions::Cos() { return approximate("cos"); }
Results SpecialFunctions::Lg2() { return approximate("lg2"); }
Results SpecialFunctions::Ex2() { return approximate("ex2"); }
Results SpecialFunctions::Tanh() { return approximate("tanh"); }

}  // namespace ordito::jit
