// See capture.hpp.
#include "driver/capture.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>

namespace ordito::driver {

struct Capture {
  std::shared_ptr<Graph> graph;
  CUgraph handle = nullptr;
  Stream* origin = nullptr;
  uint64_t id = 0;
  bool invalid = false;
  bool ownsGraph = true;  // not one of the program's
};

struct CapturedPoint {
  std::weak_ptr<Capture> capture;
  std::vector<GraphNode*> frontier;
};

namespace {

struct Member {
  std::shared_ptr<Stream> stream;  // kept alive until the capture ends
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> frontier;
  std::vector<CUgraphNode> handles;    // what cuStreamGetCaptureInfo points to
  std::vector<CUgraphEdgeData> edges;  // of the edges from these: all plain
};

struct Table {
  std::mutex mutex;
  std::unordered_map<const Stream*, Member> members;
  std::atomic<size_t> count{0};  // of members

  Member* find(const Stream* stream) {
    auto it = members.find(stream);
    return it == members.end() ? nullptr : &it->second;
  }
  Member& join(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Capture>& capture) {
    Member& member = members[stream.get()];
    member.stream = stream;
    member.capture = capture;
    count = members.size();
    return member;
  }
  bool hasBlocking() const {
    return std::ranges::any_of(members, [](const auto& entry) { return entry.first->blocking(); });
  }
  /// Captures that a use of the legacy stream would have to wait for.
  bool invalidateBlocking() {
    bool any = false;
    for (auto& [stream, member] : members) {
      if (!stream->blocking()) continue;
      member.capture->invalid = true;
      any = true;
    }
    return any;
  }
};

Table& table() {
  static auto* all = new Table;
  return *all;
}

bool quiet() { return table().count.load(std::memory_order_acquire) == 0; }
bool isLegacy(const std::shared_ptr<Stream>& stream) { return stream == stream->group().legacy(); }

void merge(std::vector<GraphNode*>& into, const std::vector<GraphNode*>& from) {
  for (GraphNode* node : from)
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
}

/// Every node that one of `nodes` comes behind, and they themselves.
std::set<const GraphNode*> withAncestors(const std::vector<GraphNode*>& nodes) {
  std::set<const GraphNode*> seen;
  std::vector<const GraphNode*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return seen;
}

}  // namespace

std::optional<CUresult> capture(const std::shared_ptr<Stream>& stream, const std::function<NodeTask()>& task) {
  if (quiet()) return std::nullopt;
  Table& all = table();
  std::lock_guard lock(all.mutex);
  Member* member = all.find(stream.get());
  if (!member) {
    if (isLegacy(stream) && all.invalidateBlocking()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return std::nullopt;
  }
  if (member->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  GraphNode* node = member->capture->graph->add(task(), member->frontier);
  member->frontier = {node};
  return CUDA_SUCCESS;
}

CUresult refuseWhileCapturing(const std::shared_ptr<Stream>& stream) {
  if (quiet()) return CUDA_SUCCESS;
  Table& all = table();
  std::lock_guard lock(all.mutex);
  if (stream && !all.find(stream.get()))
    return isLegacy(stream) && all.invalidateBlocking() ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  for (auto& [key, member] : all.members)
    if (!stream || key == stream.get()) member.capture->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult beginCapture(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode, CUgraph graph,
                      std::vector<GraphNode*> frontier) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  if (isLegacy(stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  static std::atomic<uint64_t> next{1};
  Table& all = table();
  std::lock_guard lock(all.mutex);
  if (all.find(stream.get())) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->ownsGraph = graph == nullptr;
  capture->graph = graph ? Graph::from(graph) : std::make_shared<Graph>();
  capture->handle = graph ? graph : Graph::handle(capture->graph);
  capture->origin = stream.get();
  capture->id = next++;
  all.join(stream, capture).frontier = std::move(frontier);
  return CUDA_SUCCESS;
}

CUresult beginCapture(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode) {
  return beginCapture(stream, mode, nullptr, {});
}

CUresult endCapture(const std::shared_ptr<Stream>& stream, std::shared_ptr<Graph>& graph) {
  Table& all = table();
  std::lock_guard lock(all.mutex);
  Member* member = all.find(stream.get());
  if (!member) return CUDA_ERROR_ILLEGAL_STATE;
  std::shared_ptr<Capture> capture = member->capture;
  if (capture->origin != stream.get()) {
    capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  std::set<const GraphNode*> joined = withAncestors(member->frontier);
  bool unjoined = false;
  for (const auto& [key, other] : all.members)
    if (other.capture == capture)
      for (const GraphNode* node : other.frontier) unjoined = unjoined || !joined.contains(node);
  std::erase_if(all.members, [&](const auto& entry) { return entry.second.capture == capture; });
  all.count = all.members.size();
  if (capture->invalid || unjoined) {
    if (capture->ownsGraph) Graph::destroy(capture->handle);
    return capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  graph = capture->graph;
  return CUDA_SUCCESS;
}

std::optional<CUresult> captureRecord(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event) {
  if (quiet()) return std::nullopt;
  Table& all = table();
  std::lock_guard lock(all.mutex);
  Member* member = all.find(stream.get());
  if (!member) {
    if (isLegacy(stream) && all.invalidateBlocking()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return std::nullopt;
  }
  if (member->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event->setCaptured(std::make_shared<CapturedPoint>(CapturedPoint{member->capture, member->frontier}));
  return CUDA_SUCCESS;
}

std::optional<CUresult> captureWait(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event) {
  if (quiet()) return std::nullopt;
  Table& all = table();
  std::lock_guard lock(all.mutex);
  Member* member = all.find(stream.get());
  std::shared_ptr<const CapturedPoint> point = event->captured();
  std::shared_ptr<Capture> capture = point ? point->capture.lock() : nullptr;
  if (!member && !capture) return std::nullopt;
  if (member && member->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!capture) {  // an event from outside
    if (!event->recorded()) return CUDA_SUCCESS;
    member->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (member && member->capture != capture) {
    member->capture->invalid = capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (!member && isLegacy(stream)) {
    capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (!member) member = &all.join(stream, capture);
  merge(member->frontier, point->frontier);
  return CUDA_SUCCESS;
}

CaptureInfo captureInfo(const std::shared_ptr<Stream>& stream) {
  CaptureInfo info;
  if (quiet()) return info;
  std::lock_guard lock(table().mutex);
  Member* member = table().find(stream.get());
  if (!member) {
    if (isLegacy(stream) && table().hasBlocking()) info.result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return info;
  }
  info.id = member->capture->id;
  info.ownsGraph = member->capture->ownsGraph;
  if (member->capture->invalid) {
    info.status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return info;
  }
  info.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  info.graph = member->capture->handle;
  member->handles.clear();
  for (GraphNode* node : member->frontier) member->handles.push_back(Graph::handle(node));
  member->edges.assign(member->handles.size(), {});
  info.frontier = member->handles.data();
  info.edges = member->edges.data();
  info.count = member->handles.size();
  return info;
}

CUresult setFrontier(const std::shared_ptr<Stream>& stream, const std::vector<GraphNode*>& nodes, bool add) {
  std::lock_guard lock(table().mutex);
  Member* member = table().find(stream.get());
  if (!member) return CUDA_ERROR_ILLEGAL_STATE;
  for (const GraphNode* node : nodes)
    if (&node->graph != member->capture->graph.get()) return CUDA_ERROR_INVALID_VALUE;
  if (!add) member->frontier.clear();
  merge(member->frontier, nodes);
  return CUDA_SUCCESS;
}

}  // namespace ordito::driver
