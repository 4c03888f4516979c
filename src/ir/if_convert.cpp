// Allen, Kennedy, Porterfield and Warren: "Conversion of Control Dependence to Data Dependence", POPL 1983, for the
// smallest shapes: a branch around one block, or to two blocks that meet at once. What a lane computes on the side that
// it does not take has no effect, since only instructions without effects are moved and PTX defines their results for
// all operands.
#include "ir/if_convert.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/build.hpp"
#include "ir/shape_transfer.hpp"

namespace ordito::ir {
namespace {

using isa::Op;
using isa::Type;
using Kind = Terminator::Kind;
using OperandKind = ptx::Operand::Kind;

/// Instructions of both sides and selections. A mask costs each masked block about as much.
constexpr size_t kMostInstructions = 12, kMostSelections = 4;

/// A widening is left alone: it checks addresses of the lanes that take its side. An integer division is dozens of
/// instructions.
bool isFreeAndShort(const Instruction& i) {
  const auto& info = i.info();
  return info.effect == isa::Effect::Pure && (info.unit == isa::Unit::Alu || info.unit == isa::Unit::Fma) &&
         i.op != Op::Div && i.op != Op::Rem && !isWidening(i);
}

/// As what type selp moves a register; pred for a predicate.
std::optional<Type> selectedAs(Type t) {
  if (t == Type::pred || t == Type::f32 || t == Type::f64) return t;
  switch (isa::bits(t)) {
    case 16: return Type::b16;
    case 32: return Type::b32;
    case 64: return Type::b64;
    default: return std::nullopt;
  }
}

class Converter {
 public:
  Converter(Function& f, const LaunchShape& launch) : f_(f), launch_(launch), isGone_(f.blocks.size(), 0) {}

  void run() {
    if (!hasCandidate()) return;
    const Analyses analyses(f_);
    const Shapes shapes(analyses, launch_);
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId b = 0; b < f_.blocks.size(); ++b) {
        if (isGone_[b] || f_.blocks[b].end.kind != Kind::Branch || !divergent(shapes, b)) continue;
        if (const auto d = diamondAt(b)) {
          convert(*d);
          changed = true;
        }
      }
    }
    removeGone();
  }

 private:
  /// `branch` leads to `join` by `side[0]` where its condition holds and by `side[1]` where not; the branch's own block
  /// stands for a side without instructions.
  struct Diamond {
    BlockId branch, side[2], join;
  };

  bool hasCandidate() const {
    for (BlockId b = 0; b < f_.blocks.size(); ++b)
      if (f_.blocks[b].end.kind == Kind::Branch && diamondAt(b)) return true;
    return false;
  }

  /// A merged block ends as another did, whose branch the shapes know.
  bool divergent(const Shapes& shapes, BlockId b) const {
    auto it = endsAs_.find(b);
    return shapes.isDivergent(it == endsAs_.end() ? b : it->second);
  }

  /// Where `s` leads, if it is a side of the branch in `b`.
  std::optional<BlockId> behindSide(BlockId b, BlockId s) const {
    const Block& block = f_.blocks[s];
    if (s == b || block.predecessors.size() != 1 || !block.phis.empty() || block.end.kind != Kind::Jump ||
        !std::all_of(block.code.begin(), block.code.end(), isFreeAndShort))
      return std::nullopt;
    return block.end.target[0];
  }

  std::optional<Diamond> diamondAt(BlockId b) const {
    const auto& target = f_.blocks[b].end.target;
    if (target[0] == target[1]) return std::nullopt;
    const auto first = behindSide(b, target[0]), second = behindSide(b, target[1]);
    std::optional<Diamond> d;
    if (first && second && *first == *second)
      d = Diamond{b, {target[0], target[1]}, *first};
    else if (first && *first == target[1])
      d = Diamond{b, {target[0], b}, target[1]};
    else if (second && *second == target[0])
      d = Diamond{b, {b, target[1]}, target[0]};
    if (!d || d->join == b || !isWorthIt(*d)) return std::nullopt;
    return d;
  }

  bool isWorthIt(const Diamond& d) const {
    size_t instructions = 0, selections = 0;
    for (BlockId s : d.side)
      if (s != d.branch) instructions += f_.blocks[s].code.size();
    for (const Phi& phi : f_.blocks[d.join].phis) {
      if (!selectedAs(f_.values[phi.value].type)) return false;
      selections += incoming(d, phi, 0) != incoming(d, phi, 1);
    }
    return selections <= kMostSelections && instructions + selections <= kMostInstructions;
  }

  size_t edge(const Diamond& d, unsigned side) const {
    const auto& from = f_.blocks[d.join].predecessors;
    return static_cast<size_t>(std::find(from.begin(), from.end(), d.side[side]) - from.begin());
  }
  ValueId incoming(const Diamond& d, const Phi& phi, unsigned side) const { return phi.incoming[edge(d, side)]; }

