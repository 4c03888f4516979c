// See call_graph.hpp. An indirect call may be to any of the targets of its prototype's form.
#include "ir/call_graph.hpp"

#include <algorithm>
#include <utility>

#include "ir/graph.hpp"

namespace ordito::ir {

bool matches(const ptx::Prototype& prototype, const ptx::Function& f) {
  auto same = [](const std::vector<ptx::Parameter>& a, const std::vector<ptx::Parameter>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ptx::Parameter& x, const ptx::Parameter& y) { return x.size == y.size; });
  };
  return same(prototype.parameters, f.parameters) && same(prototype.returns, f.returns);
}

namespace {

using ptx::Operand;
using ptx::Symbol;

std::vector<uint32_t> findTargets(const ptx::Module& module) {
  std::set<uint32_t> found;
  auto note = [&](const Symbol& s) {
    if (s.kind == Symbol::Kind::Function && module.functions[s.index].hasBody && !module.functions[s.index].isEntry)
      found.insert(s.index);
  };
  for (const ptx::Variable& v : module.variables)
    for (const ptx::Relocation& r : v.relocations) note(r.symbol);
  for (const ptx::Function& f : module.functions)
    for (const ptx::Instruction& i : f.instructions)
      if (i.op != isa::Op::Call)
        for (const Operand& o : i.operands) note(o.symbol);
  return {found.begin(), found.end()};
}

/// Each as often as it is called.
std::vector<uint32_t> callees(const ptx::Module& module, uint32_t caller, const std::vector<uint32_t>& targets) {
  const ptx::Function& f = module.functions[caller];
  std::vector<uint32_t> result;
  for (const ptx::Instruction& i : f.instructions) {
    if (i.op != isa::Op::Call) continue;
    const Operand &called = i.operands[1], &prototype = i.operands[3];
    if (called.kind == Operand::Kind::Symbol)
      result.push_back(called.symbol.index);
    else
      for (uint32_t to : targets)
        if (prototype.kind != Operand::Kind::Integer || matches(f.prototypes[prototype.bits], module.functions[to]))
          result.push_back(to);
  }
  return result;
}

std::set<uint32_t> findRecursive(const ptx::Module& module, const std::vector<uint32_t>& targets) {
  std::set<uint32_t> recursive;
  Graph graph(module.functions.size());
  std::vector<uint32_t> all;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    all.push_back(f);
    for (uint32_t to : callees(module, f, targets)) graph.edge(f, to);
  }
  for (const auto& group : components(graph, all)) {
    const auto& next = graph.successors[group[0]];
    if (group.size() > 1 || std::find(next.begin(), next.end(), group[0]) != next.end())
      recursive.insert(group.begin(), group.end());
  }
  return recursive;
}

/// What a call of a function that the kernel has once takes, with its part of the return: the frame, what is passed and
/// kept, and the comparison with the call site's number.
constexpr double kCall = 20;

/// What becomes of a kernel when all calls are replaced but those of some functions.
class Expansion {
 public:
  Expansion(const ptx::Module& module, const std::vector<uint32_t>& targets, const ptx::Function& kernel)
      : module_(module),
        kernel_(static_cast<uint32_t>(&kernel - module.functions.data())),
        calls_(module.functions.size()),
        isReached_(calls_.size()) {
    std::vector<uint32_t> waiting{kernel_};
    while (!waiting.empty()) {
      const uint32_t f = waiting.back();
      waiting.pop_back();
      if (std::exchange(isReached_[f], 1)) continue;
      calls_.successors[f] = callees(module, f, targets);
      waiting.insert(waiting.end(), calls_.successors[f].begin(), calls_.successors[f].end());
    }
  }

  void run(const std::set<uint32_t>& once) {
    const auto count = static_cast<uint32_t>(calls_.size());
    Graph replaced(count + 1);  // the last node stands before all that nobody repeats
    length_.assign(count + 1, 0);
    replaced.edge(count, kernel_);
    for (uint32_t f : once)
      if (isReached_[f]) replaced.edge(count, f);
    for (uint32_t f = 0; f < count; ++f)
      for (uint32_t to : calls_.successors[f])
        if (!once.contains(to))
          replaced.edge(f, to);
        else
          length_[f] += kCall;
    const std::vector<uint32_t> order = reversePostOrder(replaced, count);
    copies_.assign(count + 1, 0);
    for (auto f = order.rbegin(); f != order.rend(); ++f) {
      if (*f != count) length_[*f] += static_cast<double>(module_.functions[*f].instructions.size());
      for (uint32_t to : replaced.successors[*f]) length_[*f] += length_[to];
    }
    copies_[count] = 1;
    for (uint32_t f : order)
      for (uint32_t to : replaced.successors[f]) copies_[to] += copies_[f];
  }

  double length() const { return length_.back(); }
  /// The function without whose copies the kernel is shortest, and by how much.
  std::pair<uint32_t, double> mostRepeated() const {
    std::pair<uint32_t, double> most{0, 0};
    for (uint32_t f = 0; f < calls_.size(); ++f) {
      const double gain = (copies_[f] - 1) * length_[f] - copies_[f] * kCall;
      if (copies_[f] > 1 && gain > most.second) most = {f, gain};
    }
    return most;
  }

 private:
  const ptx::Module& module_;
  const uint32_t kernel_;
  Graph calls_;  // of what the kernel can reach
  std::vector<char> isReached_;
  std::vector<double> length_, copies_;
};

}  // namespace

std::set<uint32_t> keptOnce(const ptx::Module& module, const CallGraph& calls, const ptx::Function& kernel) {
  std::set<uint32_t> once = calls.recursive;
  Expansion expansion(module, calls.targets, kernel);
  for (expansion.run(once); expansion.length() > kMostInstructions; expansion.run(once)) {
    const auto [function, instructions] = expansion.mostRepeated();
    if (instructions < kMostInstructions / 16) break;
    once.insert(function);
  }
  return once;
}

CallGraph callGraph(const ptx::Module& module) {
  CallGraph found;
  found.targets = findTargets(module);
  found.recursive = findRecursive(module, found.targets);
  return found;
}

}  // namespace ordito::ir
