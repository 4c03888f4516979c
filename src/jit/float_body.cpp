// See float_body.hpp.
#include "jit/float_body.hpp"

#include <llvm/IR/IntrinsicsX86.h>

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

namespace {

double smallestNormal(Type t) { return t == Type::f64 ? 0x1p-1022 : t == Type::f16 ? 0x1p-14 : 0x1p-126; }

/// Below this, a number rounded to the format's precision without a limit of the exponent is less than the smallest
/// normal one: half an ulp under it.
double tinyBelow(Type t) {
  return t == Type::f16 ? 0x1p-14 - 0x1p-26 : t == Type::bf16 ? 0x1p-126 - 0x1p-135 : smallestNormal(t);
}

}  // namespace

bool FloatBody::isNearest() const {
  return !i_.has(ModifierKind::Rounding) || i_.mods.name(ModifierKind::Rounding) == "rn";
}

LlvmValue FloatBody::real(LlvmValue like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

/// A number of magnitude below `limit` becomes zero of its sign.
LlvmValue FloatBody::flushBelow(LlvmValue v, LlvmValue judged, double limit) {
  LlvmValue zero = b_.CreateIntrinsic(llvm::Intrinsic::copysign, {v->getType()}, {real(v, 0), v});
  return b_.CreateSelect(b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {judged}), real(judged, limit)), zero, v);
}

/// .ftz on an operand: a subnormal becomes zero of its sign.
LlvmValue FloatBody::flush(LlvmValue v, Type t) {
  return i_.has(ModifierKind::Flush) ? flushBelow(v, v, smallestNormal(t)) : v;
}

/// .ftz judges a product, quotient or fma by its value rounded to 24 bits without a limit of the exponent: just below
/// the smallest normal number it rounds up to that as a subnormal, and yet is flushed. `scaled` is the operation done
/// 2^64 times larger, where nothing is subnormal.
LlvmValue FloatBody::flushTiny(LlvmValue v, llvm::function_ref<LlvmValue()> scaled) {
  if ((i_.type[0] != Type::f32 && i_.type[0] != Type::f32x2) || !i_.has(ModifierKind::Flush)) return v;
  return flushBelow(v, scaled(), smallestNormal(Type::f32) * kScale);
}

LlvmValue FloatBody::scaleUp(LlvmValue v) { return b_.CreateFMul(v, real(v, kScale)); }

/// An f16 or bf16, given as its bits, in f32.
LlvmValue FloatBody::widenHalf(LlvmValue bits, Type t) {
  if (t == Type::f16) return b_.CreateFPExt(b_.CreateBitCast(bits, type(Type::f16)), type(Type::f32));
  return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(bits, type(Type::u32)), 16), type(Type::f32));
}

/// Operand `k` in the type to compute in: f16 and bf16 as f32.
LlvmValue FloatBody::floatIn(size_t k, Type t) {
  return flush(isHalf(t) ? widenHalf(in(k, Type::u16), t) : in(k, t), t);
}

LlvmValue FloatBody::floatIn(size_t k) { return floatIn(k, i_.type[0]); }

/// Half `half` of packed operand `k`, as f32.
LlvmValue FloatBody::halfIn(size_t k, Type packedType, unsigned half) {
  LlvmValue word = in(k, Type::u32);
  const Type t = isa::element(packedType);
  return flush(widenHalf(b_.CreateTrunc(half ? b_.CreateLShr(word, 16) : word, type(Type::u16)), t), t);
}

/// x + y with the last bit set when something was cut off.
LlvmValue FloatBody::addToOdd(LlvmValue x, LlvmValue y) {
  LlvmValue sum = b_.CreateFAdd(x, y), part = b_.CreateFSub(sum, x);
  LlvmValue error = b_.CreateFAdd(b_.CreateFSub(x, b_.CreateFSub(sum, part)), b_.CreateFSub(y, part));
  LlvmValue grows = b_.CreateICmpEQ(b_.CreateFCmpOGT(error, real(error, 0)), b_.CreateFCmpOGT(sum, real(sum, 0)));
  return stepToOdd(sum, b_.CreateFCmpONE(error, real(error, 0)), grows);
}

/// f64 to f32, with the last bit set when something was cut off.
LlvmValue FloatBody::narrowToOdd(LlvmValue v) {
  LlvmValue narrow = b_.CreateFPTrunc(v, type(Type::f32)), back = b_.CreateFPExt(narrow, v->getType());
  LlvmValue grows = b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {back}), intrinsic(llvm::Intrinsic::fabs, {v}));
  return stepToOdd(narrow, b_.CreateFCmpONE(back, v), grows);
}

/// Where `v` is inexact and even, its neighbour of larger magnitude (`grows`) or smaller.
LlvmValue FloatBody::stepToOdd(LlvmValue v, LlvmValue inexact, LlvmValue grows) {
  const Type u = unsignedOf(v->getType()->getScalarSizeInBits());
  LlvmValue bits = b_.CreateBitCast(v, type(u));
  LlvmValue even = b_.CreateICmpEQ(b_.CreateAnd(bits, number(u, 1)), number(u, 0));
  LlvmValue stepped = b_.CreateAdd(bits, b_.CreateSelect(grows, number(u, 1), number(u, ~uint64_t{0})));
  return b_.CreateBitCast(b_.CreateSelect(b_.CreateAnd(inexact, even), stepped, bits), v->getType());
}

