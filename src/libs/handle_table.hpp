// Opaque handles of a library and the objects behind them: one that is unknown, or no longer known, is told from a good
// one, and an object lives as long as a call uses it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace ordito::libs {

template <class Handle, class Object>
class HandleTable {
 public:
  Handle add(std::shared_ptr<Object> object) {
    const auto handle = reinterpret_cast<Handle>(object.get());
    const std::scoped_lock lock(mutex_);
    objects_[handle] = std::move(object);
    return handle;
  }
  /// Null if there is none.
  std::shared_ptr<Object> find(Handle handle) const {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  /// One that `isWanted` holds of; null if there is none.
  template <class Predicate>
  std::shared_ptr<Object> findIf(const Predicate& isWanted) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [handle, object] : objects_)
      if (isWanted(*object)) return object;
    return nullptr;
  }
  /// False if there is none.
  bool remove(Handle handle) {
    const std::scoped_lock lock(mutex_);
    return objects_.erase(handle) != 0;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace ordito::libs
