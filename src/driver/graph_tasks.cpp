// See graph_tasks.hpp.
#include "driver/graph_tasks.hpp"

#include <algorithm>
#include <cstdio>

#include "driver/results.hpp"

namespace ordito::driver {

CUresult kernelTask(const CUDA_KERNEL_NODE_PARAMS& p, NodeTask& task) {
  Function* function = functionFrom(p.func ? p.func : reinterpret_cast<CUfunction>(p.kern));
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  LaunchRequest request;
  request.function = function;
  request.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  request.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  request.sharedBytes = p.sharedMemBytes;
  auto gathered = gatherParameters(*function, p.kernelParams, p.extra);
  if (!gathered) return remember(gathered.error());
  request.parameters = std::move(*gathered);
  pointToParameters(request);
  std::shared_ptr<const PreparedLaunch> prepared;
  if (CUresult bad = prepareForHost(std::move(request), prepared)) return bad;
  task.type = CU_GRAPH_NODE_TYPE_KERNEL;
  task.parameters = std::shared_ptr<const LaunchRequest>(prepared, &prepared->request());
  task.work = [prepared](std::string& message) { return prepared->run(message); };
  return CUDA_SUCCESS;
}

void describeKernel(const NodeTask& task, CUDA_KERNEL_NODE_PARAMS& p) {
  const LaunchRequest& request = *std::get<std::shared_ptr<const LaunchRequest>>(task.parameters);
  p = {};
  p.func = reinterpret_cast<CUfunction>(request.function);
  p.gridDimX = request.grid.x, p.gridDimY = request.grid.y, p.gridDimZ = request.grid.z;
  p.blockDimX = request.block.x, p.blockDimY = request.block.y, p.blockDimZ = request.block.z;
  p.sharedMemBytes = static_cast<unsigned>(request.sharedBytes);
  p.kernelParams = const_cast<void**>(reinterpret_cast<void* const*>(request.parameterPointers.data()));
}

CUresult copyTask(const CUDA_MEMCPY3D& copy, NodeTask& task) {
  CopyRequest request;
  if (CUresult bad = requestFrom(copy, request)) return bad;
  bool pageable = false;
  if (!request.extent.empty())
    if (CUresult bad = prepareCopy(request, task.work, pageable)) return bad;
  task.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  task.parameters = request;
  return CUDA_SUCCESS;
}

void describeCopy(const NodeTask& task, CUDA_MEMCPY3D& copy) {
  const CopyRequest& request = std::get<CopyRequest>(task.parameters);
  copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = request.from.base;
  copy.dstDevice = request.to.base;
  copy.srcPitch = request.from.pitch ? request.from.pitch : request.extent.width;
  copy.dstPitch = request.to.pitch ? request.to.pitch : request.extent.width;
  copy.srcHeight = request.from.slice ? request.from.slice / copy.srcPitch : request.extent.height;
  copy.dstHeight = request.to.slice ? request.to.slice / copy.dstPitch : request.extent.height;
  copy.WidthInBytes = request.extent.width;
  copy.Height = request.extent.height;
  copy.Depth = request.extent.depth;
}

CUresult fillTask(const CUDA_MEMSET_NODE_PARAMS& p, NodeTask& task) {
  Fill fill;
  fill.to = {p.dst, p.pitch, 0};
  fill.extent = {p.width * p.elementSize, p.height, 1};
  fill.value = p.value;
  fill.elementBytes = p.elementSize;
  if (fill.extent.height > 1 && p.pitch < fill.extent.width) return CUDA_ERROR_INVALID_VALUE;
  if (!fill.extent.empty())
    if (CUresult bad = prepareFill(fill, task.work)) return bad;
  task.type = CU_GRAPH_NODE_TYPE_MEMSET;
  task.parameters = fill;
  return CUDA_SUCCESS;
}

void describeFill(const NodeTask& task, CUDA_MEMSET_NODE_PARAMS& p) {
  const Fill& fill = std::get<Fill>(task.parameters);
  p.dst = fill.to.base;
  p.pitch = fill.to.pitch;
  p.value = fill.value;
  p.elementSize = fill.elementBytes;
  p.width = fill.extent.width / fill.elementBytes;
  p.height = fill.extent.height;
}

CUresult hostTask(const CUDA_HOST_NODE_PARAMS& p, NodeTask& task) {
  if (!p.fn) return CUDA_ERROR_INVALID_VALUE;
  task.type = CU_GRAPH_NODE_TYPE_HOST;
  task.parameters = p;
  task.work = [p](std::string&) {
    p.fn(p.userData);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

// The child is copied: what happens to the original later does not matter.
CUresult childTask(CUgraph handle, NodeTask& task) {
  auto child = Graph::from(handle);
  if (!child) return CUDA_ERROR_INVALID_VALUE;
  task.type = CU_GRAPH_NODE_TYPE_GRAPH;
  auto copy = child->clone();
  if (!copy) return refuseCopy();
  task.parameters = std::make_shared<const Embedded>(std::move(copy));
  return CUDA_SUCCESS;
}

CUresult refuseCopy() {
  return remember(CUDA_ERROR_NOT_SUPPORTED,
                  "a graph with conditional nodes, or with nodes that allocate or free memory, cannot be cloned or be "
                  "the child of another");
}

CUresult eventTask(Context& context, CUgraphNodeType type, CUevent handle, NodeTask& task) {
  auto event = context.event(handle);
  if (!event) return CUDA_ERROR_INVALID_VALUE;
  task.type = type;
  task.parameters = std::move(event);
  return CUDA_SUCCESS;
}

CUresult conditionalTask(Graph& graph, CUDA_CONDITIONAL_NODE_PARAMS& p, NodeTask& task) {
  const unsigned most = p.type == CU_GRAPH_COND_TYPE_WHILE ? 1 : p.type == CU_GRAPH_COND_TYPE_IF ? 2 : ~0u;
  if (p.type > CU_GRAPH_COND_TYPE_SWITCH || p.size == 0 || p.size > most) return CUDA_ERROR_INVALID_VALUE;
  auto& unused = graph.root().conditions;
  const auto found = std::ranges::find(unused, p.handle, [](const auto& condition) { return condition->address; });
  if (found == unused.end())
    return remember(CUDA_ERROR_INVALID_VALUE,
                    fmt::format("the condition {:#x} is not of this graph, or another node has it", p.handle));
  auto conditional = std::make_shared<Conditional>();
  conditional->type = p.type;
  conditional->condition = std::move(*found);
  unused.erase(found);
  for (unsigned k = 0; k < p.size; ++k) {
    auto body = std::make_shared<Graph>();
    conditional->handles.push_back(Graph::handle(body));
    conditional->bodies.push_back(std::make_unique<const Embedded>(std::move(body)));
  }
  p.phGraph_out = conditional->handles.data();
  task.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  task.parameters = std::shared_ptr<const Conditional>(std::move(conditional));
  return CUDA_SUCCESS;
}

namespace {

std::string labelOf(const NodeTask& task) {
  static constexpr const char* kNames[] = {"kernel",   "memcpy",     "memset",       "host",       "graph",
                                           "empty",    "wait event", "record event", "signal",     "wait",
                                           "allocate", "free",       "batch",        "conditional"};
  std::string label = static_cast<size_t>(task.type) < std::size(kNames) ? kNames[task.type] : "node";
  if (auto* launch = std::get_if<std::shared_ptr<const LaunchRequest>>(&task.parameters))
    label += "\\n" + (*launch)->function->displayName;
  return label;
}

std::string sizesOf(const Extent& e) { return fmt::format("{} x {} x {} bytes", e.width, e.height, e.depth); }

/// What the flags of cuGraphDebugDotPrint ask for besides.
std::string detailsOf(const NodeTask& task, unsigned flags) {
  const auto asksFor = [&](unsigned flag) { return flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE); };
  if (auto* launch = std::get_if<std::shared_ptr<const LaunchRequest>>(&task.parameters);
      launch && asksFor(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
    const auto& [grid, block] = std::pair((*launch)->grid, (*launch)->block);
    return fmt::format("\\n{} x {} x {} blocks of {} x {} x {} threads\\n{} bytes of shared memory", grid.x, grid.y,
                       grid.z, block.x, block.y, block.z, (*launch)->sharedBytes);
  }
  if (auto* copy = std::get_if<CopyRequest>(&task.parameters);
      copy && asksFor(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
    return fmt::format("\\n{:#x} to {:#x}\\n{}", copy->from.base, copy->to.base, sizesOf(copy->extent));
  if (auto* fill = std::get_if<Fill>(&task.parameters); fill && asksFor(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
    return fmt::format("\\n{:#x} at {:#x}\\n{}", fill->value, fill->to.base, sizesOf(fill->extent));
  return {};
}

}  // namespace

CUresult writeDot(const Graph& graph, const char* path, unsigned flags) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) return remember(CUDA_ERROR_OPERATING_SYSTEM, fmt::format("cannot write '{}'", path));
  fmt::print(file, "digraph {{\n");
  for (const auto& node : graph.nodes()) {
    fmt::print(file, "  n{} [label=\"{}\"]\n", node->number, labelOf(node->task) + detailsOf(node->task, flags));
    for (const GraphNode* before : node->after) fmt::print(file, "  n{} -> n{}\n", before->number, node->number);
  }
  fmt::print(file, "}}\n");
  std::fclose(file);
  return CUDA_SUCCESS;
}

}  // namespace ordito::driver
