// Driver API: allocation, host and managed memory, pointer attributes.
#include <algorithm>
#include <cstring>

#include "driver/api.hpp"
#include "driver/copy.hpp"
#include "driver/device.hpp"
#include "driver/extensions.hpp"
#include "driver/graph_memory.hpp"
#include "driver/memory_pool.hpp"
#include "machine/memory.hpp"

using namespace ordito::driver;
using ordito::machine::Allocation;
using ordito::machine::allocations;
using ordito::machine::MemoryKind;

namespace {

CUresult take(const ordito::Expected<uint64_t>& address, CUdeviceptr* pointer) {
  if (!address) return remember(address.error());
  *pointer = *address;
  return CUDA_SUCCESS;
}

CUresult allocateDevice(Context& context, CUdeviceptr* pointer, size_t bytes) {
  if (!pointer || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return take(context.device.memory.allocate(bytes, false, &context), pointer);
}

ordito::Expected<uint64_t> hostMemory(Context& context, size_t bytes, MemoryKind kind, unsigned flags) {
  return ordito::machine::allocateHost(bytes, kind, flags, false, context.device.ordinal, &context);
}

CUresult allocateHostMemory(Context& context, void** pointer, size_t bytes, MemoryKind kind, unsigned flags) {
  if (!pointer) return CUDA_ERROR_INVALID_VALUE;
  *pointer = nullptr;
  if (bytes == 0) return CUDA_SUCCESS;
  CUdeviceptr address = 0;
  if (CUresult bad = take(hostMemory(context, bytes, kind, flags), &address)) return bad;
  *pointer = reinterpret_cast<void*>(address);
  return CUDA_SUCCESS;
}

/// Whose memory is at an address; null if nobody's.
Context* contextOf(uint64_t address) {
  const auto allocation = allocations().find(address);
  return allocation ? &Context::of(*allocation) : nullptr;
}

std::optional<Allocation> find(const void* pointer) { return allocations().find(reinterpret_cast<uint64_t>(pointer)); }

bool isHost(const Allocation& a) { return a.kind == MemoryKind::Host || a.kind == MemoryKind::Registered; }

template <class T>
CUresult answer(void* data, T value) {
  std::memcpy(data, &value, sizeof value);  // NOLINT(bugprone-sizeof-expression): T may be a pointer
  return CUDA_SUCCESS;
}

unsigned memoryType(const Allocation& a) {
  return a.kind == MemoryKind::Device || a.kind == MemoryKind::Managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

/// Memory of a pool of the host is a device's once that has been given access.
bool isForDevice(const Allocation& a) {
  const auto pool = a.kind == MemoryKind::Host ? memoryPools().ownerOf(a.address) : nullptr;
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (pool) pool->getAccess({CU_MEM_LOCATION_TYPE_DEVICE, a.device}, &flags);
  return flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUresult pointerAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer, const Allocation& a) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return answer(data, Context::of(a).handle());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return answer(data, memoryType(a));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return isForDevice(a) ? answer(data, pointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (a.kind == MemoryKind::Device) return CUDA_ERROR_INVALID_VALUE;
      return answer(data, pointer);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return answer(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return answer(data, static_cast<unsigned long long>(a.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return answer(data, static_cast<unsigned>(a.kind == MemoryKind::Managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, a.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return answer(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, static_cast<CUdeviceptr>(a.address));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, static_cast<size_t>(a.bytes));
    case CU_POINTER_ATTRIBUTE_MAPPED: return answer(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return answer(data, 0ull);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return answer(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer(data, static_cast<unsigned>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
      const auto pool = memoryPools().ownerOf(a.address);
      return answer(data, pool ? pool->handle() : nullptr);
    }
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  ORDITO_CONTEXT(context);
  if (free) *free = context->device.memory.freeBytes();
  if (total) *total = context->device.memory.totalBytes();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  ORDITO_CONTEXT(context);
  context->synchronizeImplicitly();
  return allocateDevice(*context, pointer, bytes);
}

CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned int elementBytes) {
  ORDITO_CONTEXT(context);
  if (!pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (elementBytes != 4 && elementBytes != 8 && elementBytes != 16) return CUDA_ERROR_INVALID_VALUE;
  size_t rows = (width + 511) / 512 * 512;
  if (rows < width || height > ~size_t{0} / rows) return CUDA_ERROR_INVALID_VALUE;
  *pitch = rows;
  context->synchronizeImplicitly();
  return allocateDevice(*context, pointer, rows * height);
}

CUresult cuMemFree(CUdeviceptr pointer) {
  if (pointer == 0) return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
  ORDITO_CONTEXT_OR(contextOf(pointer), context, CUDA_ERROR_INVALID_VALUE);
  // Freeing waits for whatever may still use the memory, as a real driver does; of a pool's memory it assumes that
  // nothing does (CUDA Runtime API, "Stream Ordered Memory Allocator").
  const bool isPools = memoryPools().ownerOf(pointer) != nullptr;
  context->group.synchronizeAll(!isPools);
  if (Context* owner = contextOf(pointer); owner && owner != context) owner->group.synchronizeAll();
  return releaseGraphMemory(pointer) ? freeMemory(pointer, isPools) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  ORDITO_CONTEXT(context);
  (void)context;
  auto allocation = allocations().find(pointer);
  if (!allocation) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = allocation->address;
  if (bytes) *bytes = allocation->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void** pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  ORDITO_CONTEXT(context);
  context->synchronizeImplicitly();
  constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (flags & ~kKnown) return CUDA_ERROR_INVALID_VALUE;
  return allocateHostMemory(*context, pointer, bytes, MemoryKind::Host, flags);
}

CUresult cuMemFreeHost(void* pointer) {
  if (!pointer) return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
  ORDITO_CONTEXT_OR(contextOf(reinterpret_cast<uint64_t>(pointer)), context, CUDA_ERROR_INVALID_VALUE);
  context->group.synchronizeAll();
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (memoryPools().ownerOf(address)) return CUDA_ERROR_INVALID_VALUE;  // cuMemFree is for these
  return ordito::machine::freeHost(address, MemoryKind::Host) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* pointer, void* host, unsigned int flags) {
  ORDITO_CONTEXT(context);
  (void)context;
  if (!pointer || flags) return CUDA_ERROR_INVALID_VALUE;
  auto allocation = find(host);
  if (!allocation || allocation->kind == MemoryKind::Device) return CUDA_ERROR_INVALID_VALUE;
  *pointer = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* host) {
  ORDITO_CONTEXT(context);
  (void)context;
  auto allocation = find(host);
  if (!flags || !allocation || !isHost(*allocation)) return CUDA_ERROR_INVALID_VALUE;
  // With unified addressing all host memory is mapped.
  *flags = allocation->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister(void* host, size_t bytes, unsigned int flags) {
  ORDITO_CONTEXT(context);
  if (!host || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  auto address = reinterpret_cast<uint64_t>(host);
  if (allocations().overlaps(address, bytes)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  allocations().add({.address = address,
                     .bytes = bytes,
                     .kind = MemoryKind::Registered,
                     .flags = flags,
                     .device = context->device.ordinal,
                     .owner = context});
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void* host) {
  ORDITO_CONTEXT_OR(contextOf(reinterpret_cast<uint64_t>(host)), context, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  context->group.synchronizeAll();
  auto removed = allocations().remove(reinterpret_cast<uint64_t>(host), MemoryKind::Registered);
  return removed ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  ORDITO_CONTEXT(context);
  if (!pointer || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  return take(hostMemory(*context, bytes, MemoryKind::Managed, flags), pointer);
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  auto allocation = allocations().find(pointer);
  if (!allocation) return CUDA_ERROR_INVALID_VALUE;
  return pointerAttribute(data, attribute, pointer, *allocation);
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  auto allocation = allocations().find(pointer);
  for (unsigned i = 0; i < count; ++i) {
    // For memory unknown to CUDA every attribute is answered with its null value.
    if (allocation && pointerAttribute(data[i], attributes[i], pointer, *allocation) == CUDA_SUCCESS) continue;
    bool wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT || attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER || attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
    bool ordinal = attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    if (wide)
      answer(data[i], uint64_t{0});
    else
      answer(data[i], ordinal ? CU_DEVICE_INVALID : 0);
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!value || !allocations().find(pointer)) return CUDA_ERROR_INVALID_VALUE;
  return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int orditoHostHasRoom(unsigned long long bytes) { return ordito::machine::hostCanCommit(bytes, 0); }

int orditoPointerSides(const void* pointer) { return pointerSides(reinterpret_cast<uint64_t>(pointer)); }
