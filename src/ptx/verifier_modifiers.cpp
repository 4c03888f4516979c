// Which modifiers and types go together. The table's rows say which modifiers exist; a row is often shared by types
// that take fewer of them. Each rule answers with the sentence for the message, or with nothing if all is well.
#include "ptx/verifier_impl.hpp"

namespace ordito::ptx {
namespace {

using isa::mod;
using isa::ModifierKind;
using isa::Op;
using isa::Type;
using Kind = isa::TypeKind;

bool isHalf(Type t) { return t == Type::f16 || t == Type::f16x2; }
bool isBfloat(Type t) { return t == Type::bf16 || t == Type::bf16x2; }
bool approx(const Instruction& i) { return i.is(mod<ModifierKind::Precision>("approx")); }
bool named(const Instruction& i, ModifierKind kind, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (i.mods.name(kind) == name) return true;
  return false;
}

Problem flushAndSaturate(const Instruction& i, Type t) {
  if (i.has(ModifierKind::Flush) && t != Type::f32 && !isHalf(t)) return ".ftz needs type .f32, .f16 or .f16x2";
  if (i.is(mod<ModifierKind::Saturate>("satfinite"))) return ".satfinite belongs to cvt";
  if (i.has(ModifierKind::Saturate) && t != Type::f32 && !isHalf(t)) return ".sat needs type .f32, .f16 or .f16x2";
  return kFine;
}

Problem floatArithmetic(const Instruction& i) {
  Type t = i.type[0];
  if (i.is(mod<ModifierKind::Rounding>("rna"))) return ".rna belongs to cvt";
  if ((isHalf(t) || isBfloat(t)) && i.has(ModifierKind::Rounding) && !i.is(mod<ModifierKind::Rounding>("rn")))
    return "16-bit floating point rounds .rn only";
  if (i.has(ModifierKind::Relu) && !isHalf(t) && !isBfloat(t)) return ".relu needs a 16-bit floating-point type";
  if (i.has(ModifierKind::OutOfBounds) && !isHalf(t) && !isBfloat(t)) return ".oob needs a 16-bit floating-point type";
  if (i.has(ModifierKind::OutOfBounds) && i.has(ModifierKind::Flush)) return ".oob and .ftz exclude each other";
  if (i.has(ModifierKind::Relu) && i.has(ModifierKind::Saturate)) return ".relu and .sat exclude each other";
  if (i.op == Op::MadF && !i.has(ModifierKind::Rounding)) return "a rounding modifier is required";
  return flushAndSaturate(i, t);
}

Problem divisionLike(const Instruction& i) {
  Type t = i.type[0];
  bool full = i.is(mod<ModifierKind::Precision>("full")), rounds = i.has(ModifierKind::Rounding);
  if (i.is(mod<ModifierKind::Rounding>("rna"))) return ".rna belongs to cvt";
  if (full && i.op != Op::DivF) return ".full belongs to div";
  if (i.has(ModifierKind::Precision) == rounds)
    return "exactly one of .approx, .full (div only) and a rounding modifier is required";
  bool approximateReciprocal = i.op == Op::Rcp && approx(i) && i.has(ModifierKind::Flush);
  if (t == Type::f64 && !rounds && !approximateReciprocal) return "type .f64 needs a rounding modifier";
  if (t == Type::f64 && rounds && i.has(ModifierKind::Flush)) return ".ftz needs type .f32";
  return kFine;
}

Problem minMax(const Instruction& i) {
  Type t = i.type[0];
  if (i.has(ModifierKind::Flush) && t != Type::f32 && !isHalf(t)) return ".ftz needs type .f32, .f16 or .f16x2";
  bool any = i.has(ModifierKind::NanMode) || i.has(ModifierKind::XorSign) || i.has(ModifierKind::AbsMode);
  if (any && t == Type::f64) return "type .f64 takes no modifier";
  if (i.has(ModifierKind::XorSign) != i.has(ModifierKind::AbsMode)) return ".xorsign and .abs go together";
  return kFine;
}

Problem flushOnly(const Instruction& i) {
  if (i.has(ModifierKind::Flush) && i.type[0] != Type::f32 && !isHalf(i.type[0]))
    return ".ftz needs type .f32, .f16 or .f16x2";
  return kFine;
}

Problem exponential(const Instruction& i) {
  if (isBfloat(i.type[0]) != i.has(ModifierKind::Flush) && i.type[0] != Type::f32)
    return "ex2.approx takes .ftz with .bf16 and .bf16x2 and not with .f16 and .f16x2";
  return kFine;
}

Problem comparison(const Instruction& i, Type compared) {
  Kind kind = isa::info(compared).kind;
  bool ordering = named(i, ModifierKind::Compare, {"lt", "le", "gt", "ge"}),
       equality = named(i, ModifierKind::Compare, {"eq", "ne"});
  bool unsignedOnly = named(i, ModifierKind::Compare, {"lo", "ls", "hi", "hs"});
  if (i.has(ModifierKind::Flush) && compared != Type::f32 && !isHalf(compared))
    return ".ftz needs a comparison of type .f32, .f16 or .f16x2";
  if (kind == Kind::Float) return unsignedOnly ? "this comparison needs an unsigned type" : kFine;
  if (kind == Kind::Bits) return equality ? kFine : "bits compare .eq and .ne only";
  if (unsignedOnly) return kind == Kind::Unsigned ? kFine : "this comparison needs an unsigned type";
  return ordering || equality ? kFine : "this comparison needs a floating-point type";
}

Problem integerProduct(const Instruction& i) {
  bool isWide = i.is(mod<ModifierKind::MulMode>("wide"));
  if (isWide && isa::bits(i.type[0]) == 64) return ".wide needs a type of 16 or 32 bits";
  if (isWide && (i.op == Op::Mul24 || i.op == Op::Mad24 || i.op == Op::MadCc || i.op == Op::Madc))
    return ".wide belongs to mul and mad";
  bool sat = i.has(ModifierKind::Saturate);
  if (sat && !(i.is(mod<ModifierKind::MulMode>("hi")) && i.type[0] == Type::s32)) return ".sat needs .hi.s32";
  return kFine;
}

Problem betweenFloats(const Instruction& i) {
  Type to = i.type[0], from = i.type[1];
  bool rounds = i.has(ModifierKind::Rounding), roundsToInteger = i.has(ModifierKind::IntegerRounding);
  if (roundsToInteger)
    return to != from ? "integer rounding needs equal types" : rounds ? "two rounding modifiers" : kFine;
  if (to == from) return rounds ? "this conversion is exact and takes no rounding modifier" : kFine;
  bool sixteen = isa::bits(to) == 16 && isa::bits(from) == 16;  // .f16 and .bf16: neither holds the other
  if (isa::bits(to) < isa::bits(from)) return rounds ? kFine : "a rounding modifier is required";
  if (rounds && !sixteen && from != Type::bf16) return "this conversion is exact and takes no rounding modifier";
  return kFine;
}

/// Is every value of `from` one of `to`?
bool holds(Type to, Type from) {
  if (isa::isSigned(from) && !isa::isSigned(to)) return false;
  bool signBit = isa::isSigned(to) && !isa::isSigned(from);
  return isa::bits(to) - signBit >= isa::bits(from);
}

Problem saturation(const Instruction& i) {
  Type to = i.type[0], from = i.type[1];
  if (i.is(mod<ModifierKind::Saturate>("satfinite")))
    return from == Type::f32 && (isHalf(to) || isBfloat(to))
               ? kFine
               : ".satfinite needs a conversion from .f32 to .f16 or .bf16";
  if (!i.has(ModifierKind::Saturate)) return kFine;
  if (isBfloat(to) || isBfloat(from)) return ".sat does not go with .bf16";
  return isa::isInteger(from) && isa::isInteger(to) && holds(to, from)
             ? ".sat has nothing to do where the result's type holds every value"
             : kFine;
}

/// .tf32, .relu and .satfinite are one family, younger than the rest of cvt and with rules of their own.
Problem youngConversion(const Instruction& i) {
  bool toTf32 = i.type[0] == Type::tf32, relu = i.has(ModifierKind::Relu);
  if (toTf32 && i.has(ModifierKind::IntegerRounding)) return ".tf32 is made with .rn, .rz or .rna";
  if (toTf32 && i.is(mod<ModifierKind::Saturate>("sat"))) return ".sat does not go with .tf32";
  if (!toTf32 && !relu && !i.is(mod<ModifierKind::Saturate>("satfinite"))) return kFine;
  if (i.has(ModifierKind::Flush)) return ".ftz does not go with .tf32, .relu or .satfinite";
  if (named(i, ModifierKind::Rounding, {"rm", "rp"})) return ".tf32, .relu and .satfinite round .rn or .rz";
  if (relu && i.is(mod<ModifierKind::Saturate>("sat"))) return ".relu and .sat exclude each other";
  return relu && i.is(mod<ModifierKind::Rounding>("rna")) ? ".relu rounds .rn or .rz" : kFine;
}

/// The direction of a conversion says whether it may, must or must not round.
Problem conversion(const Instruction& i) {
  Type to = i.type[0], from = i.type[1];
  bool rounds = i.has(ModifierKind::Rounding), roundsToInteger = i.has(ModifierKind::IntegerRounding);
  if (Problem problem = saturation(i)) return problem;
  if (Problem problem = youngConversion(i)) return problem;
  if (i.has(ModifierKind::Flush) && to != Type::f32 && from != Type::f32) return ".ftz needs .f32 on one side";
  if (i.has(ModifierKind::Relu) && !(from == Type::f32 && (isHalf(to) || isBfloat(to) || to == Type::tf32)))
    return ".relu needs a conversion from .f32 to .f16, .bf16 or .tf32";
  if (to == Type::tf32)
    return from != Type::f32 ? ".tf32 is made from .f32" : !rounds ? "a rounding modifier is required" : kFine;
  if (i.is(mod<ModifierKind::Rounding>("rna"))) return ".rna needs type .tf32";
  if ((isBfloat(to) && isa::bits(from) == 8) || (isBfloat(from) && isa::bits(to) == 8))
    return ".bf16 does not convert to or from 8 bits";
  if (isa::isFloat(to) && isa::isFloat(from)) return betweenFloats(i);
  if (isa::isFloat(to))
    return roundsToInteger ? "integer rounding needs a floating-point source"
           : rounds        ? kFine
                           : "a rounding modifier is required";
  if (isa::isFloat(from))
    return rounds            ? "a conversion to an integer rounds with .rni, .rzi, .rmi or .rpi"
           : roundsToInteger ? kFine
                             : "an integer rounding modifier is required";
  return rounds || roundsToInteger ? "a conversion between integers does not round" : kFine;
}

Problem packedConversion(const Instruction& i) {
  if (i.is(mod<ModifierKind::Saturate>("sat"))) return "a packed conversion takes .satfinite, not .sat";
  return named(i, ModifierKind::Rounding, {"rn", "rz"}) ? kFine : "a packed conversion rounds .rn or .rz";
}

/// What `set` may write for each compared type.
Problem setResult(const Instruction& i) {
  Type to = i.type[0], from = i.type[1];
  bool half = isHalf(from) || isBfloat(from), packed = isa::isPacked(from);
  bool fine = true;
  if (to == Type::f32) fine = !half;
  if (to == Type::u16 || to == Type::s16) fine = half && !packed;
  if (to == Type::f16) fine = !packed && from != Type::bf16;
  if (to == Type::bf16) fine = !packed;
  if (isa::isPacked(to)) fine = from == to;
  if (isBfloat(to) && i.has(ModifierKind::Flush)) return ".ftz does not go with a result of type .bf16";
  return fine ? comparison(i, from) : "this comparison cannot give a result of this type";
}

Problem barrierReduction(const Instruction& i) {
  bool count = i.is(mod<ModifierKind::RedOp>("popc"));
  return count == (i.type[0] == Type::u32) ? kFine : ".popc needs type .u32, .and and .or need .pred";
}

Problem vote(const Instruction& i) {
  bool ballot = i.is(mod<ModifierKind::VoteMode>("ballot"));
  return ballot == (i.type[0] == Type::b32) ? kFine : ".ballot needs type .b32, the other modes need .pred";
}

Problem redux(const Instruction& i) {
  bool bitwise = named(i, ModifierKind::ReduxOp, {"and", "or", "xor"});
  return bitwise == (i.type[0] == Type::b32) ? kFine : "bitwise operations need type .b32, the others .u32 or .s32";
}

}  // namespace

Problem modifierProblem(const Instruction& i) {
  Type t = i.type[0];
  if (Problem problem = specialUnitProblem(i)) return problem;
  if (Problem problem = memoryProblem(i)) return problem;
  switch (i.op) {
    case Op::Add:
    case Op::Sub: return i.has(ModifierKind::Saturate) && t != Type::s32 ? ".sat needs type .s32" : kFine;
    case Op::Min:
    case Op::Max:
      return i.has(ModifierKind::Relu) && t != Type::s32 && t != Type::s16x2 ? ".relu needs type .s32 or .s16x2"
                                                                             : kFine;
    case Op::AddF:
    case Op::SubF:
    case Op::MulF:
    case Op::FmaF:
    case Op::MadF: return floatArithmetic(i);
    case Op::DivF:
    case Op::Rcp:
    case Op::Sqrt: return divisionLike(i);
    case Op::MinF:
    case Op::MaxF: return minMax(i);
    case Op::AbsF:
    case Op::NegF: return flushOnly(i);
    case Op::Ex2: return exponential(i);
    case Op::Set:
    case Op::SetBool: return setResult(i);
    case Op::Setp:
    case Op::SetpBool: return comparison(i, t);
    case Op::Slct:
      return i.has(ModifierKind::Flush) && i.type[1] != Type::f32 ? ".ftz needs a selector of type .f32" : kFine;
    case Op::Mul:
    case Op::Mad:
    case Op::Mul24:
    case Op::Mad24:
    case Op::MadCc:
    case Op::Madc: return integerProduct(i);
    case Op::Cvt: return conversion(i);
    case Op::CvtPack: return packedConversion(i);
    case Op::Lop3Bool: return i.is(mod<ModifierKind::BoolOp>("xor")) ? "lop3 combines with .or or .and" : kFine;
    case Op::BarRed:
    case Op::BarrierRed: return barrierReduction(i);
    case Op::Vote:
    case Op::VoteOld: return vote(i);
    case Op::Redux: return redux(i);
    default: return kFine;
  }
}

}  // namespace ordito::ptx
