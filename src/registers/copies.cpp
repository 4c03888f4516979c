// Copies and equal instructions. The dominator tree is walked in preorder, which the blocks' reverse post-order is good
// for: an instruction that dominates another has been seen before it.
#include <unordered_map>

#include "ir/graph.hpp"
#include "registers/values.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Op;
using isa::Type;
using Kind = ptx::Operand::Kind;

bool isGlobalOrConst(const Instruction& i) {
  const auto space = i.mods.name(isa::ModifierKind::Space);
  return space == "global" || space == "const" || space == "shared" || space == "local" || space == "param";
}

/// Does the conversion only look at the register in another way? Narrow values have the upper bits of their register
/// undefined, so cutting is free and widening is not.
bool isFreeConversion(const Instruction& i) {
  const Type to = i.type[0], from = i.type[1];
  if (isa::isFloat(to) || isa::isFloat(from) || i.has(isa::ModifierKind::Saturate)) return false;
  return isa::bits(to) <= isa::bits(from) && isa::bits(to) >= 16;
}

/// The operand whose bits the instruction hands on, or null.
const ptx::Operand* copied(const Instruction& i) {
  if (i.guard.reg != ir::kNoValue || i.operands.size() < 2) return nullptr;
  const ptx::Operand &to = i.operands[0], &from = i.operands[1];
  if (!to.is(Kind::Register) || !from.is(Kind::Register) || from.negated) return nullptr;
  switch (i.op) {
    case Op::Mov: return &from;
    case Op::Cvta: return isGlobalOrConst(i) ? &from : nullptr;
    case Op::Cvt: return isFreeConversion(i) ? &from : nullptr;
    default: return nullptr;
  }
}

/// A hash of everything that decides what the instruction computes, or 0 if equal text can have other results.
class Numbering {
 public:
  explicit Numbering(const Values& values) : values_(values) {}

  uint64_t operator()(const Instruction& i) {
    hash_ = 0x9e3779b97f4a7c15u;
    const bool isParameter = i.op == Op::Ld && i.mods.name(isa::ModifierKind::Space).starts_with("param");
    if (i.info().effect != isa::Effect::Pure && !isParameter) return 0;
    if (i.guard.reg != ir::kNoValue || i.carryIn != ir::kNoValue || i.carryOut != ir::kNoValue) return 0;
    if (i.op == Op::Mov && i.operands[1].is(Kind::Special) && isVolatile(i.operands[1].special)) return 0;
    add(static_cast<uint64_t>(i.op));
    for (uint8_t m : i.mods.value) add(m);
    for (Type t : i.type) add(static_cast<uint64_t>(t));
    const auto forms = i.info().form.operandList();
    for (size_t k = 0; k < i.operands.size(); ++k)
      if (k >= forms.size() || forms[k].kind != isa::OperandForm::Kind::Destination) add(i.operands[k]);
    return hash_ | 1;
  }

 private:
  static bool isVolatile(isa::Special s) {
    const auto name = isa::info(s).spelling;
    return name.starts_with("%clock") || name.starts_with("%globaltimer") || name.starts_with("%pm");
  }

  void add(uint64_t x) { hash_ = (hash_ ^ x) * 0x100000001b3u, hash_ ^= hash_ >> 29; }
  void add(const ptx::Operand& o) {
    add(static_cast<uint64_t>(o.kind) * 2 + o.negated);
    if (o.is(Kind::Register) || (o.is(Kind::Address) && o.reg != ir::kNoValue)) add(values_.resolve(o.reg));
    if (o.is(Kind::Symbol) || o.is(Kind::Address)) {
      add(static_cast<uint64_t>(o.symbol.kind) << 32 | o.symbol.index);
      add(static_cast<uint64_t>(o.offset));
    }
    if (o.is(Kind::Special)) add(static_cast<uint64_t>(o.special));
    add(o.bits);
    for (const auto& element : o.elements) add(element);
  }

  const Values& values_;
  uint64_t hash_ = 0;
};

void recordDefinitions(Values& values) {
  const auto& f = *values.function;
  for (ValueId v = 0; v < values.of.size(); ++v) {
    const unsigned bits = isa::bits(f.values[v].type);
    values.of[v].same = v;
    values.of[v].words = static_cast<uint8_t>(std::max(1u, bits / 32));
    if (f.values[v].type == Type::pred) values.of[v].file = File::Predicate;
  }
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    for (const ir::Phi& phi : f.blocks[b].phis) values.of[phi.value].block = b, values.of[phi.value].isPhi = true;
    for (const Instruction& i : f.blocks[b].code)
      ir::forEachDefinition(i, [&](ValueId v, unsigned) { values.of[v].block = b, values.of[v].definition = &i; });
    if (f.blocks[b].end.kind == ir::Terminator::Kind::Barrier)
      ir::forEachDefinition(f.blocks[b].end.barrier, [&](ValueId v, unsigned) { values.of[v].block = b; });
  }
}

/// A phi of one value (and perhaps itself) is that value.
ValueId onlyValue(const Values& values, const ir::Phi& phi) {
  ValueId only = ir::kNoValue;
  for (ValueId v : phi.incoming) {
    const ValueId r = values.resolve(v);
    if (r == phi.value || r == only) continue;
    if (only != ir::kNoValue || values.of[r].block == ir::kNoBlock) return ir::kNoValue;
    only = r;
  }
  return only;
}

ir::Graph graphOf(const ir::Function& f) {
  ir::Graph graph(f.blocks.size());
  for (BlockId b = 0; b < f.blocks.size(); ++b)
    for (unsigned k = 0; k < f.blocks[b].end.targetCount(); ++k) graph.edge(b, f.blocks[b].end.target[k]);
  return graph;
}

}  // namespace

Values findCopies(const ir::Function& f, int sm) {
  Values values;
  values.function = &f;
  values.sm = sm;
  values.of.resize(f.values.size());
  recordDefinitions(values);
  const ir::Graph graph = graphOf(f);
  const std::vector<uint32_t> idom = ir::immediateDominators(graph, 0);
  std::unordered_map<uint64_t, ValueId> known;
  Numbering number(values);
  for (BlockId b : ir::reversePostOrder(graph, 0)) {
    for (const ir::Phi& phi : f.blocks[b].phis) {
      const ValueId only = onlyValue(values, phi);
      if (only != ir::kNoValue && only != phi.value) values.of[phi.value].same = only;
    }
    for (const Instruction& i : f.blocks[b].code) {
      if (const ptx::Operand* from = copied(i)) {
        values.of[i.operands[0].reg].same = values.resolve(from->reg);
        continue;
      }
      const uint64_t key = number(i);
      if (!key || i.operands.empty() || !i.operands[0].is(Kind::Register)) continue;
      const auto [at, isNew] = known.try_emplace(key, i.operands[0].reg);
      if (isNew) continue;
      if (ir::dominates(idom, values.of[at->second].block, b))
        values.of[i.operands[0].reg].same = values.resolve(at->second);
      else
        at->second = i.operands[0].reg;
    }
  }
  return values;
}

}  // namespace ordito::registers
