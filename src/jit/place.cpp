// Values that a few instructions make from a thread's place in the grid (`threadIdx.x * 4`) are made again behind a
// barrier: that costs less than keeping them, and LLVM sees then that the first warp's threadIdx.x starts at 0.
#include "ir/shape_transfer.hpp"
#include "jit/emitter.hpp"

namespace ordito::jit {
namespace {

using isa::Op;

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

}  // namespace ordito::jit
