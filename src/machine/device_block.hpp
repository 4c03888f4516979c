// What the device runtime keeps for one running block: its streams and events, launches that are being filled in, and
// each thread's last error. CUDA gives all of these the scope of a block. A block runs on one host thread, so nothing
// here is locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "machine/nesting.hpp"

namespace ordito::machine {

class DeviceBlock {
 public:
  /// A launch that a kernel has asked for and not made yet.
  struct Prepared {
    Child child;
    std::unique_ptr<std::byte[]> buffer;  // for the arguments
    size_t bytes = 0;
  };

  void begin(NestedGrid& grid) { grid_ = &grid; }
  /// Forgets everything; what was launched goes on.
  void end() {
    if (!used_) return;
    *this = {};
  }

  NestedGrid& grid() { return *grid_; }

  /// The stream that all threads of the block share.
  const std::shared_ptr<DeviceStream>& implicitStream() {
    if (!implicit_) implicit_ = use(std::make_shared<DeviceStream>(grid_->shared_from_this()));
    return implicit_;
  }
  uint64_t createStream() { return keep(streams_, std::make_shared<DeviceStream>(grid_->shared_from_this())); }
  uint64_t createEvent() { return keep(events_, std::make_shared<DeviceEvent>()); }
  /// Null for what is no handle of this block.
  std::shared_ptr<DeviceStream> stream(uint64_t handle) const { return find(streams_, handle); }
  std::shared_ptr<DeviceEvent> event(uint64_t handle) const { return find(events_, handle); }
  bool destroyStream(uint64_t handle) { return streams_.erase(handle) > 0; }
  bool destroyEvent(uint64_t handle) { return events_.erase(handle) > 0; }

  /// Returns the buffer's address.
  uint64_t keepPrepared(Prepared prepared) {
    const auto address = reinterpret_cast<uint64_t>(prepared.buffer.get());
    prepared_[address] = std::move(use(prepared));
    return address;
  }
  std::unique_ptr<Prepared> takePrepared(uint64_t address) {
    auto it = prepared_.find(address);
    if (it == prepared_.end()) return nullptr;
    auto taken = std::make_unique<Prepared>(std::move(it->second));
    prepared_.erase(it);
    return taken;
  }

  void setError(uint32_t thread, int error) { errors_[use(thread)] = error; }
  int error(uint32_t thread) const {
    auto it = errors_.find(thread);
    return it == errors_.end() ? 0 : it->second;
  }
  void clearError(uint32_t thread) { errors_.erase(thread); }

 private:
  template <class T>
  using Table = std::unordered_map<uint64_t, std::shared_ptr<T>>;

  template <class T>
  T&& use(T&& value) {
    used_ = true;
    return std::forward<T>(value);
  }
  template <class T>
  uint64_t keep(Table<T>& table, std::shared_ptr<T> object) {
    const auto handle = reinterpret_cast<uint64_t>(object.get());
    table[use(handle)] = std::move(object);
    return handle;
  }
  template <class T>
  static std::shared_ptr<T> find(const Table<T>& table, uint64_t handle) {
    auto it = table.find(handle);
    return it == table.end() ? nullptr : it->second;
  }

  NestedGrid* grid_ = nullptr;
  bool used_ = false;
  std::shared_ptr<DeviceStream> implicit_;
  Table<DeviceStream> streams_;
  Table<DeviceEvent> events_;
  std::unordered_map<uint64_t, Prepared> prepared_;
  std::unordered_map<uint32_t, int> errors_;
};

}  // namespace ordito::machine
