// From SSA values to operations. The latencies are those of Volta and later (Jia et al., "Dissecting the NVIDIA Volta
// GPU Architecture via Microbenchmarking", 2018), as a compiler would assume them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "registers/expansions.hpp"
#include "registers/program.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Effect;
using isa::Op;
using isa::Unit;
using Kind = ptx::Operand::Kind;

uint16_t latencyOf(const Instruction& i) {
  const auto space = i.mods.name(isa::ModifierKind::Space);
  switch (i.info().effect) {
    case Effect::Load: return space.starts_with("shared") ? 25 : space == "const" ? 30 : 300;
    case Effect::Atomic: return space.starts_with("shared") ? 60 : 300;
    case Effect::Warp: return i.info().unit == Unit::Tensor ? 20 : 24;
    default: break;
  }
  if (i.op == Op::Mov && i.operands[1].is(Kind::Special)) return 20;
  if (i.info().unit == Unit::Xu) return 20;
  if (i.info().unit == Unit::Texture) return 300;
  return isa::bits(i.type[0]) == 64 && isa::isFloat(i.type[0]) ? 8 : 4;
}

uint8_t spaceOf(const Instruction& i) {
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (space.starts_with("shared")) return 1;
  if (space == "global") return 2;
  if (space == "local") return 3;
  return 0;
}

bool readsOnlyConstants(const Instruction& i) {
  const auto space = i.mods.name(isa::ModifierKind::Space);
  return i.has(isa::ModifierKind::NonCoherent) || space == "const" || space.starts_with("param");
}

class Lowering {
 public:
  explicit Lowering(const Values& values) : values_(values), f_(*values.function) {}

  Program run() {
    program_.words.resize(f_.values.size(), 0);
    for (ValueId v = 0; v < f_.values.size(); ++v)
      if (values_.of[v].file == File::General) program_.words[v] = values_.of[v].words;
    program_.blocks.resize(f_.blocks.size());
    for (BlockId b = 0; b < f_.blocks.size(); ++b) lowerBlock(b);
    return std::move(program_);
  }

 private:
  void lowerBlock(BlockId b) {
    const ir::Block& from = f_.blocks[b];
    ProgramBlock& to = program_.blocks[b];
    to.predecessors = from.predecessors;
    for (unsigned k = 0; k < from.end.targetCount(); ++k) to.successors.push_back(from.end.target[k]);
    for (const ir::Phi& phi : from.phis) lowerPhi(phi, to);
    fetched_.clear();
    brought_.clear();
    for (const Instruction& i : from.code) lowerInstruction(i, to);
    Node end;
    ir::forEachUse(from.end, [&](ValueId v) { use(end, v); });
    if (from.end.kind == ir::Terminator::Kind::Barrier)
      ir::forEachDefinition(from.end.barrier, [&](ValueId v, unsigned) { end.definitions.push_back(v); });
    if (from.end.kind == ir::Terminator::Kind::Barrier) end.access.kind = Access::Kind::Fence;
    to.endsAs = b;
    to.nodes.push_back(std::move(end));
  }

  bool isRegister(ValueId v) const {
    const Value& value = values_.of[v];
    return value.same == v && value.isNeeded && value.parts.empty() && value.file != File::Constant &&
           value.file != File::Bank && value.block != ir::kNoBlock;
  }

  void lowerPhi(const ir::Phi& phi, ProgramBlock& to) {
    if (!isRegister(phi.value)) return;
    to.phis.push_back(phi.value);
    auto& incoming = to.incoming.emplace_back();
    for (ValueId in : phi.incoming) {
      Node copy;
      use(copy, in);
      incoming.push_back(copy.uses.empty() ? ir::kNoValue : copy.uses[0]);
    }
  }

  void use(Node& node, ValueId v) {
    const ValueId r = values_.resolve(v);
    for (ValueId part : values_.of[r].parts) use(node, part);
    if (!isRegister(r)) return;
    if (std::find(node.uses.begin(), node.uses.end(), r) == node.uses.end()) node.uses.push_back(r);
  }

