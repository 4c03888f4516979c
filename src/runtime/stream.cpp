// Streams, events, and host functions in streams. The handles are the driver's own.
#include "runtime/context.hpp"

using namespace ordito::runtime;

namespace {

/// Device of the context that a stream belongs to.
CUresult deviceOfStream(CUstream stream, int* device) {
  CUcontext context = nullptr;
  if (const CUresult got = cuStreamGetCtx(stream, &context); got != CUDA_SUCCESS) return got;
  if (const CUresult pushed = cuCtxPushCurrent(context); pushed != CUDA_SUCCESS) return pushed;
  const CUresult got = cuCtxGetDevice(device);
  cuCtxPopCurrent(&context);
  return got;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  if (stream == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  if (stream == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (priority == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamGetPriority(stream, priority); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  if (flags == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamGetFlags(stream, flags); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  if (id == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamGetId(stream, id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  if (device == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return deviceOfStream(stream, device); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] { return cuStreamQuery(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call([&] { return cuStreamWaitEvent(stream, event, flags); });
}

// The two callback types differ only in the name of the error's type.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  if (callback == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamAddCallback(stream, reinterpret_cast<CUstreamCallback>(callback), data, flags); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (function == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuLaunchHostFunc(stream, function, data); });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
  return call([&] { return cuStreamAttachMemAsync(stream, address(pointer), length, flags); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuStreamIsCapturing(stream, reinterpret_cast<CUstreamCaptureStatus*>(status)); });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  *value = {};
  if (attribute == cudaLaunchAttributePriority) return cudaStreamGetPriority(stream, &value->priority);
  if (attribute == cudaLaunchAttributeSynchronizationPolicy) value->syncPolicy = cudaSyncPolicyAuto;
  return call([] { return CUDA_SUCCESS; });
}

// Cache windows and waiting policies steer how fast a GPU is, never what it computes.
cudaError_t cudaStreamSetAttribute(cudaStream_t /*stream*/, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap: return call([] { return CUDA_SUCCESS; });
    default: return finish(cudaErrorInvalidValue);
  }
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t /*to*/, cudaStream_t /*from*/) {
  return call([] { return CUDA_SUCCESS; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  if (event == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { return cuEventRecord(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call([&] { return cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] { return cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (milliseconds == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

}  // extern "C"