/// .sat: NaN becomes 0; .relu: negative numbers and -0 become 0.
LlvmValue FloatBody::clamp(LlvmValue v) {
  if (i_.has(ModifierKind::Relu)) v = b_.CreateSelect(b_.CreateFCmpOLE(v, real(v, 0)), real(v, 0), v);
  if (i_.mods.name(ModifierKind::Saturate) != "sat") return v;
  v = b_.CreateSelect(b_.CreateFCmpOGT(v, real(v, 0)), v, real(v, 0));
  return b_.CreateSelect(b_.CreateFCmpOGT(v, real(v, 1)), real(v, 1), v);
}

/// A result in its final type, with .ftz, .sat and .relu.
Results FloatBody::floatOut(LlvmValue v, Type t) {
  if (i_.has(ModifierKind::Flush)) v = flushBelow(v, v, tinyBelow(t));
  v = clamp(v);
  return {isHalf(t) ? b_.CreateBitCast(halfBits(v, t), type(t)) : v};
}

/// Does `f(read)` on each half of packed operands; read(k) is that half of operand k as f32.
Results FloatBody::packed(llvm::function_ref<LlvmValue(llvm::function_ref<LlvmValue(size_t)>)> f) {
  const Type element = isa::element(i_.type[0]);
  LlvmValue halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    auto read = [&](size_t k) { return halfIn(k, i_.type[0], half); };
    LlvmValue v = floatOut(f(read), element)[0];
    halves[half] = b_.CreateZExt(b_.CreateBitCast(v, type(Type::u16)), type(Type::u32));
  }
  return {b_.CreateOr(halves[0], b_.CreateShl(halves[1], 16))};
}

namespace {

/// The instruction that rounds as it says, whatever MXCSR asks for, on 512 bits.
llvm::Intrinsic::ID embeddedRounding(std::string_view operation, bool isDouble) {
  using namespace llvm;
  if (operation == "add") return isDouble ? Intrinsic::x86_avx512_add_pd_512 : Intrinsic::x86_avx512_add_ps_512;
  if (operation == "sub") return isDouble ? Intrinsic::x86_avx512_sub_pd_512 : Intrinsic::x86_avx512_sub_ps_512;
  if (operation == "mul") return isDouble ? Intrinsic::x86_avx512_mul_pd_512 : Intrinsic::x86_avx512_mul_ps_512;
  if (operation == "div") return isDouble ? Intrinsic::x86_avx512_div_pd_512 : Intrinsic::x86_avx512_div_ps_512;
  if (operation == "sqrt") return isDouble ? Intrinsic::x86_avx512_sqrt_pd_512 : Intrinsic::x86_avx512_sqrt_ps_512;
  return isDouble ? Intrinsic::x86_avx512_vfmadd_pd_512 : Intrinsic::x86_avx512_vfmadd_ps_512;
}

}  // namespace

/// An operation with a directed rounding: embedded in AVX-512's instructions (Intel's manual, volume 1, 15.6.4), on
/// other hosts by the runtime, which switches MXCSR once for all lanes.
LlvmValue FloatBody::directed(const char* operation, llvm::ArrayRef<LlvmValue> arguments, Type t) {
  const auto mode = i_.mods.name(ModifierKind::Rounding);
  if (!context_.target.avx512)
    return calls_.onLanes(fmt::format("ordito_{}_{}_{}", operation, mode, isa::name(t)), arguments);
  constexpr unsigned kDown = 1, kUp = 2, kZero = 3, kNoExceptions = 8;
  LlvmValue rounding = b_.getInt32(kNoExceptions | (mode == "rm" ? kDown : mode == "rp" ? kUp : kZero));
  const unsigned lanes = 512 / isa::bits(t);
  const auto id = embeddedRounding(operation, t == Type::f64);
  auto apply = [&](llvm::function_ref<LlvmValue(LlvmValue)> piece) {
    llvm::SmallVector<LlvmValue> pieces;
    for (LlvmValue a : arguments) pieces.push_back(piece(a));
    pieces.push_back(rounding);
    return b_.CreateIntrinsic(id, {}, pieces);
  };
  if (!s_.vector())
    return b_.CreateExtractElement(apply([&](LlvmValue a) { return b_.CreateVectorSplat(lanes, a); }), uint64_t{0});
  LlvmValue result = llvm::PoisonValue::get(arguments[0]->getType());
  for (unsigned first = 0; first < kLanes; first += lanes)
    result =
        b_.CreateInsertVector(result->getType(), result,
                              apply([&](LlvmValue a) { return values_.lanesOf(a, first, lanes); }), b_.getInt64(first));
  return result;
}

