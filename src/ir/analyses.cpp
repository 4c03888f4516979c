// See analyses.hpp.
#include "ir/analyses.hpp"

#include "ir/graph.hpp"

namespace ordito::ir {

const Graph& Analyses::graph() const {
  if (!graph_) graph_ = controlFlow(*function_);
  return *graph_;
}

const LoopNest& Analyses::loops() const {
  if (!loops_) loops_.emplace(graph());
  return *loops_;
}

const Definitions& Analyses::definitions() const {
  if (!definitions_) definitions_.emplace(*function_);
  return *definitions_;
}

void Analyses::invalidate(Kind kind) {
  if (kind == Kind::Graph)
    graph_.reset(), loops_.reset();
  else
    definitions_.reset();
}

}  // namespace ordito::ir
