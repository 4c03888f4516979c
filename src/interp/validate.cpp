// Combinations of modifiers and types that the table's rows allow but that PTX gives no meaning, or that this engine
// does not execute. One function for each group of rows; everything not listed here has a body.
#include <fmt/format.h>

#include "interp/program.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Op;
using isa::Type;

namespace {

using Mod = ModifierKind;

std::string spelled(const ptx::Instruction& i) {
  std::string text(i.info().form.mnemonic);
  for (size_t kind = 0; kind < static_cast<size_t>(Mod::Count); ++kind)
    if (i.mods.value[kind]) text += fmt::format(".{}", isa::modifierName(static_cast<Mod>(kind), i.mods.value[kind]));
  for (Type type : i.type)
    if (type != Type::None) text += fmt::format(".{}", isa::name(type));
  return text;
}

bool isWideMultiply(const ptx::Instruction& i) { return i.is(mod<Mod::MulMode>("wide")); }

/// Saturating integer arithmetic exists for s32 only; for multiply-add only with .hi.
bool badSaturation(const ptx::Instruction& i) {
  if (!i.has(Mod::Saturate)) return false;
  if (i.type[0] != Type::s32) return true;
  bool multiplies = i.op == Op::Mad || i.op == Op::Mad24;
  return multiplies && !i.is(mod<Mod::MulMode>("hi"));
}

bool badAtomic(const ptx::Instruction& i) {
  Type t = i.type[0];
  switch (i.mods[Mod::AtomOp]) {
    case mod<Mod::AtomOp>("and").value:
    case mod<Mod::AtomOp>("or").value:
    case mod<Mod::AtomOp>("xor").value:
    case mod<Mod::AtomOp>("exch").value: return !isa::isBits(t);
    case mod<Mod::AtomOp>("add").value: return isa::isBits(t);
    case mod<Mod::AtomOp>("inc").value:
    case mod<Mod::AtomOp>("dec").value: return t != Type::u32;
    case mod<Mod::AtomOp>("min").value:
    case mod<Mod::AtomOp>("max").value: return !isa::isInteger(t);
    default: return true;  // cas has its own row
  }
}

bool badRedux(const ptx::Instruction& i) {
  bool logical = i.is(mod<Mod::ReduxOp>("and")) || i.is(mod<Mod::ReduxOp>("or")) || i.is(mod<Mod::ReduxOp>("xor"));
  return logical != isa::isBits(i.type[0]);
}

bool badBarrierReduction(const ptx::Instruction& i) {
  return i.is(mod<Mod::RedOp>("popc")) != (i.type[0] == Type::u32);
}

bool badVote(const ptx::Instruction& i) { return i.is(mod<Mod::VoteMode>("ballot")) != (i.type[0] == Type::b32); }

bool badConversion(const ptx::Instruction& i) {
  Type to = i.type[0], from = i.type[1];
  if (i.has(Mod::Relu) && !isa::isFloat(to)) return true;
  if (to == Type::tf32) return from != Type::f32;
  return i.is(mod<Mod::Rounding>("rna")) && to != Type::tf32;
}

bool badFloatRounding(const ptx::Instruction& i) {
  if (i.is(mod<Mod::Rounding>("rna")) || i.is(mod<Mod::Saturate>("satfinite"))) return true;
  bool half = isa::bits(isa::element(i.type[0])) == 16;
  return half && i.has(Mod::Rounding) && !i.is(mod<Mod::Rounding>("rn"));
}

bool meaningless(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mad24: return badSaturation(i);
    case Op::Mad: return badSaturation(i) || (isWideMultiply(i) && isa::bits(i.type[0]) == 64);
    case Op::Mul: return isWideMultiply(i) && isa::bits(i.type[0]) == 64;
    case Op::MadCc:
    case Op::Madc:
    case Op::Mul24: return isWideMultiply(i);
    case Op::AddF:
    case Op::SubF:
    case Op::MulF:
    case Op::FmaF:
    case Op::MadF:
    case Op::DivF:
    case Op::Rcp:
    case Op::Sqrt: return badFloatRounding(i);
    case Op::Cvta: return i.type[0] != Type::u64;
    case Op::Cvt: return badConversion(i);
    case Op::Atom:
    case Op::Red: return badAtomic(i);
    case Op::Redux: return badRedux(i);
    case Op::BarRed:
    case Op::BarrierRed: return badBarrierReduction(i);
    case Op::Vote:
    case Op::VoteOld: return badVote(i);
    default: return false;
  }
}

}  // namespace

std::string unsupported(const ptx::Instruction& instruction) {
  if (!meaningless(instruction)) return {};
  return fmt::format("{} is not a combination that PTX defines", spelled(instruction));
}

}  // namespace ordito::interp
