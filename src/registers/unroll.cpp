// Loops of one block that count: the assembler unrolls them, so that the loads of several iterations wait together.
// Counters and addresses that grow by a constant become offsets; what a iteration hands to the next is renamed.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "registers/program.hpp"

namespace ordito::registers {
namespace {

using ir::Instruction;
using isa::Op;
using Kind = ptx::Operand::Kind;

constexpr size_t kMostNodes = 40;  // of a loop that is unrolled
constexpr size_t kMostUnrolled = 96;
constexpr unsigned kMostTimes = 4;

/// Is `next` the phi and a constant?
bool isStep(const Values& values, RegisterId next, RegisterId phi) {
  const Instruction* i = next == ir::kNoValue ? nullptr : values.of[next].definition;
  if (!i || (i->op != Op::Add && i->op != Op::Sub) || !i->operands[1].is(Kind::Register)) return false;
  const ptx::Operand& step = i->operands[2];
  const bool isConstant =
      step.is(Kind::Integer) || (step.is(Kind::Register) && values[step.reg].file == File::Constant);
  return isConstant && values.resolve(i->operands[1].reg) == phi;
}

/// A counter or a bound that was cut to a few bits: the iterations that a front end's unrolling left over.
bool isRemainder(const Values& values, ValueId v) {
  const Instruction* i = values[v].definition;
  if (!i || i->op != Op::And || !i->operands[2].is(Kind::Integer)) return false;
  return i->operands[2].bits < 16;
}

class Unroller {
 public:
  Unroller(Program& program, const Values& values, BlockId b)
      : program_(program), values_(values), b_(b), block_(program.blocks[b]) {}

  void run() {
    const auto self = std::find(block_.predecessors.begin(), block_.predecessors.end(), b_);
    if (self == block_.predecessors.end() || block_.nodes.size() > kMostNodes) return;
    from_ = static_cast<size_t>(self - block_.predecessors.begin());
    if (!isCounted()) return;
    const unsigned times = static_cast<unsigned>(std::min<size_t>(kMostTimes, kMostUnrolled / block_.nodes.size()));
    const std::vector<Node> body(block_.nodes.begin(), block_.nodes.end() - 1);
    Node end = block_.nodes.back();
    block_.nodes.pop_back();
    for (unsigned iteration = 1; iteration < times; ++iteration) append(body, iteration);
    for (RegisterId& r : end.uses) r = renamed(r);
    block_.nodes.push_back(std::move(end));
    for (size_t k = 0; k < block_.phis.size(); ++k) block_.incoming[k][from_] = renamed(block_.incoming[k][from_]);
    renameOutside();
  }

 private:
  /// Is the branch back a comparison of a counter with something else?
  bool isCounted() {
    const auto& end = values_.function->blocks[block_.endsAs].end;
    if (end.kind != ir::Terminator::Kind::Branch) return false;
    const Instruction* compare = values_[end.condition].definition;
    if (!compare || compare->op != Op::Setp || countsRemainder(*compare)) return false;
    for (size_t k = 0; k < block_.phis.size(); ++k)
      if (isStep(values_, block_.incoming[k][from_], block_.phis[k]))
        inductive_.push_back(block_.phis[k]), inductive_.push_back(block_.incoming[k][from_]);
    bool counts = false;
    for (const ir::Phi& phi : values_.function->blocks[b_].phis)
      for (ValueId in : phi.incoming) counts |= isCounter(phi.value, values_.resolve(in), *compare);
    return counts;
  }

  bool isCounter(ValueId phi, ValueId next, const Instruction& compare) const {
    if (!isStep(values_, next, phi)) return false;
    bool isCompared = false;
    ir::forEachUse(compare, [&](ValueId v) { isCompared |= values_.resolve(v) == next || values_.resolve(v) == phi; });
    return isCompared;
  }

  bool countsRemainder(const Instruction& compare) const {
    bool remainder = false;
    ir::forEachUse(compare, [&](ValueId v) { remainder |= isRemainder(values_, v); });
    for (const ir::Phi& phi : values_.function->blocks[b_].phis)
      for (ValueId in : phi.incoming) remainder |= isRemainder(values_, in);
    return remainder;
  }

  bool isInductive(RegisterId r) const {
    return std::find(inductive_.begin(), inductive_.end(), r) != inductive_.end();
  }

  RegisterId renamed(RegisterId r) const {
    const auto at = name_.find(r);
    return at == name_.end() ? r : at->second;
  }

  void append(const std::vector<Node>& body, unsigned iteration) {
    std::unordered_map<RegisterId, RegisterId> next = name_;
    for (size_t k = 0; k < block_.phis.size(); ++k) {
      const RegisterId in = block_.incoming[k][from_];
      if (!isInductive(block_.phis[k]) && in != ir::kNoValue) next[block_.phis[k]] = renamed(in);
    }
    name_ = std::move(next);
    for (const Node& node : body) {
      if (std::any_of(node.definitions.begin(), node.definitions.end(), [&](RegisterId r) { return isInductive(r); }))
        continue;
      Node copy = node;
      for (RegisterId& r : copy.uses) r = renamed(r);
      for (RegisterId& r : copy.definitions) {
        program_.words.push_back(program_.words[r]);
        name_[r] = static_cast<RegisterId>(program_.words.size() - 1);
        r = name_[r];
      }
      copy.access.offset += int64_t{iteration} << 24;
      block_.nodes.push_back(std::move(copy));
    }
  }

  /// Whoever read the last iteration's value outside reads it under its new name.
  void renameOutside() {
    for (BlockId b = 0; b < program_.blocks.size(); ++b) {
      if (b == b_) continue;
      ProgramBlock& block = program_.blocks[b];
      for (Node& node : block.nodes)
        for (RegisterId& r : node.uses) r = renamed(r);
      for (auto& incoming : block.incoming)
        for (size_t p = 0; p < incoming.size(); ++p)
          if (block.predecessors[p] == b_) incoming[p] = renamed(incoming[p]);
    }
  }

  Program& program_;
  const Values& values_;
  BlockId b_;
  ProgramBlock& block_;
  size_t from_ = 0;                    // which predecessor of the block is itself
  std::vector<RegisterId> inductive_;  // phis that grow by a constant, and what they grow to
  std::unordered_map<RegisterId, RegisterId> name_;
};

}  // namespace

void unrollLoops(Program& program, const Values& values) {
  for (BlockId b = 0; b < program.blocks.size(); ++b) Unroller(program, values, b).run();
}

}  // namespace ordito::registers