  void lowerInstruction(const Instruction& i, ProgramBlock& to) {
    const Effect effect = i.info().effect;
    bool isDone =
        effect != Effect::Pure && (effect != Effect::Load || i.is(isa::mod<isa::ModifierKind::Semantics>("volatile")));
    if (isParameterLoad(i)) isDone = false;
    Node node;
    node.source = &i;
    ir::forEachDefinition(i, [&](ValueId v, unsigned) {
      if (isRegister(v)) node.definitions.push_back(v), isDone = true;
    });
    if (!isDone) return;
    ir::forEachUse(i, [&](ValueId v) { use(node, v); });
    node.latency = latencyOf(i);
    node.access = accessOf(i);
    node.temporaries = static_cast<uint8_t>(temporariesOf(i));
    useData(node, i, to);
    usePointers(node, i, to);
    useAddress(node, i, to);
    node.temporaries = static_cast<uint8_t>(node.temporaries + imageCopies(i));
    to.nodes.push_back(std::move(node));
  }

  /// Memory takes addresses from general registers: what is in the constant bank is fetched, once in a block.
  void useAddress(Node& node, const Instruction& i, ProgramBlock& to) {
    const Effect effect = i.info().effect;
    if (effect == Effect::Pure || effect == Effect::Call || isParameterLoad(i) || spaceOf(i) == 1) return;
    if (values_.sm >= 75 && values_.sm < 80) return;  // Turing's memory instructions take uniform addresses
    for (const auto& o : i.operands) {
      if (!o.is(Kind::Address) || o.reg == ir::kNoValue) continue;
      const ValueId v = addressBase(o.reg);
      const File file = values_[v].file;
      if (file != File::Bank && file != File::Uniform) continue;
      fetch(node, v, to);
    }
  }

  void fetch(Node& node, ValueId v, ProgramBlock& to) {
    const auto [at, isNew] = fetched_.try_emplace(v, static_cast<RegisterId>(program_.words.size()));
    if (isNew) {
      program_.words.push_back(2);
      Node load;
      if (values_[v].file == File::Uniform) use(load, v);
      load.definitions.push_back(at->second);
      load.latency = values_.sm >= 90 && values_[v].file == File::Bank ? 30 : 5;
      to.nodes.push_back(std::move(load));
    }
    node.uses.push_back(at->second);
  }

  /// Since sm_90 a pointer in the constant bank is loaded before something is added to it.
  void usePointers(Node& node, const Instruction& i, ProgramBlock& to) {
    if (values_.sm < 90 || i.info().effect != Effect::Pure || (i.op != Op::Add && i.op != Op::Mad)) return;
    if (isa::bits(i.type[0]) != 64 || node.definitions.empty() || program_.words[node.definitions[0]] != 2) return;
    ir::forEachUse(i, [&](ValueId v) {
      if (values_[v].file == File::Bank && values_[v].parts.empty()) fetch(node, values_.resolve(v), to);
    });
  }

  /// A texture takes its coordinates from registers in a row, which are seldom where they were computed, and leaves its
  /// texel in an aligned group.
  unsigned imageCopies(const Instruction& i) const {
    if (i.info().unit != Unit::Texture || i.info().effect != Effect::Load || isSurface(i)) return 0;
    size_t words = 1;
    for (const auto& o : i.operands)
      for (const auto& e : o.elements) words = std::max(words, e.elements.size());
    return static_cast<unsigned>(words);
  }

  static bool isSurface(const Instruction& i) { return i.info().name.starts_with("Su"); }

  /// What an address is an offset from.
  ValueId addressBase(ValueId v) const {
    const ValueId r = values_.resolve(v);
    const auto& parts = values_.of[r].parts;
    return parts.size() == 1 ? parts[0] : r;
  }

  bool isParameterLoad(const Instruction& i) const {
    return i.op == Op::Ld && i.mods.name(isa::ModifierKind::Space).starts_with("param");
  }

  Access accessOf(const Instruction& i) const {
    Access access;
    const Effect effect = i.info().effect;
    if (effect == Effect::Pure || (effect == Effect::Load && readsOnlyConstants(i))) return access;
    const bool isStore = effect == Effect::Store || (effect == Effect::Atomic && i.info().unit == Unit::Lsu);
    access.kind = effect == Effect::Load ? Access::Kind::Load : isStore ? Access::Kind::Store : Access::Kind::Fence;
    if (i.is(isa::mod<isa::ModifierKind::Semantics>("volatile"))) access.kind = Access::Kind::Fence;
    access.space = spaceOf(i);
    for (const auto& o : i.operands) {
      if (!o.is(Kind::Address)) continue;
      access.offset = o.offset;
      access.base = o.reg == ir::kNoValue ? ir::kNoValue : values_.resolve(o.reg);
      if (o.reg == ir::kNoValue) access.offset += static_cast<int64_t>(o.symbol.index) << 40;
    }
    access.bytes = isa::bytes(i.type[0]);
    if (i.has(isa::ModifierKind::Vector)) access.bytes *= 4;
    if (access.base != ir::kNoValue) followOffset(access);
    return access;
  }

