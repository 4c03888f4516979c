// See stream_task.hpp. Over the driver rather than the runtime, so that programs of CUDA 12 and 13 find the same
// library.
#include "libs/stream_task.hpp"

#include <memory>

#include "driver/extensions.hpp"

namespace ordito::libs {

bool hasContext() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuCtxGetCurrent(&context) != CUDA_SUCCESS) return false;
  return context || (cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS);
}

CUresult enqueue(CUstream stream, const char* name, std::function<void()> task, Work work) {
  using Task = std::function<void()>;
  if (!hasContext()) return CUDA_ERROR_INVALID_CONTEXT;
  return orditoLaunchWork(
      stream, name, work.operations, work.bytes, [](void* data) { (*static_cast<Task*>(data))(); },
      std::make_unique<Task>(std::move(task)).release(), [](void* data) { delete static_cast<Task*>(data); });
}

CUresult await(CUstream stream) { return hasContext() ? cuStreamSynchronize(stream) : CUDA_ERROR_INVALID_CONTEXT; }

bool isCaptured(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return hasContext() && cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void parallelFor(unsigned count, const std::function<void(unsigned)>& body) {
  orditoParallelFor(
      count, [](void* data, unsigned i) { (*static_cast<const std::function<void(unsigned)>*>(data))(i); },
      const_cast<std::function<void(unsigned)>*>(&body));
}

unsigned parallelThreads() { return orditoParallelThreads(); }

}  // namespace ordito::libs
