// What a device is and can do; limits, cache preferences and peers.
#include <cstring>

#include "runtime/context.hpp"
#include "runtime/properties.hpp"

using namespace ordito::runtime;

namespace {

/// How many of the wishes of cudaChooseDevice a device meets. A field of the wish that is zero is no wish.
int wishesMet(const cudaDeviceProp& wish, const cudaDeviceProp& has) {
  const auto atLeast = [](auto wanted, auto got) { return wanted == 0 ? 0 : got >= wanted ? 1 : -1; };
  const int wantedVersion = wish.major * 100 + wish.minor;
  return atLeast(wantedVersion, has.major * 100 + has.minor) + atLeast(wish.totalGlobalMem, has.totalGlobalMem) +
         atLeast(wish.sharedMemPerBlock, has.sharedMemPerBlock) + atLeast(wish.regsPerBlock, has.regsPerBlock) +
         atLeast(wish.maxThreadsPerBlock, has.maxThreadsPerBlock) + atLeast(wish.totalConstMem, has.totalConstMem) +
         atLeast(wish.multiProcessorCount, has.multiProcessorCount) + atLeast(wish.clockRate, has.clockRate) +
         atLeast(wish.integrated, has.integrated) + atLeast(wish.concurrentKernels, has.concurrentKernels);
}

bool isDevice(int device) { return device >= 0 && device < deviceCount(); }

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] {
    if (!isDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  if (device == nullptr || properties == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] {
    int best = 0, most = -1'000'000;
    for (int candidate = 0; candidate < deviceCount(); ++candidate) {
      cudaDeviceProp has;
      if (const CUresult got = readProperties(&has, candidate); got != CUDA_SUCCESS) return got;
      const int met = wishesMet(*properties, has);
      if (met > most) best = candidate, most = met;
    }
    *device = best;
    return deviceCount() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&] { return cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuCtxGetLimit(value, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call([&] { return cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(config)); });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return call([&] { return cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config)); });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (config == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuCtxGetSharedMemConfig(reinterpret_cast<CUsharedconfig*>(config)); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* busId) {
  if (device == nullptr || busId == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] { return cuDeviceGetByPCIBusId(device, busId); });
}

cudaError_t cudaDeviceGetPCIBusId(char* busId, int length, int device) {
  if (busId == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] { return cuDeviceGetPCIBusId(busId, length, device); });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext(
      [&] { return cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), from, to); });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccess, int device, int peer) {
  if (canAccess == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] { return cuDeviceCanAccessPeer(canAccess, device, peer); });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&] {
    CUcontext context = nullptr;
    if (const CUresult got = primaryContext(peer, &context); got != CUDA_SUCCESS) return got;
    return cuCtxEnablePeerAccess(context, flags);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&] {
    CUcontext context = nullptr;
    if (const CUresult got = primaryContext(peer, &context); got != CUDA_SUCCESS) return got;
    return cuCtxDisablePeerAccess(context);
  });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([] { return cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const cudaChannelFormatDesc* format, int device) {
  if (elements == nullptr || format == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] {
    int width = 0;
    const CUresult got = cuDeviceGetAttribute(&width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, device);
    *elements = static_cast<size_t>(width);
    return got;
  });
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget /*target*/,
                                               cudaFlushGPUDirectRDMAWritesScope /*scope*/) {
  return call([] { return CUDA_SUCCESS; });
}

// The names that devices had before CUDA 4.
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }

}  // extern "C"
