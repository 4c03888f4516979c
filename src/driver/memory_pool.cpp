// See memory_pool.hpp.
#include "driver/memory_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "driver/managed_advice.hpp"
#include "driver/results.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {

namespace {

constexpr uint64_t kChunk = 32u << 20;

/// Some pool holds more than is in use; what waits asks this first.
std::atomic<bool> isAnythingUnused{false};

template <class T>
CUresult answer(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

}  // namespace

uint64_t inChunks(uint64_t bytes) { return (bytes + kChunk - 1) / kChunk * kChunk; }

CUresult checkPlace(const PoolPlace& place) {
  switch (place.location.type) {
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return remember(CUDA_ERROR_NOT_SUPPORTED,
                      "memory pools are of a NUMA node by its number, not of the current one");
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!findDevice(place.location.id)) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST: break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:  // the described computers have one
      if (place.location.id != 0) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_MEM_LOCATION_TYPE_NONE:
      if (!place.isManaged()) return CUDA_ERROR_INVALID_VALUE;
      break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return place.type == CU_MEM_ALLOCATION_TYPE_PINNED || place.isManaged() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

Expected<uint64_t> MemoryPool::allocate(uint64_t bytes) const {
  Context* const context = device.primary;
  if (place.isDevices()) return device.memory.allocate(bytes, false, context);
  if (!place.isManaged())
    return machine::allocateHost(bytes, machine::MemoryKind::Host, 0, false, device.ordinal, context);
  auto address =
      machine::allocateHost(bytes, machine::MemoryKind::Managed, CU_MEM_ATTACH_GLOBAL, false, device.ordinal, context);
  if (address && place.location.type != CU_MEM_LOCATION_TYPE_NONE)
    adviceOfMemory().change(*address, bytes, [&](Advice& advice) { advice.preferred = place.location; });
  return address;
}

CUresult MemoryPool::setAccess(const CUmemAccessDesc& access) {
  if (place.isManaged()) return CUDA_SUCCESS;
  if (access.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return remember(CUDA_ERROR_NOT_SUPPORTED,
                    "access to a memory pool can be given to devices only, and taken from them");
  if (!findDevice(access.location.id)) return CUDA_ERROR_INVALID_VALUE;
  const bool isOwn = place.isDevices() && access.location.id == place.location.id;
  if (isOwn && access.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard lock(mutex_);
  access_[access.location.id] = access.flags;
  return CUDA_SUCCESS;
}

CUresult MemoryPool::getAccess(CUmemLocation location, CUmemAccess_flags* flags) {
  const bool isDevice = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (isDevice && !findDevice(location.id)) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  if (place.isManaged()) return CUDA_SUCCESS;
  const bool isOwn = place.isDevices() ? isDevice && location.id == place.location.id : !isDevice;
  std::lock_guard lock(mutex_);
  const auto given = access_.find(location.id);
  if (isOwn)
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  else if (isDevice && given != access_.end())
    *flags = given->second;
  return CUDA_SUCCESS;
}

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

CUmemoryPool MemoryPools::make(const PoolPlace& place) {
  Device* const device = findDevice(place.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.location.id : 0);
  return static_cast<CUmemoryPool>(table.add(std::make_shared<MemoryPool>(*device, place)));
}

CUmemoryPool MemoryPools::standardOf(const PoolPlace& place) {
  std::lock_guard lock(mutex_);
  CUmemoryPool& pool = standard_[place];
  if (!pool) pool = make(place);
  return pool;
}

CUmemoryPool MemoryPools::currentOf(const PoolPlace& place) {
  {
    std::lock_guard lock(mutex_);
    if (const auto found = current_.find(place); found != current_.end()) return found->second;
  }
  return standardOf(place);
}

void MemoryPools::setCurrent(const PoolPlace& place, CUmemoryPool pool) {
  std::lock_guard lock(mutex_);
  current_[place] = pool;
}

bool MemoryPools::destroy(CUmemoryPool pool) {
  const auto found = table.find(pool);
  if (!found || standardOf(found->place) == pool || !table.remove(pool)) return false;
  std::lock_guard lock(mutex_);
  std::erase_if(current_, [&](const auto& entry) { return entry.second == pool; });
  return true;
}

void MemoryPools::enter(uint64_t address, uint64_t bytes, const std::shared_ptr<MemoryPool>& pool) {
  pool->add(bytes);
  std::lock_guard lock(mutex_);
  owner_[address] = pool;
}

void MemoryPools::leave(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto it = owner_.find(address);
  if (it == owner_.end()) return;
  it->second->remove(bytes);
  owner_.erase(it);
}

std::shared_ptr<MemoryPool> MemoryPools::ownerOf(uint64_t address) {
  std::lock_guard lock(mutex_);
  const auto it = owner_.find(address);
  return it == owner_.end() ? nullptr : it->second;
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
