// Driver API: nodes of batches and events, and parameters of nodes of any type by one call.
#include <algorithm>

#include "driver/api.hpp"
#include "driver/graph_parameters.hpp"
#include "driver/stream_memory.hpp"

using namespace ordito::driver;

namespace {

/// Gives a node's step in an instantiated graph other parameters of its type.
template <class Make>
CUresult changeStep(CUgraphExec executableHandle, CUgraphNode handle, CUgraphNodeType type, Make&& make) {
  ORDITO_CONTEXT(context);
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, type, &node)) return bad;
  auto executable = GraphExec::from(executableHandle);
  NodeTask task;
  if (!executable) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = make(*context, task)) return bad;
  return executable->replace(*node, task) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <class Parameters>
auto batchOf(const Parameters* p) {
  return [p](Context&, NodeTask& task) { return batchTask(p->paramArray, p->count, p->flags, task); };
}
auto eventOf(CUgraphNodeType type, CUevent event) {
  return [=](Context& context, NodeTask& task) { return eventTask(context, type, event, task); };
}

CUresult eventIn(CUgraphNode handle, CUgraphNodeType type, CUevent* event) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, type, &node)) return bad;
  if (!event) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(std::get<std::shared_ptr<Event>>(node->task.parameters).get());
  return CUDA_SUCCESS;
}

/// What the parameters of a node of any type make of it. Types that have nothing to change answer an error.
CUresult taskOf(Context& context, const CUgraphNodeParams& p, NodeTask& task) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernelTask(p.kernel, task);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copyTask(p.memcpy.copyParams, task);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fillTask(p.memset, task);
    case CU_GRAPH_NODE_TYPE_HOST: return hostTask(p.host, task);
    case CU_GRAPH_NODE_TYPE_GRAPH: return childTask(p.graph.graph, task);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return eventTask(context, p.type, p.eventWait.event, task);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return eventTask(context, p.type, p.eventRecord.event, task);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return batchOf(&p.memOp)(context, task);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, batchOf(parameters));
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  GraphNode* node = nullptr;
  if (CUresult bad = findTyped(handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &node)) return bad;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  const Batch& batch = *std::get<std::shared_ptr<const Batch>>(node->task.parameters);
  *parameters = {};
  parameters->count = static_cast<unsigned>(batch.size());
  parameters->paramArray = const_cast<CUstreamBatchMemOpParams*>(batch.data());
  return cuCtxGetCurrent(&parameters->ctx);
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return setParameters(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, batchOf(parameters));
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return changeStep(executable, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, batchOf(parameters));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return eventIn(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return eventIn(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return setParameters(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, eventOf(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return setParameters(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, eventOf(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  constexpr auto kType = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  return changeStep(executable, node, kType, eventOf(kType, event));
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  constexpr auto kType = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  return changeStep(executable, node, kType, eventOf(kType, event));
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return setParameters(node, parameters->type,
                       [&](Context& context, NodeTask& task) { return taskOf(context, *parameters, task); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return changeStep(executable, node, parameters->type,
                    [&](Context& context, NodeTask& task) { return taskOf(context, *parameters, task); });
}

}  // extern "C"
