// Of a 64-bit integer only the lower half is computed where nobody reads the upper one: shared and local memory have
// 32-bit addresses, and indices are often widened for nothing.
#include "registers/values.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Op;
using Kind = ptx::Operand::Kind;

/// The lower half of its result depends on the lower halves of its operands only.
bool worksFromBelow(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Mad:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not:
    case Op::Neg:
    case Op::Shl:
    case Op::Mov:
    case Op::Selp:
    case Op::Cvta: return true;
    default: return false;
  }
}

bool hasNarrowAddress(const Instruction& i) {
  const auto space = i.mods.name(isa::ModifierKind::Space);
  return space.starts_with("shared") || space == "local";
}

class Demand {
 public:
  explicit Demand(Values& values) : values_(values), f_(*values.function), feeds_(values.of.size()) {}

  void run() {
    for (const ir::Block& block : f_.blocks) {
      for (const ir::Phi& phi : block.phis)
        if (values_.of[phi.value].isNeeded)
          for (ValueId in : phi.incoming) feeds(in, phi.value);
      for (const Instruction& i : block.code) visit(i);
      ir::forEachUse(block.end, [&](ValueId v) { demand(v); });
    }
    while (!work_.empty()) {
      const ValueId v = work_.back();
      work_.pop_back();
      for (ValueId source : feeds_[v]) demand(source);
    }
    for (Value& value : values_.of)
      if (value.words == 2 && !value.isWide) value.words = 1;
  }

 private:
  void visit(const Instruction& i) {
    const auto forms = i.info().form.operandList();
    const bool passes = worksFromBelow(i.op) && !i.is(isa::mod<isa::ModifierKind::MulMode>("hi")) &&
                        !i.is(isa::mod<isa::ModifierKind::MulMode>("wide")) && i.operands[0].is(Kind::Register);
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
      const bool isAddress = i.operands[k].is(Kind::Address);
      ir::forEachRegister(i.operands[k], [&](ValueId v) {
        if (isa::bits(f_.values[v].type) < 64 || (isAddress && hasNarrowAddress(i))) return;
        if (passes)
          feeds(v, i.operands[0].reg);
        else
          demand(v);
      });
    }
    for (ValueId prior : i.prior)
      if (prior != ir::kNoValue && i.operands[0].is(Kind::Register)) feeds(prior, i.operands[0].reg);
  }

  void feeds(ValueId v, ValueId result) { feeds_[values_.resolve(result)].push_back(v); }

  void demand(ValueId v) {
    const ValueId r = values_.resolve(v);
    if (isa::bits(f_.values[v].type) < 64 || values_.of[r].isWide) return;
    values_.of[r].isWide = true;
    work_.push_back(r);
  }

  Values& values_;
  const ir::Function& f_;
  std::vector<std::vector<ValueId>> feeds_;  // by result: what its upper half is made from
  std::vector<ValueId> work_;
};

}  // namespace

void findWords(Values& values) { Demand(values).run(); }

}  // namespace ordito::registers
