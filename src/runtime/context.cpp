// Lazy initialisation: nothing of CUDA starts before the first call that needs it, and a thread that never chose a
// device uses device 0. A context made current through the driver API is used as it is, so that programs may mix both
// APIs.
#include "runtime/context.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "runtime/registry.hpp"

namespace ordito::runtime {
namespace {

thread_local int chosenDevice = 0;
/// The reset count at which this thread last made a primary context current. A reset in another thread makes the two
/// differ.
thread_local unsigned threadGeneration = 0;

struct Primaries {
  std::mutex mutex;
  std::vector<CUcontext> contexts;  // by device; null = not retained
  std::atomic<unsigned> generation{1};
};

Primaries& primaries() {
  static Primaries& instance = *new Primaries;
  return instance;
}

CUresult usePrimary(int device) {
  CUcontext context = nullptr;
  if (const CUresult got = primaryContext(device, &context); got != CUDA_SUCCESS) return got;
  threadGeneration = primaries().generation.load();
  return cuCtxSetCurrent(context);
}

CUresult startOnce() {
  // Functions given to atexit run backwards: this one before the driver's own, which gives up what is still waiting.
  static const CUresult started = [] {
    const CUresult result = cuInit(0);
    std::atexit([] {
      finishAllWork();
      tellSilentFailures();
    });
    return result;
  }();
  return started;
}

}  // namespace

CUresult startDriver() {
  const CUresult started = startOnce();
  return started == CUDA_SUCCESS ? cuInit(0) : started;  // again: a forked process is no longer initialised
}

CUresult primaryContext(int device, CUcontext* context) {
  if (device < 0 || device >= deviceCount()) return CUDA_ERROR_INVALID_DEVICE;
  Primaries& all = primaries();
  const std::scoped_lock lock(all.mutex);
  if (all.contexts.empty()) all.contexts.resize(static_cast<size_t>(deviceCount()));
  CUcontext& slot = all.contexts[static_cast<size_t>(device)];
  if (slot == nullptr)
    if (const CUresult got = cuDevicePrimaryCtxRetain(&slot, device); got != CUDA_SUCCESS) return got;
  *context = slot;
  return CUDA_SUCCESS;
}

CUresult useContext() {
  if (const CUresult started = startOnce(); started != CUDA_SUCCESS) return started;
  CUcontext current = nullptr;
  const bool unchanged =
      threadGeneration == 0 || threadGeneration == primaries().generation.load(std::memory_order_acquire);
  if (unchanged && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) return CUDA_SUCCESS;
  if (const CUresult again = startDriver(); again != CUDA_SUCCESS) return again;
  return usePrimary(chosenDevice);
}

int currentDevice() {
  CUdevice device = 0;
  CUcontext current = nullptr;
  if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr && cuCtxGetDevice(&device) == CUDA_SUCCESS)
    return device;
  return chosenDevice;
}

int deviceCount() {
  int count = 0;
  return cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

void finishAllWork() {
  std::vector<CUcontext> contexts;
  {
    const std::scoped_lock lock(primaries().mutex);
    contexts = primaries().contexts;
  }
  for (const CUcontext context : contexts)
    if (context != nullptr && cuCtxSetCurrent(context) == CUDA_SUCCESS) finish(cuCtxSynchronize());
}

}  // namespace ordito::runtime

using namespace ordito::runtime;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return finish(cudaErrorInvalidValue);
  *count = 0;
  return callWithoutContext([&] { return cuDeviceGetCount(count); });
}

cudaError_t cudaSetDevice(int device) {
  return callWithoutContext([&] {
    const CUresult used = usePrimary(device);
    if (used == CUDA_SUCCESS) chosenDevice = device;
    return used;
  });
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
  return callWithoutContext([&]() -> CUresult {
    if ((flags & ~unsigned{cudaInitDeviceFlagsAreValid}) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & cudaInitDeviceFlagsAreValid) != 0)
      if (const CUresult set = cuDevicePrimaryCtxSetFlags(device, deviceFlags); set != CUDA_SUCCESS) return set;
    CUcontext context = nullptr;
    return primaryContext(device, &context);
  });
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] {
    *device = currentDevice();
    return deviceCount() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return callWithoutContext([&] {
    if (count < 0 || count > deviceCount() || (count > 0 && devices == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < count; ++i)
      if (devices[i] < 0 || devices[i] >= deviceCount()) return CUDA_ERROR_INVALID_DEVICE;
    chosenDevice = count > 0 ? devices[0] : 0;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  if ((flags & ~unsigned{cudaDeviceMask}) != 0) return finish(cudaErrorInvalidValue);
  return callWithoutContext(
      [&] { return cuDevicePrimaryCtxSetFlags(currentDevice(), flags & ~unsigned{cudaDeviceMapHost}); });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  if (flags == nullptr) return finish(cudaErrorInvalidValue);
  return callWithoutContext([&] {
    int active = 0;
    const CUresult got = cuDevicePrimaryCtxGetState(currentDevice(), flags, &active);
    *flags |= cudaDeviceMapHost;  // with unified addresses host memory is always mapped
    return got;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] { return cuCtxSynchronize(); });
}

// Everything that the runtime made on the device goes: memory, streams, events, loaded modules, and the error that
// broke the context.
cudaError_t cudaDeviceReset() {
  return callWithoutContext([] {
    const int device = currentDevice();
    CUcontext context = nullptr;
    if (const CUresult got = primaryContext(device, &context); got != CUDA_SUCCESS) return got;
    cuCtxSetCurrent(context);
    finish(cuCtxSynchronize());  // a fault that nobody has asked about is still explained
    tellSilentFailures();
    forgetContext(context);
    Primaries& all = primaries();
    const std::scoped_lock lock(all.mutex);
    cuCtxSetCurrent(nullptr);
    const CUresult reset = cuDevicePrimaryCtxReset(device);
    cuDevicePrimaryCtxRelease(device);
    all.contexts[static_cast<size_t>(device)] = nullptr;
    all.generation.fetch_add(1);
    return reset;
  });
}

}  // extern "C"
