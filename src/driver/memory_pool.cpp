// See memory_pool.hpp.
#include "driver/memory_pool.hpp"

#include <algorithm>
#include <cstring>

namespace ordito::driver {

namespace {

/// So much at a time a GPU's driver reserves for a pool, as seen on an H200 with driver 580.
constexpr uint64_t kChunk = 32u << 20;

uint64_t inChunks(uint64_t bytes) { return (bytes + kChunk - 1) / kChunk * kChunk; }

/// Some pool holds more than is in use; what waits asks this first.
std::atomic<bool> isAnythingUnused{false};

template <class T>
CUresult answer(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

}  // namespace

void MemoryPool::add(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_.become(used_.now + bytes);
  held_ = std::max(held_, used_.now);
  if (used_.now > reserved_.now) reserved_.become(inChunks(used_.now));
}

void MemoryPool::remove(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_.now -= bytes;
  isAnythingUnused = true;
}

void MemoryPool::trim(uint64_t least) {
  std::lock_guard lock(mutex_);
  reserved_.now = std::min(reserved_.now, inChunks(std::max(held_, least)));
}

void MemoryPool::trimAfterWait() {
  std::lock_guard lock(mutex_);
  held_ = used_.now;
  reserved_.now = std::min(reserved_.now, std::max(inChunks(held_), releaseThreshold_ / kChunk * kChunk));
}

CUresult MemoryPool::set(CUmemPool_attribute attribute, const void* value) {
  std::lock_guard lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *static_cast<const int*>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      releaseThreshold_ = *static_cast<const cuuint64_t*>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: {
      if (*static_cast<const cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
      Count& count = attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? used_ : reserved_;
      count.high = count.now;
      return CUDA_SUCCESS;
    }
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult MemoryPool::get(CUmemPool_attribute attribute, void* value) {
  std::lock_guard lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return answer(value, reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return answer(value, releaseThreshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return answer(value, reserved_.now);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return answer(value, reserved_.high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return answer(value, used_.now);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return answer(value, used_.high);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

MemoryPools::MemoryPools() : current(devices().size()) {
  for (Device* device : devices()) {
    standard.push_back(static_cast<CUmemoryPool>(table.add(std::make_shared<MemoryPool>(*device))));
    current[static_cast<size_t>(device->ordinal)] = standard.back();
  }
}

void MemoryPools::enter(uint64_t address, uint64_t bytes, const std::shared_ptr<MemoryPool>& pool) {
  pool->add(bytes);
  std::lock_guard lock(mutex);
  owner[address] = pool;
}

void MemoryPools::leave(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex);
  const auto it = owner.find(address);
  if (it == owner.end()) return;
  it->second->remove(bytes);
  owner.erase(it);
}

bool MemoryPools::owns(uint64_t address) {
  std::lock_guard lock(mutex);
  return owner.contains(address);
}

MemoryPools& memoryPools() {
  static auto* all = new MemoryPools;
  return *all;
}

void trimPoolsAfterWait() {
  if (!isAnythingUnused.exchange(false)) return;
  memoryPools().table.findIf([](MemoryPool& pool) {
    pool.trimAfterWait();
    return false;
  });
}

}  // namespace ordito::driver
