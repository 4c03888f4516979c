// See loops.hpp.
#include "ir/loops.hpp"

#include <algorithm>

namespace ordito::ir {

LoopNest::LoopNest(const Graph& graph) : around_(graph.size()) {
  const auto order = reversePostOrder(graph, 0);
  std::vector<uint32_t> position(graph.size(), 0);
  for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  find(graph, order, position);
}

void LoopNest::find(const Graph& graph, const std::vector<uint32_t>& nodes, const std::vector<uint32_t>& position) {
  for (const auto& component : components(graph, nodes)) {
    if (!isLoop(graph, component)) continue;
    Loop loop;
    loop.header = *std::min_element(component.begin(), component.end(),
                                    [&](uint32_t a, uint32_t b) { return position[a] < position[b]; });
    loop.members.assign(graph.size(), 0);
    std::vector<uint32_t> inner;
    for (uint32_t n : component) {
      loop.members[n] = 1;
      around_[n].push_back(static_cast<uint32_t>(loops_.size()));
      if (n != loop.header) inner.push_back(n);
    }
    loops_.push_back(std::move(loop));
    find(graph, inner, position);
  }
}

std::vector<uint32_t> LoopNest::left(uint32_t from, uint32_t to) const {
  std::vector<uint32_t> result;
  for (uint32_t loop : around_[from])
    if (!loops_[loop].contains(to)) result.push_back(loop);
  return result;
}

}  // namespace ordito::ir
