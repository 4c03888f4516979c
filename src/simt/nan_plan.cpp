// Three fixed points over "flows into unchanged": what is pure and what is dirty follow the flow, what is observed goes
// against it.
#include "simt/nan_plan.hpp"

#include "ir/print.hpp"
#include "ptx/operands.hpp"

namespace ordito::simt {
namespace {

using ir::Instruction;
using ir::kNoValue;
using ir::ValueId;
using isa::Op;
using isa::Type;
using Kind = ptx::Operand::Kind;

/// Moves f32 values without computing.
bool passesOn(const Instruction& i) {
  const bool moves = i.op == Op::Mov || i.op == Op::Selp || i.op == Op::Slct || NanPlan::onlyMoves(i);
  return moves && i.type[0] == Type::f32 && i.operands[0].kind == Kind::Register;
}

/// Its f32 result is never a NaN.
bool isNumber(const Instruction& i) {
  // Of another type than f32 it has bits that may be those of a NaN, 0xFFFFFFFF.
  if (i.op == Op::Set || i.op == Op::SetBool) return i.type[0] == Type::f32;
  return i.op == Op::Cvt && i.type[0] == Type::f32 && isa::isInteger(i.type[1]);
}

bool isNan(const ptx::Operand& o) {
  const uint64_t bits = ptx::immediateBits(o, Type::f32) & 0x7FFFFFFF;
  return bits > 0x7F800000;
}

/// Reads its f32 operands as numbers: which NaN they are makes no difference.
bool readsNumbers(const Instruction& i) {
  switch (i.op) {
    case Op::Set:
    case Op::SetBool:
    case Op::Setp:
    case Op::SetpBool:
    case Op::Testp:
    case Op::CvtPack:
    case Op::Atom:
    case Op::Red: return true;
    case Op::MinF:
    case Op::MaxF: return !i.has(isa::ModifierKind::XorSign);  // that takes the sign of a NaN, too
    case Op::Cvt: return i.type[0] != Type::f64 && i.type[0] != Type::tf32 && !NanPlan::onlyMoves(i);
    default: return NanPlan::isArithmetic(i);
  }
}

}  // namespace

bool NanPlan::onlyMoves(const Instruction& i) {
  using isa::ModifierKind;
  return i.op == Op::Cvt && i.type[0] == Type::f32 && i.type[1] == Type::f32 && !i.has(ModifierKind::IntegerRounding) &&
         !i.has(ModifierKind::Flush) && !i.has(ModifierKind::Saturate);
}

bool NanPlan::isArithmetic(const Instruction& i) {
  if (i.type[0] != Type::f32) return false;
  switch (i.op) {
    case Op::AddF:
    case Op::SubF:
    case Op::MulF:
    case Op::FmaF:
    case Op::MadF:
    case Op::DivF:
    case Op::Rcp:
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::AbsF:
    case Op::NegF:
    case Op::MinF:
    case Op::MaxF:
    case Op::Sin:
    case Op::Cos:
    case Op::Lg2:
    case Op::Ex2:
    case Op::Tanh: return true;
    case Op::Cvt:
      return (i.type[1] == Type::f32 && !onlyMoves(i)) || i.type[1] == Type::f16 ||
             (i.type[1] == Type::bf16 && i.has(isa::ModifierKind::Flush));
    default: return false;
  }
}

NanPlan::NanPlan(const ir::Function& f)
    : inputs_(f.values.size()), pure_(f.values.size(), 1), dirty_(f.values.size(), 0), observed_(f.values.size(), 0) {
  collect(f);
  iterate();
}

void NanPlan::collect(const ir::Function& f) {
  for (const ir::Block& block : f.blocks) {
    for (const ir::Phi& phi : block.phis) inputs_[phi.value] = phi.incoming;
    for (const Instruction& i : block.code) {
      ir::forEachDefinition(i, [&](ValueId v, unsigned k) {
        if (isArithmetic(i)) {
          dirty_[v] = 1;
        } else if (passesOn(i)) {
          for (size_t o = 1; o < i.operands.size() && o <= (i.op == Op::Mov || i.op == Op::Cvt ? 1 : 2); ++o) {
            if (i.operands[o].kind == Kind::Register)
              inputs_[v].push_back(i.operands[o].reg);
            else if (i.operands[o].kind != Kind::Float || isNan(i.operands[o]))
              pure_[v] = 0;
          }
        } else if (!isNumber(i)) {
          pure_[v] = 0;
        }
        if (k >= i.prior.size() || i.prior[k] == kNoValue) return;
        inputs_[v].push_back(i.prior[k]);
        // What a load or an exchange gives is put beside the bits that were there before, which must be a GPU's then.
        if (i.info().effect != isa::Effect::Pure) pure_[i.prior[k]] = 0;
      });
      collectUses(i);
    }
    ir::forEachUse(block.end, [&](ValueId v) { observed_[v] = 1; });
    if (block.end.kind == ir::Terminator::Kind::Barrier)
      ir::forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { pure_[v] = 0; });
  }
}

void NanPlan::collectUses(const Instruction& i) {
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
    const bool isFloat =
        k < forms.size() && i.operands[k].kind == Kind::Register && ptx::operandType(i, k) == Type::f32;
    if (isFloat && (readsNumbers(i) || passesOn(i))) continue;
    ir::forEachRegister(i.operands[k], [&](ValueId v) { observed_[v] = 1; });
  }
}

void NanPlan::iterate() {
  for (bool changed = true; changed;) {
    changed = false;
    auto set = [&](std::vector<char>& flags, ValueId v, char to) {
      if (flags[v] != to) flags[v] = to, changed = true;
    };
    for (ValueId v = 0; v < inputs_.size(); ++v)
      for (ValueId from : inputs_[v]) {
        if (!pure_[from]) set(pure_, v, 0);
        if (dirty_[from]) set(dirty_, v, 1);
        if (observed_[v]) set(observed_, from, 1);
      }
  }
}

std::string print(const NanPlan& nans, const ir::Function& f) {
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v) {
    if (nans.isDirty(v)) text += ir::valueName(f, v) + ": any NaN, mended where bits are read\n";
    if (nans.isMixed(v)) text += ir::valueName(f, v) + ": canonical NaNs flow in\n";
  }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
