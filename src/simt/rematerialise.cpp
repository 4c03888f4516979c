// See rematerialise.hpp.
#include "simt/rematerialise.hpp"

#include "ir/print.hpp"
#include "ir/shape_transfer.hpp"

namespace ordito::simt {
namespace {

using isa::Op;
using OperandKind = ptx::Operand::Kind;

/// Plain integer arithmetic, whose code is a scalar instruction or two for each segment, and comparisons of integers.
bool isPlain(const Instruction& i) {
  switch (i.op) {
    case Op::Setp:
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
  return !isa::isFloat(i.type[0]) && isa::bits(i.type[0]) >= 32 && !i.guard && i.carryIn == ir::kNoValue &&
         i.carryOut == ir::kNoValue;
}

bool isPlace(isa::Special s) {
  using isa::Special;
  return s == Special::TidX || s == Special::TidY || s == Special::TidZ || s == Special::CtaidX ||
         s == Special::CtaidY || s == Special::CtaidZ || s == Special::NtidX || s == Special::NtidY ||
         s == Special::NtidZ || s == Special::NctaidX || s == Special::NctaidY || s == Special::NctaidZ;
}

/// Is `result` made by scalars, or by a comparison of lanes, which takes a vector instruction or two? Widened indices
/// have a base and a vector, of which LLVM makes only what is read.
bool isCheap(const Instruction& i, const ir::Shape& result) {
  if (i.op == Op::Setp) return true;
  return result.isSegmented() && (!result.inexact || ir::isWidening(i));
}

/// The instructions that make `v` from the place of its thread, or more than `most`.
unsigned stepsFromPlace(const ir::Definitions& definitions, const ir::Shapes& shapes, ValueId v, unsigned most) {
  const Instruction* i = definitions.instruction(v);
  const ir::Shape& s = shapes[v];
  if (!i || !isPlain(*i) || !isCheap(*i, s)) return most + 1;
  unsigned steps = i->op == Op::Mov ? 0 : 1;
  for (size_t k = 1; k < i->operands.size() && steps <= most; ++k) {
    const ptx::Operand& o = i->operands[k];
    switch (o.kind) {
      case OperandKind::None:
      case OperandKind::Integer: break;
      case OperandKind::Special: steps += isPlace(o.special) ? 0 : most; break;
      case OperandKind::Register: steps += stepsFromPlace(definitions, shapes, o.reg, most - steps); break;
      default: return most + 1;
    }
  }
  return steps;
}

}  // namespace

std::vector<char> findRematerialised(const ir::Function& f, const ir::SyncPoints& syncPoints, const ir::Shapes& shapes,
                                     const ir::Definitions& definitions, const Liveness& liveness) {
  constexpr unsigned kMost = cost::kRematerialisedSteps;
  std::vector<char> result(f.values.size(), 0);
  if (syncPoints.diverges()) return result;
  for (ValueId v = 0; v < f.values.size(); ++v)
    result[v] = liveness.crossesResume[v] && (shapes[v].warpVarying || shapes[v].isGeneral()) &&
                stepsFromPlace(definitions, shapes, v, kMost) <= kMost;
  return result;
}

std::string printRematerialised(const std::vector<char>& rematerialised, const ir::Function& f) {
  std::string text;
  for (ValueId v = 0; v < f.values.size(); ++v)
    if (rematerialised[v]) text += ir::valueName(f, v) + "\n";
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
