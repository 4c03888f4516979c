// What is asked of a function in SSA form again and again, each made when it is first asked for, and kept: the graph,
// its loops, and where values come from. Analyses that depend on more than the function, as shapes do on the launch,
// are made from these by whoever has the rest.
//
// The function must outlive this. A pass that changes it says by name what no longer holds.
#pragma once

#include <optional>

#include "ir/definitions.hpp"
#include "ir/loops.hpp"

namespace ordito::ir {

class Analyses {
 public:
  enum class Kind : uint8_t {
    Graph,  // and its loops
    Definitions,
  };

  explicit Analyses(const Function& function) : function_(&function) {}
  const Function& function() const { return *function_; }
  const Graph& graph() const;
  const LoopNest& loops() const;
  const Definitions& definitions() const;
  void invalidate(Kind kind);

 private:
  const Function* function_;
  mutable std::optional<Graph> graph_;
  mutable std::optional<LoopNest> loops_;
  mutable std::optional<Definitions> definitions_;
};

}  // namespace ordito::ir
