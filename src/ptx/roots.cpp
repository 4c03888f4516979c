// See roots.hpp.
#include "ptx/roots.hpp"

namespace ordito::ptx {

using isa::Op;

namespace {

bool isWide(const Function& f, RegisterId reg) { return isa::bits(f.registers[reg].type) == 64; }

/// Entries get their parameters from the launch; those of other functions may be anything.
Root rootOf(const Function& f, const Operand& o) {
  switch (o.symbol.kind) {
    case Symbol::Kind::ModuleVariable: return {Root::Kind::ModuleVariable, o.symbol.index};
    case Symbol::Kind::LocalVariable: return {Root::Kind::FunctionVariable, o.symbol.index};
    case Symbol::Kind::Parameter:
      if (f.isEntry)
        return {Root::Kind::Parameter, f.parameters[o.symbol.index].offset + static_cast<uint32_t>(o.offset)};
      [[fallthrough]];
    default: return {};
  }
}

}  // namespace

FunctionRoots::FunctionRoots(const Function& function) : function_(function), registers_(function.registers.size()) {
  for (bool changes = true; changes;) {
    changes = false;
    for (const Instruction& i : function.instructions) changes |= visit(i);
  }
  for (const Instruction& i : function.instructions) lines_[i.line].merge(of(i));
}

Roots FunctionRoots::of(const Instruction& i) const {
  Roots roots;
  for (const Operand& o : i.operands)
    if (o.is(Operand::Kind::Address)) roots.merge(of(o));
  return roots;
}

const Roots& FunctionRoots::at(uint32_t line) const {
  static const Roots none;
  const auto it = lines_.find(line);
  return it == lines_.end() ? none : it->second;
}

Roots FunctionRoots::of(const Operand& o) const {
  if (o.reg != kNoRegister) return registers_[o.reg];
  if (o.symbol.kind != Symbol::Kind::None) return {rootOf(function_, o)};
  return {};
}

bool FunctionRoots::add(const Operand& target, const Roots& roots) {
  if (!target.is(Operand::Kind::Register)) return false;
  Roots& known = registers_[target.reg];
  const size_t before = known.size();
  known.insert(roots.begin(), roots.end());
  return known.size() != before;
}

/// The element of a load. A kernel's parameters are known at the launch; a narrow value is no pointer.
Roots FunctionRoots::loaded(const Instruction& i, size_t element) const {
  if (isa::bits(i.type[0]) < 64) return {};
  const Operand& from = i.operands[1];
  if (isa::spaceOf(i.mods) != Space::Param || from.symbol.kind != Symbol::Kind::Parameter) return {{}};
  Root root = rootOf(function_, from);
  if (root.kind == Root::Kind::Parameter) root.index += static_cast<uint32_t>(element * 8);
  return {root};
}

/// What an instruction other than a load makes of its sources.
Roots FunctionRoots::made(const Instruction& i) const {
  Roots roots;
  auto take = [&](size_t k) { roots.merge(of(i.operands[k])); };
  switch (i.op) {
    case Op::Mov:
      if (i.operands[1].is(Operand::Kind::Vector)) return {{}};
      take(1);
      break;
    case Op::Cvta:
    case Op::Cvt: take(1); break;
    case Op::Add:
    case Op::Sub:
    case Op::And:
    case Op::Or:
    case Op::Selp: take(1), take(2); break;
    case Op::Mad: take(3); break;
    case Op::Mul:
    case Op::Shl:
    case Op::Shr: break;
    default: return {{}};
  }
  return roots;
}

bool FunctionRoots::visit(const Instruction& i) {
  if (i.operands.empty()) return false;
  const Operand& target = i.operands[0];
  if (i.op == Op::Ld) {
    if (!target.is(Operand::Kind::Vector)) return add(target, loaded(i, 0));
    bool changes = false;
    for (size_t k = 0; k < target.elements.size(); ++k) changes |= add(target.elements[k], loaded(i, k));
    return changes;
  }
  if (target.is(Operand::Kind::Vector)) {
    bool changes = false;
    for (const Operand& element : target.elements)
      if (element.is(Operand::Kind::Register) && isWide(function_, element.reg)) changes |= add(element, {{}});
    return changes;
  }
  if (!target.is(Operand::Kind::Register)) return false;
  const Roots roots = made(i);
  const bool isNarrowUnknown = roots == Roots{Root{}} && !isWide(function_, target.reg);
  return isNarrowUnknown ? false : add(target, roots);
}

}  // namespace ordito::ptx
