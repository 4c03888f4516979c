// Under -default-stream per-thread a program calls these variants: stream 0, given or implied, is the calling thread's
// own default stream instead of the legacy one that waits for all others.
#include "runtime/call.hpp"

using namespace ordito::runtime;

namespace {

cudaStream_t perThread(cudaStream_t stream) { return stream == nullptr ? cudaStreamPerThread : stream; }

/// A call that returns when it is done: its asynchronous form in the thread's stream, then a wait.
cudaError_t finishInOrder(cudaError_t started) {
  return started == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : started;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy_ptds(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpyAsync(to, from, bytes, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy2D_ptds(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpy2DAsync(to, toPitch, from, fromPitch, width, height, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, size_t toX, size_t toY, cudaArray_const_t from, size_t fromX,
                                          size_t fromY, size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DArrayToArray(to, toX, toY, from, fromX, fromY, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArray_ptds(void* to, size_t toPitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpy2DFromArrayAsync(to, toPitch, from, x, y, width, height, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, size_t x, size_t y, const void* from, size_t fromPitch,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpy2DToArrayAsync(to, x, y, from, fromPitch, width, height, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* parameters) {
  return finishInOrder(cudaMemcpy3DAsync(parameters, cudaStreamPerThread));
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* parameters) {
  return finishInOrder(cudaMemcpy3DPeerAsync(parameters, cudaStreamPerThread));
}

cudaError_t cudaMemcpyFromArray_ptds(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                   cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, cudaStreamPerThread));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind) {
  return finishInOrder(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, cudaStreamPerThread));
}

cudaError_t cudaMemset_ptds(void* pointer, int value, size_t bytes) {
  return finishInOrder(cudaMemsetAsync(pointer, value, bytes, cudaStreamPerThread));
}

cudaError_t cudaMemset2D_ptds(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return finishInOrder(cudaMemset2DAsync(pointer, pitch, value, width, height, cudaStreamPerThread));
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return finishInOrder(cudaMemset3DAsync(pointer, value, extent, cudaStreamPerThread));
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, perThread(stream));
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return cudaEventRecordWithFlags(event, perThread(stream), flags);
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) { return cudaFreeAsync(pointer, perThread(stream)); }

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                             size_t sharedBytes, cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, sharedBytes, perThread(stream));
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return cudaLaunchHostFunc(perThread(stream), function, data);
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                                  cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, sharedBytes, perThread(stream));
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr) return finish(cudaErrorInvalidValue);
  cudaLaunchConfig_t inThread = *config;
  inThread.stream = perThread(config->stream);
  return cudaLaunchKernelExC(&inThread, function, arguments);
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, perThread(stream));
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, perThread(stream));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width,
                                   size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, toPitch, from, fromPitch, width, height, kind, perThread(stream));
}

cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* to, size_t toPitch, cudaArray_const_t from, size_t x, size_t y,
                                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DFromArrayAsync(to, toPitch, from, x, y, width, height, kind, perThread(stream));
}

cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void* from, size_t fromPitch,
                                          size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DToArrayAsync(to, x, y, from, fromPitch, width, height, kind, perThread(stream));
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return cudaMemcpy3DAsync(parameters, perThread(stream));
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return cudaMemcpy3DPeerAsync(parameters, perThread(stream));
}

cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, kind, perThread(stream));
}

cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, perThread(stream));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, perThread(stream));
}

cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                        cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, perThread(stream));
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from, size_t bytes, size_t offset,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, perThread(stream));
}

cudaError_t cudaMemset2DAsync_ptsz(void* pointer, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  return cudaMemset2DAsync(pointer, pitch, value, width, height, perThread(stream));
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  return cudaMemset3DAsync(pointer, value, extent, perThread(stream));
}

cudaError_t cudaMemsetAsync_ptsz(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemsetAsync(pointer, value, bytes, perThread(stream));
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                       unsigned int flags) {
  return cudaStreamAddCallback(perThread(stream), callback, data, flags);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
  return cudaStreamAttachMemAsync(perThread(stream), pointer, length, flags);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) {
  return cudaStreamGetFlags(perThread(stream), flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(perThread(stream), priority);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(perThread(stream), status);
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(perThread(stream)); }

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) { return cudaStreamSynchronize(perThread(stream)); }

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return cudaStreamWaitEvent(perThread(stream), event, flags);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                               cudaStream_t stream);

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                                    cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, sharedBytes, perThread(stream));
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(perThread(stream), id);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(perThread(stream), device);
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                        cudaLaunchAttributeValue* value) {
  return cudaStreamGetAttribute(perThread(stream), attribute, value);
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                        const cudaLaunchAttributeValue* value) {
  return cudaStreamSetAttribute(perThread(stream), attribute, value);
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return cudaStreamCopyAttributes(perThread(to), perThread(from));
}

}  // extern "C"
