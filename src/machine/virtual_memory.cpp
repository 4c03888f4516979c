// See virtual_memory.hpp. A reservation is a range that the operating system keeps free of everything else; a mapping
// shows a file in part of it.
#include "machine/virtual_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/undefined.hpp"

namespace ordito::machine {
namespace {

constexpr int kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
constexpr int kReservation = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }  // NOLINT: addresses are the matter here

int protection(Access access) {
  switch (access) {
    case Access::None: return PROT_NONE;
    case Access::Read: return PROT_READ;
    default: return PROT_READ | PROT_WRITE;
  }
}

/// Addresses where the program wants them, if they are free.
std::optional<uint64_t> reserveAt(uint64_t wanted, uint64_t bytes) {
  void* got = mmap(pointer(wanted), bytes, PROT_NONE, kReservation | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return std::nullopt;
  if (got == pointer(wanted)) return wanted;
  munmap(got, bytes);  // a kernel that does not know MAP_FIXED_NOREPLACE
  return std::nullopt;
}

}  // namespace

// --- memory

Expected<std::shared_ptr<PhysicalMemory>> PhysicalMemory::create(DeviceMemory& device, uint64_t bytes) {
  if (auto taken = device.charge(bytes); !taken) return tl::unexpected(taken.error());
  const int file = memfd_create("device memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0)
    return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(&device, file, bytes));
  if (file >= 0) close(file);
  device.discharge(bytes);
  return failWith(kOutOfMemory, "out of memory: the operating system refuses {} bytes of shareable memory", bytes);
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::adopt(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return nullptr;
  const int own = dup(file);
  if (own < 0) return nullptr;
  return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(nullptr, own, static_cast<uint64_t>(status.st_size)));
}

PhysicalMemory::~PhysicalMemory() {
  close(file_);
  if (device_) device_->discharge(bytes_);
}

// --- addresses

AddressSpace& addressSpace() {
  static auto* space = new AddressSpace;  // never destroyed: atexit handlers of user programs still unmap
  return *space;
}

Expected<uint64_t> AddressSpace::reserve(uint64_t bytes, uint64_t alignment, uint64_t wanted) {
  std::lock_guard lock(mutex_);
  if (wanted != 0 && wanted % alignment == 0) {
    if (const auto address = reserveAt(wanted, bytes)) return reserved_[*address] = bytes, *address;
  }
  void* begin = mmap(nullptr, bytes + alignment, PROT_NONE, kReservation, -1, 0);
  if (begin == MAP_FAILED) return failWith(kOutOfMemory, "out of memory: no {} consecutive addresses are left", bytes);
  const auto base = reinterpret_cast<uint64_t>(begin);
  const uint64_t address = (base + alignment - 1) / alignment * alignment;
  if (address > base) munmap(begin, address - base);
  const uint64_t behind = base + alignment - address;
  if (behind > 0) munmap(pointer(address + bytes), behind);
  reserved_[address] = bytes;
  return address;
}

bool AddressSpace::release(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto known = reserved_.find(address);
  if (known == reserved_.end() || known->second != bytes || isMapped(address, bytes)) return false;
  munmap(pointer(address), bytes);
  reserved_.erase(known);
  return true;
}

bool AddressSpace::isReserved(uint64_t address, uint64_t bytes) const {
  auto it = reserved_.upper_bound(address);
  if (it == reserved_.begin()) return false;
  --it;
  return address - it->first <= it->second && bytes <= it->second - (address - it->first);
}

bool AddressSpace::isMapped(uint64_t address, uint64_t bytes) const {
  auto it = mapped_.lower_bound(address + bytes);
  if (it == mapped_.begin()) return false;
  --it;
  return it->first + it->second.bytes > address;
}

bool AddressSpace::map(uint64_t address, uint64_t bytes, std::shared_ptr<PhysicalMemory> memory, uint64_t offset) {
  std::lock_guard lock(mutex_);
  if (bytes == 0 || offset > memory->bytes() || bytes > memory->bytes() - offset) return false;
  if (!isReserved(address, bytes) || isMapped(address, bytes)) return false;
  if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file(), static_cast<off_t>(offset)) ==
      MAP_FAILED)
    return false;
  mapped_.emplace(address, Mapping{bytes, std::move(memory)});
  allocations().add({.address = address, .bytes = bytes, .kind = MemoryKind::Device});
  noteWritten(address, bytes);  // the same memory may have been mapped elsewhere
  return true;
}

std::optional<std::pair<AddressSpace::Mappings::iterator, AddressSpace::Mappings::iterator>> AddressSpace::filling(
    uint64_t address, uint64_t bytes) {
  const auto first = mapped_.find(address);
  auto last = first;
  uint64_t filled = 0;
  while (last != mapped_.end() && filled < bytes && last->first == address + filled) {
    filled += last->second.bytes;
    ++last;
  }
  if (filled != bytes || bytes == 0) return std::nullopt;
  return std::pair(first, last);
}

bool AddressSpace::unmap(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto mappings = filling(address, bytes);
  if (!mappings) return false;
  // The addresses stay reserved.
  if (mmap(pointer(address), bytes, PROT_NONE, kReservation | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  for (auto it = mappings->first; it != mappings->second; ++it) allocations().remove(it->first, MemoryKind::Device);
  mapped_.erase(mappings->first, mappings->second);
  return true;
}

bool AddressSpace::setAccess(uint64_t address, uint64_t bytes, Access access) {
  std::lock_guard lock(mutex_);
  const auto mappings = filling(address, bytes);
  if (!mappings || mprotect(pointer(address), bytes, protection(access)) != 0) return false;
  for (auto it = mappings->first; it != mappings->second; ++it) it->second.access = access;
  return true;
}

AddressSpace::Mappings::const_iterator AddressSpace::containing(uint64_t address) const {
  auto it = mapped_.upper_bound(address);
  if (it == mapped_.begin()) return mapped_.end();
  --it;
  return address - it->first < it->second.bytes ? it : mapped_.end();
}

std::optional<Access> AddressSpace::access(uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto it = containing(address);
  if (it == mapped_.end()) return std::nullopt;
  return it->second.access;
}

std::shared_ptr<PhysicalMemory> AddressSpace::memoryAt(uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto it = containing(address);
  return it == mapped_.end() ? nullptr : it->second.memory;
}

}  // namespace ordito::machine
