// Loops and how they are nested.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.hpp"

namespace ordito::ir {

/// A loop: its first block in reverse post-order, and its members as flags by block.
struct Loop {
  uint32_t header = kNoNode;
  std::vector<char> members;
  bool contains(uint32_t node) const { return node < members.size() && members[node]; }
};

/// The strongly connected components of a graph, and within each, without its header, those again (Havlak, "Nesting of
/// Reducible and Irreducible Loops", TOPLAS 1997, in its simplest form). Outer loops come before inner ones.
class LoopNest {
 public:
  /// Of what can be reached from node 0.
  explicit LoopNest(const Graph& graph);

  const std::vector<Loop>& loops() const { return loops_; }
  /// The loops around a node, as indices into `loops`, from the outermost inwards.
  const std::vector<uint32_t>& around(uint32_t node) const { return around_[node]; }
  /// Loops that contain `from` but not `to`.
  std::vector<uint32_t> left(uint32_t from, uint32_t to) const;

 private:
  void find(const Graph& graph, const std::vector<uint32_t>& nodes, const std::vector<uint32_t>& position);

  std::vector<Loop> loops_;
  std::vector<std::vector<uint32_t>> around_;
};

}  // namespace ordito::ir
