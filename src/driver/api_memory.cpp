// Driver API: allocation, host and managed memory, pointer attributes, stream-ordered allocation.
#include <algorithm>
#include <cstring>

#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/copy.hpp"
#include "driver/device.hpp"
#include "driver/extensions.hpp"
#include "driver/graph_memory.hpp"
#include "driver/memory_pool.hpp"
#include "machine/listener.hpp"
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

/// Memory of a pool is there for what comes behind this point of the stream, which is nobody's business but a
/// checker's.
void tellOfAllocation(Stream& stream, uint64_t address, uint64_t bytes) {
  if (!ordito::machine::areAccessesWanted()) return;
  Operation operation;
  operation.quick = true;
  operation.what = {.kind = ordito::machine::StreamEvent::Kind::Allocation, .to = address, .bytes = bytes};
  stream.submit(std::move(operation));
}

CUresult allocateFrom(CUmemoryPool handle, CUdeviceptr* pointer, size_t bytes, CUstream streamHandle) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, streamHandle);
  auto pool = memoryPools().table.find(handle);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = allocateDevice(*pool->device.primary, pointer, bytes)) return bad;
  auto node = [&] { return allocationTask(std::make_shared<GraphMemory>(pool->device, *pointer, bytes)); };
  if (auto captured = capture(stream, node)) return *captured;
  tellOfAllocation(*stream, *pointer, bytes);
  memoryPools().enter(*pointer, bytes, pool);
  return CUDA_SUCCESS;
}

template <class T>
CUresult answer(void* data, T value) {
  std::memcpy(data, &value, sizeof value);  // NOLINT(bugprone-sizeof-expression): T may be a pointer
  return CUDA_SUCCESS;
}

unsigned memoryType(const Allocation& a) {
  return a.kind == MemoryKind::Device || a.kind == MemoryKind::Managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

CUresult pointerAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer, const Allocation& a) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return answer(data, Context::of(a).handle());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return answer(data, memoryType(a));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(data, pointer);
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
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return answer(data, static_cast<void*>(nullptr));
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
  context->group.synchronizeAll(!memoryPools().owns(pointer));
  if (Context* owner = contextOf(pointer); owner && owner != context) owner->group.synchronizeAll();
  return freeMemory(pointer);
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
  return ordito::machine::freeHost(reinterpret_cast<uint64_t>(pointer), MemoryKind::Host) ? CUDA_SUCCESS
                                                                                          : CUDA_ERROR_INVALID_VALUE;
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

// Managed memory is where it is: moving and advising change nothing but must be asked with sense.
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice to, CUstream handle) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (to != CU_DEVICE_CPU && !findDevice(to)) return CUDA_ERROR_INVALID_DEVICE;
  auto allocation = allocations().find(pointer);
  if (!allocation || allocation->kind != MemoryKind::Managed) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > allocation->address + allocation->bytes - pointer) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice) {
  ORDITO_CONTEXT(context);
  (void)context;
  auto allocation = allocations().find(pointer);
  if (!allocation || allocation->kind != MemoryKind::Managed) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > allocation->address + allocation->bytes - pointer) return CUDA_ERROR_INVALID_VALUE;
  return advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataBytes, CUmem_range_attribute attribute, CUdeviceptr pointer,
                                size_t bytes) {
  ORDITO_CONTEXT(context);
  (void)context;
  auto allocation = allocations().find(pointer);
  if (!data || dataBytes < 4 || bytes == 0 || !allocation || allocation->kind != MemoryKind::Managed)
    return CUDA_ERROR_INVALID_VALUE;
  bool place = attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION ||
               attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION ||
               attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  return answer(data, place ? CU_DEVICE_INVALID : 0);
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

// --- stream-ordered allocation

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  ORDITO_CONTEXT(context);
  const auto found = context->stream(stream);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  const Context* const owner = Context::of(*found);
  return allocateFrom(memoryPools().currentOf(owner ? owner->device : context->device), pointer, bytes, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocateFrom(pool, pointer, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  ORDITO_CONTEXT_OF_STREAM(context, handle);
  ORDITO_STREAM(stream, context, handle);
  if (pointer == 0) return CUDA_SUCCESS;
  auto allocation = allocations().find(pointer);
  if (!allocation || allocation->address != pointer || allocation->kind != MemoryKind::Device)
    return CUDA_ERROR_INVALID_VALUE;
  Operation operation;
  operation.run = [pointer](std::string&) { return freeMemory(pointer); };
  operation.what = {.kind = ordito::machine::StreamEvent::Kind::Free, .to = pointer, .bytes = allocation->bytes};
  auto node = [&] { return freeTask(pointer); };
  if (auto captured = capture(stream, node)) return *captured;
  memoryPools().leave(pointer, allocation->bytes);  // counted at the call, as a GPU's driver does
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  *pool = memoryPools().standardOf(*device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  *pool = memoryPools().currentOf(*device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  ORDITO_DEVICE(device, ordinal);
  const auto found = memoryPools().table.find(pool);
  if (!found || &found->device != device) return CUDA_ERROR_INVALID_VALUE;
  memoryPools().currentOf(*device) = pool;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pool || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  Device* const device = findDevice(properties->location.id);
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device) return CUDA_ERROR_INVALID_VALUE;
  *pool = static_cast<CUmemoryPool>(memoryPools().table.add(std::make_shared<MemoryPool>(*device)));
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto& standard = memoryPools().standard;
  if (std::find(standard.begin(), standard.end(), pool) != standard.end()) return CUDA_ERROR_INVALID_VALUE;
  const auto removed = memoryPools().table.remove(pool);
  if (!removed) return CUDA_ERROR_INVALID_VALUE;
  auto& current = memoryPools().currentOf(removed->device);
  if (current == pool) current = memoryPools().standardOf(removed->device);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t least) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto pool = memoryPools().table.find(handle);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  pool->trim(least);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto pool = memoryPools().table.find(handle);
  return pool && value ? pool->set(attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto pool = memoryPools().table.find(handle);
  return pool && value ? pool->get(attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return memoryPools().table.find(pool) && (map || count == 0) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!memoryPools().table.find(pool) || !flags || !location) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}
