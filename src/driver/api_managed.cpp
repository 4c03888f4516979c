// Driver API: managed memory, where it should be and who will use it. It is where it is: prefetching and advising are
// asked with sense and remembered (managed_advice.hpp).
#include <algorithm>
#include <cstring>
#include <optional>

#include "driver/api.hpp"
#include "driver/device.hpp"
#include "driver/managed_advice.hpp"
#include "driver/memory_pool.hpp"
#include "machine/memory.hpp"

using namespace ordito::driver;
using ordito::machine::allocations;
using ordito::machine::MemoryKind;

namespace {

bool isManaged(CUdeviceptr pointer, size_t bytes) {
  const auto allocation = allocations().find(pointer);
  return allocation && allocation->kind == MemoryKind::Managed &&
         bytes <= allocation->address + allocation->bytes - pointer;
}

CUmemLocation locationOf(CUdevice device) {
  return {device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/// A place of managed memory in one form for each: a device, the host, a node of it.
CUresult checkLocation(CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return findDevice(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST: location = locationOf(CU_DEVICE_CPU); return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return location.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult advise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  if (!isManaged(pointer, bytes)) return CUDA_ERROR_INVALID_VALUE;
  // The manual: advice on reading ignores the location.
  const bool isOnReading = advice == CU_MEM_ADVISE_SET_READ_MOSTLY || advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY;
  if (CUresult bad = isOnReading ? CUDA_SUCCESS : checkLocation(location)) return bad;
  const bool isOnUsers = advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (isOnUsers && location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA) return CUDA_ERROR_INVALID_VALUE;
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  if (memoryPools().ownerOf(allocations().find(pointer)->address))
    return remember(CUDA_ERROR_NOT_SUPPORTED, "memory of a managed pool takes no advice: it is where its pool is");
  adviceOfMemory().change(pointer, bytes, [&](Advice& each) {
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: each.isReadMostly = true; break;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: each.isReadMostly = false; break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: each.preferred = location; break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: each.preferred = Advice::kNowhere; break;
      case CU_MEM_ADVISE_SET_ACCESSED_BY: each.users |= Advice::bitOf(location.id); break;
      case CU_MEM_ADVISE_UNSET_ACCESSED_BY: each.users &= ~Advice::bitOf(location.id); break;
    }
  });
  return CUDA_SUCCESS;
}

CUresult prefetch(CUdeviceptr pointer, size_t bytes, CUmemLocation location, CUstream handle) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (CUresult bad = checkLocation(location)) return bad;
  if (!isManaged(pointer, bytes)) return CUDA_ERROR_INVALID_VALUE;
  adviceOfMemory().change(pointer, bytes, [&](Advice& each) { each.prefetched = location; });
  return CUDA_SUCCESS;
}

/// The number that all pieces answer, or `otherwise`.
template <class Answer>
int common(const std::vector<Advice>& all, int otherwise, Answer&& answer) {
  const int first = answer(all.front());
  const bool areEqual = std::ranges::all_of(all, [&](const Advice& each) { return answer(each) == first; });
  return areEqual ? first : otherwise;
}

/// Which devices use all of it, in order, and the host behind them; what is left of the list is no device.
void listUsers(const std::vector<Advice>& all, int* list, size_t count) {
  uint64_t users = ~uint64_t{0};
  for (const Advice& each : all) users &= each.users;
  size_t k = 0;
  for (CUdevice device = 0; device < 63 && k < count; ++device)
    if (users & Advice::bitOf(device)) list[k++] = device;
  if (users & Advice::bitOf(CU_DEVICE_CPU) && k < count) list[k++] = CU_DEVICE_CPU;
  std::fill(list + k, list + count, CU_DEVICE_INVALID);
}

int ordinalOf(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_NONE) return CU_DEVICE_INVALID;
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

CUresult answer(int* data, size_t count, CUmem_range_attribute attribute, const std::vector<Advice>& all) {
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    listUsers(all, data, count);
    return CUDA_SUCCESS;
  }
  if (count != 1) return CUDA_ERROR_INVALID_VALUE;
  const auto preferred = [&](auto&& part) {
    return common(all, CU_DEVICE_INVALID, [&](const Advice& each) { return part(each.preferred); });
  };
  const auto prefetched = [&](auto&& part) {
    return common(all, CU_DEVICE_INVALID, [&](const Advice& each) { return part(each.prefetched); });
  };
  const auto id = [](const CUmemLocation& location) { return location.id; };
  const auto type = [](const CUmemLocation& location) { return static_cast<int>(location.type); };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      *data = common(all, 0, [](const Advice& each) { return int{each.isReadMostly}; });
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *data = preferred(ordinalOf); return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *data = std::max(0, preferred(type)); return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *data = preferred(id); return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *data = prefetched(ordinalOf); return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *data = std::max(0, prefetched(type)); return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *data = prefetched(id); return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUstream own(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

/// Whether the pieces of a batch are managed memory; for no stream, since nothing is to be done in one.
CUresult checkBatch(const CUdeviceptr* pointers, const size_t* sizes, size_t count, unsigned long long flags,
                    CUstream handle) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (!pointers || !sizes || count == 0 || flags) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < count; ++k)
    if (!isManaged(pointers[k], sizes[k])) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// `starts[k]`: the first piece that goes to the k-th location.
CUresult prefetchBatch(const CUdeviceptr* pointers, const size_t* sizes, size_t count, const CUmemLocation* locations,
                       const size_t* starts, size_t locationCount, unsigned long long flags, CUstream stream) {
  if (CUresult bad = checkBatch(pointers, sizes, count, flags, stream)) return bad;
  if (!locations || !starts || locationCount == 0 || locationCount > count || starts[0] != 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < locationCount; ++k) {
    CUmemLocation location = locations[k];
    if (CUresult bad = checkLocation(location)) return bad;
    if (starts[k] >= count || (k && starts[k] <= starts[k - 1])) return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t k = 0, at = 0; k < count; ++k) {
    if (at + 1 < locationCount && starts[at + 1] == k) ++at;
    if (CUresult bad = prefetch(pointers[k], sizes[k], locations[at], stream)) return bad;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice to, CUstream stream) {
  return prefetch(pointer, bytes, locationOf(to), stream);
}

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device) {
  ORDITO_CONTEXT(context);
  (void)context;
  return advise(pointer, bytes, advice, locationOf(device));
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataBytes, CUmem_range_attribute attribute, CUdeviceptr pointer,
                                size_t bytes) {
  ORDITO_CONTEXT(context);
  (void)context;
  if (!data || dataBytes == 0 || dataBytes % sizeof(int) || bytes == 0 || !isManaged(pointer, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return answer(static_cast<int*>(data), dataBytes / sizeof(int), attribute, adviceOfMemory().of(pointer, bytes));
}

extern "C" {

CUresult cuMemRangeGetAttributes(void** data, size_t* dataBytes, CUmem_range_attribute* attributes, size_t count,
                                 CUdeviceptr pointer, size_t bytes) {
  if (!data || !dataBytes || !attributes || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t k = 0; k < count; ++k)
    if (CUresult bad = cuMemRangeGetAttribute(data[k], dataBytes[k], attributes[k], pointer, bytes)) return bad;
  return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
  return flags ? CUDA_ERROR_INVALID_VALUE : prefetch(pointer, bytes, location, stream);
}
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned int flags,
                                    CUstream stream) {
  return cuMemPrefetchAsync_v2(pointer, bytes, location, flags, own(stream));
}

CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  ORDITO_CONTEXT(context);
  (void)context;
  return advise(pointer, bytes, advice, location);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                                 size_t* starts, size_t locationCount, unsigned long long flags, CUstream stream) {
  return prefetchBatch(pointers, sizes, count, locations, starts, locationCount, flags, stream);
}
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                                      size_t* starts, size_t locationCount, unsigned long long flags, CUstream stream) {
  return prefetchBatch(pointers, sizes, count, locations, starts, locationCount, flags, own(stream));
}

// What is discarded may hold anything from then on: also what it held.
CUresult cuMemDiscardBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, unsigned long long flags,
                                CUstream stream) {
  return checkBatch(pointers, sizes, count, flags, stream);
}
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr* pointers, size_t* sizes, size_t count, unsigned long long flags,
                                     CUstream stream) {
  return checkBatch(pointers, sizes, count, flags, own(stream));
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                                           size_t* starts, size_t locationCount, unsigned long long flags,
                                           CUstream stream) {
  return prefetchBatch(pointers, sizes, count, locations, starts, locationCount, flags, stream);
}
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr* pointers, size_t* sizes, size_t count,
                                                CUmemLocation* locations, size_t* starts, size_t locationCount,
                                                unsigned long long flags, CUstream stream) {
  return prefetchBatch(pointers, sizes, count, locations, starts, locationCount, flags, own(stream));
}

}  // extern "C"
