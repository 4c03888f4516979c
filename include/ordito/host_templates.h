// The typed face of the runtime API: cudaMalloc(&pointer_to_T, ...), symbols by reference, kernels by name.
// Included by cuda_runtime.h in every C++ file.
#ifndef ORDITO_HOST_TEMPLATES_H
#define ORDITO_HOST_TEMPLATES_H

// --- memory by the type of the pointer
// -----------------------------------------------------------------------------------
template <class Type>
__cudart_builtin__ static inline cudaError_t cudaMalloc(Type** pointer, size_t bytes) {
  return ::cudaMalloc((void**)(void*)pointer, bytes);
}
template <class Type>
static inline cudaError_t cudaMallocHost(Type** pointer, size_t bytes, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
static inline cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(pointer, bytes, flags);
}
template <class Type>
static inline cudaError_t cudaHostAlloc(Type** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
template <class Type>
static inline cudaError_t cudaHostGetDevicePointer(Type** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class Type>
static inline cudaError_t cudaMallocManaged(Type** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)pointer, bytes, flags);
}
template <class Type>
static inline cudaError_t cudaMallocPitch(Type** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class Type>
static inline cudaError_t cudaMallocAsync(Type** pointer, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)pointer, bytes, stream);
}
template <class Type>
static inline cudaError_t cudaMallocAsync(Type** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, bytes, pool, stream);
}
static inline cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <class Type>
static inline cudaError_t cudaMallocFromPoolAsync(Type** pointer, size_t bytes, cudaMemPool_t pool,
                                                  cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, bytes, pool, stream);
}
template <class Type>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, Type* pointer, size_t length = 0,
                                                   unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)pointer, length, flags);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

// --- symbols: __device__ and __constant__ variables by reference
// ----------------------------------------------------------
template <class Type>
static inline cudaError_t cudaMemcpyToSymbol(const Type& symbol, const void* from, size_t bytes, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, from, bytes, offset, kind);
}
template <class Type>
static inline cudaError_t cudaMemcpyFromSymbol(void* to, const Type& symbol, size_t bytes, size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, (const void*)&symbol, bytes, offset, kind);
}
template <class Type>
static inline cudaError_t cudaMemcpyToSymbolAsync(const Type& symbol, const void* from, size_t bytes, size_t offset = 0,
                                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, from, bytes, offset, kind, stream);
}
template <class Type>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const Type& symbol, size_t bytes, size_t offset = 0,
                                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, bytes, offset, kind, stream);
}
template <class Type>
static inline cudaError_t cudaGetSymbolAddress(void** pointer, const Type& symbol) {
  return ::cudaGetSymbolAddress(pointer, (const void*)&symbol);
}
template <class Type>
static inline cudaError_t cudaGetSymbolSize(size_t* bytes, const Type& symbol) {
  return ::cudaGetSymbolSize(bytes, (const void*)&symbol);
}
template <class Type>
static inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                         const cudaGraphNode_t* dependencies, size_t count,
                                                         const Type& symbol, const void* from, size_t bytes,
                                                         size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, count, (const void*)&symbol, from, bytes, offset,
                                          kind);
}

// --- graphs as CUDA 13 spells them, with a description of each edge
// ------------------------------------------------------------------------------
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                                   size_t count) {
  return ::cudaGraphAddDependencies_v2(graph, from, to, edges, count);
}
static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                                      size_t count) {
  return ::cudaGraphRemoveDependencies_v2(graph, from, to, edges, count);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                            cudaGraphEdgeData* edges, size_t* count) {
  return ::cudaGraphGetEdges_v2(graph, from, to, edges, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                       cudaGraphEdgeData* edges, size_t* count) {
  return ::cudaGraphNodeGetDependencies_v2(node, nodes, edges, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                         cudaGraphEdgeData* edges, size_t* count) {
  return ::cudaGraphNodeGetDependentNodes_v2(node, nodes, edges, count);
}
static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                                           size_t count, struct cudaGraphNodeParams* parameters) {
  return ::cudaGraphAddNode_v2(node, graph, dependencies, edges, count, parameters);
}
#if CUDART_VERSION < 13000
#define ORDITO_13(value)  // with fewer arguments it is the call of CUDA 12
#else
#define ORDITO_13(value) = value
#endif
static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                                   unsigned long long* id ORDITO_13(0), cudaGraph_t* graph ORDITO_13(0),
                                                   const cudaGraphNode_t** dependencies ORDITO_13(0),
                                                   const cudaGraphEdgeData** edges ORDITO_13(0),
                                                   size_t* count ORDITO_13(0)) {
  return ::cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}
#undef ORDITO_13
static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                              const cudaGraphEdgeData* edges, size_t count,
                                                              unsigned int flags = 0) {
  return ::cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, edges, count, flags);
}

// --- managed memory as CUDA 13 spells it
// --------------------------------------------------------------------------------------
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, struct cudaMemLocation location,
                                               unsigned int flags, cudaStream_t stream = 0) {
  return ::cudaMemPrefetchAsync_v2(pointer, bytes, location, flags, stream);
}
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                        struct cudaMemLocation location) {
  return ::cudaMemAdvise_v2(pointer, bytes, advice, location);
}

