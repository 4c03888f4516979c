// Nodes of any type by one call, conditions, and the objects that graphs keep alive. What a node's parameters say in
// one structure goes to the call for its type (graph.cpp).
#include "runtime/call.hpp"

using namespace ordito::runtime;

namespace {

cudaKernelNodeParams kernelOf(const cudaGraphNodeParams& p) {
  const cudaKernelNodeParamsV2& k = p.kernel;
  return {k.func, k.gridDim, k.blockDim, k.sharedMemBytes, k.kernelParams, k.extra};
}

cudaMemsetParams memsetOf(const cudaGraphNodeParams& p) {
  const cudaMemsetParamsV2& m = p.memset;
  return {m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
}

cudaHostNodeParams hostOf(const cudaGraphNodeParams& p) { return {p.host.fn, p.host.userData}; }

cudaError_t addAllocation(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                          cudaMemAllocNodeParamsV2& p) {
  cudaMemAllocNodeParams allocation{p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize, p.dptr};
  const cudaError_t made = cudaGraphAddMemAllocNode(node, graph, after, count, &allocation);
  p.dptr = allocation.dptr;
  return made;
}

cudaError_t addConditional(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                           cudaConditionalNodeParams& p) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  parameters.conditional = {p.handle, static_cast<CUgraphConditionalNodeType>(p.type), p.size, nullptr, nullptr};
  const cudaError_t made = call([&] { return cuGraphAddNode(node, graph, after, count, &parameters); });
  p.phGraph_out = parameters.conditional.phGraph_out;
  return made;
}

cudaError_t addNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                    cudaGraphNodeParams* p) {
  if (p == nullptr) return finish(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = kernelOf(*p);
      return cudaGraphAddKernelNode(node, graph, after, count, &kernel);
    }
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(node, graph, after, count, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams fill = memsetOf(*p);
      return cudaGraphAddMemsetNode(node, graph, after, count, &fill);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host = hostOf(*p);
      return cudaGraphAddHostNode(node, graph, after, count, &host);
    }
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(node, graph, after, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeWaitEvent: return cudaGraphAddEventWaitNode(node, graph, after, count, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, after, count, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return addAllocation(node, graph, after, count, p->alloc);
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, after, count, p->free.dptr);
    case cudaGraphNodeTypeConditional: return addConditional(node, graph, after, count, p->conditional);
    default: return unsupportedUse("cudaGraphAddNode", "nodes of external semaphores");
  }
}

bool isPlain(const cudaGraphEdgeData* edges, size_t count) {
  for (size_t i = 0; edges != nullptr && i < count; ++i)
    if (edges[i].from_port != 0 || edges[i].to_port != 0 || edges[i].type != 0) return false;
  return true;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* parameters) {
  if (!isPlain(edges, count)) return unsupportedUse("cudaGraphAddNode", "programmatic dependencies");
  return addNode(node, graph, after, count, parameters);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  if (p == nullptr) return finish(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = kernelOf(*p);
      return cudaGraphKernelNodeSetParams(node, &kernel);
    }
    case cudaGraphNodeTypeMemcpy: return cudaGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams fill = memsetOf(*p);
      return cudaGraphMemsetNodeSetParams(node, &fill);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host = hostOf(*p);
      return cudaGraphHostNodeSetParams(node, &host);
    }
    default:
      return unsupportedUse("cudaGraphNodeSetParams", "nodes other than kernels, copies, fills and host functions");
  }
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeParams* p) {
  if (p == nullptr) return finish(cudaErrorInvalidValue);
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = kernelOf(*p);
      return cudaGraphExecKernelNodeSetParams(executable, node, &kernel);
    }
    case cudaGraphNodeTypeMemcpy: return cudaGraphExecMemcpyNodeSetParams(executable, node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams fill = memsetOf(*p);
      return cudaGraphExecMemsetNodeSetParams(executable, node, &fill);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host = hostOf(*p);
      return cudaGraphExecHostNodeSetParams(executable, node, &host);
    }
    case cudaGraphNodeTypeGraph: return cudaGraphExecChildGraphNodeSetParams(executable, node, p->graph.graph);
    default:
      return unsupportedUse("cudaGraphExecNodeSetParams",
                            "nodes other than kernels, copies, fills, host functions and child graphs");
  }
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned int initial, unsigned int flags) {
  return call([&] {
    return cuGraphConditionalHandleCreate(reinterpret_cast<CUgraphConditionalHandle*>(handle), graph, nullptr, initial,
                                          flags);
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode) {
  if (!isPlain(edges, count)) return unsupportedUse("cudaStreamBeginCaptureToGraph", "programmatic dependencies");
  return call([&] {
    return cuStreamBeginCaptureToGraph(stream, graph, after, nullptr, count, static_cast<CUstreamCaptureMode>(mode));
  });
}
cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                               const cudaGraphEdgeData* edges, size_t count,
                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(stream == nullptr ? cudaStreamPerThread : stream, graph, after, edges, count,
                                       mode);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy, unsigned int references,
                                 unsigned int flags) {
  return call([&] { return cuUserObjectCreate(object, pointer, destroy, references, flags); });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
  return call([&] { return cuUserObjectRetain(object, count); });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return call([&] { return cuUserObjectRelease(object, count); });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                      unsigned int flags) {
  return call([&] { return cuGraphRetainUserObject(graph, object, count, flags); });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
  return call([&] { return cuGraphReleaseUserObject(graph, object, count); });
}

}  // extern "C"
