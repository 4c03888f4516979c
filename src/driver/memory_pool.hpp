// Memory pools, from which streams allocate in their order (cuMemAllocAsync). They draw from the device's memory
// directly, and what is freed goes back at once. What they hold on to on a GPU is only counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda.h"
#include "driver/context.hpp"
#include "driver/device.hpp"

namespace ordito::driver {

class MemoryPool {
 public:
  explicit MemoryPool(Device& owner) : device(owner) {}

  void add(uint64_t bytes);
  void remove(uint64_t bytes);
  /// Gives back what is not in use, but for `least` bytes. The host has to have waited since it was freed.
  void trim(uint64_t least);
  /// What the wait for a stream, an event or a context does to it: trims it to its release threshold.
  void trimAfterWait();

  CUresult set(CUmemPool_attribute attribute, const void* value);
  CUresult get(CUmemPool_attribute attribute, void* value);

  Device& device;

 private:
  struct Count {
    uint64_t now = 0, high = 0;
    void become(uint64_t bytes) { now = bytes, high = std::max(high, bytes); }
  };

  std::mutex mutex_;
  uint64_t releaseThreshold_ = 0;
  int reuse_[3] = {1, 1, 1};
  Count used_, reserved_;
  uint64_t held_ = 0;  // in use, or freed and not waited for
};

/// All of them.
struct MemoryPools {
  HandleTable<MemoryPool> table;
  std::vector<CUmemoryPool> standard;              // by device
  std::vector<std::atomic<CUmemoryPool>> current;  // by device
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<MemoryPool>> owner;  // by allocation

  MemoryPools();
  std::atomic<CUmemoryPool>& currentOf(const Device& device) { return current[static_cast<size_t>(device.ordinal)]; }
  CUmemoryPool standardOf(const Device& device) const { return standard[static_cast<size_t>(device.ordinal)]; }

  void enter(uint64_t address, uint64_t bytes, const std::shared_ptr<MemoryPool>& pool);
  void leave(uint64_t address, uint64_t bytes);
  bool owns(uint64_t address);
};

MemoryPools& memoryPools();

/// The host has waited for a stream, an event or a context.
void trimPoolsAfterWait();

}  // namespace ordito::driver
