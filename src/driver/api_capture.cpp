// Driver API: stream capture.
#include "driver/api.hpp"
#include "driver/capture.hpp"

using namespace ordito::driver;

namespace {

/// The mode only says which other calls of the thread are refused during a capture; none is refused here that is safe.
CUstreamCaptureMode& threadMode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

CUstream own(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

CUresult readInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                  const CUgraphNode** frontier, const CUgraphEdgeData** edges, size_t* count) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  const CaptureInfo info = captureInfo(stream);
  if (info.result) return info.result;
  *status = info.status;
  if (id) *id = info.id;
  if (graph) *graph = info.graph;
  if (frontier) *frontier = info.frontier;
  if (edges) *edges = info.edges;
  if (count) *count = info.count;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  return beginCapture(stream, mode);
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* dependencies, const void*,
                                     size_t count, CUstreamCaptureMode mode) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  auto target = Graph::from(graph);
  if (!target || (count && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> frontier;
  for (size_t i = 0; i < count; ++i) {
    frontier.push_back(Graph::node(dependencies[i]));
    if (!frontier.back() || &frontier.back()->graph != target.get()) return CUDA_ERROR_INVALID_VALUE;
  }
  return beginCapture(stream, mode, graph, std::move(frontier));
}
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                          const void* edges, size_t count, CUstreamCaptureMode mode) {
  return cuStreamBeginCaptureToGraph(own(stream), graph, dependencies, edges, count, mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  // A program that gave the graph has no need to be told.
  if (!graph && captureInfo(stream).ownsGraph) return CUDA_ERROR_INVALID_VALUE;
  if (graph) *graph = nullptr;
  std::shared_ptr<Graph> captured;
  if (CUresult bad = endCapture(stream, captured)) return bad;
  if (graph) *graph = reinterpret_cast<CUgraph>(captured.get());
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return readInfo(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, size_t* count) {
  return readInfo(handle, status, id, graph, dependencies, nullptr, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  return readInfo(handle, status, id, graph, dependencies, edges, count);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* dependencies, size_t count,
                                           unsigned int flags) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> nodes;
  for (size_t i = 0; i < count; ++i) {
    nodes.push_back(Graph::node(dependencies[i]));
    if (!nodes.back()) return CUDA_ERROR_INVALID_VALUE;
  }
  return setFrontier(stream, nodes, flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, threadMode());
  return CUDA_SUCCESS;
}

// For programs built with -default-stream per-thread.
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture_v2(own(stream), mode);
}
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) { return cuStreamEndCapture(own(stream), graph); }
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                        const CUgraphNode** dependencies, size_t* count) {
  return cuStreamGetCaptureInfo_v2(own(stream), status, id, graph, dependencies, count);
}
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                        const CUgraphNode** dependencies, const CUgraphEdgeData** edges,
                                        size_t* count) {
  return cuStreamGetCaptureInfo_v3(own(stream), status, id, graph, dependencies, edges, count);
}
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode* dependencies, size_t count,
                                                unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(own(stream), dependencies, count, flags);
}

}  // extern "C"
