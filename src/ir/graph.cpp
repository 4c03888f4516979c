// Standard graph algorithms, each as its paper gives it; iterative where a kernel of 10^5 blocks would overflow the
// stack.
#include "ir/graph.hpp"

#include <algorithm>

namespace ordito::ir {

Graph Graph::reversed() const {
  Graph r(size());
  for (uint32_t n = 0; n < size(); ++n)
    for (uint32_t s : successors[n]) r.edge(s, n);
  return r;
}

std::vector<uint32_t> reversePostOrder(const Graph& graph, uint32_t root) {
  std::vector<uint32_t> order;
  std::vector<char> seen(graph.size(), 0);
  std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}};
  seen[root] = 1;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < graph.successors[node].size()) {
      uint32_t s = graph.successors[node][next++];
      if (!seen[s]) seen[s] = 1, stack.push_back({s, 0});
    } else {
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<uint32_t> immediateDominators(const Graph& graph, uint32_t root) {
  const auto order = reversePostOrder(graph, root);
  std::vector<uint32_t> number(graph.size(), kNoNode), idom(graph.size(), kNoNode);
  for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  const Graph predecessors = graph.reversed();
  idom[root] = root;
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = idom[a];
      while (number[b] > number[a]) b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t node : order) {
      if (node == root) continue;
      uint32_t best = kNoNode;
      for (uint32_t p : predecessors.successors[node])
        if (idom[p] != kNoNode) best = best == kNoNode ? p : intersect(p, best);
      if (best != idom[node]) idom[node] = best, changed = true;
    }
  }
  return idom;
}

bool dominates(const std::vector<uint32_t>& idom, uint32_t a, uint32_t b) {
  for (;;) {
    if (a == b) return true;
    if (b == kNoNode || idom[b] == b || idom[b] == kNoNode) return false;
    b = idom[b];
  }
}

std::vector<std::vector<uint32_t>> components(const Graph& graph, const std::vector<uint32_t>& nodes, uint32_t cut) {
  std::vector<uint32_t> index(graph.size(), kNoNode), low(graph.size(), 0);
  std::vector<char> member(graph.size(), 0), onStack(graph.size(), 0);
  for (uint32_t n : nodes) member[n] = 1;
  std::vector<uint32_t> stack;
  std::vector<std::vector<uint32_t>> result;
  uint32_t counter = 0;
  struct Frame {
    uint32_t node;
    size_t next;
  };
  std::vector<Frame> frames;
  auto visit = [&](uint32_t n) {
    index[n] = low[n] = counter++;
    stack.push_back(n);
    onStack[n] = 1;
    frames.push_back({n, 0});
  };
  for (uint32_t root : nodes) {
    if (index[root] != kNoNode) continue;
    visit(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const uint32_t n = frame.node;
      if (frame.next < graph.successors[n].size()) {
        uint32_t s = graph.successors[n][frame.next++];
        if (!member[s] || s == cut) continue;
        if (index[s] == kNoNode)
          visit(s);
        else if (onStack[s])
          low[n] = std::min(low[n], index[s]);
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[n]);
      if (low[n] != index[n]) continue;
      std::vector<uint32_t> component;
      uint32_t m;
      do {
        m = stack.back();
        stack.pop_back();
        onStack[m] = 0;
        component.push_back(m);
      } while (m != n);
      result.push_back(std::move(component));
    }
  }
  std::reverse(result.begin(), result.end());  // Tarjan finds them in reverse topological order
  return result;
}

bool isLoop(const Graph& graph, const std::vector<uint32_t>& component) {
  const auto& successors = graph.successors[component[0]];
  return component.size() > 1 || std::find(successors.begin(), successors.end(), component[0]) != successors.end();
}

}  // namespace ordito::ir
