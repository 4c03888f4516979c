// PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions".
//
// Arithmetic is IEEE and never fused or split. f16 and bf16 are computed in wider formats and rounded once: f32 holds sums and products of f16 so exactly that rounding
// again is harmless (2p + 2 bits, Figueroa 1995), an fma goes through f64. Roundings other than to nearest go through the runtime's helpers, lane by lane.
// A NaN result keeps the host's payload, where a GPU gives 0x7fffffff; programs can see the difference only by looking at the bits.
#include "jit/lower.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = Lower::Results;

namespace {
bool isHalf(Type t) { return t == Type::f16 || t == Type::bf16; }
}  // namespace

bool Lower::isNearest() const { return !i.has(ModifierKind::Rounding) || i.mods.name(ModifierKind::Rounding) == "rn"; }

/// .ftz: a subnormal becomes zero of its sign.
LlvmValue Lower::flush(LlvmValue v, Type t) {
  if (!i.has(ModifierKind::Flush) || t != Type::f32) return v;
  LlvmValue magnitude = intrinsic(llvm::Intrinsic::fabs, {v});
  LlvmValue zero = b.CreateIntrinsic(llvm::Intrinsic::copysign, {v->getType()}, {number(Type::f32, 0), v});
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, number(Type::f32, 0x00800000)), zero, v);
}

/// Operand `k` in the type to compute in: f16 and bf16 as f32.
LlvmValue Lower::floatIn(size_t k, Type t) {
  LlvmValue v = in(k, t);
  if (t == Type::f16) return b.CreateFPExt(v, type(Type::f32));
  if (t == Type::bf16) return b.CreateBitCast(b.CreateShl(b.CreateZExt(v, type(Type::u32)), 16), type(Type::f32));
  return flush(v, t);
}

LlvmValue Lower::floatIn(size_t k) { return floatIn(k, i.type[0]); }

/// A result in its final type, with .sat, .relu and .ftz.
Results Lower::floatOut(LlvmValue v, Type t) {
  llvm::Type* computed = v->getType();
  auto value = [&](double d) { return llvm::ConstantFP::get(computed, d); };
  if (i.has(ModifierKind::Saturate)) {
    v = b.CreateSelect(b.CreateFCmpOGT(v, value(0)), v, value(0));  // NaN becomes 0
    v = b.CreateSelect(b.CreateFCmpOGT(v, value(1)), value(1), v);
  }
  if (i.has(ModifierKind::Relu)) v = b.CreateSelect(b.CreateFCmpOLT(v, value(0)), value(0), v);
  if (t == Type::f16) return {b.CreateFPTrunc(v, type(Type::f16))};
  if (t == Type::bf16) return {convertFloatToFloat(v, computed->getScalarType()->isDoubleTy() ? Type::f64 : Type::f32, Type::bf16)};
  return {flush(v, t)};
}

/// Does `f(element type)` on each half of packed operands; `f` reads operands through `in`, which this redirects.
template <class F>
Results Lower::packed(F&& f) {
  const Type element = isa::element(i.type[0]);
  LlvmValue halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    auto read = [&](size_t k) {
      LlvmValue word = in(k, Type::u32);
      LlvmValue bits = b.CreateTrunc(half ? b.CreateLShr(word, 16) : word, type(Type::u16));
      if (element == Type::f16) return b.CreateFPExt(b.CreateBitCast(bits, type(Type::f16)), type(Type::f32));
      return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, type(Type::u32)), 16), type(Type::f32));
    };
    LlvmValue v = floatOut(f(read), element)[0];
    halves[half] = b.CreateZExt(b.CreateBitCast(v, type(Type::u16)), type(Type::u32));
  }
  return {b.CreateOr(halves[0], b.CreateShl(halves[1], 16))};
}

/// An operation with a directed rounding, through the runtime.
LlvmValue Lower::directed(const char* operation, llvm::ArrayRef<LlvmValue> arguments, Type t) {
  const std::string name = fmt::format("ordito_{}_{}_{}", operation, i.mods.name(ModifierKind::Rounding), isa::name(t));
  if (s.vector()) return e.perLane(name.c_str(), type(t)->getScalarType(), arguments);
  return e.perLane(name.c_str(), type(t), arguments);
}

Results Lower::floatBinary(unsigned opcode) {
  const auto op = static_cast<llvm::Instruction::BinaryOps>(opcode);
  const Type t = i.type[0];
  if (isa::isPacked(t)) return packed([&](auto& read) { return b.CreateBinOp(op, read(1), read(2)); });
  LlvmValue x = floatIn(1), y = floatIn(2);
  if (isNearest()) return floatOut(b.CreateBinOp(op, x, y), t);
  const char* name = op == llvm::Instruction::FAdd ? "add" : op == llvm::Instruction::FSub ? "sub" : op == llvm::Instruction::FMul ? "mul" : "div";
  return floatOut(directed(name, {x, y}, t), t);
}

Results Lower::AddF() { return floatBinary(llvm::Instruction::FAdd); }
Results Lower::SubF() { return floatBinary(llvm::Instruction::FSub); }
Results Lower::MulF() { return floatBinary(llvm::Instruction::FMul); }

