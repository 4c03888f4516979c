// Values that are the same in all lanes of a warp. Since sm_75 a GPU has a second, scalar data path with registers of
// its own ("uniform registers"): integer arithmetic on parameters, block indices and loop counters goes there, and
// occupancy does not count it. It works only where the warp is together.
#include <algorithm>

#include "ir/graph.hpp"
#include "registers/values.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Op;
using Kind = ptx::Operand::Kind;

constexpr int kFirstWithUniformRegisters = 75;

/// What the uniform data path can compute.
bool hasUniformForm(const Instruction& i, int sm) {
  switch (i.op) {
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
    case Op::Shr:
    case Op::Shf:
    case Op::Lop3:
    case Op::Prmt:
    case Op::Popc:
    case Op::Selp:
    case Op::Setp:
    case Op::Mov: return true;
    case Op::Cvt: return !isa::isFloat(i.type[0]) && !isa::isFloat(i.type[1]);
    case Op::Cvta: return true;
    case Op::Min:
    case Op::Max: return sm >= 100;
    default: return false;
  }
}

bool isSameInWarp(isa::Special s) {
  const auto name = isa::info(s).spelling;
  return name.starts_with("%ctaid") || name.starts_with("%ntid") || name.starts_with("%nctaid") ||
         s == isa::Special::WarpSize;
}

class Uniformity {
 public:
  explicit Uniformity(Values& values) : values_(values), f_(*values.function), same_(values.of.size(), 1) {
    ir::Graph graph(f_.blocks.size() + 1);
    const auto exit = static_cast<uint32_t>(f_.blocks.size());
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      for (unsigned k = 0; k < f_.blocks[b].end.targetCount(); ++k) graph.edge(b, f_.blocks[b].end.target[k]);
      if (!f_.blocks[b].end.targetCount()) graph.edge(b, exit);
    }
    order_ = ir::reversePostOrder(graph, 0);
    idom_ = ir::immediateDominators(graph, 0);
    ipdom_ = ir::immediateDominators(graph.reversed(), exit);
  }

  void run() {
    do {
      hasChanged_ = false;
      findConvergent();
      for (uint32_t b : order_)
        if (b < f_.blocks.size()) visit(b);
    } while (hasChanged_);
    if (values_.sm < kFirstWithUniformRegisters) return;
    for (ValueId v = 0; v < values_.of.size(); ++v) place(values_.of[v], v);
    keepWhereOperandsAre();
  }

 private:
  bool isSame(ValueId v) const { return same_[values_.resolve(v)]; }

  bool hasUniformEnd(BlockId b) const {
    const auto& end = f_.blocks[b].end;
    return end.kind != ir::Terminator::Kind::Branch || isSame(end.condition);
  }

  /// A block behind the branch of its dominator, or where that branch's ways have met again.
  void findConvergent() {
    values_.isConvergent.assign(f_.blocks.size(), 0);
    for (uint32_t b : order_) {
      if (b >= f_.blocks.size()) continue;
      const uint32_t d = idom_[b];
      if (d == b || d == ir::kNoNode) {
        values_.isConvergent[b] = b == 0;
        continue;
      }
      bool isTogether = hasUniformEnd(d);
      for (uint32_t way = d, n = 0; !isTogether && way < ipdom_.size() && n < 8; ++n) {
        way = ipdom_[way];
        isTogether = way == b;
      }
      values_.isConvergent[b] = values_.isConvergent[d] && isTogether;
    }
  }

  void set(ValueId v) {
    if (!same_[v]) return;
    same_[v] = 0;
    hasChanged_ = true;
  }

  void visit(BlockId b) {
    const ir::Block& block = f_.blocks[b];
    for (const ir::Phi& phi : block.phis) {
      bool same = values_.isConvergent[b];
      for (ValueId in : phi.incoming) same = same && isSame(in);
      if (!same) set(phi.value);
    }
    for (const Instruction& i : block.code) {
      if (isUniform(i)) continue;
      ir::forEachDefinition(i, [&](ValueId v, unsigned) { set(v); });
    }
    if (block.end.kind == ir::Terminator::Kind::Barrier)
      ir::forEachDefinition(block.end.barrier, [&](ValueId v, unsigned) { set(v); });
  }

  bool isUniform(const Instruction& i) const {
    const auto effect = i.info().effect;
    const auto space = i.mods.name(isa::ModifierKind::Space);
    const bool isConstantLoad = effect == isa::Effect::Load && (space.starts_with("param") || space == "const");
    if (effect != isa::Effect::Pure && !isConstantLoad) return false;
    bool same = true;
    ir::forEachUse(i, [&](ValueId v) { same = same && isSame(v); });
    for (const auto& o : i.operands)
      if (o.is(Kind::Special)) same = same && isSameInWarp(o.special);
    return same;
  }

  void place(Value& value, ValueId v) {
    if (value.same != v || !same_[v] || value.block == ir::kNoBlock) return;
    if (value.file != File::General || !values_.isConvergent[value.block]) return;
    if (value.isPhi || (value.definition && hasUniformForm(*value.definition, values_.sm))) value.file = File::Uniform;
  }

  /// What is computed from a general register stays in them, though it is the same in all lanes: a phi of products of
  /// floats, say.
  void keepWhereOperandsAre() {
    bool hasMoved = true;
    const auto keep = [&](ValueId v, bool readsGeneral) {
      Value& value = values_.of[v];
      if (value.same != v || value.file != File::Uniform || !readsGeneral) return;
      value.file = File::General;
      hasMoved = true;
    };
    const auto isGeneral = [&](ValueId v) { return values_[v].file == File::General; };
    while (hasMoved) {
      hasMoved = false;
      for (const ir::Block& block : f_.blocks) {
        for (const ir::Phi& phi : block.phis) keep(phi.value, std::ranges::any_of(phi.incoming, isGeneral));
        for (const Instruction& i : block.code) {
          bool readsGeneral = false;
          ir::forEachUse(i, [&](ValueId v) { readsGeneral |= isGeneral(v); });
          ir::forEachDefinition(i, [&](ValueId v, unsigned) { keep(v, readsGeneral); });
        }
      }
    }
  }

  Values& values_;
  const ir::Function& f_;
  std::vector<char> same_;
  std::vector<uint32_t> order_, idom_, ipdom_;
  bool hasChanged_ = false;
};

}  // namespace

void findUniform(Values& values) { Uniformity(values).run(); }

}  // namespace ordito::registers
