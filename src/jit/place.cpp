// Values that a few instructions make from a thread's place in the grid (`threadIdx.x * 4`) are made again behind a
// barrier: that costs less than keeping them, and LLVM sees then that the first warp's threadIdx.x starts at 0.
#include <algorithm>
#include <functional>

#include "ir/shape_transfer.hpp"
#include "jit/emitter.hpp"

namespace ordito::jit {
namespace {

using isa::Op;
using isa::Type;

constexpr unsigned kMostSteps = 4;

/// Plain integer arithmetic, whose code is a scalar instruction or two for each group.
bool isPlain(const Instruction& i) {
  switch (i.op) {
    case Op::Mov:
    case Op::Cvt:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Mad:
    case Op::Shl:
    case Op::Shr:
    case Op::And:
    case Op::Or:
    case Op::Xor: break;
    default: return false;
  }
  return isa::isInteger(i.type[0]) && isa::bits(i.type[0]) >= 32 && !i.guard && i.carryIn == ir::kNoValue &&
         i.carryOut == ir::kNoValue;
}

bool isPlace(isa::Special s) {
  using isa::Special;
  return s == Special::TidX || s == Special::TidY || s == Special::TidZ || s == Special::CtaidX ||
         s == Special::CtaidY || s == Special::CtaidZ || s == Special::NtidX || s == Special::NtidY ||
         s == Special::NtidZ || s == Special::NctaidX || s == Special::NctaidY || s == Special::NctaidZ;
}

}  // namespace

/// The instructions that make `v` from the place of its thread, or more than `most`.
unsigned Emitter::stepsFromPlace(ValueId v, unsigned most) const {
  const Instruction* i = definition_[v];
  const ir::Shape& s = shapes_[v];
  if (most == 0 || !i || !isPlain(*i) || !s.isGrouped() || s.inexact) return most + 1;
  unsigned steps = 1;
  for (size_t k = 1; k < i->operands.size() && steps <= most; ++k) {
    const ptx::Operand& o = i->operands[k];
    switch (o.kind) {
      case ptx::Operand::Kind::Integer: break;
      case ptx::Operand::Kind::Special: steps += isPlace(o.special) ? 0 : most; break;
      case ptx::Operand::Kind::Register: steps += stepsFromPlace(o.reg, most - steps); break;
      default: return most + 1;
    }
  }
  return steps;
}

/// In a kernel whose threads can be out of step, what is kept is kept for each group and lane, and stays so.
void Emitter::findPlaces() {
  madeFromPlace_.assign(f_.values.size(), 0);
  if (parks_) return;
  for (ValueId v = 0; v < f_.values.size(); ++v)
    madeFromPlace_[v] = crossesBarrier_[v] && shapes_[v].warpVarying && stepsFromPlace(v, kMostSteps) <= kMostSteps;
}

void Emitter::makeFromPlace(ValueId v) {
  const Instruction& i = *definition_[v];
  for (size_t k = 1; k < i.operands.size(); ++k)
    if (i.operands[k].kind == ptx::Operand::Kind::Register) makeFromPlace(i.operands[k].reg);
  emitInstruction(i);
}

/// Its operands have then the values that it saw.
bool Emitter::isMadeHere(const Instruction& i) const {
  const auto& code = emitted_->code;
  return std::less_equal<>{}(code.data(), &i) && std::less<>{}(&i, code.data() + code.size());
}

void Emitter::noteComparison(const Instruction& i, LlvmValue open, LlvmValue lanes, bool negated) {
  if (i.op == Op::Setp && !i.guard && jam_ == 1 && i.operands[0].kind == ptx::Operand::Kind::Register)
    comparisons_[i.operands[0].reg] = {open, lanes, negated};
}

std::optional<Emitter::ChosenBits> Emitter::chosenBits(const Instruction& i, size_t k, isa::Type t, const Source& s) {
  const ptx::Operand& o = i.operands[k];
  if (!s.vector() || o.kind != ptx::Operand::Kind::Register || o.negated) return std::nullopt;
  const Instruction* made = definition_[o.reg];
  if (!made || made->op != Op::And || made->guard || !isMadeHere(*made) || isa::bits(made->type[0]) != isa::bits(t) ||
      isa::isFloat(f_.values[o.reg].type))
    return std::nullopt;
  for (size_t place = 1; place <= 2; ++place) {
    const ir::Shape shape = shapes_.shapeOf(made->operands[place]);
    if (!shape.isGrouped() || shape.groups != 1 || shape.inexact || shape.pattern == 0 || shape.alignment >= 32)
      continue;
    if (!shapes_.shapeOf(made->operands[3 - place]).isUniform()) continue;
    const ir::Pattern& pattern = shapes_.pattern(shape.pattern);
    const auto fits = [&](int64_t lane) { return lane >= 0 && lane >> shape.alignment == 0; };
    if (!std::ranges::all_of(pattern, fits)) continue;
    Source ofBase = s;
    ofBase.group = 0;
    const Type bits = made->type[0];
    LlvmValue chosen = operand(made->operands[3 - place], bits, ofBase);
    return ChosenBits{b_.CreateAnd(operand(made->operands[place], bits, ofBase), chosen),
                      b_.CreateAnd(patternVector(pattern, chosen->getType()), splat(chosen)), shape.alignment};
  }
  return std::nullopt;
}

}  // namespace ordito::jit
