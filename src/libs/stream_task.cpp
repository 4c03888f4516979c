// See stream_task.hpp. Over the driver rather than the runtime, so that programs of CUDA 12 and 13 find the same
// library.
#include "libs/stream_task.hpp"

#include <memory>

#include "driver/extensions.hpp"

namespace ordito::libs {
namespace {

using Task = std::function<void()>;

void runOnce(void* data) {
  const std::unique_ptr<Task> task(static_cast<Task*>(data));
  (*task)();
}

void run(void* data) { (*static_cast<Task*>(data))(); }
void destroy(void* data) { delete static_cast<Task*>(data); }

/// The graph that the stream is captured into; null if it is not.
CUgraph capturedGraph(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* dependencies = nullptr;
  size_t count = 0;
  if (cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &dependencies, &count) != CUDA_SUCCESS) return nullptr;
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

CUresult enqueueForGraph(CUstream stream, CUgraph graph, std::unique_ptr<Task> task) {
  CUuserObject owner = nullptr;
  Task* kept = task.get();
  CUresult result = cuUserObjectCreate(&owner, kept, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (result != CUDA_SUCCESS) return result;
  (void)task.release();
  result = cuGraphRetainUserObject(graph, owner, 1, CU_GRAPH_USER_OBJECT_MOVE);
  if (result == CUDA_SUCCESS) return cuLaunchHostFunc(stream, run, kept);
  cuUserObjectRelease(owner, 1);
  return result;
}

}  // namespace

bool hasContext() {
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuCtxGetCurrent(&context) != CUDA_SUCCESS) return false;
  return context || (cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS && cuCtxSetCurrent(context) == CUDA_SUCCESS);
}

CUresult enqueue(CUstream stream, Task task) {
  if (!hasContext()) return CUDA_ERROR_INVALID_CONTEXT;
  auto kept = std::make_unique<Task>(std::move(task));
  if (CUgraph graph = capturedGraph(stream)) return enqueueForGraph(stream, graph, std::move(kept));
  const CUresult result = cuLaunchHostFunc(stream, runOnce, kept.get());
  if (result == CUDA_SUCCESS) (void)kept.release();
  return result;
}

CUresult await(CUstream stream) { return hasContext() ? cuStreamSynchronize(stream) : CUDA_ERROR_INVALID_CONTEXT; }

void parallelFor(unsigned count, const std::function<void(unsigned)>& body) {
  orditoParallelFor(
      count, [](void* data, unsigned i) { (*static_cast<const std::function<void(unsigned)>*>(data))(i); },
      const_cast<std::function<void(unsigned)>*>(&body));
}

unsigned parallelThreads() { return orditoParallelThreads(); }

}  // namespace ordito::libs
