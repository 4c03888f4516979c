// Stream-ordered allocation and memory pools. The structures that programs pass have the driver's layout under other
// names.
#include "runtime/call.hpp"

using namespace ordito::runtime;

namespace {

CUmemLocation* asDrivers(cudaMemLocation* location) { return reinterpret_cast<CUmemLocation*>(location); }
CUmemAllocationType asDrivers(cudaMemAllocationType type) { return static_cast<CUmemAllocationType>(type); }
CUdeviceptr* addresses(void** pointers) { return reinterpret_cast<CUdeviceptr*>(pointers); }
CUstream perThread(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

cudaError_t prefetch(void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations, size_t* starts,
                     size_t locationCount, unsigned long long flags, cudaStream_t stream) {
  return call([&] {
    return cuMemPrefetchBatchAsync(addresses(pointers), sizes, count, asDrivers(locations), starts, locationCount,
                                   flags, stream);
  });
}

cudaError_t discardAndPrefetch(void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations, size_t* starts,
                               size_t locationCount, unsigned long long flags, cudaStream_t stream) {
  return call([&] {
    return cuMemDiscardAndPrefetchBatchAsync(addresses(pointers), sizes, count, asDrivers(locations), starts,
                                             locationCount, flags, stream);
  });
}

cudaError_t discard(void** pointers, size_t* sizes, size_t count, unsigned long long flags, cudaStream_t stream) {
  return call([&] { return cuMemDiscardBatchAsync(addresses(pointers), sizes, count, flags, stream); });
}

}  // namespace

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    *pointer = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : cuMemAllocAsync(address(pointer), bytes, stream);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeAsync(address(pointer), stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuMemAllocFromPoolAsync(address(pointer), bytes, pool, stream); });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] { return cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call([&] { return cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call([&] { return cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return call([&] { return cuMemGetDefaultMemPool(pool, asDrivers(location), asDrivers(type)); });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return call([&] { return cuMemGetMemPool(pool, asDrivers(location), asDrivers(type)); });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return call([&] { return cuMemSetMemPool(asDrivers(location), asDrivers(type), pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&] { return cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] { return cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytesToKeep) {
  return call([&] { return cuMemPoolTrimTo(pool, bytesToKeep); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] { return cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] { return cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, size_t count) {
  return call([&] { return cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(descriptions), count); });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return call(
      [&] { return cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool, asDrivers(location)); });
}

// --- managed memory, many pieces at a time

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations,
                                      size_t* starts, size_t locationCount, unsigned long long flags,
                                      cudaStream_t stream) {
  return prefetch(pointers, sizes, count, locations, starts, locationCount, flags, stream);
}
cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations,
                                           size_t* starts, size_t locationCount, unsigned long long flags,
                                           cudaStream_t stream) {
  return prefetch(pointers, sizes, count, locations, starts, locationCount, flags, perThread(stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                cudaMemLocation* locations, size_t* starts, size_t locationCount,
                                                unsigned long long flags, cudaStream_t stream) {
  return discardAndPrefetch(pointers, sizes, count, locations, starts, locationCount, flags, stream);
}
cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** pointers, size_t* sizes, size_t count,
                                                     cudaMemLocation* locations, size_t* starts, size_t locationCount,
                                                     unsigned long long flags, cudaStream_t stream) {
  return discardAndPrefetch(pointers, sizes, count, locations, starts, locationCount, flags, perThread(stream));
}

cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  return discard(pointers, sizes, count, flags, stream);
}
cudaError_t cudaMemDiscardBatchAsync_ptsz(void** pointers, size_t* sizes, size_t count, unsigned long long flags,
                                          cudaStream_t stream) {
  return discard(pointers, sizes, count, flags, perThread(stream));
}

}  // extern "C"
