// Driver API: stream-ordered allocation, and the memory pools that it takes from.
#include <optional>

#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/device.hpp"
#include "driver/graph_memory.hpp"
#include "driver/memory_pool.hpp"
#include "machine/listener.hpp"
#include "machine/memory.hpp"

using namespace ordito::driver;
using ordito::machine::allocations;
using ordito::machine::MemoryKind;

namespace {

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
  if (!pool || !pointer) return CUDA_ERROR_INVALID_VALUE;
  *pointer = 0;
  if (bytes == 0) return CUDA_SUCCESS;  // not a node either, when it is captured (seen on an H200)
  const bool isHosts = !pool->place.isDevices() && !pool->place.isManaged();
  if (isHosts && captureInfo(stream).status != CU_STREAM_CAPTURE_STATUS_NONE)
    return remember(CUDA_ERROR_NOT_SUPPORTED, "a graph cannot allocate memory of a pool of the host");
  const auto address = pool->allocate(bytes);
  if (!address) return remember(address.error());
  *pointer = *address;
  auto node = [&] { return allocationTask(std::make_shared<GraphMemory>(pool->device, *pointer, bytes)); };
  if (auto captured = capture(stream, node)) return *captured;
  tellOfAllocation(*stream, *pointer, bytes);
  memoryPools().enter(*pointer, bytes, pool);
  return CUDA_SUCCESS;
}

/// The answer of `which(place)` for a place that there is.
template <class Which>
CUresult poolOf(CUmemoryPool* pool, const CUmemLocation* location, CUmemAllocationType type, Which&& which) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pool || !location) return CUDA_ERROR_INVALID_VALUE;
  const PoolPlace place{type, *location};
  if (CUresult bad = checkPlace(place)) return bad;
  *pool = which(place);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  ORDITO_CONTEXT(context);
  const auto found = context->stream(stream);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  const Context* const owner = Context::of(*found);
  return allocateFrom(memoryPools().currentOf(placeOf(owner ? owner->device : context->device)), pointer, bytes,
                      stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocateFrom(pool, pointer, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  ORDITO_CONTEXT_OF_STREAM(context, handle);
  ORDITO_STREAM(stream, context, handle);
  if (pointer == 0) return CUDA_SUCCESS;
  auto allocation = allocations().find(pointer);
  const bool isPools = memoryPools().ownerOf(pointer) != nullptr;
  const bool isGood = isPools || isGraphMemory(pointer) || (allocation && allocation->kind == MemoryKind::Device);
  if (!isGood || !allocation || allocation->address != pointer) return CUDA_ERROR_INVALID_VALUE;
  Operation operation;
  operation.run = [=](std::string&) { return freeMemory(pointer, isPools); };
  operation.what = {.kind = ordito::machine::StreamEvent::Kind::Free, .to = pointer, .bytes = allocation->bytes};
  auto node = [&] { return freeTask(pointer); };
  if (auto captured = capture(stream, node)) return *captured;
  if (!releaseGraphMemory(pointer)) return CUDA_ERROR_INVALID_VALUE;
  memoryPools().leave(pointer, allocation->bytes);  // counted at the call, as a GPU's driver does
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  *pool = memoryPools().standardOf(placeOf(*device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  *pool = memoryPools().currentOf(placeOf(*device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  ORDITO_DEVICE(device, ordinal);
  const auto found = memoryPools().table.find(pool);
  if (!found || found->place != placeOf(*device)) return CUDA_ERROR_INVALID_VALUE;
  memoryPools().setCurrent(found->place, pool);
  return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return poolOf(pool, location, type, [](const PoolPlace& place) { return memoryPools().standardOf(place); });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return poolOf(pool, location, type, [](const PoolPlace& place) { return memoryPools().currentOf(place); });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto found = memoryPools().table.find(pool);
  if (!location || !found || found->place != PoolPlace{type, *location}) return CUDA_ERROR_INVALID_VALUE;
  memoryPools().setCurrent(found->place, pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pool || !properties) return CUDA_ERROR_INVALID_VALUE;
  const PoolPlace place{properties->allocType, properties->location};
  if (CUresult bad = checkPlace(place)) return bad;
  *pool = memoryPools().make(place);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return memoryPools().destroy(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto pool = memoryPools().table.find(handle);
  if (!pool || (!map && count)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < count; ++k)
    if (CUresult bad = pool->setAccess(map[k])) return bad;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const auto pool = memoryPools().table.find(handle);
  return pool && flags && location ? pool->getAccess(*location, flags) : CUDA_ERROR_INVALID_VALUE;
}
