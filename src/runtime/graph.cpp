// Graphs, from capture to launch, over the driver's graphs. The handles are the driver's own; what is done here is to
// turn parameters with host functions, symbols and arrays into the driver's. Calls whose form differs between CUDA 12
// and 13 are in graph_abi.cpp.
#include "runtime/copy.hpp"
#include "runtime/registry.hpp"

using namespace ordito::runtime;

namespace {

/// The function behind a kernel's host function, or behind what cudaGraphKernelNodeGetParams gave.
cudaError_t functionOf(const void* kernel, CUfunction* function) {
  const cudaError_t found = Registry::instance().function(kernel, function);
  if (found == cudaSuccess) return found;
  auto* driverFunction = static_cast<CUfunction>(const_cast<void*>(kernel));
  const char* name = nullptr;
  if (driverFunction == nullptr || cuFuncGetName(&name, driverFunction) != CUDA_SUCCESS) return found;
  *function = driverFunction;
  return cudaSuccess;
}

cudaError_t toDriver(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS& to) {
  to = {};
  to.gridDimX = from.gridDim.x, to.gridDimY = from.gridDim.y, to.gridDimZ = from.gridDim.z;
  to.blockDimX = from.blockDim.x, to.blockDimY = from.blockDim.y, to.blockDimZ = from.blockDim.z;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  return functionOf(from.func, &to.func);
}

void fromDriver(const CUDA_KERNEL_NODE_PARAMS& from, cudaKernelNodeParams& to) {
  to.func = from.func;
  to.gridDim = dim3(from.gridDimX, from.gridDimY, from.gridDimZ);
  to.blockDim = dim3(from.blockDimX, from.blockDimY, from.blockDimZ);
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
}

CUDA_MEMSET_NODE_PARAMS toDriver(const cudaMemsetParams& from) {
  return {address(from.dst), from.pitch, from.value, from.elementSize, from.width, from.height};
}

CUDA_MEMCPY3D lineOf(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  box.srcDevice = from;
  box.dstDevice = to;
  box.WidthInBytes = bytes;
  box.Height = box.Depth = 1;
  return box;
}

cudaError_t lineOf(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUDA_MEMCPY3D& box) {
  if (const cudaError_t wrong = checkDirection(to, from, kind); wrong != cudaSuccess) return wrong;
  box = lineOf(address(to), address(from), bytes);
  return cudaSuccess;
}

cudaError_t lineToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                         CUDA_MEMCPY3D& box) {
  CUdeviceptr to = 0;
  if (const cudaError_t found = partOfSymbol(symbol, offset, bytes, &to); found != cudaSuccess) return found;
  box = lineOf(to, address(from), bytes);
  return checkToDevice(from, kind);
}

cudaError_t lineFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                           CUDA_MEMCPY3D& box) {
  CUdeviceptr from = 0;
  if (const cudaError_t found = partOfSymbol(symbol, offset, bytes, &from); found != cudaSuccess) return found;
  box = lineOf(address(to), from, bytes);
  return checkFromDevice(to, kind);
}

/// Makes a box with `make` and hands it to the driver with `use`.
template <class Make, class Use>
cudaError_t withBox(Make&& make, Use&& use) {
  return call([&]() -> cudaError_t {
    CUDA_MEMCPY3D box;
    if (const cudaError_t wrong = make(box); wrong != cudaSuccess) return wrong;
    return toRuntime(use(box));
  });
}

template <class Use>
cudaError_t withKernel(const cudaKernelNodeParams* parameters, Use&& use) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    CUDA_KERNEL_NODE_PARAMS kernel;
    if (const cudaError_t wrong = toDriver(*parameters, kernel); wrong != cudaSuccess) return wrong;
    return toRuntime(use(kernel));
  });
}

CUDA_HOST_NODE_PARAMS toDriver(const cudaHostNodeParams& from) { return {from.fn, from.userData}; }

}  // namespace

// A call that only passes on: the two APIs' enumerations have the same values.
#define FORWARD(name, parameters, ...)        \
  cudaError_t name parameters {               \
    return call([&] { return __VA_ARGS__; }); \
  }
#define WITH(pointer, ...)                                        \
  if ((pointer) == nullptr) return finish(cudaErrorInvalidValue); \
  return call([&] { return __VA_ARGS__; })

extern "C" {

// --- capture

FORWARD(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode),
        cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)))
FORWARD(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), cuStreamEndCapture(stream, graph))
FORWARD(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode * mode),
        cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)))

// --- graphs and nodes

