// The graph calls whose form differs between CUDA 12 and CUDA 13, which added a description to each edge: compiled once
// for each of the two libraries. All edges here are full dependencies, so descriptions other than that are refused and
// those asked for are zero. The headers declare these calls in CUDA 12's form, under names that get out of the way.
#define cudaGraphAddDependencies cudaGraphAddDependencies_asDeclared
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_asDeclared
#define cudaGraphGetEdges cudaGraphGetEdges_asDeclared
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_asDeclared
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_asDeclared
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_asDeclared
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_asDeclared
#define cudaGraphAddNode cudaGraphAddNode_asDeclared
#include "runtime/call.hpp"

#undef cudaGraphAddNode
#undef cudaGraphAddDependencies
#undef cudaGraphRemoveDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies

using namespace ordito::runtime;

namespace {

using Nodes = const cudaGraphNode_t*;
using Edges = const cudaGraphEdgeData*;

bool plain(Edges edges, size_t count) {
  for (size_t i = 0; edges != nullptr && i < count; ++i)
    if (edges[i].from_port != 0 || edges[i].to_port != 0 || edges[i].type != 0) return false;
  return true;
}

void describe(cudaGraphEdgeData* edges, const size_t* count) {
  for (size_t i = 0; edges != nullptr && count != nullptr && i < *count; ++i) edges[i] = {};
}

cudaError_t add(cudaGraph_t graph, Nodes from, Nodes to, Edges edges, size_t count) {
  if (!plain(edges, count)) return unsupportedUse("cudaGraphAddDependencies", "programmatic dependencies");
  return call([&] { return cuGraphAddDependencies(graph, from, to, count); });
}
cudaError_t remove(cudaGraph_t graph, Nodes from, Nodes to, size_t count) {
  return call([&] { return cuGraphRemoveDependencies(graph, from, to, count); });
}
cudaError_t edgesOf(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                    size_t* count) {
  const cudaError_t got = call([&] { return cuGraphGetEdges(graph, from, to, count); });
  if (got == cudaSuccess) describe(edges, count);
  return got;
}
cudaError_t dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, size_t* count) {
  const cudaError_t got = call([&] { return cuGraphNodeGetDependencies(node, nodes, count); });
  if (got == cudaSuccess && nodes != nullptr) describe(edges, count);
  return got;
}
cudaError_t dependents(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, size_t* count) {
  const cudaError_t got = call([&] { return cuGraphNodeGetDependentNodes(node, nodes, count); });
  if (got == cudaSuccess && nodes != nullptr) describe(edges, count);
  return got;
}
cudaError_t info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                 Nodes* nodes, Edges* edges, size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return call([&] {
    return cuStreamGetCaptureInfo(stream, reinterpret_cast<CUstreamCaptureStatus*>(status),
                                  reinterpret_cast<cuuint64_t*>(id), graph, nodes, count);
  });
}
cudaError_t update(cudaStream_t stream, cudaGraphNode_t* nodes, Edges edges, size_t count, unsigned flags) {
  if (!plain(edges, count)) return unsupportedUse("cudaStreamUpdateCaptureDependencies", "programmatic dependencies");
  return call([&] { return cuStreamUpdateCaptureDependencies(stream, nodes, count, flags); });
}
cudaStream_t perThread(cudaStream_t stream) { return stream == nullptr ? cudaStreamPerThread : stream; }

}  // namespace

// The newer form of each call has a name of its own in CUDA 12; in CUDA 13 the plain name means it too.
#define WITH_EDGES(name)                                                                                           \
  cudaError_t cudaGraphAddDependencies##name(cudaGraph_t graph, Nodes from, Nodes to, Edges edges, size_t count) { \
    return add(graph, from, to, edges, count);                                                                     \
  }                                                                                                                \
  cudaError_t cudaGraphRemoveDependencies##name(cudaGraph_t graph, Nodes from, Nodes to, Edges, size_t count) {    \
    return remove(graph, from, to, count);                                                                         \
  }                                                                                                                \
  cudaError_t cudaGraphGetEdges##name(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,               \
                                      cudaGraphEdgeData* edges, size_t* count) {                                   \
    return edgesOf(graph, from, to, edges, count);                                                                 \
  }                                                                                                                \
  cudaError_t cudaGraphNodeGetDependencies##name(cudaGraphNode_t node, cudaGraphNode_t* nodes,                     \
                                                 cudaGraphEdgeData* edges, size_t* count) {                        \
    return dependencies(node, nodes, edges, count);                                                                \
  }                                                                                                                \
  cudaError_t cudaGraphNodeGetDependentNodes##name(cudaGraphNode_t node, cudaGraphNode_t* nodes,                   \
                                                   cudaGraphEdgeData* edges, size_t* count) {                      \
    return dependents(node, nodes, edges, count);                                                                  \
  }                                                                                                                \
  cudaError_t cudaStreamUpdateCaptureDependencies##name(cudaStream_t stream, cudaGraphNode_t* nodes, Edges edges,  \
                                                        size_t count, unsigned flags) {                            \
    return update(stream, nodes, edges, count, flags);                                                             \
  }

extern "C" {

WITH_EDGES(_v2)

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t* graph, Nodes* nodes, size_t* count) {
  return info(stream, status, id, graph, nodes, nullptr, count);
}
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t* graph, Nodes* nodes, Edges* edges, size_t* count) {
  return info(stream, status, id, graph, nodes, edges, count);
}
cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id, cudaGraph_t* graph, Nodes* nodes, size_t* count) {
  return info(perThread(stream), status, id, graph, nodes, nullptr, count);
}

#if ORDITO_CUDART_VERSION >= 13000
WITH_EDGES()
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes after, Edges edges, size_t count,
                             cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode_v2(node, graph, after, edges, count, parameters);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, Nodes* nodes, Edges* edges, size_t* count) {
  return info(stream, status, id, graph, nodes, edges, count);
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes after, size_t count,
                             cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode_v2(node, graph, after, nullptr, count, parameters);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, Nodes from, Nodes to, size_t count) {
  return add(graph, from, to, nullptr, count);
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, Nodes from, Nodes to, size_t count) {
  return remove(graph, from, to, count);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return edgesOf(graph, from, to, nullptr, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return dependencies(node, nodes, nullptr, count);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  return dependents(node, nodes, nullptr, count);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, size_t count,
                                                unsigned flags) {
  return update(stream, nodes, nullptr, count, flags);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, Nodes* nodes, size_t* count) {
  return info(stream, status, id, graph, nodes, nullptr, count);
}
#endif

}  // extern "C"
