// Reserve, commit, guard, account. See memory.hpp for why.
#include "machine/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "machine/device_heap.hpp"
#include "machine/listener.hpp"

namespace ordito::machine {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignment = 512;
constexpr uint64_t kHugePage = 2u << 20;
constexpr int kReservation = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr int kOutOfMemory = 2;         // CUDA_ERROR_OUT_OF_MEMORY
constexpr uint64_t kLeast = 64u << 20;  // addresses reserved for a GPU

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}  // NOLINT: addresses are what this file is about

/// A line "Name:  123 kB" of /proc/meminfo in bytes.
uint64_t memInfo(const std::string& name) {
  std::ifstream in("/proc/meminfo");
  std::string word;
  uint64_t kilobytes = 0;
  while (in >> word)
    if (word == name && in >> kilobytes) return kilobytes * 1024;
  return 0;
}

/// What the process may use at most: the container's limit if there is one.
uint64_t containerLimit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream in(path);
    uint64_t limit = 0;
    if (in >> limit) return limit;
  }
  return ~uint64_t{0};
}

void adviseHuge(uint64_t begin, uint64_t bytes) {
  if (bytes >= kHugePage) madvise(pointer(begin), bytes, MADV_HUGEPAGE);
}

bool writeAll(int file, const char* from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t written = pwrite(file, from + done, bytes - done, static_cast<off_t>(done));
    if (written <= 0) return false;
    done += static_cast<uint64_t>(written);
  }
  return true;
}

/// A file that holds these pages from now on, in their place; -1 if the operating system has none.
int fileOf(uint64_t begin, uint64_t bytes) {
  const int file = memfd_create("shared device memory", MFD_CLOEXEC);
  if (file < 0) return -1;
  const bool isMoved =
      ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
      writeAll(file, static_cast<const char*>(pointer(begin)), bytes) &&
      mmap(pointer(begin), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  if (isMoved) return file;
  close(file);
  return -1;
}

}  // namespace

// --- the map

AllocationMap& allocations() {
  static auto* map = new AllocationMap;  // never destroyed: atexit handlers of user programs still free memory
  return *map;
}

void AllocationMap::add(Allocation allocation) {
  {
    std::unique_lock lock(mutex_);
    allocation.id = nextId_++;
    byAddress_[allocation.address] = allocation;
  }
  raiseAllocated(allocation);
}

std::optional<Allocation> AllocationMap::remove(uint64_t address, MemoryKind kind) {
  std::unique_lock lock(mutex_);
  auto it = byAddress_.find(address);
  if (it == byAddress_.end() || it->second.kind != kind) return std::nullopt;
  Allocation found = it->second;
  byAddress_.erase(it);
  lock.unlock();
  raiseFreed(found);
  return found;
}

std::optional<Allocation> AllocationMap::find(uint64_t pointer) const {
  std::shared_lock lock(mutex_);
  auto it = byAddress_.upper_bound(pointer);
  if (it == byAddress_.begin()) return std::nullopt;
  --it;
  if (!it->second.contains(pointer)) return std::nullopt;
  return it->second;
}

std::vector<Allocation> AllocationMap::all() const {
  std::vector<Allocation> all;
  std::shared_lock lock(mutex_);
  for (const auto& [address, allocation] : byAddress_) all.push_back(allocation);
  return all;
}

std::optional<Allocation> AllocationMap::nearest(uint64_t pointer) const {
  std::shared_lock lock(mutex_);
  auto above = byAddress_.upper_bound(pointer);
  std::optional<Allocation> below;
  if (above != byAddress_.begin()) below = std::prev(above)->second;
  if (above == byAddress_.end()) return below;
  if (!below || (!below->contains(pointer) && pointer - (below->address + below->bytes) > above->first - pointer))
    return above->second;
  return below;
}

uint64_t AllocationMap::bytesFrom(uint64_t pointer) const {
  std::shared_lock lock(mutex_);
  auto it = byAddress_.upper_bound(pointer);
  if (it == byAddress_.begin()) return 0;
  --it;
  if (!it->second.contains(pointer)) return 0;
  uint64_t end = it->first + it->second.bytes;
  for (++it; it != byAddress_.end() && it->first == end; ++it) end += it->second.bytes;
  return end - pointer;
}

bool AllocationMap::overlaps(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  auto it = byAddress_.lower_bound(address + bytes);
  if (it == byAddress_.begin()) return false;
  --it;
  return it->second.address + it->second.bytes > address;
}

size_t AllocationMap::size() const {
  std::shared_lock lock(mutex_);
  return byAddress_.size();
}

// --- device memory

DeviceMemory::DeviceMemory(int device, uint64_t bytes) : device_(device), total_(bytes) {
  // Addresses are free: four times the memory leaves room for a guard behind every page and for slow reuse of freed
  // addresses.
  for (uint64_t reserve = std::max<uint64_t>(roundUp(bytes, kHugePage) * 4, kLeast); reserve >= kLeast; reserve /= 2) {
    void* base = mmap(nullptr, reserve + kHugePage, PROT_NONE, kReservation, -1, 0);
    if (base == MAP_FAILED) continue;
    reservedBytes_ = reserve + kHugePage;
    base_ = reinterpret_cast<uint64_t>(base);
    uint64_t first = roundUp(base_, kHugePage);
    freePages_[first] = reserve / kPage;
    rover_ = first;
    return;
  }
}

