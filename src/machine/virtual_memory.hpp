// Memory without an address and addresses without memory: what cuMemCreate and cuMemAddressReserve hand out, and
// cuMemMap brings together. A program so makes arrays that grow in place, or shares memory with another process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "machine/memory.hpp"

namespace ordito::machine {

/// What sizes and addresses of mapped memory are multiples of, as on GPUs.
inline constexpr uint64_t kMappingGranularity = 2u << 20;

/// Memory of the virtual GPU as a file without a name, which any number of mappings may show.
class PhysicalMemory {
 public:
  /// Fails with CUDA_ERROR_OUT_OF_MEMORY.
  static Expected<std::shared_ptr<PhysicalMemory>> create(DeviceMemory& device, uint64_t bytes);
  /// The memory behind another process's file descriptor; nothing if it is none.
  static std::shared_ptr<PhysicalMemory> adopt(int file);

  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  uint64_t bytes() const { return bytes_; }
  int file() const { return file_; }

 private:
  PhysicalMemory(DeviceMemory* device, int file, uint64_t bytes) : device_(device), file_(file), bytes_(bytes) {}

  DeviceMemory* device_;  // that counts it; null if another process does
  int file_;
  uint64_t bytes_;
};

enum class Access : uint8_t { None, Read, ReadWrite };

/// The reserved addresses of the process and what is mapped there. Safe to use from many threads. Calls answer false
/// for ranges that make no sense.
class AddressSpace {
 public:
  /// Addresses that are multiples of `alignment`, at `wanted` if that is free. Fails with CUDA_ERROR_OUT_OF_MEMORY.
  Expected<uint64_t> reserve(uint64_t bytes, uint64_t alignment, uint64_t wanted);
  /// Of a whole reservation that nothing is mapped in.
  bool release(uint64_t address, uint64_t bytes);
  bool map(uint64_t address, uint64_t bytes, std::shared_ptr<PhysicalMemory> memory, uint64_t offset);
  /// Of whole mappings.
  bool unmap(uint64_t address, uint64_t bytes);
  bool setAccess(uint64_t address, uint64_t bytes, Access access);
  std::optional<Access> access(uint64_t address) const;
  /// The memory that is mapped where `address` lies.
  std::shared_ptr<PhysicalMemory> memoryAt(uint64_t address) const;

 private:
  struct Mapping {
    uint64_t bytes;
    std::shared_ptr<PhysicalMemory> memory;
    Access access = Access::None;
  };
  using Mappings = std::map<uint64_t, Mapping>;

  bool isReserved(uint64_t address, uint64_t bytes) const;
  bool isMapped(uint64_t address, uint64_t bytes) const;
  /// The mappings that fill [address, address + bytes) exactly; none if there are no such.
  std::optional<std::pair<Mappings::iterator, Mappings::iterator>> filling(uint64_t address, uint64_t bytes);
  Mappings::const_iterator containing(uint64_t address) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> reserved_;  // address → bytes
  Mappings mapped_;
};

AddressSpace& addressSpace();

}  // namespace ordito::machine
