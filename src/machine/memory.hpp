// The memory that kernels and the host share: device memory, pinned and managed host memory, and the map of all of it.
//
// Every space is ordinary memory of this process, so a device pointer is an ordinary address. What makes it behave like
// a GPU's is the bookkeeping: device memory comes from one reserved address range of the size that the GPU description
// says (times a factor, since guards cost addresses but no memory), pages become accessible when allocated and
// inaccessible when freed, and every allocation ends at a page end with an inaccessible page behind it. A kernel that
// reads past its allocation by more than the padding (under 512 bytes) therefore faults as it would on a GPU with a
// memory checker, for free.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::machine {

enum class MemoryKind : uint8_t {
  Device,      // cuMemAlloc, module variables
  Host,        // cuMemHostAlloc: pinned memory of ours
  Registered,  // cuMemHostRegister: the user's memory
  Managed,     // cuMemAllocManaged, __managed__ variables
  Heap,        // malloc() of kernels, where it is watched (machine/watched_heap.hpp)
};

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;  // as asked for
  MemoryKind kind{};
  uint32_t flags = 0;  // the flags that it was made with
  int device = 0;
  uint64_t id = 0;         // counts up over the process: tells a reused address from the old one
  bool isModules = false;  // a variable of a module: the program does not free it
  void* owner = nullptr;   // the driver's context that it was made in; null: the device's

  bool contains(uint64_t pointer) const { return pointer - address < bytes; }
  /// The host cannot reach it.
  bool isOnDevice() const { return kind == MemoryKind::Device || kind == MemoryKind::Heap; }
};

/// All live allocations of the process by address. Safe to use from many threads.
class AllocationMap {
 public:
  void add(Allocation allocation);
  /// Takes out the allocation that starts at `address` if it has this kind.
  std::optional<Allocation> remove(uint64_t address, MemoryKind kind);
  /// The allocation that contains `pointer`; its end counts as outside.
  std::optional<Allocation> find(uint64_t pointer) const;
  /// The allocation nearest to `pointer`, and a live one containing it is nearest.
  std::optional<Allocation> nearest(uint64_t pointer) const;
  /// How many bytes from `pointer` on are allocated, in one allocation or in several without a gap.
  uint64_t bytesFrom(uint64_t pointer) const;
  /// True if any registered byte lies in [address, address + bytes).
  bool overlaps(uint64_t address, uint64_t bytes) const;
  size_t size() const;
  std::vector<Allocation> all() const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Allocation> byAddress_;
  uint64_t nextId_ = 1;
};

AllocationMap& allocations();

/// An allocation that other processes may map, as part of a file without a name.
struct SharedAllocation {
  int file = -1;        // stays the allocation's
  uint64_t offset = 0;  // where the allocation begins in the file
  uint64_t bytes = 0;
};

/// The device memory of one virtual GPU.
class DeviceMemory {
 public:
  DeviceMemory(int device, uint64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// 512-byte aligned, zero-filled memory. Fails with CUDA_ERROR_OUT_OF_MEMORY when the virtual GPU or the host has too
  /// little.
  Expected<uint64_t> allocate(uint64_t bytes, bool isModules = false, void* owner = nullptr);
  /// False if no allocation starts at `address`.
  bool free(uint64_t address);
  /// Moves the allocation around `pointer` into a file; its address and contents stay, so nothing may use it
  /// meanwhile. A file without descriptor if there is no such allocation of the program's. Fails with
  /// CUDA_ERROR_OUT_OF_MEMORY.
  Expected<SharedAllocation> share(uint64_t pointer);
  /// Frees everything (device reset).
  void freeAll();

  /// Counts memory that lives elsewhere; fails as allocate() does.
  Expected<void> charge(uint64_t bytes);
  void discharge(uint64_t bytes);

  uint64_t totalBytes() const { return total_; }
  uint64_t freeBytes() const;

 private:
  struct Range {
    uint64_t begin, pages;  // pages without the guard
    int file = -1;          // that holds them, if other processes may map them
  };
  std::optional<uint64_t> takePages(uint64_t pages);
  void returnPages(uint64_t begin, uint64_t pages);
  void release(const Range& range);
  Expected<void> checkRoom(uint64_t bytes) const;

  const int device_;
  const uint64_t total_;
  uint64_t reservedBytes_ = 0;
  uint64_t base_ = 0;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> freePages_;  // begin address → pages
  std::map<uint64_t, Range> live_;          // allocation address → its pages
  uint64_t rover_ = 0;  // where the next search starts: freed addresses are not reused at once, so stale pointers fault
  uint64_t used_ = 0;   // includes what is charged
  uint64_t charged_ = 0;  // by charge()
};

/// Pinned or managed memory: page-aligned start, inaccessible page behind. Registers itself in allocations().
/// `device` and `owner` are those that were current.
Expected<uint64_t> allocateHost(uint64_t bytes, MemoryKind kind, uint32_t flags, bool isModules = false, int device = 0,
                                void* owner = nullptr);
bool freeHost(uint64_t address, MemoryKind kind);

/// Device memory of another process in this one's addresses, until unmapShared(). Registers itself in allocations().
Expected<uint64_t> mapShared(const SharedAllocation& memory, int device);
void unmapShared(uint64_t address);

/// Whether the host can back `bytes` more without running out of memory; `promised` is what we have handed out already.
bool hostCanCommit(uint64_t bytes, uint64_t promised);

/// One clause for messages: where `address` lies relative to the nearest allocation, "4096 bytes past the end of the
/// 1048576-byte allocation at 0x…".
std::string describeAddress(uint64_t address);

}  // namespace ordito::machine
