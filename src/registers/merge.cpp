// Longer blocks: a block and its only successor become one, and a short side of a branch becomes predicated code
// (Allen, Kennedy, Porterfield and Warren: "Conversion of Control Dependence to Data Dependence", POPL 1983). A GPU's
// assembler does so because every instruction can have a predicate; loads of several short ifs then wait together.
#include <algorithm>

#include "registers/program.hpp"

namespace ordito::registers {
namespace {

constexpr size_t kMostPredicated = 10;  // operations of a side that becomes predicated

class Merger {
 public:
  explicit Merger(Program& program) : program_(program) {}

  void run() {
    for (BlockId b = 0; b < program_.blocks.size(); ++b)
      while (append(b) || predicate(b)) {
      }
  }

 private:
  ProgramBlock& at(BlockId b) { return program_.blocks[b]; }

  static bool endsInFence(const ProgramBlock& block) { return block.nodes.back().access.kind == Access::Kind::Fence; }

  /// What ends the block goes, unless it is a barrier.
  static void dropEnd(ProgramBlock& block) {
    if (!endsInFence(block)) block.nodes.pop_back();
  }

  void replacePredecessor(BlockId in, BlockId from, BlockId to) {
    for (BlockId& p : at(in).predecessors)
      if (p == from) p = to;
  }

  void removePredecessor(BlockId in, BlockId from) {
    ProgramBlock& block = at(in);
    for (size_t p = block.predecessors.size(); p-- > 0;) {
      if (block.predecessors[p] != from) continue;
      block.predecessors.erase(block.predecessors.begin() + static_cast<long>(p));
      for (auto& incoming : block.incoming) incoming.erase(incoming.begin() + static_cast<long>(p));
    }
  }

  void clear(BlockId b) {
    ProgramBlock& block = at(b);
    block = {};
    block.nodes.emplace_back();
  }

  bool append(BlockId b) {
    ProgramBlock& block = at(b);
    if (block.successors.size() != 1) return false;
    const BlockId s = block.successors[0];
    if (s == b || s == 0 || at(s).predecessors.size() != 1) return false;
    ProgramBlock& next = at(s);
    dropEnd(block);
    for (size_t k = 0; k < next.phis.size(); ++k) addSelection(block, next.phis[k], {next.incoming[k][0]});
    std::move(next.nodes.begin(), next.nodes.end(), std::back_inserter(block.nodes));
    block.successors = next.successors;
    block.endsAs = next.endsAs;
    for (BlockId t : block.successors) replacePredecessor(t, s, b);
    clear(s);
    return true;
  }

  static void addSelection(ProgramBlock& block, RegisterId result, std::initializer_list<RegisterId> operands) {
    Node node;
    node.definitions.push_back(result);
    for (RegisterId r : operands)
      if (r != ir::kNoValue && std::find(node.uses.begin(), node.uses.end(), r) == node.uses.end())
        node.uses.push_back(r);
    block.nodes.push_back(std::move(node));
  }

  /// A block that only `from` leads to, that is short and can be predicated.
  bool isShortSide(BlockId s, BlockId from) {
    const ProgramBlock& block = at(s);
    if (s == from || block.predecessors.size() != 1 || block.successors.size() != 1 ||
        block.nodes.size() > kMostPredicated + 1)
      return false;
    return std::none_of(block.nodes.begin(), block.nodes.end(),
                        [](const Node& n) { return n.access.kind == Access::Kind::Fence || n.temporaries > 4; });
  }

  bool predicate(BlockId b) {
    ProgramBlock& block = at(b);
    if (block.successors.size() != 2 || endsInFence(block)) return false;
    const auto [s, t] = std::pair{block.successors[0], block.successors[1]};
    if (s == t) return false;
    const bool first = isShortSide(s, b), second = isShortSide(t, b);
    if (first && second && at(s).successors[0] == at(t).successors[0] && at(s).successors[0] != b)
      return convert(b, at(s).successors[0], {s, t});
    if (first && at(s).successors[0] == t) return convert(b, t, {s});
    if (second && at(t).successors[0] == s) return convert(b, s, {t});
    return false;
  }

  bool convert(BlockId b, BlockId join, const std::vector<BlockId>& sides) {
    ProgramBlock& block = at(b);
    const std::vector<RegisterId> condition = block.nodes.back().uses;
    block.nodes.pop_back();
    for (BlockId s : sides) {
      at(s).nodes.pop_back();
      for (Node& node : at(s).nodes) {
        node.uses.insert(node.uses.end(), condition.begin(), condition.end());
        block.nodes.push_back(std::move(node));
      }
    }
    select(b, join, sides, condition);
    for (BlockId s : sides) removePredecessor(join, s), clear(s);
    block.nodes.emplace_back();
    block.successors = {join};
    return true;
  }

  /// The join's phis choose by predicate what came from which side.
  void select(BlockId b, BlockId join, const std::vector<BlockId>& sides, const std::vector<RegisterId>& condition) {
    ProgramBlock& to = at(join);
    const bool isTriangle = sides.size() == 1;
    const BlockId other = isTriangle ? b : sides[1];
    const auto index = [&](BlockId p) {
      return static_cast<size_t>(std::find(to.predecessors.begin(), to.predecessors.end(), p) -
                                 to.predecessors.begin());
    };
    const size_t one = index(sides[0]), two = index(other);
    for (size_t k = 0; k < to.phis.size(); ++k) {
      const RegisterId x = to.incoming[k][one], y = to.incoming[k][two];
      if (x == y && x != ir::kNoValue) continue;
      program_.words.push_back(program_.words[to.phis[k]]);
      const auto chosen = static_cast<RegisterId>(program_.words.size() - 1);
      addSelection(at(b), chosen, {x, y, condition.empty() ? ir::kNoValue : condition[0]});
      to.incoming[k][two] = chosen;
    }
    if (!isTriangle) to.predecessors[two] = b;
  }

  Program& program_;
};

}  // namespace

void mergeBlocks(Program& program) { Merger(program).run(); }

}  // namespace ordito::registers
