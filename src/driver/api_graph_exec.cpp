// Driver API: instantiated graphs, their launches and updates; memory that graphs allocate.
#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/graph_memory.hpp"
#include "driver/graph_tasks.hpp"

using namespace ordito::driver;

namespace {

CUresult instantiate(CUgraphExec* executable, CUgraph handle, uint64_t flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  auto graph = Graph::from(handle);
  constexpr uint64_t kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                              CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (!executable || !graph || flags & ~kKnown) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
    return remember(CUDA_ERROR_NOT_SUPPORTED, "launching a graph from a kernel is not supported");
  std::shared_ptr<GraphExec> made;
  if (CUresult bad = GraphExec::instantiate(*graph, flags, made)) return bad;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) made->backMemory();
  *executable = GraphExec::handle(made);
  return CUDA_SUCCESS;
}

CUresult launchIn(CUgraphExec handle, CUstream streamHandle) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, streamHandle);
  auto executable = GraphExec::from(handle);
  if (!executable) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = refuseWhileCapturing(stream)) return bad;
  return executable->launch(stream);
}

template <class Make>
CUresult replace(CUgraphExec handle, CUgraphNode nodeHandle, Make&& make) {
  ORDITO_CONTEXT(context);
  (void)context;
  auto executable = GraphExec::from(handle);
  GraphNode* node = Graph::node(nodeHandle);
  if (!executable || !node) return CUDA_ERROR_INVALID_VALUE;
  NodeTask task;
  if (CUresult bad = make(task)) return bad;
  return executable->replace(*node, task) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUstream own(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return instantiate(executable, graph, flags);
}

// The form of CUDA 10 and 11.
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* culprit, char* text, size_t bytes) {
  if (culprit) *culprit = nullptr;
  if (text && bytes) *text = 0;
  return instantiate(executable, graph, 0);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = instantiate(executable, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = result == CUDA_SUCCESS               ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                           : result == CUDA_ERROR_NOT_SUPPORTED ? CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
                                                                : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return result;
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* executable, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return cuGraphInstantiateWithParams(executable, graph, parameters);
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  auto executable = GraphExec::from(handle);
  if (!executable || !flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = executable->flags();
  return CUDA_SUCCESS;
}

// There is nowhere to upload to, but memory that the graph allocates counts as used from then on.
CUresult cuGraphUpload(CUgraphExec handle, CUstream streamHandle) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, streamHandle);
  const auto executable = GraphExec::from(handle);
  if (!executable) return CUDA_ERROR_INVALID_VALUE;
  executable->backMemory();
  return CUDA_SUCCESS;
}
CUresult cuGraphUpload_ptsz(CUgraphExec executable, CUstream stream) { return cuGraphUpload(executable, own(stream)); }

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) { return launchIn(executable, stream); }
CUresult cuGraphLaunch_ptsz(CUgraphExec executable, CUstream stream) { return launchIn(executable, own(stream)); }

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return GraphExec::destroy(executable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graphHandle, CUgraphExecUpdateResultInfo* info) {
  auto executable = GraphExec::from(handle);
  auto graph = Graph::from(graphHandle);
  if (!executable || !graph || !info) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* culprit = nullptr;
  *info = {};
  info->result = executable->update(*graph, &culprit);
  info->errorNode = Graph::handle(culprit);
  return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return replace(executable, node, [&](NodeTask& task) { return kernelTask(*parameters, task); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                        CUcontext) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  return replace(executable, node, [&](NodeTask& task) { return copyTask(*copy, task); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return replace(executable, node, [&](NodeTask& task) { return fillTask(*parameters, task); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return replace(executable, node, [&](NodeTask& task) { return hostTask(*parameters, task); });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child) {
  return replace(executable, node, [&](NodeTask& task) { return childTask(child, task); });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode nodeHandle, unsigned int enabled) {
  auto executable = GraphExec::from(handle);
  GraphNode* node = Graph::node(nodeHandle);
  return executable && node && executable->setEnabled(*node, enabled != 0) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode nodeHandle, unsigned int* enabled) {
  auto executable = GraphExec::from(handle);
  GraphNode* node = Graph::node(nodeHandle);
  bool answer = false;
  if (!executable || !node || !enabled || !executable->enabled(*node, &answer)) return CUDA_ERROR_INVALID_VALUE;
  *enabled = answer;
  return CUDA_SUCCESS;
}

// --- memory of graphs

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  trimGraphMemory(*device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  ORDITO_DEVICE(device, ordinal);
  if (!value || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
  const GraphMemoryUse use = graphMemoryUse(*device);
  const bool high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  *static_cast<cuuint64_t*>(value) = high ? use.high : use.now;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  ORDITO_DEVICE(device, ordinal);
  const bool high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  if (!value || !high || *static_cast<cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  resetGraphMemoryHigh(*device);
  return CUDA_SUCCESS;
}

}  // extern "C"
