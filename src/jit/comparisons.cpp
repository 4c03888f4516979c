// Code that is made again where its operands have the values that it saw: what a region rematerialises, and comparisons
// that the bases of values decide.
#include "jit/comparisons.hpp"

#include <algorithm>
#include <functional>

namespace ordito::jit {

using isa::Op;
using isa::Type;

/// Its operands have then the values that it saw.
bool Comparisons::isMadeHere(const Instruction& i) const {
  const auto& code = c_.at.block->code;
  return std::less_equal<>{}(code.data(), &i) && std::less<>{}(&i, code.data() + code.size());
}

void Comparisons::note(const Instruction& i, LlvmValue open, LlvmValue lanes, bool negated) {
  if (i.op == Op::Setp && !i.guard && warps() == 1 && i.operands[0].kind == ptx::Operand::Kind::Register)
    comparisons_[i.operands[0].reg] = {open, lanes, negated};
}

std::optional<Comparisons::ChosenBits> Comparisons::chosenBits(const Instruction& i, size_t k, isa::Type t,
                                                               const Source& s) {
  const ptx::Operand& o = i.operands[k];
  if (!s.vector() || o.kind != ptx::Operand::Kind::Register || o.negated) return std::nullopt;
  const Instruction* made = plan_.definitions().instruction(o.reg);
  if (!made || made->op != Op::And || made->guard || !isMadeHere(*made) || isa::bits(made->type[0]) != isa::bits(t) ||
      isa::isFloat(f_.values[o.reg].type))
    return std::nullopt;
  for (size_t place = 1; place <= 2; ++place) {
    const ir::Shape shape = shapes_.shapeOf(made->operands[place]);
    if (!shape.isSegmented() || shape.segments != 1 || shape.inexact || shape.pattern == 0 || shape.alignment >= 32)
      continue;
    if (!shapes_.shapeOf(made->operands[3 - place]).isUniform()) continue;
    const ir::Pattern& pattern = shapes_.pattern(shape.pattern);
    const auto fits = [&](int64_t lane) { return lane >= 0 && lane >> shape.alignment == 0; };
    if (!std::ranges::all_of(pattern, fits)) continue;
    Source ofBase = s;
    ofBase.segment = 0;
    const Type bits = made->type[0];
    LlvmValue chosen = operands_.operand(made->operands[3 - place], bits, ofBase);
    return ChosenBits{b_.CreateAnd(operands_.operand(made->operands[place], bits, ofBase), chosen),
                      b_.CreateAnd(values_.patternVector(pattern, chosen->getType()), values_.splat(chosen)),
                      shape.alignment};
  }
  return std::nullopt;
}

}  // namespace ordito::jit
