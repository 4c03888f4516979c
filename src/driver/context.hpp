// Contexts: what belongs to one user of the device, and each host thread's stack of current contexts.
//
// There is one primary context per device; cuCtxCreate makes further ones. Context objects live for ever, so that a
// stale handle is found out and not followed; the primary one comes back to life when it is retained after a reset.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "cuda.h"
#include "driver/device.hpp"
#include "driver/stream.hpp"

namespace ordito::driver {

class Module;

/// Live objects of one kind by handle.
template <class T>
class HandleTable {
 public:
  void* add(std::shared_ptr<T> object) {
    void* handle = object.get();
    std::lock_guard lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }
  std::shared_ptr<T> find(const void* handle) const {
    std::lock_guard lock(mutex_);
    auto it = objects_.find(handle);
    return it == objects_.end() ? nullptr : it->second;
  }
  /// The first for which `isWanted(object)`; null if there is none.
  template <class Predicate>
  std::shared_ptr<T> findIf(const Predicate& isWanted) const {
    std::lock_guard lock(mutex_);
    auto it = std::ranges::find_if(objects_, [&](const auto& entry) { return isWanted(*entry.second); });
    return it == objects_.end() ? nullptr : it->second;
  }
  std::shared_ptr<T> remove(const void* handle) {
    std::lock_guard lock(mutex_);
    auto it = objects_.find(handle);
    if (it == objects_.end()) return nullptr;
    auto object = std::move(it->second);
    objects_.erase(it);
    return object;
  }
  std::vector<std::shared_ptr<T>> takeAll() {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> all;
    for (auto& [handle, object] : objects_) all.push_back(std::move(object));
    objects_.clear();
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

class Context {
 public:
  explicit Context(Device& owner);

  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
  /// Null if the handle is no context, dead ones included.
  static Context* from(CUcontext handle);

  /// The context that a stream belongs to; null if that is gone.
  static Context* of(const StreamGroup& group);
  static Context* of(const Stream& stream) { return of(stream.group()); }
  /// The context that memory was made in, the host's among it.
  static Context& of(const machine::Allocation& allocation);

  /// The stream that a handle means for the calling thread: the special ones are this context's, others may be of any.
  /// Null for a bad handle.
  std::shared_ptr<Stream> stream(CUstream handle);
  /// An event of this context or another; null for a bad handle.
  std::shared_ptr<Event> event(CUevent handle);

  /// The context that a stream, an event or a module is of, whichever is current; null for a bad handle and for the
  /// special streams.
  static Context* ownerOf(CUstream handle);
  static Context* ownerOf(CUevent handle);
  static Context* ownerOf(CUmodule handle);
  std::shared_ptr<Stream> perThreadStream();

  /// Ends everything that belongs to the context: waits, then frees streams, events, modules and its device's memory.
  /// Memory pools draw from that of the primary context.
  void destroy();
  void revive();
  /// Waits for everything if allocations are to do so: the variable ORDITO_IMPLICIT_SYNC (CUDA C++ Programming Guide,
  /// "Implicit Synchronization").
  void synchronizeImplicitly();
  /// Alive, or brought back: a primary context that was reset may be made current by those who retained it.
  bool usable();

  Device& device;
  const uint64_t id;
  StreamGroup group;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<Module> modules;
  std::atomic<bool> alive{true};
  std::atomic<unsigned> flags{0};
  std::atomic<int> retained{0};  // primary context: cuDevicePrimaryCtxRetain calls
  std::mutex settingsMutex;
  std::map<int, size_t> limits;
  std::set<const Context*> peers;  // whose memory its kernels may use
  CUfunc_cache cacheConfig = CU_FUNC_CACHE_PREFER_NONE;
  CUsharedconfig sharedConfig = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;

 private:
  void freeMemory();
  void free(const machine::Allocation& allocation);
};

/// The calling thread's context stack; back() is current.
std::vector<Context*>& contextStack();

/// The current context for a call that needs one: CUDA_ERROR_NOT_INITIALIZED, INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or
/// the context's sticky error. On success `context` is set.
CUresult currentContext(Context*& context);
/// The same without the sticky error: for calls that work on a broken context (destroying things).
CUresult currentContextEvenBroken(Context*& context);

/// The context of a call that names an object of `owner`: the current one, or the owner on a thread that has none, as
/// finalisers run on. Which calls a real driver answers there was seen on an H200 with driver 580: those that end an
/// object, and those that ask for or wait for a stream or an event. `result` if neither is there.
CUresult currentContextOr(Context* owner, Context*& context, CUresult result);

/// cuInit has succeeded, in this very process: not in the one that forked it.
extern std::atomic<bool> initialised;

}  // namespace ordito::driver
