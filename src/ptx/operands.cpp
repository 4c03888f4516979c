// See operands.hpp. Order and types follow the syntax boxes of the PTX ISA manual.
#include "ptx/operands.hpp"

namespace ordito::ptx {
namespace {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

Type wide(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return t;
  }
}

bool isWide(const Instruction& i) { return i.is(isa::mod<ModifierKind::MulMode>("wide")); }

}  // namespace

Type operandType(const Instruction& i, size_t k) {
  const isa::OperandForm& form = i.info().form.operands[k];
  if (form.kind == isa::OperandForm::Kind::Address || form.kind == isa::OperandForm::Kind::Label) return Type::None;
  if (form.paired) return Type::pred;
  Type d = i.type[0], a = i.type[1];
  switch (i.op) {
    case Op::Call: return Type::None;
    case Op::Setp:
    case Op::SetpBool: return k == 0 || k == 4 ? Type::pred : d;
    case Op::Set: return k == 0 ? d : a;
    case Op::SetBool: return k == 0 ? d : k == 3 ? Type::pred : a;
    case Op::Selp: return k == 3 ? Type::pred : d;
    case Op::Slct: return k == 3 ? a : d;
    case Op::Testp: return k == 0 ? Type::pred : d;
    case Op::Shl:
    case Op::Shr: return k == 2 ? Type::u32 : d;
    case Op::Popc:
    case Op::Clz:
    case Op::Bfind: return k == 0 ? Type::u32 : d;
    case Op::Bfe: return k >= 2 ? Type::u32 : d;
    case Op::Bfi: return k >= 3 ? Type::u32 : d;
    case Op::Dp4a: return Type::b32;
    case Op::Mul: return k == 0 && isWide(i) ? wide(d) : d;
    case Op::Mad: return (k == 0 || k == 3) && isWide(i) ? wide(d) : d;
    case Op::Cvt:
    case Op::CvtPack: return k == 0 ? d : a;
    case Op::Lop3Bool: return k == 6 ? Type::pred : d;
    case Op::Ld:
    case Op::St: return k == 2 ? Type::b64 : d;
    case Op::Isspacep: return k == 0 ? Type::pred : Type::b64;
    case Op::BarSync:
    case Op::BarrierSync:
    case Op::BarWarpSync: return Type::u32;
    case Op::BarRed:
    case Op::BarrierRed: return k == 0 ? d : k == 1 ? Type::u32 : Type::pred;
    case Op::Vote: return k == 0 ? d : k == 1 ? Type::pred : Type::b32;
    case Op::VoteOld: return k == 0 ? d : Type::pred;
    case Op::Match: return k == 2 ? d : Type::b32;
    case Op::Redux: return k == 2 ? Type::b32 : d;
    default: return d;
  }
}

Space spaceOf(const Instruction& i) {
  std::string_view name = i.mods.name(ModifierKind::Space);
  if (name == "global") return Space::Global;
  if (name == "const") return Space::Const;
  if (name == "local") return Space::Local;
  if (name.starts_with("shared")) return Space::Shared;
  if (name.starts_with("param")) return Space::Param;
  return Space::Generic;
}

}  // namespace ordito::ptx
