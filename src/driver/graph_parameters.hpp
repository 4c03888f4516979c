// Nodes of a graph by type, and other parameters for them: shared by the calls for one type and those for any.
#pragma once

#include <algorithm>
#include <utility>

#include "driver/api.hpp"
#include "driver/graph_tasks.hpp"

namespace ordito::driver {

/// The nodes of handles, each once; CUDA_ERROR_INVALID_VALUE if one is of another graph.
inline CUresult nodesFrom(const CUgraphNode* handles, size_t count, const Graph* graph,
                          std::vector<GraphNode*>& nodes) {
  if (count && !handles) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    GraphNode* node = Graph::node(handles[i]);
    if (!node || &node->graph != graph) return CUDA_ERROR_INVALID_VALUE;
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  return CUDA_SUCCESS;
}

/// Adds a node to a graph; `make(context, task)` fills in its task.
template <class Make>
CUresult addNode(CUgraphNode* node, CUgraph handle, const CUgraphNode* after, size_t count, Make&& make) {
  ORDITO_CONTEXT(context);
  auto graph = Graph::from(handle);
  if (!node || !graph) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> before;
  if (CUresult bad = nodesFrom(after, count, graph.get(), before)) return bad;
  NodeTask task;
  if (CUresult bad = make(*context, task)) return bad;
  *node = Graph::handle(graph->add(std::move(task), std::move(before)));
  return CUDA_SUCCESS;
}

/// The node of a handle, if it is of this type; CUDA_ERROR_INVALID_VALUE otherwise.
inline CUresult findTyped(CUgraphNode handle, CUgraphNodeType type, GraphNode** node) {
  *node = Graph::node(handle);
  return *node && (*node)->task.type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Gives a node other parameters of its type; `make(context, task)` fills in the task.
template <class Make>
CUresult setParameters(CUgraphNode handle, CUgraphNodeType type, Make&& make) {
  ORDITO_CONTEXT(context);
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, type, &node)) return bad;
  NodeTask task;
  if (CUresult bad = make(*context, task)) return bad;
  node->graph.change(*node, std::move(task));
  return CUDA_SUCCESS;
}

}  // namespace ordito::driver
