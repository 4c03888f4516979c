// Driver API: streams, events, host functions.
#include <algorithm>

#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/memory_pool.hpp"
#include "machine/memory.hpp"

using namespace ordito::driver;

namespace {

CUresult findEvent(CUevent handle, std::shared_ptr<Event>& event) {
  ORDITO_CONTEXT_OR(Context::ownerOf(handle), context, CUDA_ERROR_INVALID_HANDLE);
  event = context->event(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  return event->captured() ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

/// An event of the world outside of a capture: a node that records it, or waits for it, at each launch of the graph.
CUresult captureExternal(const std::shared_ptr<Stream>& stream, CUgraphNodeType type,
                         const std::shared_ptr<Event>& event) {
  const auto captured = capture(stream, [&] { return NodeTask{type, event, {}}; });
  return captured ? *captured
                  : remember(CUDA_ERROR_INVALID_VALUE, "events are external to a capture, and the stream is in none");
}

}  // namespace

// --- streams

CUresult cuStreamCreate(CUstream* handle, unsigned int flags) { return cuStreamCreateWithPriority(handle, flags, 0); }

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned int flags, int priority) {
  ORDITO_CONTEXT(context);
  if (!handle || flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
  *handle =
      static_cast<CUstream>(context->streams.add(context->group.create(flags, std::min(0, std::max(-5, priority)))));
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* const owner = Context::ownerOf(handle);
  const auto stream = owner ? owner->streams.remove(handle) : nullptr;
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  stream->close();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = stream->id();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* result) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  Context* const owner = Context::of(*stream);
  if (!owner) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *result = owner->handle();
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned int flags) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  auto event = context->event(eventHandle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (flags) return captureExternal(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
  if (auto captured = captureWait(stream, event)) return *captured;
  Point point = event->point();
  const uint64_t elsewhere = event->shared() ? event->shared()->last() : 0;
  const bool isElsewhere = elsewhere != 0 && !event->shared()->isReached(elsewhere);
  const bool isHere = point.stream && point.stream != stream;
  if (!isHere && !isElsewhere) return CUDA_SUCCESS;  // never recorded, or in order anyway
  Operation operation;
  operation.quick = !isElsewhere;
  if (isElsewhere)
    operation.run = [shared = event->shared(), elsewhere](std::string&) {
      shared->wait(elsewhere);
      return CUDA_SUCCESS;
    };
  operation.what.kind = ordito::machine::StreamEvent::Kind::EventWait;
  if (isHere) operation.after.push_back(std::move(point));
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned int flags) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult refused = refuseWhileCapturing(stream)) return refused;
  Operation operation;
  operation.evenAfterError = true;
  operation.what.kind = ordito::machine::StreamEvent::Kind::HostFunction;
  operation.run = [=, group = &stream->group()](std::string&) {
    callback(handle, group->error(), data);
    return CUDA_SUCCESS;
  };
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  Operation operation;
  operation.run = [=](std::string&) {
    function(data);
    return CUDA_SUCCESS;
  };
  auto node = [&] { return NodeTask{CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS{function, data}, operation.run}; };
  if (auto captured = capture(stream, node)) return *captured;
  operation.what.kind = ordito::machine::StreamEvent::Kind::HostFunction;
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle) {
  ORDITO_CONTEXT_OF_STREAM(context, handle);
  ORDITO_STREAM(stream, context, handle);
  if (CUresult refused = refuseWhileCapturing(stream)) return refused;
  if (!stream->idle()) return CUDA_ERROR_NOT_READY;
  return stream->group().error();
}

CUresult cuStreamSynchronize(CUstream handle) {
  ORDITO_CONTEXT_OF_STREAM(context, handle);
  ORDITO_STREAM(stream, context, handle);
  if (CUresult refused = refuseWhileCapturing(stream)) return refused;
  stream->synchronize();
  trimPoolsAfterWait();
  return stream->group().error();
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, size_t, unsigned int) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  auto allocation = ordito::machine::allocations().find(pointer);
  bool managed = allocation && allocation->kind == ordito::machine::MemoryKind::Managed;
  return managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// --- events

CUresult cuEventCreate(CUevent* handle, unsigned int flags) {
  ORDITO_CONTEXT(context);
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (!handle || flags & ~kKnown) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<SharedEvent> shared;
  if (flags & CU_EVENT_INTERPROCESS) {
    if (!(flags & CU_EVENT_DISABLE_TIMING))
      return remember(CUDA_ERROR_INVALID_VALUE, "an event for other processes needs CU_EVENT_DISABLE_TIMING, too");
    shared = SharedEvent::create();
    if (!shared) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle =
      static_cast<CUevent>(context->events.add(std::make_shared<Event>(flags, &context->group, std::move(shared))));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* const owner = Context::ownerOf(handle);
  return owner && owner->events.remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

CUresult cuEventRecordWithFlags(CUevent handle, CUstream streamHandle, unsigned int flags) {
  ORDITO_CONTEXT_OF_STREAM(context, streamHandle);
  ORDITO_STREAM(stream, context, streamHandle);
  auto event = context->event(handle);
  if (!event || event->group() != &stream->group()) return CUDA_ERROR_INVALID_HANDLE;
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (flags) return captureExternal(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
  if (auto captured = captureRecord(stream, event)) return *captured;
  event->record(stream);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle) {
  std::shared_ptr<Event> event;
  if (CUresult bad = findEvent(handle, event)) return bad;
  return event->reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
  std::shared_ptr<Event> event;
  if (CUresult bad = findEvent(handle, event)) return bad;
  event->wait();
  trimPoolsAfterWait();
  Context* context = nullptr;
  return currentContextOr(Context::ownerOf(handle), context, CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent startHandle, CUevent endHandle) {
  std::shared_ptr<Event> start, end;
  if (CUresult bad = findEvent(startHandle, start)) return bad;
  if (CUresult bad = findEvent(endHandle, end)) return bad;
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  if (start->group() != end->group()) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->recorded() || !end->recorded() || !start->timed() || !end->timed()) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->reached() || !end->reached()) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time() - start->time()).count();
  return CUDA_SUCCESS;
}