/// `v` in the narrower format `to`, with a directed rounding: to nearest, which is one of the two neighbours of `v`,
/// and then to the other one if that was the wrong one. An infinity beyond the largest number steps as a number does.
LlvmValue FloatBody::narrowDirected(LlvmValue v, Type to) {
  const auto mode = i_.mods.name(ModifierKind::Rounding);
  const Type u = unsignedOf(isa::bits(to));
  LlvmValue narrow = b_.CreateFPTrunc(v, type(to)), back = b_.CreateFPExt(narrow, v->getType());
  LlvmValue bits = b_.CreateBitCast(narrow, type(u)), one = number(u, 1), less = number(u, ~uint64_t{0});
  LlvmValue size = intrinsic(llvm::Intrinsic::fabs, {v}), sizeBack = intrinsic(llvm::Intrinsic::fabs, {back});
  LlvmValue negative = b_.CreateICmpSLT(bits, number(u, 0)), step = nullptr;
  LlvmValue inwards = b_.CreateSelect(b_.CreateFCmpOGT(sizeBack, size), less, number(u, 0));
  LlvmValue outwards = b_.CreateSelect(b_.CreateFCmpOLT(sizeBack, size), one, number(u, 0));
  if (mode == "rz")
    step = inwards;
  else
    step = mode == "rm" ? b_.CreateSelect(negative, outwards, inwards) : b_.CreateSelect(negative, inwards, outwards);
  return b_.CreateBitCast(b_.CreateAdd(bits, step), type(to));
}

Results FloatBody::floatBinary(unsigned opcode) {
  const auto op = static_cast<llvm::Instruction::BinaryOps>(opcode);
  const Type t = i_.type[0];
  if (isa::isPacked(t)) return packed([&](const auto& read) { return b_.CreateBinOp(op, read(1), read(2)); });
  const char* name = op == llvm::Instruction::FAdd   ? "add"
                     : op == llvm::Instruction::FSub ? "sub"
                     : op == llvm::Instruction::FMul ? "mul"
                                                     : "div";
  auto compute = [&](LlvmValue x, LlvmValue y) {
    return isNearest() ? b_.CreateBinOp(op, x, y) : directed(name, {x, y}, t);
  };
  LlvmValue x = floatIn(1), y = floatIn(2), result = compute(x, y);
  if (op == llvm::Instruction::FMul || op == llvm::Instruction::FDiv)
    result = flushTiny(result, [&] { return compute(scaleUp(x), y); });
  return floatOut(result, t);
}

/// An f32 as bf16 bits, by integer arithmetic on its bits: what is added below the kept half decides how it rounds.
LlvmValue FloatBody::roundToBfloat(LlvmValue v) {
  const auto mode = i_.mods.name(ModifierKind::Rounding);
  LlvmValue bits = b_.CreateBitCast(v, type(Type::u32)), negative = b_.CreateICmpSLT(bits, number(Type::u32, 0)), add;
  LlvmValue none = number(Type::u32, 0), all = number(Type::u32, 0xFFFF);
  if (mode == "rz")
    add = none;
  else if (mode == "rm")
    add = b_.CreateSelect(negative, all, none);
  else if (mode == "rp")
    add = b_.CreateSelect(negative, none, all);
  else if (mode == "rna")
    add = number(Type::u32, 0x8000);
  else
    add = b_.CreateAdd(b_.CreateAnd(b_.CreateLShr(bits, 16), number(Type::u32, 1)), number(Type::u32, 0x7FFF));
  return b_.CreateTrunc(b_.CreateLShr(b_.CreateAdd(bits, add), 16), type(Type::u16));
}

/// The f16 or bf16 NaN for the f64 NaN `wide`: the upper bits of its payload, quiet.
LlvmValue FloatBody::narrowNan(LlvmValue wide, Type to) {
  const unsigned mantissa = to == Type::f16 ? 10 : 7;
  const uint64_t quietInfinity = to == Type::f16 ? 0x7E00 : 0x7FC0;
  LlvmValue bits = b_.CreateBitCast(wide, type(Type::u64));
  LlvmValue sign = b_.CreateAnd(b_.CreateLShr(bits, 48), number(Type::u64, 0x8000));
  LlvmValue payload = b_.CreateAnd(b_.CreateLShr(bits, 52 - mantissa), number(Type::u64, (1u << mantissa) - 1));
  return b_.CreateTrunc(b_.CreateOr(b_.CreateOr(sign, payload), number(Type::u64, quietInfinity)), type(Type::u16));
}

/// f32 or f64 as the bits of an f16 or bf16.
LlvmValue FloatBody::halfBits(LlvmValue v, Type to) {
  const bool isDouble = v->getType()->getScalarType()->isDoubleTy();
  LlvmValue nan = isDouble ? narrowNan(v, to) : number(Type::u16, 0x7FFF), bits;
  LlvmValue narrow = isDouble ? narrowToOdd(v) : v;
  if (to == Type::bf16)
    bits = roundToBfloat(narrow);
  else
    bits = b_.CreateBitCast(isNearest() ? b_.CreateFPTrunc(narrow, type(to)) : narrowDirected(narrow, to),
                            type(Type::u16));
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, bits);
}

}  // namespace ordito::jit
