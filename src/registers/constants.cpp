// Constants and the constant bank, and what of the rest is needed.
#include "registers/values.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Op;
using Kind = ptx::Operand::Kind;

bool isParameterLoad(const Instruction& i) {
  return i.op == Op::Ld && i.mods.name(isa::ModifierKind::Space).starts_with("param") &&
         i.operands[1].is(Kind::Address) && i.operands[1].reg == ir::kNoValue &&
         i.operands[1].symbol.kind == ptx::Symbol::Kind::Parameter;
}

/// Sizes of the launch are in the constant bank beside the parameters.
bool isInBank(isa::Special s) {
  const auto name = isa::info(s).spelling;
  return name.starts_with("%ntid") || name.starts_with("%nctaid");
}

File fileOf(const Values& values, const ptx::Operand& o) {
  switch (o.kind) {
    case Kind::Register: return values[o.reg].file;
    case Kind::Special:
      return o.special == isa::Special::WarpSize ? File::Constant : isInBank(o.special) ? File::Bank : File::General;
    case Kind::Address: return o.reg == ir::kNoValue ? File::Constant : values[o.reg].file;
    case Kind::Vector: {
      File file = File::Constant;
      for (const auto& e : o.elements) file = std::max(file, fileOf(values, e));
      return file;
    }
    default: return File::Constant;
  }
}

bool isPure(const Instruction& i) { return i.info().effect == isa::Effect::Pure; }

/// Folds only what keeps its operands' file: constants become constants, a move of the bank stays in the bank.
File fileOf(const Values& values, const Instruction& i) {
  if (isParameterLoad(i)) return File::Bank;
  if (!isPure(i) || i.guard.reg != ir::kNoValue || i.carryIn != ir::kNoValue) return File::General;
  File file = File::Constant;
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (k >= forms.size() || forms[k].kind != isa::OperandForm::Kind::Destination)
      file = std::max(file, fileOf(values, i.operands[k]));
  if (file == File::Bank && i.op != Op::Mov && i.op != Op::Cvta) return File::General;
  return file;
}

/// Does something happen that others can see?
bool hasEffect(const Instruction& i) {
  const auto effect = i.info().effect;
  if (effect == isa::Effect::Pure) return false;
  if (effect == isa::Effect::Load) return i.mods.name(isa::ModifierKind::Semantics) == "volatile";
  return true;
}

}  // namespace

void findConstants(Values& values) {
  const auto& f = *values.function;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      const File file = fileOf(values, i);
      if (file > File::Bank) continue;
      ir::forEachDefinition(i, [&](ValueId v, unsigned) {
        if (values.resolve(v) == v && values.of[v].file == File::General) values.of[v].file = file;
      });
    }
}

void findNeeded(Values& values) {
  const auto& f = *values.function;
  std::vector<ValueId> work;
  auto read = [&](ValueId v) {
    Value& value = values[v];
    ++value.reads;
    if (value.isNeeded) return;
    value.isNeeded = true;
    work.push_back(values.resolve(v));
  };
  std::vector<const ir::Phi*> phiOf(f.values.size(), nullptr);
  for (const ir::Block& block : f.blocks) {
    for (const ir::Phi& phi : block.phis) phiOf[phi.value] = &phi;
    for (const Instruction& i : block.code)
      if (hasEffect(i)) ir::forEachUse(i, read);
    ir::forEachUse(block.end, read);
  }
  std::vector<char> isRead(f.values.size(), 0);
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (phiOf[v]) {
      for (ValueId in : phiOf[v]->incoming) read(in);
    } else if (const Instruction* i = values.of[v].definition; i && !hasEffect(*i)) {
      // An instruction with several results reads its operands once.
      ValueId first = ir::kNoValue;
      ir::forEachDefinition(*i, [&](ValueId d, unsigned index) { first = index ? first : d; });
      if (!isRead[first]) isRead[first] = 1, ir::forEachUse(*i, read);
    }
  }
}

}  // namespace ordito::registers
