// Stream capture: between cuStreamBeginCapture and cuStreamEndCapture what a program puts into a stream becomes nodes
// of a graph and does not run.
//
// A captured stream has a frontier, the nodes that its next one depends on. Another stream joins the capture when it
// waits for an event that was recorded in a captured stream, and must have been waited for in turn when the capture
// ends. All of it stands beside the streams, in one table, so that streams which nobody captures pay one atomic load.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cuda.h"
#include "driver/graph.hpp"

namespace ordito::driver {

/// What a call that puts work into `stream` has to answer when the stream is captured: the node is made, or the capture
/// is broken. Nothing when it is not captured and the work is to be submitted.
std::optional<CUresult> capture(const std::shared_ptr<Stream>& stream, const std::function<NodeTask()>& task);

/// CUDA_SUCCESS, or why a call that waits for `stream` (for any stream, if null) cannot be made now. Such a call breaks
/// the capture.
CUresult refuseWhileCapturing(const std::shared_ptr<Stream>& stream);

CUresult beginCapture(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode);
/// The same into a graph that there is already, behind some of its nodes.
CUresult beginCapture(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode, CUgraph graph,
                      std::vector<GraphNode*> frontier);
CUresult endCapture(const std::shared_ptr<Stream>& stream, std::shared_ptr<Graph>& graph);

/// cuEventRecord and cuStreamWaitEvent where captured streams or events are concerned; nothing when none is.
std::optional<CUresult> captureRecord(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event);
std::optional<CUresult> captureWait(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event);

struct CaptureInfo {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  uint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* frontier = nullptr;   // valid until the next call for this stream
  const CUgraphEdgeData* edges = nullptr;  // as long
  size_t count = 0;
  bool ownsGraph = true;  // false: the program gave the graph
  /// Of the question itself, which a legacy stream has no answer to while a blocking stream is captured.
  CUresult result = CUDA_SUCCESS;
};
CaptureInfo captureInfo(const std::shared_ptr<Stream>& stream);
CUresult setFrontier(const std::shared_ptr<Stream>& stream, const std::vector<GraphNode*>& nodes, bool add);

}  // namespace ordito::driver
