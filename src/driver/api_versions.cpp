// Driver API: the versions that CUDA 12 and 13 gave to calls by adding parameters. Each does what the earlier form does
// once the additional argument is found to ask for nothing else.
#include <algorithm>

#include "driver/api.hpp"

using namespace ordito::driver;

namespace {

CUstream own(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

/// What an edge says beyond its two ends: ports and kinds of programmatic launches, which need a GPU that Ordito does
/// not describe.
CUresult plainEdges(const CUgraphEdgeData* edges, size_t count) {
  const bool arePlain = !edges || std::all_of(edges, edges + count, [](const CUgraphEdgeData& edge) {
    return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
  });
  return arePlain ? CUDA_SUCCESS : remember(CUDA_ERROR_NOT_SUPPORTED, "edges with ports are not supported");
}

void fillPlain(CUgraphEdgeData* edges, const size_t* count) {
  if (edges) std::fill_n(edges, *count, CUgraphEdgeData{});
}

}  // namespace

extern "C" {

// Callers without a header (Numba's own binding, by ctypes) ask for NAME_v2 first and call it as the form without a
// context: what comes in its place may be anything, so what is no context means the current one.
CUresult cuCtxGetDevice_v2(CUdevice* ordinal, CUcontext handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!ordinal) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = handle ? Context::from(handle) : nullptr;
  if (!context) return cuCtxGetDevice(ordinal);
  *ordinal = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  CUcontext current = nullptr;
  if (!handle || !Context::from(handle) || (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == handle))
    return cuCtxSynchronize();
  if (const CUresult bad = cuCtxPushCurrent(handle)) return bad;
  const CUresult result = cuCtxSynchronize();
  cuCtxPopCurrent(nullptr);
  return result;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return cuStreamGetCtx_v2(own(stream), context, green);
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  CUcontext context = nullptr;
  if (const CUresult bad = cuStreamGetCtx(stream, &context)) return bad;
  return cuCtxGetDevice_v2(device, context);
}
CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice* device) { return cuStreamGetDevice(own(stream), device); }

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                              size_t count, unsigned int flags) {
  if (const CUresult bad = plainEdges(edges, count)) return bad;
  return cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode* dependencies,
                                                   const CUgraphEdgeData* edges, size_t count, unsigned int flags) {
  return cuStreamUpdateCaptureDependencies_v2(own(stream), dependencies, edges, count, flags);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count) {
  if (const CUresult bad = cuGraphGetEdges(graph, from, to, count)) return bad;
  fillPlain(edges, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* edges,
                                       size_t* count) {
  if (const CUresult bad = cuGraphNodeGetDependencies(node, dependencies, count)) return bad;
  fillPlain(edges, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* dependents, CUgraphEdgeData* edges,
                                         size_t* count) {
  if (const CUresult bad = cuGraphNodeGetDependentNodes(node, dependents, count)) return bad;
  fillPlain(edges, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edges, size_t count) {
  if (const CUresult bad = plainEdges(edges, count)) return bad;
  return cuGraphAddDependencies(graph, from, to, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edges, size_t count) {
  if (const CUresult bad = plainEdges(edges, count)) return bad;
  return cuGraphRemoveDependencies(graph, from, to, count);
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* parameters) {
  if (const CUresult bad = plainEdges(edges, count)) return bad;
  return cuGraphAddNode(node, graph, dependencies, count, parameters);
}

}  // extern "C"
