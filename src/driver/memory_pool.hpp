// Memory pools, from which streams allocate in their order (cuMemAllocAsync): of a device, of the host, or of managed
// memory. They draw from that memory directly, and what is freed goes back at once. What they hold on to on a GPU is
// only counted.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "cuda.h"
#include "driver/context.hpp"
#include "driver/device.hpp"

namespace ordito::driver {

/// What a GPU's driver reserves for so many bytes: it takes 32 MiB at a time, as seen on an H200 with driver 580.
uint64_t inChunks(uint64_t bytes);

/// Of which kind a pool's memory is, and where it prefers to be.
struct PoolPlace {
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CUmemLocation location{};

  bool isDevices() const {
    return type == CU_MEM_ALLOCATION_TYPE_PINNED && location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  }
  bool isManaged() const { return type == CU_MEM_ALLOCATION_TYPE_MANAGED; }
  auto operator<=>(const PoolPlace& other) const {
    return std::tuple(type, location.type, location.id) <=>
           std::tuple(other.type, other.location.type, other.location.id);
  }
  bool operator==(const PoolPlace& other) const { return (*this <=> other) == 0; }
};

/// Whether there can be pools of this place: CUDA_ERROR_NOT_SUPPORTED for the NUMA node of the calling thread,
/// CUDA_ERROR_INVALID_VALUE for what there is not, as an H200 with driver 580 answers.
CUresult checkPlace(const PoolPlace& place);

class MemoryPool {
 public:
  /// `owner`: the memory's device; the first for a pool of the host.
  MemoryPool(Device& owner, PoolPlace where) : device(owner), place(where) {}

  Expected<uint64_t> allocate(uint64_t bytes) const;
  void add(uint64_t bytes);
  void remove(uint64_t bytes);
  /// Gives back what is not in use, but for `least` bytes. The host has to have waited since it was freed.
  void trim(uint64_t least);
  /// What the wait for a stream, an event or a context does to it: trims it to its release threshold.
  void trimAfterWait();

  CUresult set(CUmemPool_attribute attribute, const void* value);
  CUresult get(CUmemPool_attribute attribute, void* value);

  /// What a place may do with the memory. What can be answered or set depends on the kind of pool, as on an H200.
  CUresult setAccess(const CUmemAccessDesc& access);
  CUresult getAccess(CUmemLocation location, CUmemAccess_flags* flags);
  CUmemoryPool handle() { return reinterpret_cast<CUmemoryPool>(this); }

  Device& device;
  const PoolPlace place;

 private:
  struct Count {
    uint64_t now = 0, high = 0;
    void become(uint64_t bytes) { now = bytes, high = std::max(high, bytes); }
  };

  std::mutex mutex_;
  std::map<int, CUmemAccess_flags> access_;  // by device
  uint64_t releaseThreshold_ = 0;
  int reuse_[3] = {1, 1, 1};
  Count used_, reserved_;
  uint64_t held_ = 0;  // in use, or freed and not waited for
};

/// All of them.
class MemoryPools {
 public:
  HandleTable<MemoryPool> table;

  CUmemoryPool make(const PoolPlace& place);
  /// False for a standard pool, and for what is none.
  bool destroy(CUmemoryPool pool);
  /// The pool that there is from the beginning, and the one that is taken for it.
  CUmemoryPool standardOf(const PoolPlace& place);
  CUmemoryPool currentOf(const PoolPlace& place);
  void setCurrent(const PoolPlace& place, CUmemoryPool pool);

  void enter(uint64_t address, uint64_t bytes, const std::shared_ptr<MemoryPool>& pool);
  void leave(uint64_t address, uint64_t bytes);
  /// Null if an allocation is of none.
  std::shared_ptr<MemoryPool> ownerOf(uint64_t address);

 private:
  std::mutex mutex_;
  std::map<PoolPlace, CUmemoryPool> standard_, current_;
  std::map<uint64_t, std::shared_ptr<MemoryPool>> owner_;  // by allocation
};

inline PoolPlace placeOf(const Device& device) {
  return {CU_MEM_ALLOCATION_TYPE_PINNED, {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal}};
}

MemoryPools& memoryPools();

/// The host has waited for a stream, an event or a context.
void trimPoolsAfterWait();

}  // namespace ordito::driver
