// See context.hpp.
#include "driver/context.hpp"

#include "base/environment.hpp"
#include "base/thread_state.hpp"
#include "driver/array.hpp"
#include "driver/graph_memory.hpp"
#include "driver/managed_advice.hpp"
#include "driver/memory_pool.hpp"
#include "driver/module.hpp"
#include "driver/results.hpp"

namespace ordito::driver {

std::atomic<bool> initialised{false};

namespace {

struct KnownContexts {
  std::mutex mutex;
  std::set<Context*> all;
};
KnownContexts& known() {
  static auto* contexts = new KnownContexts;
  return *contexts;
}

uint64_t nextContextId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

/// The first that `find` finds in a context that is alive.
template <class Find>
auto findInAll(const Find& find) -> decltype(find(std::declval<Context&>())) {
  KnownContexts& contexts = known();
  std::lock_guard lock(contexts.mutex);
  for (Context* context : contexts.all)
    if (context->alive)
      if (auto found = find(*context)) return found;
  return nullptr;
}

CUresult stickyError(Context& context) {
  const CUresult sticky = context.group.error();
  return sticky == CUDA_SUCCESS ? sticky : remember(sticky, context.group.errorMessage());
}

/// The defaults of a real device, as cuCtxGetLimit answers them.
std::map<int, size_t> defaultLimits() {
  return {{CU_LIMIT_STACK_SIZE, 1024},
          {CU_LIMIT_PRINTF_FIFO_SIZE, 8650752},
          {CU_LIMIT_MALLOC_HEAP_SIZE, 8388608},
          {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2},
          {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
          {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
          {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
}

/// A host thread's own default streams, one for each context. Closed when the thread ends.
struct PerThreadStreams {
  std::map<Context*, std::shared_ptr<Stream>> byContext;
  ~PerThreadStreams() {
    for (auto& [context, stream] : byContext) stream->close();
  }
};

}  // namespace

Context::Context(Device& owner) : device(owner), id(nextContextId()), limits(defaultLimits()) {
  KnownContexts& contexts = known();
  std::lock_guard lock(contexts.mutex);
  contexts.all.insert(this);
}

Context* Context::from(CUcontext handle) {
  auto* context = reinterpret_cast<Context*>(handle);
  KnownContexts& contexts = known();
  std::lock_guard lock(contexts.mutex);
  return contexts.all.contains(context) && context->usable() ? context : nullptr;
}

// The driver's manual, cuDevicePrimaryCtxReset: "Resetting the primary context does not release it", so who retained it
// may make it current again.
void Context::synchronizeImplicitly() {
  if (readEnvironment().implicitSync) group.synchronizeAll();
}

bool Context::usable() {
  if (!alive && this == device.primary && retained > 0) revive();
  return alive;
}

std::shared_ptr<Stream> Context::stream(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return group.legacy();
  if (handle == CU_STREAM_PER_THREAD) return perThreadStream();
  if (auto own = streams.find(handle)) return own;
  return findInAll([&](const Context& other) { return other.streams.find(handle); });
}

std::shared_ptr<Event> Context::event(CUevent handle) {
  if (auto own = events.find(handle)) return own;
  return findInAll([&](const Context& other) { return other.events.find(handle); });
}

// The tables know whose a handle is.
Context* Context::ownerOf(CUstream handle) {
  return findInAll([&](Context& each) { return each.streams.find(handle) ? &each : nullptr; });
}
Context* Context::ownerOf(CUevent handle) {
  return findInAll([&](Context& each) { return each.events.find(handle) ? &each : nullptr; });
}
Context* Context::ownerOf(CUmodule handle) {
  return findInAll([&](Context& each) { return each.modules.find(handle) ? &each : nullptr; });
}

Context* Context::of(const StreamGroup& wanted) {
  KnownContexts& contexts = known();
  std::lock_guard lock(contexts.mutex);
  for (Context* context : contexts.all)
    if (&context->group == &wanted && context->alive) return context;
  return nullptr;
}

Context& Context::of(const machine::Allocation& allocation) {
  if (auto* owner = static_cast<Context*>(allocation.owner); owner && owner->alive) return *owner;
  Device* const device = findDevice(allocation.device);
  return *(device ? device : devices().front())->primary;
}

std::shared_ptr<Stream> Context::perThreadStream() {
  auto& stream = threadState<PerThreadStreams>().byContext[this];
  if (!stream) stream = group.create(CU_STREAM_DEFAULT, 0);
  return stream;
}

void Context::destroy() {
  group.synchronizeAll();
  alive = false;
  for (auto& stream : streams.takeAll()) stream->close();
  events.takeAll();
  modules.takeAll();
  {
    std::lock_guard lock(settingsMutex);
    peers.clear();
  }
  freeMemory();
}

void Context::freeMemory() {
  endArraysOf(*this);
  for (const machine::Allocation& each : machine::allocations().all())
    if (each.owner == this && !each.isModules) free(each);
}

/// Also of the host: its pinned memory is no longer mapped, managed memory neither, and what was registered is the
/// program's alone again, as on an H200 (driver 580).
void Context::free(const machine::Allocation& allocation) {
  switch (allocation.kind) {
    case machine::MemoryKind::Device:
      if (endGraphMemory(allocation.address)) return;  // the graph would free what is there by then
      memoryPools().leave(allocation.address, allocation.bytes);
      device.memory.free(allocation.address);
      return;
    case machine::MemoryKind::Host:
    case machine::MemoryKind::Managed:
      memoryPools().leave(allocation.address, allocation.bytes);
      adviceOfMemory().forget(allocation.address, allocation.bytes);
      machine::freeHost(allocation.address, allocation.kind);
      return;
    case machine::MemoryKind::Registered: machine::allocations().remove(allocation.address, allocation.kind); return;
    case machine::MemoryKind::Heap: return;
  }
}

void Context::revive() {
  if (alive) return;
  group.clearError();
  std::lock_guard lock(settingsMutex);
  limits = defaultLimits();
  alive = true;
}

std::vector<Context*>& contextStack() { return threadState<std::vector<Context*>>(); }

CUresult currentContextEvenBroken(Context*& context) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  auto& stack = contextStack();
  if (stack.empty() || !stack.back()) return CUDA_ERROR_INVALID_CONTEXT;
  context = stack.back();
  return context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult currentContext(Context*& context) {
  if (CUresult result = currentContextEvenBroken(context)) return result;
  return stickyError(*context);
}

CUresult currentContextOr(Context* owner, Context*& context, CUresult result) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  auto& stack = contextStack();
  if (!stack.empty() && stack.back()) return currentContext(context);
  if (!owner) return result;
  context = owner;
  return stickyError(*context);
}

}  // namespace ordito::driver