Results Lower::FmaF() {
  const Type t = i.type[0];
  auto wide = [&](LlvmValue v) { return b.CreateFPExt(v, type(Type::f64)); };
  if (isa::isPacked(t))
    return packed([&](auto& read) { return intrinsic(llvm::Intrinsic::fma, {wide(read(1)), wide(read(2)), wide(read(3))}); });
  if (isHalf(t)) return floatOut(intrinsic(llvm::Intrinsic::fma, {wide(floatIn(1)), wide(floatIn(2)), wide(floatIn(3))}), t);
  LlvmValue x = floatIn(1), y = floatIn(2), z = floatIn(3);
  return floatOut(isNearest() ? intrinsic(llvm::Intrinsic::fma, {x, y, z}) : directed("fma", {x, y, z}, t), t);
}

/// mad.f32 and mad.f64 are fma since sm_20.
Results Lower::MadF() { return FmaF(); }

/// div.approx and div.full may be off by 2 ulp; the exact quotient is within that.
Results Lower::DivF() { return floatBinary(llvm::Instruction::FDiv); }

Results Lower::Rcp() {
  const Type t = i.type[0];
  LlvmValue one = llvm::ConstantFP::get(type(t), 1.0), x = floatIn(1);
  return floatOut(isNearest() ? b.CreateFDiv(one, x) : directed("div", {one, x}, t), t);
}

Results Lower::Sqrt() {
  LlvmValue x = floatIn(1);
  return floatOut(isNearest() ? intrinsic(llvm::Intrinsic::sqrt, {x}) : directed("sqrt", {x}, i.type[0]), i.type[0]);
}

Results Lower::Rsqrt() {
  LlvmValue root = intrinsic(llvm::Intrinsic::sqrt, {floatIn(1)});
  return floatOut(b.CreateFDiv(llvm::ConstantFP::get(type(i.type[0]), 1.0), root), i.type[0]);
}

/// abs and neg work on the sign bit.
Results Lower::AbsF() {
  const Type t = i.type[0];
  if (isa::isPacked(t)) return {b.CreateAnd(in(1, Type::u32), number(Type::u32, 0x7FFF7FFF))};
  if (isHalf(t)) return {b.CreateAnd(in(1, Type::u16), number(Type::u16, 0x7FFF))};
  return {flush(intrinsic(llvm::Intrinsic::fabs, {in(1)}), t)};
}

Results Lower::NegF() {
  const Type t = i.type[0];
  if (isa::isPacked(t)) return {b.CreateXor(in(1, Type::u32), number(Type::u32, 0x80008000))};
  if (isHalf(t)) return {b.CreateXor(in(1, Type::u16), number(Type::u16, 0x8000))};
  return {flush(b.CreateFNeg(in(1)), t)};
}

/// A NaN operand loses to a number (.NaN: wins), and -0 is less than +0.
Results Lower::floatMinMax(bool isMax) {
  const Type t = i.type[0];
  if (i.has(ModifierKind::XorSign)) e.refuse(i, "min/max.xorsign.abs is not supported by the JIT");
  auto choose = [&](LlvmValue x, LlvmValue y) {
    LlvmValue r = intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {x, y});
    const Type bits = x->getType()->getScalarType()->isDoubleTy() ? Type::u64 : Type::u32;
    LlvmValue xb = b.CreateBitCast(x, type(bits)), yb = b.CreateBitCast(y, type(bits));
    LlvmValue zero = b.CreateBitCast(isMax ? b.CreateAnd(xb, yb) : b.CreateOr(xb, yb), x->getType());
    r = b.CreateSelect(b.CreateFCmpOEQ(x, y), zero, r);
    if (i.has(ModifierKind::NanMode)) r = b.CreateSelect(b.CreateFCmpUNO(x, y), llvm::ConstantFP::getQNaN(x->getType()), r);
    return r;
  };
  if (isa::isPacked(t)) return packed([&](auto& read) { return choose(read(1), read(2)); });
  return floatOut(choose(floatIn(1), floatIn(2)), t);
}

Results Lower::MinF() { return floatMinMax(false); }
Results Lower::MaxF() { return floatMinMax(true); }

Results Lower::Sin() { return floatOut(e.sleef("sinf_u35", {floatIn(1)}, false), Type::f32); }
Results Lower::Cos() { return floatOut(e.sleef("cosf_u35", {floatIn(1)}, false), Type::f32); }
Results Lower::Lg2() { return floatOut(e.sleef("log2f_u10", {floatIn(1)}, false), Type::f32); }

Results Lower::Ex2() {
  if (isa::isPacked(i.type[0])) return packed([&](auto& read) { return e.sleef("exp2f_u10", {read(1)}, false); });
  return floatOut(e.sleef("exp2f_u10", {floatIn(1)}, false), i.type[0]);
}

Results Lower::Tanh() {
  if (isa::isPacked(i.type[0])) return packed([&](auto& read) { return e.sleef("tanhf_u10", {read(1)}, false); });
  return floatOut(e.sleef("tanhf_u10", {floatIn(1)}, false), i.type[0]);
}

/// The sign of a, the magnitude of b.
Results Lower::Copysign() { return {b.CreateIntrinsic(llvm::Intrinsic::copysign, {type(i.type[0])}, {in(2), in(1)})}; }

Results Lower::Testp() {
  static constexpr std::pair<std::string_view, unsigned> kTests[] = {{"finite", llvm::fcFinite},       {"infinite", llvm::fcInf},   {"number", llvm::fcFinite | llvm::fcInf},
                                                                     {"notanumber", llvm::fcNan},      {"normal", llvm::fcNormal},  {"subnormal", llvm::fcSubnormal}};
  for (auto [name, test] : kTests)
    if (i.mods.name(ModifierKind::TestOp) == name)
      return {b.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {type(i.type[0])}, {in(1), b.getInt32(test)})};
  e.refuse(i, "unknown test");
}

}  // namespace ordito::jit
