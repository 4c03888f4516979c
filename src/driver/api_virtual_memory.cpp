// Driver API: virtual memory management. Addresses and memory are made apart and mapped onto each other. None of this
// needs a context.
#include <unistd.h>

#include <bit>
#include <cstdint>

#include "driver/api.hpp"
#include "driver/device.hpp"
#include "machine/virtual_memory.hpp"

using namespace ordito::driver;
using ordito::machine::Access;
using ordito::machine::addressSpace;
using ordito::machine::kMappingGranularity;
using ordito::machine::PhysicalMemory;

namespace {

/// Memory by handle. A handle is let go as often as it was handed out; mappings keep the memory itself.
class Handles {
 public:
  CUmemGenericAllocationHandle add(std::shared_ptr<PhysicalMemory> memory, const CUmemAllocationProp& properties) {
    std::lock_guard lock(mutex_);
    const CUmemGenericAllocationHandle handle = nextHandle_++;
    entries_[handle] = {std::move(memory), properties, 1};
    return handle;
  }
  std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle) const {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(handle);
    return it == entries_.end() ? nullptr : it->second.memory;
  }
  std::optional<CUmemAllocationProp> properties(CUmemGenericAllocationHandle handle) const {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(handle);
    if (it == entries_.end()) return std::nullopt;
    return it->second.properties;
  }
  bool release(CUmemGenericAllocationHandle handle) {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(handle);
    if (it == entries_.end()) return false;
    if (--it->second.uses == 0) entries_.erase(it);
    return true;
  }
  /// The handle of memory that is mapped, once more; a new one if the old ones are gone.
  CUmemGenericAllocationHandle retain(const std::shared_ptr<PhysicalMemory>& memory) {
    {
      std::lock_guard lock(mutex_);
      for (auto& [handle, entry] : entries_)
        if (entry.memory == memory) return ++entry.uses, handle;
    }
    return add(memory, kPlain);
  }

  static constexpr CUmemAllocationProp kPlain = {
      CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_NONE, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, nullptr, {}};

 private:
  struct Entry {
    std::shared_ptr<PhysicalMemory> memory;
    CUmemAllocationProp properties;
    int uses;
  };
  mutable std::mutex mutex_;
  std::map<CUmemGenericAllocationHandle, Entry> entries_;
  CUmemGenericAllocationHandle nextHandle_ = 1;
};

Handles& handles() {
  static auto* all = new Handles;
  return *all;
}

bool isGranular(uint64_t value) { return value % kMappingGranularity == 0; }

CUresult invalid(std::string message) { return remember(CUDA_ERROR_INVALID_VALUE, std::move(message)); }

CUresult checkLocation(const CUmemLocation& location) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return remember(CUDA_ERROR_NOT_SUPPORTED, "memory to be mapped can only be the device's, not the host's");
  return findDevice(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult checkProperties(const CUmemAllocationProp* properties) {
  if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  const auto types = properties->requestedHandleTypes;
  if (types != CU_MEM_HANDLE_TYPE_NONE && types != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return remember(CUDA_ERROR_NOT_SUPPORTED, "of shareable handles there are POSIX file descriptors only");
  return checkLocation(properties->location);
}

CUresult setAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc& description) {
  if (CUresult bad = checkLocation(description.location)) return bad;
  const Access access = description.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? Access::ReadWrite
                        : description.flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? Access::Read
                                                                                : Access::None;
  if (addressSpace().setAccess(pointer, bytes, access)) return CUDA_SUCCESS;
  return invalid(fmt::format("{} bytes from {:#x} on are not mapped as a whole", bytes, pointer));
}

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!granularity) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = checkProperties(properties)) return bad;
  *granularity = kMappingGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pointer || bytes == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!isGranular(bytes))
    return invalid(fmt::format("{} bytes of addresses are no multiple of {}", bytes, kMappingGranularity));
  if (alignment != 0 && !std::has_single_bit(alignment)) return CUDA_ERROR_INVALID_VALUE;
  const auto address = addressSpace().reserve(bytes, std::max<uint64_t>(alignment, kMappingGranularity), wanted);
  if (!address) return remember(address.error());
  *pointer = *address;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (addressSpace().release(pointer, bytes)) return CUDA_SUCCESS;
  return invalid(
      fmt::format("{} bytes at {:#x} are no reservation, or something is still mapped there", bytes, pointer));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!handle || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = checkProperties(properties)) return bad;
  if (bytes == 0 || !isGranular(bytes))
    return invalid(fmt::format("{} bytes of memory are no multiple of {}", bytes, kMappingGranularity));
  auto memory = PhysicalMemory::create(findDevice(properties->location.id)->memory, bytes);
  if (!memory) return remember(memory.error());
  CUmemAllocationProp kept = *properties;
  kept.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
  *handle = handles().add(std::move(*memory), kept);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return handles().release(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  auto memory = handles().find(handle);
  if (!memory || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!isGranular(pointer) || !isGranular(bytes) || !isGranular(offset))
    return invalid(fmt::format("address, size and offset of a mapping must be multiples of {}", kMappingGranularity));
  if (addressSpace().map(pointer, bytes, std::move(memory), offset)) return CUDA_SUCCESS;
  return invalid(
      fmt::format("{} bytes at {:#x} are not reserved, in use already, or more than the memory has", bytes, pointer));
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* context = nullptr;
  if (currentContext(context) == CUDA_SUCCESS) context->group.synchronizeAll();  // a kernel may still use it
  if (addressSpace().unmap(pointer, bytes)) return CUDA_SUCCESS;
  return invalid(fmt::format("{} bytes at {:#x} are not whole mappings", bytes, pointer));
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* descriptions, size_t count) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!descriptions || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (CUresult bad = setAccess(pointer, bytes, descriptions[i])) return bad;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = checkLocation(*location)) return bad;
  const auto access = addressSpace().access(pointer);
  if (!access) return CUDA_ERROR_INVALID_VALUE;
  *flags = *access == Access::ReadWrite ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : *access == Access::Read    ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                        : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto known = handles().properties(handle);
  if (!properties || !known) return CUDA_ERROR_INVALID_VALUE;
  *properties = *known;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto memory = addressSpace().memoryAt(reinterpret_cast<uint64_t>(address));
  if (!handle || !memory) return CUDA_ERROR_INVALID_VALUE;
  *handle = handles().retain(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto memory = handles().find(handle);
  const auto properties = handles().properties(handle);
  if (!shareable || !memory || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || properties->requestedHandleTypes != type)
    return CUDA_ERROR_INVALID_VALUE;
  const int file = dup(memory->file());
  if (file < 0) return remember(CUDA_ERROR_OPERATING_SYSTEM, "the process has too many open files");
  *static_cast<int*>(shareable) = file;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  auto memory = PhysicalMemory::adopt(static_cast<int>(reinterpret_cast<intptr_t>(shareable)));
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  CUmemAllocationProp properties = Handles::kPlain;
  properties.requestedHandleTypes = type;
  *handle = handles().add(std::move(memory), properties);
  return CUDA_SUCCESS;
}