DeviceMemory::~DeviceMemory() {
  freeAll();
  if (base_) munmap(pointer(base_), reservedBytes_);
}

/// First free range at or behind the rover that holds `pages` and a guard page; big ones start at a huge page.
std::optional<uint64_t> DeviceMemory::takePages(uint64_t pages) {
  uint64_t unit = pages * kPage >= kHugePage ? kHugePage : kPage;
  auto tryFrom = [&](auto first, auto last) -> std::optional<uint64_t> {
    for (auto it = first; it != last; ++it) {
      auto [begin, length] = *it;
      uint64_t start = roundUp(begin, unit), skipped = (start - begin) / kPage;
      if (length < skipped + pages + 1) continue;
      freePages_.erase(it);
      if (skipped) freePages_[begin] = skipped;
      uint64_t rest = length - skipped - pages - 1, end = start + (pages + 1) * kPage;
      if (rest) freePages_[end] = rest;
      rover_ = end;
      return start;
    }
    return std::nullopt;
  };
  // The range around the rover may begin with what has just been freed. A listener that judges accesses wants to see
  // those that come too late, so its addresses are used again only when there are no others.
  if (auto around = freePages_.upper_bound(rover_); areAccessesWanted() && around != freePages_.begin()) {
    const auto [begin, length] = *--around;
    if (begin < rover_ && rover_ < begin + length * kPage) {
      freePages_[begin] = (rover_ - begin) / kPage;
      freePages_[rover_] = length - (rover_ - begin) / kPage;
    }
  }
  auto middle = freePages_.lower_bound(rover_);
  if (auto found = tryFrom(middle, freePages_.end())) return found;
  return tryFrom(freePages_.begin(), freePages_.end());
}

void DeviceMemory::returnPages(uint64_t begin, uint64_t pages) {
  auto next = freePages_.lower_bound(begin);
  if (next != freePages_.end() && begin + pages * kPage == next->first) {
    pages += next->second;
    next = freePages_.erase(next);
  }
  if (next != freePages_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second * kPage == begin) {
      previous->second += pages;
      return;
    }
  }
  freePages_[begin] = pages;
}

Expected<void> DeviceMemory::checkRoom(uint64_t bytes) const {
  if (bytes == 0 || bytes > total_ || bytes > total_ - used_)
    return failWith(kOutOfMemory, "out of memory: {} bytes asked for, {} of the GPU's {} bytes are free", bytes,
                    total_ - used_, total_);
  if (!hostCanCommit(roundUp(bytes, kPage), used_))
    return failWith(kOutOfMemory, "out of memory: {} bytes asked for, more than this computer has available", bytes);
  return {};
}

Expected<void> DeviceMemory::charge(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (auto room = checkRoom(bytes); !room) return room;
  used_ += bytes;
  charged_ += bytes;
  return {};
}

void DeviceMemory::discharge(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  charged_ -= bytes;
}

Expected<uint64_t> DeviceMemory::allocate(uint64_t bytes, bool isModules, void* owner) {
  std::lock_guard lock(mutex_);
  if (auto room = checkRoom(bytes); !room) return tl::unexpected(room.error());
  uint64_t size = roundUp(bytes, kAlignment), pages = roundUp(size, kPage) / kPage;
  auto begin = takePages(pages);
  if (!begin)
    return failWith(kOutOfMemory, "out of memory: no {} consecutive bytes of device addresses are left", bytes);
  if (mprotect(pointer(*begin), pages * kPage, PROT_READ | PROT_WRITE) != 0) {
    returnPages(*begin, pages + 1);
    return failWith(kOutOfMemory, "out of memory: the operating system refuses {} bytes (too many allocations?)",
                    bytes);
  }
  adviseHuge(*begin, pages * kPage);
  uint64_t address = *begin + pages * kPage - size;
  live_[address] = {*begin, pages};
  used_ += size;
  allocations().add({.address = address,
                     .bytes = bytes,
                     .kind = MemoryKind::Device,
                     .device = device_,
                     .isModules = isModules,
                     .owner = owner});
  return address;
}

void DeviceMemory::release(const Range& range) {
  if (range.file >= 0) {
    void* const begin = pointer(range.begin);
    if (mmap(begin, range.pages * kPage, PROT_NONE, kReservation | MAP_FIXED, -1, 0) == MAP_FAILED)
      mprotect(begin, range.pages * kPage, PROT_NONE);
    close(range.file);
  } else {
    madvise(pointer(range.begin), range.pages * kPage, MADV_DONTNEED);
    mprotect(pointer(range.begin), range.pages * kPage, PROT_NONE);
  }
  returnPages(range.begin, range.pages + 1);
}

