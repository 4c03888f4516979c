// Driver API: graphs and their nodes. Instantiated graphs are in api_graph_exec.cpp.
#include <algorithm>

#include "driver/api.hpp"
#include "driver/graph_memory.hpp"
#include "driver/graph_parameters.hpp"

using namespace ordito::driver;

namespace {

/// The answer of a call that lists nodes: how many there are, or as many as fit.
CUresult list(const std::vector<GraphNode*>& nodes, CUgraphNode* out, size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (!out) {
    *count = nodes.size();
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? Graph::handle(nodes[i]) : nullptr;
  *count = std::min(*count, nodes.size());
  return CUDA_SUCCESS;
}

std::vector<GraphNode*> dependentsOf(const GraphNode* node) {
  std::vector<GraphNode*> dependents;
  for (const auto& other : node->graph.nodes())
    if (std::find(other->after.begin(), other->after.end(), node) != other->after.end())
      dependents.push_back(other.get());
  return dependents;
}

}  // namespace

extern "C" {

// --- graphs and edges

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!graph || flags) return CUDA_ERROR_INVALID_VALUE;
  *graph = Graph::handle(std::make_shared<Graph>());
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) { return Graph::destroy(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  auto graph = Graph::from(original);
  if (!clone || !graph) return CUDA_ERROR_INVALID_VALUE;
  auto copy = graph->clone();
  if (!copy) return refuseCopy();
  *clone = Graph::handle(copy);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  auto graph = Graph::from(clone);
  GraphNode* node = Graph::node(original);
  if (!found || !graph || !node) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* twin = graph->find(node->number);
  *found = Graph::handle(twin);
  return twin ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  GraphNode* node = Graph::node(handle);
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  node->graph.remove(node);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  GraphNode* node = Graph::node(handle);
  if (!node || !type) return CUDA_ERROR_INVALID_VALUE;
  *type = node->task.type;
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  auto graph = Graph::from(handle);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> all;
  for (const auto& node : graph->nodes()) all.push_back(node.get());
  return list(all, nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  auto graph = Graph::from(handle);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> roots;
  for (const auto& node : graph->nodes())
    if (node->after.empty()) roots.push_back(node.get());
  return list(roots, nodes, count);
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  auto graph = Graph::from(handle);
  if (!graph || !count || !from != !to) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> starts, ends;
  for (const auto& node : graph->nodes())
    for (GraphNode* before : node->after) {
      starts.push_back(before);
      ends.push_back(node.get());
    }
  size_t same = *count;
  if (CUresult bad = list(starts, from, count)) return bad;
  return from ? list(ends, to, &same) : CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* dependencies, size_t* count) {
  GraphNode* node = Graph::node(handle);
  return node ? list(node->after, dependencies, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* dependents, size_t* count) {
  GraphNode* node = Graph::node(handle);
  return node ? list(dependentsOf(node), dependents, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  auto graph = Graph::from(handle);
  if (!graph || (count && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    GraphNode *a = Graph::node(from[i]), *b = Graph::node(to[i]);
    if (!a || !b || a == b || &a->graph != graph.get() || &b->graph != graph.get()) return CUDA_ERROR_INVALID_VALUE;
    if (std::find(b->after.begin(), b->after.end(), a) != b->after.end()) return CUDA_ERROR_INVALID_VALUE;
    b->after.push_back(a);
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  auto graph = Graph::from(handle);
  if (!graph || (count && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    GraphNode *a = Graph::node(from[i]), *b = Graph::node(to[i]);
    if (!a || !b || std::erase(b->after, a) == 0) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// --- nodes by type

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, [&](Context&, NodeTask& task) { return kernelTask(*parameters, task); });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return setParameters(node, CU_GRAPH_NODE_TYPE_KERNEL,
                       [&](Context&, NodeTask& task) { return kernelTask(*parameters, task); });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* parameters) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node)) return bad;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  describeKernel(node->task, *parameters);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, [&](Context&, NodeTask& task) { return copyTask(*copy, task); });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  return setParameters(node, CU_GRAPH_NODE_TYPE_MEMCPY,
                       [&](Context&, NodeTask& task) { return copyTask(*copy, task); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* copy) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_MEMCPY, &node)) return bad;
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  describeCopy(node->task, *copy);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, [&](Context&, NodeTask& task) { return fillTask(*parameters, task); });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return setParameters(node, CU_GRAPH_NODE_TYPE_MEMSET,
                       [&](Context&, NodeTask& task) { return fillTask(*parameters, task); });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* parameters) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_MEMSET, &node)) return bad;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  describeFill(node->task, *parameters);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, [&](Context&, NodeTask& task) { return hostTask(*parameters, task); });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return setParameters(node, CU_GRAPH_NODE_TYPE_HOST,
                       [&](Context&, NodeTask& task) { return hostTask(*parameters, task); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* parameters) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_HOST, &node)) return bad;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  *parameters = std::get<CUDA_HOST_NODE_PARAMS>(node->task.parameters);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                  CUgraph child) {
  return addNode(node, graph, after, count, [&](Context&, NodeTask& task) { return childTask(child, task); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_GRAPH, &node)) return bad;
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  *graph = Graph::handle(std::get<std::shared_ptr<const Embedded>>(node->task.parameters)->graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count) {
  return addNode(node, graph, after, count, [](Context&, NodeTask&) { return CUDA_SUCCESS; });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                   CUevent event) {
  return addNode(node, graph, after, count, [&](Context& context, NodeTask& task) {
    return eventTask(context, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, task);
  });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                 CUevent event) {
  return addNode(node, graph, after, count, [&](Context& context, NodeTask& task) {
    return eventTask(context, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event, task);
  });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, [&](Context& context, NodeTask& task) {
    return allocationTask(context, parameters->bytesize, task, &parameters->dptr);
  });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node)) return bad;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  const auto& memory = std::get<std::shared_ptr<GraphMemory>>(node->task.parameters);
  *parameters = {};
  parameters->bytesize = memory->bytes;
  parameters->dptr = memory->address;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                               CUdeviceptr pointer) {
  if (!isGraphMemory(pointer)) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, [&](Context&, NodeTask& task) {
    task = freeTask(pointer);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_MEM_FREE, &node)) return bad;
  if (!pointer) return CUDA_ERROR_INVALID_VALUE;
  *pointer = std::get<CUdeviceptr>(node->task.parameters);
  return CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned int flags) {
  auto graph = Graph::from(handle);
  return graph && path ? writeDot(*graph, path, flags) : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