  void convert(const Diamond& d) {
    Block& block = f_.blocks[d.branch];
    const Terminator branch = block.end;
    for (BlockId s : d.side) {
      if (s == d.branch) continue;
      auto& code = f_.blocks[s].code;
      block.code.insert(block.code.end(), std::make_move_iterator(code.begin()), std::make_move_iterator(code.end()));
      code.clear();
      isGone_[s] = 1;
    }
    const size_t edges[2] = {edge(d, 0), edge(d, 1)};
    Block& join = f_.blocks[d.join];
    const bool isOnlyWay = join.predecessors.size() == 2;
    for (Phi& phi : join.phis) {
      const ValueId entries[2] = {phi.incoming[edges[0]], phi.incoming[edges[1]]};
      phi.incoming[edges[0]] =
          entries[0] == entries[1] ? entries[0] : select(block, branch, phi.value, entries, isOnlyWay);
      phi.incoming.erase(phi.incoming.begin() + static_cast<std::ptrdiff_t>(edges[1]));
    }
    // A selection has taken the place of such a phi.
    std::erase_if(join.phis, [](const Phi& phi) { return phi.incoming.size() == 1 && phi.incoming[0] == phi.value; });
    join.predecessors[edges[0]] = d.branch;
    join.predecessors.erase(join.predecessors.begin() + static_cast<std::ptrdiff_t>(edges[1]));
    block.end = {};
    block.end.kind = Kind::Jump;
    block.end.target = {d.join, kNoBlock};
    block.end.line = branch.line;
    if (isOnlyWay && join.phis.empty()) append(d.branch, d.join);
  }

  /// The value that `phi` has behind the branch: its own name where there is no other way to it.
  ValueId select(Block& block, const Terminator& branch, ValueId phi, const ValueId (&entries)[2], bool isOnlyWay) {
    const Type type = *selectedAs(f_.values[phi].type);
    const ValueId result = isOnlyWay ? phi : newValue(f_.values[phi]);
    auto add = [&](Op op, std::vector<ptx::Operand> operands) {
      block.code.push_back(makeInstruction(op, type, std::move(operands), branch.line));
    };
    if (type == Type::pred) {
      const ValueId taken = newValue(f_.values[phi]), other = newValue(f_.values[phi]);
      add(Op::And,
          {registerOperand(taken), registerOperand(entries[0]), registerOperand(branch.condition, branch.negated)});
      add(Op::And,
          {registerOperand(other), registerOperand(entries[1]), registerOperand(branch.condition, !branch.negated)});
      add(Op::Or, {registerOperand(result), registerOperand(taken), registerOperand(other)});
    } else {
      add(Op::Selp, {registerOperand(result), registerOperand(entries[branch.negated]),
                     registerOperand(entries[!branch.negated]), registerOperand(branch.condition)});
    }
    return result;
  }

  ValueId newValue(const ptx::Register& like) {
    f_.values.push_back(ptx::Register(like));
    return static_cast<ValueId>(f_.values.size() - 1);
  }

  /// `to` follows `b`, and nothing else leads there: one block.
  void append(BlockId b, BlockId to) {
    Block& block = f_.blocks[b];
    Block& next = f_.blocks[to];
    block.code.insert(block.code.end(), std::make_move_iterator(next.code.begin()),
                      std::make_move_iterator(next.code.end()));
    next.code.clear();
    block.end = next.end;
    for (unsigned k = 0; k < block.end.targetCount(); ++k)
      std::replace(f_.blocks[block.end.target[k]].predecessors.begin(),
                   f_.blocks[block.end.target[k]].predecessors.end(), to, b);
    isGone_[to] = 1;
    auto it = endsAs_.find(to);
    endsAs_[b] = it == endsAs_.end() ? to : it->second;
  }

  void removeGone() {
    std::vector<BlockId> number(f_.blocks.size(), kNoBlock);
    std::vector<Block> kept;
    for (BlockId b = 0; b < f_.blocks.size(); ++b) {
      if (isGone_[b]) continue;
      number[b] = static_cast<BlockId>(kept.size());
      kept.push_back(std::move(f_.blocks[b]));
    }
    for (Block& block : kept) {
      for (unsigned k = 0; k < block.end.targetCount(); ++k) block.end.target[k] = number[block.end.target[k]];
      for (BlockId& p : block.predecessors) p = number[p];
    }
    f_.blocks = std::move(kept);
  }

  Function& f_;
  const LaunchShape launch_;
  std::vector<char> isGone_;
  std::map<BlockId, BlockId> endsAs_;  // by block: the one whose end it has taken over
};

}  // namespace

void ifConvert(Function& function, const LaunchShape& launch) { Converter(function, launch).run(); }

}  // namespace ordito::ir
