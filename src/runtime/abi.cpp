// The few calls whose parameters or layouts differ between CUDA 12 and CUDA 13: compiled once for each of the two
// libraries, with ORDITO_CUDART_VERSION 12030 or 13000. The headers declare these in CUDA 12's form, under names that
// get out of the way of the definitions below.
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_asDeclared
#define cudaMemAdvise cudaMemAdvise_asDeclared
#include <cstring>

#include "runtime/context.hpp"
#include "runtime/properties.hpp"

#undef cudaMemPrefetchAsync
#undef cudaMemAdvise
#undef cudaGetDeviceProperties

using namespace ordito::runtime;

namespace {

#if ORDITO_CUDART_VERSION >= 13000
constexpr bool kIsCuda13 = true;
#else
constexpr bool kIsCuda13 = false;
#endif

#if ORDITO_CUDART_VERSION < 13000
/// CUDA 12 names a place by a device ordinal or cudaCpuDeviceId.
cudaMemLocation locationOf(int device) {
  return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}
#endif

CUmemLocation asDrivers(cudaMemLocation location) {
  return {static_cast<CUmemLocationType>(location.type), location.id};
}

cudaError_t prefetch(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream) {
  return call([&] { return cuMemPrefetchAsync_v2(address(pointer), bytes, asDrivers(location), flags, stream); });
}

cudaError_t advise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return call(
      [&] { return cuMemAdvise_v2(address(pointer), bytes, static_cast<CUmem_advise>(advice), asDrivers(location)); });
}

CUstream perThread(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

template <class Properties>
cudaError_t getProperties(Properties* properties, int device) {
  if (properties == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] { return readProperties(properties, device); });
}

}  // namespace

bool ordito::runtime::isCuda13() { return kIsCuda13; }

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  *version = ORDITO_CUDART_VERSION;
  return cudaSuccess;
}

// A driver is never older than a runtime that works with it.
cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  const CUresult got = cuDriverGetVersion(version);
  if (*version < ORDITO_CUDART_VERSION) *version = ORDITO_CUDART_VERSION;
  return finish(got);
}

cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  return getProperties(properties, device);
}

cudaError_t cudaGetDeviceProperties(void* properties, int device) {
  if constexpr (kIsCuda13) {
    return getProperties(static_cast<DeviceProperties13*>(properties), device);
  } else {
    cudaDeviceProp all;
    const cudaError_t got = getProperties(properties == nullptr ? nullptr : &all, device);
    if (got == cudaSuccess) std::memcpy(properties, &all, kProperties11Bytes);
    return got;
  }
}

cudaError_t cudaMemPrefetchAsync_v2(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags,
                                    cudaStream_t stream) {
  return prefetch(pointer, bytes, location, flags, stream);
}

cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void* pointer, size_t bytes, cudaMemLocation location,
                                         unsigned int flags, cudaStream_t stream) {
  return prefetch(pointer, bytes, location, flags, perThread(stream));
}

cudaError_t cudaMemAdvise_v2(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return advise(pointer, bytes, advice, location);
}

#if ORDITO_CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream) {
  return prefetch(pointer, bytes, location, flags, stream);
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int flags,
                                      cudaStream_t stream) {
  return prefetch(pointer, bytes, location, flags, perThread(stream));
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return advise(pointer, bytes, advice, location);
}
#else
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
  return prefetch(pointer, bytes, locationOf(device), 0, stream);
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
  return prefetch(pointer, bytes, locationOf(device), 0, perThread(stream));
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  return advise(pointer, bytes, advice, locationOf(device));
}
#endif

}  // extern "C"