bool DeviceMemory::free(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto it = live_.find(address);
  if (it == live_.end()) return false;
  if (auto known = allocations().remove(address, MemoryKind::Device)) used_ -= roundUp(known->bytes, kAlignment);
  release(it->second);
  live_.erase(it);
  return true;
}

Expected<SharedAllocation> DeviceMemory::share(uint64_t pointer) {
  std::lock_guard lock(mutex_);
  const auto known = allocations().find(pointer);
  const auto it = known && !known->isModules ? live_.find(known->address) : live_.end();
  if (it == live_.end()) return SharedAllocation{};
  Range& range = it->second;
  if (range.file < 0) range.file = fileOf(range.begin, range.pages * kPage);
  if (range.file < 0)
    return failWith(kOutOfMemory, "out of memory: the operating system refuses {} bytes that processes share",
                    known->bytes);
  return SharedAllocation{range.file, known->address - range.begin, known->bytes};
}

void DeviceMemory::freeAll() {
  std::lock_guard lock(mutex_);
  for (auto& [address, range] : live_) {
    allocations().remove(address, MemoryKind::Device);
    release(range);
  }
  live_.clear();
  used_ = charged_;
}

uint64_t DeviceMemory::freeBytes() const {
  std::lock_guard lock(mutex_);
  return total_ - used_;
}

// --- device memory of other processes

Expected<uint64_t> mapShared(const SharedAllocation& memory, int device) {
  const uint64_t size = roundUp(memory.offset + memory.bytes, kPage);
  void* const begin = mmap(nullptr, size + kPage, PROT_NONE, kReservation, -1, 0);
  if (begin == MAP_FAILED ||
      mmap(begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.file, 0) == MAP_FAILED)
    return failWith(kOutOfMemory, "out of memory: {} bytes of another process cannot be mapped", memory.bytes);
  const uint64_t address = reinterpret_cast<uint64_t>(begin) + memory.offset;
  allocations().add({.address = address, .bytes = memory.bytes, .kind = MemoryKind::Device, .device = device});
  return address;
}

void unmapShared(uint64_t address) {
  const auto known = allocations().remove(address, MemoryKind::Device);
  if (!known) return;
  const uint64_t begin = address / kPage * kPage;
  munmap(pointer(begin), roundUp(address + known->bytes - begin, kPage) + kPage);
}

// --- host memory

Expected<uint64_t> allocateHost(uint64_t bytes, MemoryKind kind, uint32_t flags, bool isModules, int device,
                                void* owner) {
  uint64_t size = roundUp(bytes, kPage);
  if (bytes == 0 || size < bytes || !hostCanCommit(size, 0))
    return failWith(kOutOfMemory,
                    "out of memory: {} bytes of host memory asked for, more than this computer has available", bytes);
  void* begin = mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    return failWith(kOutOfMemory, "out of memory: the operating system refuses {} bytes of host memory", bytes);
  auto address = reinterpret_cast<uint64_t>(begin);
  mprotect(pointer(address + size), kPage, PROT_NONE);
  adviseHuge(address, size);
  allocations().add({.address = address,
                     .bytes = bytes,
                     .kind = kind,
                     .flags = flags,
                     .device = device,
                     .isModules = isModules,
                     .owner = owner});
  return address;
}

bool freeHost(uint64_t address, MemoryKind kind) {
  auto known = allocations().remove(address, kind);
  if (!known) return false;
  munmap(pointer(address), roundUp(known->bytes, kPage) + kPage);
  return true;
}

bool hostCanCommit(uint64_t bytes, uint64_t promised) {
  constexpr uint64_t kSmall = 16u << 20;    // not worth reading /proc for
  constexpr uint64_t kReserve = 64u << 20;  // left for the rest of the process
  if (bytes < kSmall) return true;
  // What was available before we took any: memory that is promised but not yet touched still shows as available later.
  static const uint64_t atStart = std::min(memInfo("MemAvailable:") + memInfo("SwapFree:"), containerLimit());
  uint64_t now = memInfo("MemAvailable:") + memInfo("SwapFree:");
  return bytes + kReserve <= now && promised + bytes + kReserve <= atStart;
}

std::string describeAddress(uint64_t address) {
  if (address < 64 * 1024) return address ? fmt::format("a null pointer plus {}", address) : "a null pointer";
  if (auto piece = describeDeviceHeap(address)) return *piece;
  auto near = allocations().nearest(address);
  if (!near) return "not in any allocation";
  static constexpr const char* kNames[] = {"device", "pinned", "registered", "managed", "heap"};
  std::string what = fmt::format("the {}-byte {} allocation at {:#x}", near->bytes,
                                 kNames[static_cast<int>(near->kind)], near->address);
  if (near->contains(address)) return fmt::format("byte {} of {}", address - near->address, what);
  uint64_t end = near->address + near->bytes;
  if (address >= end && address == end) return fmt::format("just past the end of {}", what);
  if (address > end) return fmt::format("{} bytes past the end of {}", address - end, what);
  return fmt::format("{} bytes before the start of {}", near->address - address, what);
}

}  // namespace ordito::machine