FORWARD(cudaGraphCreate, (cudaGraph_t * graph, unsigned int flags), cuGraphCreate(graph, flags))
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy(graph))
FORWARD(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t original), cuGraphClone(clone, original))
FORWARD(cudaGraphNodeFindInClone, (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone),
        cuGraphNodeFindInClone(node, original, clone))
FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode(node))
FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, cudaGraphNodeType* type),
        cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)))
FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count),
        cuGraphGetNodes(graph, nodes, count))
FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count),
        cuGraphGetRootNodes(graph, nodes, count))
FORWARD(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char* path, unsigned int flags),
        cuGraphDebugDotPrint(graph, path, flags))

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return withKernel(parameters, [&](const CUDA_KERNEL_NODE_PARAMS& kernel) {
    return cuGraphAddKernelNode(node, graph, after, count, &kernel);
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return withKernel(parameters,
                    [&](const CUDA_KERNEL_NODE_PARAMS& kernel) { return cuGraphKernelNodeSetParams(node, &kernel); });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    CUDA_KERNEL_NODE_PARAMS kernel{};
    const CUresult got = cuGraphKernelNodeGetParams(node, &kernel);
    if (got == CUDA_SUCCESS) fromDriver(kernel, *parameters);
    return got;
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return withBox(
      [&](CUDA_MEMCPY3D& box) { return boxOf(*copy, box); },
      [&](const CUDA_MEMCPY3D& box) { return cuGraphAddMemcpyNode(node, graph, after, count, &box, nullptr); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return withBox(
      [&](CUDA_MEMCPY3D& box) { return lineOf(to, from, bytes, kind, box); },
      [&](const CUDA_MEMCPY3D& box) { return cuGraphAddMemcpyNode(node, graph, after, count, &box, nullptr); });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                           size_t count, const void* symbol, const void* from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return withBox(
      [&](CUDA_MEMCPY3D& box) { return lineToSymbol(symbol, from, bytes, offset, kind, box); },
      [&](const CUDA_MEMCPY3D& box) { return cuGraphAddMemcpyNode(node, graph, after, count, &box, nullptr); });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                             size_t count, void* to, const void* symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind) {
  return withBox(
      [&](CUDA_MEMCPY3D& box) { return lineFromSymbol(to, symbol, bytes, offset, kind, box); },
      [&](const CUDA_MEMCPY3D& box) { return cuGraphAddMemcpyNode(node, graph, after, count, &box, nullptr); });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return withBox([&](CUDA_MEMCPY3D& box) { return boxOf(*copy, box); },
                 [&](const CUDA_MEMCPY3D& box) { return cuGraphMemcpyNodeSetParams(node, &box); });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
  return withBox([&](CUDA_MEMCPY3D& box) { return lineOf(to, from, bytes, kind, box); },
                 [&](const CUDA_MEMCPY3D& box) { return cuGraphMemcpyNodeSetParams(node, &box); });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    CUDA_MEMCPY3D box{};
    const CUresult got = cuGraphMemcpyNodeGetParams(node, &box);
    if (got != CUDA_SUCCESS) return got;
    *copy = {};
    copy->srcPtr = {reinterpret_cast<void*>(box.srcDevice), box.srcPitch, box.WidthInBytes, box.srcHeight};
    copy->dstPtr = {reinterpret_cast<void*>(box.dstDevice), box.dstPitch, box.WidthInBytes, box.dstHeight};
    copy->extent = {box.WidthInBytes, box.Height, box.Depth};
    copy->kind = cudaMemcpyDefault;
    return got;
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const CUDA_MEMSET_NODE_PARAMS fill = toDriver(*parameters);
  return call([&] { return cuGraphAddMemsetNode(node, graph, after, count, &fill, nullptr); });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const CUDA_MEMSET_NODE_PARAMS fill = toDriver(*parameters);
  return call([&] { return cuGraphMemsetNodeSetParams(node, &fill); });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  CUDA_MEMSET_NODE_PARAMS fill{};
  const cudaError_t got = call([&] { return cuGraphMemsetNodeGetParams(node, &fill); });
  if (got == cudaSuccess)
    *parameters = {
        reinterpret_cast<void*>(fill.dst), fill.pitch, fill.value, fill.elementSize, fill.width, fill.height};
  return got;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const CUDA_HOST_NODE_PARAMS host = toDriver(*parameters);
  return call([&] { return cuGraphAddHostNode(node, graph, after, count, &host); });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const CUDA_HOST_NODE_PARAMS host = toDriver(*parameters);
  return call([&] { return cuGraphHostNodeSetParams(node, &host); });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  CUDA_HOST_NODE_PARAMS host{};
  const cudaError_t got = call([&] { return cuGraphHostNodeGetParams(node, &host); });
  if (got == cudaSuccess) *parameters = {host.fn, host.userData};
  return got;
}

FORWARD(cudaGraphAddChildGraphNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraph_t child),
        cuGraphAddChildGraphNode(node, graph, after, count, child))
FORWARD(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t* graph),
        cuGraphChildGraphNodeGetGraph(node, graph))
FORWARD(cudaGraphAddEmptyNode, (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count),
        cuGraphAddEmptyNode(node, graph, after, count))
FORWARD(cudaGraphAddEventRecordNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaEvent_t event),
        cuGraphAddEventRecordNode(node, graph, after, count, event))
FORWARD(cudaGraphAddEventWaitNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaEvent_t event),
        cuGraphAddEventWaitNode(node, graph, after, count, event))

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  allocation.bytesize = parameters->bytesize;
  const cudaError_t made = call([&] { return cuGraphAddMemAllocNode(node, graph, after, count, &allocation); });
  if (made == cudaSuccess) parameters->dptr = reinterpret_cast<void*>(allocation.dptr);
  return made;
}
FORWARD(cudaGraphAddMemFreeNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, void* pointer),
        cuGraphAddMemFreeNode(node, graph, after, count, address(pointer)))
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  const cudaError_t got = call([&] { return cuGraphMemAllocNodeGetParams(node, &allocation); });
  *parameters = {};
  parameters->bytesize = allocation.bytesize;
  parameters->dptr = reinterpret_cast<void*>(allocation.dptr);
  return got;
}
FORWARD(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim(device))
FORWARD(cudaDeviceGetGraphMemAttribute, (int device, cudaGraphMemAttributeType attribute, void* value),
        cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value))
FORWARD(cudaDeviceSetGraphMemAttribute, (int device, cudaGraphMemAttributeType attribute, void* value),
        cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value))

// --- instantiated graphs

FORWARD(cudaGraphInstantiate, (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags(executable, graph, flags))
FORWARD(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * executable, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags(executable, graph, flags))
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
  WITH(parameters,
       cuGraphInstantiateWithParams(executable, graph, reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(parameters)));
}
FORWARD(cudaGraphExecGetFlags, (cudaGraphExec_t executable, unsigned long long* flags),
        cuGraphExecGetFlags(executable, reinterpret_cast<cuuint64_t*>(flags)))
FORWARD(cudaGraphUpload, (cudaGraphExec_t executable, cudaStream_t stream), cuGraphUpload(executable, stream))
FORWARD(cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream), cuGraphLaunch(executable, stream))
FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t executable), cuGraphExecDestroy(executable))

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));
  WITH(info, cuGraphExecUpdate(executable, graph, reinterpret_cast<CUgraphExecUpdateResultInfo*>(info)));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return withKernel(parameters, [&](const CUDA_KERNEL_NODE_PARAMS& kernel) {
    return cuGraphExecKernelNodeSetParams(executable, node, &kernel);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return withBox(
      [&](CUDA_MEMCPY3D& box) { return boxOf(*copy, box); },
      [&](const CUDA_MEMCPY3D& box) { return cuGraphExecMemcpyNodeSetParams(executable, node, &box, nullptr); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind kind) {
  return withBox(
      [&](CUDA_MEMCPY3D& box) { return lineOf(to, from, bytes, kind, box); },
      [&](const CUDA_MEMCPY3D& box) { return cuGraphExecMemcpyNodeSetParams(executable, node, &box, nullptr); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const CUDA_MEMSET_NODE_PARAMS fill = toDriver(*parameters);
  return call([&] { return cuGraphExecMemsetNodeSetParams(executable, node, &fill, nullptr); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return finish(cudaErrorInvalidValue);
  const CUDA_HOST_NODE_PARAMS host = toDriver(*parameters);
  return call([&] { return cuGraphExecHostNodeSetParams(executable, node, &host); });
}
FORWARD(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child),
        cuGraphExecChildGraphNodeSetParams(executable, node, child))
FORWARD(cudaGraphNodeSetEnabled, (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int enabled),
        cuGraphNodeSetEnabled(executable, node, enabled))
FORWARD(cudaGraphNodeGetEnabled, (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int* enabled),
        cuGraphNodeGetEnabled(executable, node, enabled))

// For programs built with -default-stream per-thread.
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(stream == nullptr ? cudaStreamPerThread : stream, mode);
}
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(stream == nullptr ? cudaStreamPerThread : stream, graph);
}
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphLaunch(executable, stream == nullptr ? cudaStreamPerThread : stream);
}
cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphUpload(executable, stream == nullptr ? cudaStreamPerThread : stream);
}
cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* parameters) {
  return cudaGraphInstantiateWithParams(executable, graph, parameters);
}

}  // extern "C"