  /// An address that is a sum with a constant is known by the other summand.
  void followOffset(Access& access) const {
    for (int n = 0; n < 8; ++n) {
      const Instruction* made = values_.of[access.base].definition;
      if (!made || made->op != Op::Add || !made->operands[1].is(Kind::Register)) return;
      if (!made->operands[2].is(Kind::Integer)) return;
      access.offset += static_cast<int64_t>(made->operands[2].bits);
      access.base = values_.resolve(made->operands[1].reg);
    }
  }

  /// Memory takes its data from general registers: constants and uniform values are brought there first. Zero has a
  /// register of its own, but not where a vector needs registers in a row.
  void useData(Node& node, const Instruction& i, ProgramBlock& to) {
    const Effect effect = i.info().effect;
    if (effect != Effect::Store && effect != Effect::Atomic) return;
    const unsigned words = std::max(1u, isa::bits(i.type[0]) / 32);
    for (size_t k = 1; k < i.operands.size(); ++k) {
      bring(node, i.operands[k], words, false, to);
      for (const auto& e : i.operands[k].elements) bring(node, e, words, true, to);
    }
  }

  void bring(Node& node, const ptx::Operand& o, unsigned words, bool inRow, ProgramBlock& to) {
    const bool isNumber = o.is(Kind::Integer) || o.is(Kind::Float);
    if (isNumber && o.bits == 0 && !inRow) return;
    if (!isNumber) {
      if (!o.is(Kind::Register)) return;
      const Value& value = values_[o.reg];
      if (!value.parts.empty() || value.file == File::General || value.file == File::Predicate) return;
      const Instruction* made = value.definition;
      if (!inRow && made && made->op == Op::Mov && isZero(made->operands[1])) return;
    }
    uint64_t key = isNumber ? o.bits * 2 + 1 : uint64_t{values_.resolve(o.reg)} * 2;
    if (inRow) key = ~uint64_t{brought_.size()};  // a copy for each place
    const auto [at, isNew] = brought_.try_emplace(key, static_cast<RegisterId>(program_.words.size()));
    if (isNew) {
      program_.words.push_back(static_cast<uint8_t>(words));
      Node move;
      if (!isNumber && values_[o.reg].file == File::Uniform) use(move, o.reg);
      move.definitions.push_back(at->second);
      to.nodes.push_back(std::move(move));
    }
    node.uses.push_back(at->second);
  }

  static bool isZero(const ptx::Operand& o) { return (o.is(Kind::Integer) || o.is(Kind::Float)) && o.bits == 0; }

  const Values& values_;
  const ir::Function& f_;
  Program program_;
  std::unordered_map<uint64_t, RegisterId> brought_;  // in this block: constants and uniform values as data
  std::unordered_map<ValueId, RegisterId> fetched_;   // in this block: addresses from the constant bank
};

}  // namespace

Program lower(const Values& values) { return Lowering(values).run(); }

Program programOf(const Values& values) {
  Program program = lower(values);
  mergeBlocks(program);
  unrollLoops(program, values);
  findLiveness(program);
  return program;
}

std::string print(const Program& program) {
  std::string text;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const ProgramBlock& block = program.blocks[b];
    text += fmt::format("block {}:", b);
    for (RegisterId r : block.phis) text += fmt::format(" phi %{}:{}", r, program.words[r]);
    text += '\n';
    for (const Node& node : block.nodes) {
      text += "  ";
      for (RegisterId r : node.definitions) text += fmt::format("%{}:{} ", r, program.words[r]);
      text += fmt::format("= {}", node.source ? node.source->info().name : "end");
      for (RegisterId r : node.uses) text += fmt::format(" %{}", r);
      if (node.temporaries) text += fmt::format(" +{}", node.temporaries);
      text += '\n';
    }
  }
  return text;
}

}  // namespace ordito::registers
