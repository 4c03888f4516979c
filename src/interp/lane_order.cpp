// See lane_order.hpp.
#include "interp/lane_order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ordito::interp {

using isa::Op;

namespace {

using Node = uint32_t;

/// The blocks of a function, numbered as in its text.
class Blocks {
 public:
  explicit Blocks(const ptx::Function& f) : f_(f), blockOf_(f.instructions.size(), 0) {
    findStarts();
    successors_.resize(count());
    for (Node b = 0; b < count(); ++b) connect(b);
  }

  Node count() const { return static_cast<Node>(starts_.size()); }
  uint32_t begin(Node b) const { return starts_[b]; }
  uint32_t end(Node b) const {
    return b + 1 < count() ? starts_[b + 1] : static_cast<uint32_t>(f_.instructions.size());
  }
  const std::vector<Node>& successors(Node b) const { return successors_[b]; }
  Node of(uint32_t instruction) const { return blockOf_[instruction]; }

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
      if (target < size) successors_[b].push_back(blockOf_[target]);
    };
    forEachTarget(last, add);
    if (!endsBlock(last.op) || last.guard) add(end(b));
  }

  const ptx::Function& f_;
  std::vector<uint32_t> starts_;
  std::vector<Node> blockOf_;
  std::vector<std::vector<Node>> successors_;
};

/// The branches that lead back: to a block from which the way has come (depth first, in the order of the text).
std::vector<std::pair<Node, Node>> waysBack(const Blocks& blocks) {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> states(blocks.count(), State::New);
  std::vector<std::pair<Node, size_t>> path;
  std::vector<std::pair<Node, Node>> back;
  for (Node root = 0; root < blocks.count(); ++root) {  // what nothing leads to as well
    if (states[root] != State::New) continue;
    states[root] = State::Open, path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [b, next] = path.back();
      if (next == blocks.successors(b).size()) {
        states[b] = State::Done, path.pop_back();
        continue;
      }
      const Node to = blocks.successors(b)[next++];
      if (states[to] == State::Open) back.emplace_back(b, to);
      if (states[to] != State::New) continue;
      states[to] = State::Open, path.emplace_back(to, 0);
    }
  }
  std::ranges::sort(back);
  return back;
}

/// What has to come before what, with a node for the end of each loop behind the nodes of blocks.
class Precedence {
 public:
  explicit Precedence(const Blocks& blocks)
      : blocks_(blocks), back_(waysBack(blocks)), after_(blocks.count()), predecessors_(blocks.count()) {
    for (Node b = 0; b < blocks.count(); ++b)
      for (Node to : blocks.successors(b)) {
        predecessors_[to].push_back(b);
        if (!std::ranges::binary_search(back_, std::pair(b, to))) after_[b].push_back(to);
      }
    std::vector<Node> heads;
    for (const auto& [from, to] : back_) heads.push_back(to);
    std::ranges::sort(heads);
    const auto repeated = std::ranges::unique(heads);
    heads.erase(repeated.begin(), repeated.end());
    for (Node head : heads) addLoop(head);
  }

  const std::vector<std::pair<Node, Node>>& back() const { return back_; }

  /// Blocks, of those that may come next always the first of the text. Loops with several heads hold each other up;
  /// of such, too, the first of the text.
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
        if (n < blocks_.count()) order.push_back(n);
        for (Node to : after_[n])
          if (--waits[to] == 0 && !isDone[to]) to < blocks_.count() ? ready.push(to) : ends.push_back(to);
      }
    };
    for (Node first = 0; order.size() < blocks_.count();) {
      while (!ready.empty()) {
        const Node n = ready.top();
        ready.pop();
        if (!isDone[n]) take(n);
      }
      while (first < blocks_.count() && isDone[first]) ++first;
      if (first < blocks_.count()) take(first);
    }
    return order;
  }

 private:
  void addLoop(Node head) {
    std::vector<char> isInside(blocks_.count(), 0);
    std::vector<Node> inside{head}, work;
    isInside[head] = 1;
    const auto enter = [&](Node b) {
      if (!std::exchange(isInside[b], 1)) inside.push_back(b), work.push_back(b);
    };
    for (const auto& [from, to] : back_)
      if (to == head) enter(from);
    while (!work.empty()) {
      const Node b = work.back();
      work.pop_back();
      for (Node from : predecessors_[b]) enter(from);
    }
    const auto end = static_cast<Node>(after_.size());
    after_.emplace_back();
    for (Node b : inside) {
      after_[b].push_back(end);
      for (Node to : blocks_.successors(b))
        if (!isInside[to]) after_[end].push_back(to);
    }
  }

  const Blocks& blocks_;
  const std::vector<std::pair<Node, Node>> back_;
  std::vector<std::vector<Node>> after_, predecessors_;
};

}  // namespace

LaneOrder laneOrder(const ptx::Function& function) {
  const Blocks blocks(function);
  const Precedence precedence(blocks);
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
