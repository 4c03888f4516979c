// Nodes of a graph by type, and other parameters for them: shared by the calls for one type and those for any.
#pragma once

#include <utility>

#include "driver/api.hpp"
#include "driver/graph_tasks.hpp"

namespace ordito::driver {

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
  node->task = std::move(task);
  return CUDA_SUCCESS;
}

}  // namespace ordito::driver
