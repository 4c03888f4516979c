// Graph algorithms over numbered nodes: orders, dominators, strongly connected components. They know nothing of
// instructions, so that whole kernels, their regions between barriers and single loops can use them alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ordito::ir {

struct Graph {
  std::vector<std::vector<uint32_t>> successors;
  explicit Graph(std::size_t nodes = 0) : successors(nodes) {}
  std::size_t size() const { return successors.size(); }
  void edge(uint32_t from, uint32_t to) { successors[from].push_back(to); }
  Graph reversed() const;
};

inline constexpr uint32_t kNoNode = ~0u;

/// Reverse post-order of the nodes reachable from `root`, depth first.
std::vector<uint32_t> reversePostOrder(const Graph& graph, uint32_t root);

/// Immediate dominators from `root` (Cooper, Harvey, Kennedy 2001). idom[root] == root; kNoNode for unreachable nodes.
std::vector<uint32_t> immediateDominators(const Graph& graph, uint32_t root);

/// Does `a` dominate `b`, by the idom tree?
bool dominates(const std::vector<uint32_t>& idom, uint32_t a, uint32_t b);

inline bool isAmong(const std::vector<uint32_t>& nodes, uint32_t node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Strongly connected components (Tarjan 1972) of the subgraph induced by `nodes`, without the edges into `cut`
/// (kNoNode: none), in topological order.
std::vector<std::vector<uint32_t>> components(const Graph& graph, const std::vector<uint32_t>& nodes,
                                              uint32_t cut = kNoNode);

/// Is the component of `graph` a loop, and not a node that nothing leads back to?
bool isLoop(const Graph& graph, const std::vector<uint32_t>& component);

}  // namespace ordito::ir
