// See uniform_distance.hpp.
#include "simt/uniform_distance.hpp"

namespace ordito::simt {
namespace {

using ir::ValueId;
using ptx::Operand;

constexpr unsigned kMostSteps = 8;  // from definition to definition

class Comparison {
 public:
  Comparison(const ir::Definitions& definitions, const ir::Function& f, const ir::Shapes& shapes)
      : definitions_(definitions), f_(f), shapes_(shapes) {}

  bool isUniform(ValueId a, ValueId b, unsigned steps) const {
    a = rootOf(a), b = rootOf(b);
    if (a == b) return true;
    const ir::Phi *first = definitions_.phi(a), *second = definitions_.phi(b);
    if (!first || !second || steps == 0 || definitions_[a].block != definitions_[b].block) return false;
    return areUniform(*first, *second, steps);
  }

 private:
  /// What is left of `v` without the summands that are the same for all lanes.
  ValueId rootOf(ValueId v) const {
    for (unsigned step = 0; step < kMostSteps; ++step) {
      const ir::Instruction* i = definitions_.decisive(v);
      if (!i || isa::bits(f_.values[v].type) != 64 || isa::isFloat(i->type[0])) return v;
      const ir::Sum sum = ir::sumOf(*i);
      if (sum.subtracts || sum.count == 0) return v;
      ValueId general = ir::kNoValue;
      for (const ir::Term& term : sum) {
        const Operand& o = *term.value;
        if (!term.isPlain()) return v;
        if (o.kind == Operand::Kind::Integer) continue;
        if (o.kind != Operand::Kind::Register || isa::bits(f_.values[o.reg].type) != 64) return v;
        if (shapes_[o.reg].isUniform()) continue;
        if (general != ir::kNoValue) return v;
        general = o.reg;
      }
      if (general == ir::kNoValue) return v;
      v = general;
    }
    return v;
  }

  /// Where both go on by the same step, they stay as far apart as they begin.
  bool areUniform(const ir::Phi& a, const ir::Phi& b, unsigned steps) const {
    ValueId first = ir::kNoValue, second = ir::kNoValue;
    for (size_t k = 0; k < a.incoming.size(); ++k) {
      const Operand *step = stepOf(a, a.incoming[k]), *other = stepOf(b, b.incoming[k]);
      if (step && other && isSame(*step, *other)) continue;
      if (first != ir::kNoValue && (first != a.incoming[k] || second != b.incoming[k])) return false;
      first = a.incoming[k], second = b.incoming[k];
    }
    if (first == ir::kNoValue || first == a.value || second == b.value) return false;
    return isUniform(first, second, steps - 1);
  }

  /// What is added to the phi.
  const Operand* stepOf(const ir::Phi& phi, ValueId next) const {
    const ir::Instruction* add = definitions_.decisive(next);
    if (!add || add->op != isa::Op::Add) return nullptr;
    for (size_t k : {size_t{1}, size_t{2}})
      if (add->operands[k].kind == Operand::Kind::Register && add->operands[k].reg == phi.value)
        return &add->operands[3 - k];
    return nullptr;
  }

  static bool isSame(const Operand& a, const Operand& b) {
    if (a.kind != b.kind) return false;
    return a.kind == Operand::Kind::Register ? a.reg == b.reg : a.kind == Operand::Kind::Integer && a.bits == b.bits;
  }

  const ir::Definitions& definitions_;
  const ir::Function& f_;
  const ir::Shapes& shapes_;
};

}  // namespace

bool haveUniformDistance(const ir::Definitions& definitions, const ir::Function& f, const ir::Shapes& shapes, ValueId a,
                         ValueId b) {
  return Comparison(definitions, f, shapes).isUniform(a, b, kMostSteps);
}

bool isIndexedByLoad(const ir::Definitions& definitions, const ir::Shapes& shapes, ValueId v) {
  for (unsigned step = 0; step < kMostSteps; ++step) {
    const ir::Instruction* i = definitions.instruction(v);
    if (!i) return false;
    if (i->info().effect == isa::Effect::Load) return true;
    ValueId general = ir::kNoValue;
    for (const ir::Term& term : ir::sumOf(*i))
      for (const Operand* o : {term.value, term.factor})
        if (o && o->kind == Operand::Kind::Register && shapes[o->reg].isGeneral()) general = o->reg;
    if (general == ir::kNoValue) return false;
    v = general;
  }
  return false;
}

}  // namespace ordito::simt