// --- graphs as CUDA 10 and 11 spelt them
// --------------------------------------------------------------------------------------
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* culprit,
                                               char* text, size_t bytes) {
  if (culprit) *culprit = 0;
  if (text && bytes) *text = 0;
  return ::cudaGraphInstantiate(executable, graph, 0);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* culprit,
                                              enum cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t answer = ::cudaGraphExecUpdate(executable, graph, &info);
  if (culprit) *culprit = info.errorNode;
  if (result) *result = info.result;
  return answer;
}

// --- kernels by name
// -----------------------------------------------------------------------------------------------------
template <class Type>
static inline cudaError_t cudaLaunchKernel(Type* kernel, dim3 grid, dim3 block, void** arguments,
                                           size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)kernel, grid, block, arguments, shared_bytes, stream);
}
template <class Type>
static inline cudaError_t cudaLaunchCooperativeKernel(Type* kernel, dim3 grid, dim3 block, void** arguments,
                                                      size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)kernel, grid, block, arguments, shared_bytes, stream);
}
#if __cplusplus >= 201103L
/// Arguments are converted to the kernel's parameter types first, as a `<<<>>>` launch does.
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                             Arguments&&... arguments) {
  return [&](Parameters... converted) {
    void* pointers[] = {(void*)&converted..., nullptr};
    return ::cudaLaunchKernelExC(config, (const void*)kernel, pointers);
  }(static_cast<Arguments&&>(arguments)...);
}
#endif
template <class Type>
static inline cudaError_t cudaFuncSetCacheConfig(Type* kernel, enum cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void*)kernel, config);
}
template <class Type>
static inline cudaError_t cudaFuncSetSharedMemConfig(Type* kernel, enum cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void*)kernel, config);
}
template <class Type>
static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, Type* kernel) {
  return ::cudaFuncGetAttributes(attributes, (const void*)kernel);
}
template <class Type>
static inline cudaError_t cudaFuncSetAttribute(Type* kernel, enum cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute((const void*)kernel, attribute, value);
}
template <class Type>
static inline cudaError_t cudaFuncGetName(const char** name, Type* kernel) {
  return ::cudaFuncGetName(name, (const void*)kernel);
}
template <class Type>
static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, Type* kernel) {
  return ::cudaGetFuncBySymbol(function, (const void*)kernel);
}
template <class Type>
static inline cudaError_t cudaGetKernel(cudaKernel_t* handle, Type* kernel) {
  return ::cudaGetKernel(handle, (const void*)kernel);
}

// --- occupancy
// -----------------------------------------------------------------------------------------------------------
template <class Type>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Type kernel, int block_size,
                                                                        size_t dynamic_shared_bytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, block_size, dynamic_shared_bytes);
}
template <class Type>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Type kernel,
                                                                                 int block_size,
                                                                                 size_t dynamic_shared_bytes,
                                                                                 unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)kernel, block_size,
                                                                  dynamic_shared_bytes, flags);
}
template <class Type>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Type* kernel, int blocks,
                                                                    int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void*)kernel, blocks, block_size);
}
template <class Type>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Type* kernel,
                                                         const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(clusters, (const void*)kernel, config);
}

/// The block size that keeps the most threads resident on a multiprocessor, the larger block where two do equally well;
/// and the grid that fills the device with such blocks. `shared_bytes(block size)` says how much dynamic shared memory
/// a block takes.
template <class SharedBytes, class Type>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, Type kernel,
                                                                                  SharedBytes shared_bytes,
                                                                                  int block_limit = 0,
                                                                                  unsigned int flags = 0) {
  if (!grid || !block || !kernel) return cudaErrorInvalidValue;
  int device = 0, processors = 0, threads_per_processor = 0, device_limit = 0, warp = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = ::cudaGetDevice(&device);
  if (!error) error = ::cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (!error) {
    error = ::cudaDeviceGetAttribute(&threads_per_processor, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  }
  if (!error) error = ::cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (!error) error = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (!error) error = ::cudaFuncGetAttributes(&attributes, (const void*)kernel);
  if (error) return error;

  int limit = attributes.maxThreadsPerBlock < device_limit ? attributes.maxThreadsPerBlock : device_limit;
  if (block_limit > 0 && block_limit < limit) limit = block_limit;
  int best_threads = 0, best_block = 0, best_blocks = 0;
  // From the largest multiple of a warp downwards; an odd limit itself comes first.
  for (int aligned = (limit + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
    const int size = aligned < limit ? aligned : limit;
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)kernel, size,
                                                                     shared_bytes(size), flags);
    if (error) return error;
    if (size * blocks > best_threads) best_threads = size * blocks, best_block = size, best_blocks = blocks;
    if (best_threads == threads_per_processor) break;
  }
  *block = best_block;
  *grid = best_blocks * processors;
  return cudaSuccess;
}

namespace ordito_detail {
struct ConstantBytes {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};
}  // namespace ordito_detail

template <class SharedBytes, class Type>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Type kernel,
                                                                         SharedBytes shared_bytes,
                                                                         int block_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, shared_bytes, block_limit, 0);
}
template <class Type>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Type kernel,
                                                                      size_t shared_bytes = 0, int block_limit = 0,
                                                                      unsigned int flags = 0) {
  ordito_detail::ConstantBytes bytes = {shared_bytes};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, bytes, block_limit, flags);
}
template <class Type>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Type kernel,
                                                             size_t shared_bytes = 0, int block_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared_bytes, block_limit, 0);
}

#endif
