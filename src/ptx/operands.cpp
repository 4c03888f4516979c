// See operands.hpp. Order and types follow the syntax boxes of the PTX ISA manual.
#include "ptx/operands.hpp"

#include "ptx/matrix.hpp"

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

/// Textures, surfaces: what is read or written, and levels, gradients, offsets behind the coordinates.
Type imageOperandType(const Instruction& i, size_t k) {
  switch (i.op) {
    case Op::Sust:
    case Op::SustFormatted:
    case Op::Sured:
    case Op::SuredFormatted: return i.type[0];
    case Op::Istypep: return k == 0 ? Type::pred : Type::b64;
    case Op::TxqLevel: return Type::b32;
    default: break;
  }
  const std::string_view mnemonic = i.info().form.mnemonic;
  if (k == 0 || (mnemonic != "tex" && mnemonic != "tld4")) return i.type[0];
  return i.info().form.operands[k].name == "e" ? Type::s32 : Type::f32;
}

Type mbarrierOperandType(const Instruction& i, size_t k) {
  switch (i.op) {
    case Op::MbarrierTestWait:
    case Op::MbarrierTryWait: return k == 0 ? Type::pred : k == 2 ? Type::b64 : Type::u32;
    case Op::MbarrierTestParity:
    case Op::MbarrierTryParity: return k == 0 ? Type::pred : Type::u32;
    case Op::MbarrierInit:
    case Op::MbarrierExpectTx:
    case Op::MbarrierCompleteTx: return Type::u32;
    case Op::MbarrierPendingCount: return k == 0 ? Type::u32 : Type::b64;
    default: return k == 0 ? Type::b64 : Type::u32;
  }
}

Type matrixOperandType(const Instruction& i, size_t k) {
  const Fragment f = fragmentOf(i, k);
  if (f.registers) return f.registerType();
  return i.has(ModifierKind::WmmaOp) ? Type::u32 : Type::b32;
}

bool isVideo(const Instruction& i) { return i.info().anchor.find("video-instructions") != std::string_view::npos; }

}  // namespace

Type operandType(const Instruction& i, size_t k) {
  const isa::OperandForm& form = i.info().form.operands[k];
  using FormKind = isa::OperandForm::Kind;
  if (form.kind == FormKind::Address || form.kind == FormKind::Image || form.kind == FormKind::Label) return Type::None;
  if (form.paired) return Type::pred;
  Type d = i.type[0], a = i.type[1];
  if (i.info().unit == isa::Unit::Tensor) return matrixOperandType(i, k);
  if (i.info().unit == isa::Unit::Texture) return imageOperandType(i, k);
  if (i.info().form.mnemonic == "mbarrier") return mbarrierOperandType(i, k);
  if (isVideo(i)) return Type::u32;
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
    case Op::Dp2a:
    case Op::Dp4a: return Type::u32;
    case Op::Bmsk: return Type::u32;
    case Op::Shf: return k == 3 ? Type::u32 : d;
    case Op::Mul: return k == 0 && isWide(i) ? wide(d) : d;
    case Op::Mad: return (k == 0 || k == 3) && isWide(i) ? wide(d) : d;
    case Op::Cvt:
    case Op::CvtPack:
    case Op::CvtToFloat8:
    case Op::CvtPairToFloat8:
    case Op::CvtFromFloat8:
    case Op::CvtToFloat6:
    case Op::CvtFromFloat6:
    case Op::CvtToScale:
    case Op::CvtPairToScale:
    case Op::CvtFromScale: return k == 0 ? d : a;
    case Op::CvtPackInteger: return k == 0 ? Type::b32 : a;
    case Op::CvtPackNarrow: return k == 1 || k == 2 ? a : Type::b32;
    case Op::ApplyPriority:
    case Op::Discard:
    case Op::CpAsyncWait:
    case Op::Pmevent:
    case Op::PmeventMask: return Type::u32;
    case Op::CreatePolicy: return k == 0 ? d : Type::f32;
    case Op::CreatePolicyRange: return k == 0 ? d : Type::u32;
    case Op::Mapa: return k == 2 ? Type::u32 : d;
    case Op::GetCtaRank: return k == 0 ? Type::u32 : d;
    case Op::CpAsync:
      // Bytes to read, or a predicate for ignoring the source; behind either the cache policy, which may stand alone.
      if (k == 2) return Type::u32;
      if (k == 4 || (i.has(ModifierKind::CacheHint) && i.operands[4].is(Operand::Kind::None))) return Type::b64;
      return Type::u32;
    case Op::Elect: return Type::b32;
    case Op::Atom:
    case Op::AtomVector: return k == 3 ? Type::b64 : d;
    case Op::AtomCas: return d;
    case Op::Red:
    case Op::RedVector: return k == 2 ? Type::b64 : d;
    case Op::Lop3Bool: return k == 6 ? Type::pred : d;
    case Op::Ld:
    case Op::St: return k == 2 ? Type::b64 : d;
    case Op::Isspacep: return k == 0 ? Type::pred : Type::b64;
    case Op::BrxIdx:
    case Op::BarSync:
    case Op::BarrierSync:
    case Op::BarArrive:
    case Op::BarrierArrive:
    case Op::BarWarpSync: return Type::u32;
    case Op::BarRed:
    case Op::BarrierRed: return k == 0 ? d : k < 3 ? Type::u32 : Type::pred;
    case Op::Vote: return k == 0 ? d : k == 1 ? Type::pred : Type::b32;
    case Op::VoteOld: return k == 0 ? d : Type::pred;
    case Op::Match: return k == 2 ? d : Type::b32;
    case Op::Redux: return k == 2 ? Type::b32 : d;
    default: return d;
  }
}

Space spaceOf(const Instruction& i, size_t k) { return i.op == Op::CpAsync && k == 0 ? Space::Shared : spaceOf(i); }

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
