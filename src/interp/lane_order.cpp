// See lane_order.hpp.
#include "interp/lane_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "ir/loops.hpp"

namespace ordito::interp {

using isa::Op;

namespace {

using Node = uint32_t;

/// The blocks of a function, numbered as in its text.
class Blocks {
 public:
  explicit Blocks(const ptx::Function& f) : f_(f), blockOf_(f.instructions.size(), 0) {
    findStarts();
    graph_ = ir::Graph(count());
    for (Node b = 0; b < count(); ++b) connect(b);
  }

  Node count() const { return static_cast<Node>(starts_.size()); }
  uint32_t begin(Node b) const { return starts_[b]; }
  uint32_t end(Node b) const {
    return b + 1 < count() ? starts_[b + 1] : static_cast<uint32_t>(f_.instructions.size());
  }
  const ir::Graph& graph() const { return graph_; }

 private:
  /// Calls visit(instruction) for what the branch `i` may lead to.
  template <class Visit>
  void forEachTarget(const ptx::Instruction& i, Visit visit) const {
    if (i.op == Op::Bra) visit(f_.labels[i.operands[0].label].instruction);
    if (i.op == Op::BrxIdx)
      for (uint32_t label : f_.branchTargets[i.operands[1].bits].labels) visit(f_.labels[label].instruction);
  }

  static bool endsBlock(Op op) { return op == Op::Bra || op == Op::BrxIdx || op == Op::Ret || op == Op::Exit; }

  void findStarts() {
    const auto size = static_cast<uint32_t>(f_.instructions.size());
    std::vector<char> isStart(size + 1, 0);
    isStart[0] = 1;
    for (uint32_t at = 0; at < size; ++at) {
      forEachTarget(f_.instructions[at], [&](uint32_t target) { isStart[target] = 1; });
      if (endsBlock(f_.instructions[at].op)) isStart[at + 1] = 1;
    }
    for (uint32_t at = 0; at < size; ++at) {
      if (isStart[at]) starts_.push_back(at);
      blockOf_[at] = count() - 1;
    }
  }

  void connect(Node b) {
    const auto size = static_cast<uint32_t>(f_.instructions.size());
    const ptx::Instruction& last = f_.instructions[end(b) - 1];
    const auto add = [&](uint32_t target) {
      if (target < size) graph_.edge(b, blockOf_[target]);
    };
    forEachTarget(last, add);
    if (!endsBlock(last.op) || last.guard) add(end(b));
  }

  const ptx::Function& f_;
  std::vector<uint32_t> starts_;
  std::vector<Node> blockOf_;
  ir::Graph graph_;
};

/// What has to come before what, with a node for the end of each loop behind the nodes of blocks.
class Precedence {
 public:
  explicit Precedence(const ir::Graph& graph) : count_(static_cast<Node>(graph.size())), after_(graph.size()) {
    const ir::LoopNest nest(graph);
    const auto leadsBack = [&](Node from, Node to) {
      return std::ranges::any_of(nest.around(from), [&](uint32_t l) { return nest.loops()[l].header == to; });
    };
    for (Node from = 0; from < count_; ++from)
      for (Node to : graph.successors[from])
        leadsBack(from, to) ? void(back_.emplace_back(from, to)) : after_[from].push_back(to);
    for (const ir::Loop& loop : nest.loops()) addEnd(graph, loop);
  }

  const std::vector<std::pair<Node, Node>>& back() const { return back_; }

  /// Blocks, of those that may come next always the first of the text. What holds itself up is code that nothing
  /// leads to; of that, too, the first of the text.
  std::vector<Node> order() const {
    std::vector<uint32_t> waits(after_.size(), 0);
    for (const auto& nodes : after_)
      for (Node to : nodes) ++waits[to];
    std::priority_queue<Node, std::vector<Node>, std::greater<>> ready;
    for (Node n = 0; n < after_.size(); ++n)
      if (waits[n] == 0) ready.push(n);
    std::vector<char> isDone(after_.size(), 0);
    std::vector<Node> order, ends;
    const auto take = [&](Node first) {
      ends.assign(1, first);  // it, and the ends of loops that wait for nothing else
      while (!ends.empty()) {
        const Node n = ends.back();
        ends.pop_back();
        isDone[n] = 1;
        if (n < count_) order.push_back(n);
        for (Node to : after_[n])
          if (--waits[to] == 0 && !isDone[to]) to < count_ ? ready.push(to) : ends.push_back(to);
      }
    };
    for (Node first = 0; order.size() < count_;) {
      while (!ready.empty()) {
        const Node n = ready.top();
        ready.pop();
        if (!isDone[n]) take(n);
      }
      while (first < count_ && isDone[first]) ++first;
      if (first < count_) take(first);
    }
    return order;
  }

 private:
  void addEnd(const ir::Graph& graph, const ir::Loop& loop) {
    const auto end = static_cast<Node>(after_.size());
    after_.emplace_back();
    for (Node b = 0; b < count_; ++b) {
      if (!loop.contains(b)) continue;
      after_[b].push_back(end);
      for (Node to : graph.successors[b])
        if (!loop.contains(to)) after_[end].push_back(to);
    }
  }

  const Node count_;  // of blocks
  std::vector<std::pair<Node, Node>> back_;
  std::vector<std::vector<Node>> after_;
};

}  // namespace

LaneOrder laneOrder(const ptx::Function& function) {
  if (function.instructions.empty()) return {.place = {0}, .loopEnd = {}};
  const Blocks blocks(function);
  const Precedence precedence(blocks.graph());
  LaneOrder order;
  order.place.resize(function.instructions.size() + 1);
  uint32_t place = 0;
  for (Node b : precedence.order())
    for (uint32_t at = blocks.begin(b); at < blocks.end(b); ++at) order.place[at] = place++;
  order.place.back() = place;
  order.loopEnd.assign(function.instructions.size(), 0);
  for (const auto& [from, to] : precedence.back()) {
    uint32_t& end = order.loopEnd[blocks.begin(to)];
    end = std::max(end, order.place[blocks.end(from) - 1]);
  }
  return order;
}

}  // namespace ordito::interp
