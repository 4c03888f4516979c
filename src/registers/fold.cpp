// What an instruction computes on the side: a multiply-add takes the product's place, a memory instruction adds an
// offset, a three-input logic instruction takes two of PTX's, a floating-point operand is negated for nothing. The
// value in the middle has no register; its operands live until its reader instead.
#include "registers/values.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Op;
using Kind = ptx::Operand::Kind;

bool isLogic(Op op) { return op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Not || op == Op::Lop3; }

bool isAddition(Op op) { return op == Op::Add || op == Op::Sub; }

bool hasConstant(const Values& values, const ptx::Operand& o) {
  return !o.is(Kind::Register) || values[o.reg].file == File::Constant;
}

bool isWideningCvt(const Instruction& i) {
  return i.op == Op::Cvt && isa::isInteger(i.type[0]) && isa::isInteger(i.type[1]) && isa::bits(i.type[0]) == 64 &&
         isa::bits(i.type[1]) == 32;
}

/// Computes part of an address as IMAD and LEA take it along.
bool isScaling(const Values& values, const Instruction& i) {
  return i.op == Op::Mul || (i.op == Op::Shl && hasConstant(values, i.operands[2])) || isWideningCvt(i);
}

bool isRounded(const Instruction& i) { return i.has(isa::ModifierKind::Rounding); }

class Folding {
 public:
  explicit Folding(Values& values)
      : values_(values), f_(*values.function), taken_(values.of.size(), 0), asAddress_(values.of.size(), 0) {}

  void run() {
    for (const ir::Block& block : f_.blocks)
      for (const Instruction& i : block.code)
        if (isDone(i)) countTaken(i);
    for (const ir::Block& block : f_.blocks)
      for (const Instruction& i : block.code) fold(i);
  }

 private:
  /// Is the instruction in the program at all?
  bool isDone(const Instruction& i) const {
    if (i.info().effect != isa::Effect::Pure && i.info().effect != isa::Effect::Load) return true;
    bool needed = false;
    ir::forEachDefinition(i, [&](ValueId v, unsigned) { needed |= values_.resolve(v) == v && values_.of[v].isNeeded; });
    return needed;
  }

  void countTaken(const Instruction& reader) {
    const auto forms = reader.info().form.operandList();
    for (size_t k = 0; k < reader.operands.size(); ++k) {
      if (k < forms.size() && forms[k].kind == isa::OperandForm::Kind::Destination) continue;
      const ptx::Operand& o = reader.operands[k];
      if (o.is(Kind::Address) && o.reg != ir::kNoValue) ++asAddress_[values_.resolve(o.reg)];
      if (!o.is(Kind::Register)) continue;
      const Instruction* made = values_[o.reg].definition;
      if (made && takes(reader, *made)) ++taken_[values_.resolve(o.reg)];
    }
  }

  bool takes(const Instruction& reader, const Instruction& made) const {
    if (made.guard.reg != ir::kNoValue || made.carryOut != ir::kNoValue) return false;
    if (isAddition(reader.op) && isScaling(values_, made)) return true;
    if (isScaling(values_, reader) && isWideningCvt(made)) return true;
    if ((reader.op == Op::AddF || reader.op == Op::SubF) && made.op == Op::MulF)
      return !isRounded(reader) && !isRounded(made) && reader.type[0] == made.type[0];
    if (isLogic(reader.op)) return isLogic(made.op);
    if (isAddition(reader.op) && isAddition(made.op)) return isa::bits(reader.type[0]) == 32;  // IADD3
    const bool readsFloats = reader.info().effect == isa::Effect::Pure && isa::isFloat(reader.type[0]);
    return readsFloats && (made.op == Op::NegF || made.op == Op::AbsF);
  }

  void fold(const Instruction& i) {
    if (i.operands.empty() || !i.operands[0].is(Kind::Register)) return;
    const ValueId v = i.operands[0].reg;
    Value& value = values_.of[v];
    if (value.same != v || !value.isNeeded || value.definition != &i || value.file != File::General) return;
    if (i.guard.reg != ir::kNoValue) return;
    const bool isOffset = i.op == Op::Add && asAddress_[v] == value.reads &&
                          (hasConstant(values_, i.operands[1]) || hasConstant(values_, i.operands[2]));
    const bool isTaken = taken_[v] == value.reads && (value.reads == 1 || isScaling(values_, i)) && !isNested(i);
    if (!isOffset && !isTaken) return;
    ir::forEachUse(i, [&](ValueId operand) {
      const ValueId r = values_.resolve(operand);
      const auto& inner = values_.of[r].parts;
      if (inner.empty())
        value.parts.push_back(r);
      else
        value.parts.insert(value.parts.end(), inner.begin(), inner.end());
    });
  }

  /// One instruction takes two of PTX's, not three (but for a conversion in a product in a sum).
  bool isNested(const Instruction& i) const {
    bool nested = false;
    ir::forEachUse(i,
                   [&](ValueId v) { nested |= !values_[v].parts.empty() && !isWideningCvt(*values_[v].definition); });
    return nested;
  }

  Values& values_;
  const ir::Function& f_;
  std::vector<uint32_t> taken_, asAddress_;  // by value: readers that can take it along, and that use it as an address
};

}  // namespace

void foldOperands(Values& values) { Folding(values).run(); }

Values analyse(const ir::Function& function, int sm) {
  Values values = findCopies(function, sm);
  findConstants(values);
  findNeeded(values);
  findWords(values);
  findUniform(values);
  foldOperands(values);
  return values;
}

}  // namespace ordito::registers
