// Driver API: errors, initialisation, version, devices.
#include <execinfo.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>

#include "base/environment.hpp"
#include "driver/api.hpp"
#include "driver/device.hpp"
#include "driver/extensions.hpp"
#include "driver/listeners.hpp"
#include "machine/listener.hpp"

using namespace ordito::driver;

namespace {

/// Ordito's environment variables have values that they can have; says once what is wrong if one has not.
bool isEnvironmentRight() {
  static const bool isRight = [] {
    const std::string problem = ordito::readEnvironment().problem;
    if (!problem.empty()) tell(problem);
    return problem.empty();
  }();
  return isRight;
}

/// A child of fork has none of the threads that serve streams and blocks. As on a GPU it is told that nothing is
/// initialised, for good.
std::atomic<bool> isForked{false};

void inForkedChild() {
  if (initialised.exchange(false)) isForked = true;
}

void atProcessEnd() {
  if (isForked) return;
  abandonAllStreams();
  ordito::machine::flushListeners();
  std::fflush(stdout);
}

}  // namespace

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = resultText(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = resultName(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void orditoTellOnce(const char* subject, const char* text) { tellOnce(subject, text); }

void orditoNoteFailedCall(int error, const char* name) {
  if (!ordito::machine::areAccessesWanted()) return;
  constexpr int kDeepest = 64;
  void* frames[kDeepest];
  const int depth = backtrace(frames, kDeepest);
  const std::string& message = lastMessage();
  ordito::machine::raise(ordito::machine::FailedCallEvent{
      .error = error, .name = name, .message = message.c_str(), .stack = {frames, static_cast<size_t>(depth)}});
}

void orditoNoteErrorRead() {
  if (ordito::machine::areAccessesWanted()) ordito::machine::raiseLastErrorRead();
}

int orditoExplainsAll() { return ordito::readEnvironment().explain != 0; }

CUresult cuInit(unsigned int flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  static const bool hasDevice = [] {
    const auto known = ordito::machine::checkSelectedGpus();
    if (!known) fmt::print(stderr, "ordito: {}\n", known.error().message);
    return known.has_value();
  }();
  if (!hasDevice) return CUDA_ERROR_NO_DEVICE;
  if (!isEnvironmentRight()) return CUDA_ERROR_NOT_INITIALIZED;
  if (isForked)
    return remember(CUDA_ERROR_NOT_INITIALIZED,
                    "the process was forked by one that uses CUDA: start it anew (in Python: multiprocessing's spawn)");
  static std::once_flag once;
  std::call_once(once, [] {
    addListeners();
    if (devices().empty()) return;
    std::atexit(atProcessEnd);
    pthread_atfork(nullptr, nullptr, inForkedChild);
    initialised = true;
  });
  return devices().empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  // Programs of any toolkit may run: a runtime refuses to start over a driver older than itself.
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* result, int ordinal) {
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  ORDITO_DEVICE(device, ordinal);
  *result = device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(devices().size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<size_t>(length), "%s", device->gpu.name.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  *uuid = device->uuid();
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  *bytes = device->gpu.memoryBytes;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetLuid(char* luid, unsigned int* nodeMask, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  (void)device;
  (void)luid;
  (void)nodeMask;
  return CUDA_ERROR_NOT_SUPPORTED;  // Windows only
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  auto found = device->attribute(attribute);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  *value = *found;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* p, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  auto get = [&](CUdevice_attribute attribute) { return device->attribute(attribute).value_or(0); };
  p->maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  p->maxThreadsDim[0] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  p->maxThreadsDim[1] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  p->maxThreadsDim[2] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  p->maxGridSize[0] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  p->maxGridSize[1] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  p->maxGridSize[2] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  p->sharedMemPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  p->totalConstantMemory = get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  p->SIMDWidth = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p->memPitch = get(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  p->regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p->clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  p->textureAlign = get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  *major = static_cast<int>(device->gpu.computeMajor);
  *minor = static_cast<int>(device->gpu.computeMinor);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* busId, int length, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!busId || length < 13) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(busId, static_cast<size_t>(length), "0000:%02x:00.0", kFirstBus + static_cast<unsigned>(device->slot));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* result, const char* busId) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!result || !busId) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  bool known = std::sscanf(busId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3 ||
               (domain = 0, std::sscanf(busId, "%x:%x.%x", &bus, &slot, &function) >= 2);
  for (const Device* device : devices()) {
    if (!known || domain != 0 || slot != 0 || bus != kFirstBus + device->slot) continue;
    *result = device->ordinal;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* canAccess, CUdevice ordinal, CUdevice peer) {
  ORDITO_DEVICE(device, ordinal);
  ORDITO_DEVICE(other, peer);
  if (!canAccess) return CUDA_ERROR_INVALID_VALUE;
  *canAccess = device != other;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  ORDITO_DEVICE(first, from);
  ORDITO_DEVICE(second, to);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (first == second) return CUDA_ERROR_INVALID_DEVICE;  // a device is no peer of itself
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: return *value = 0, CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: return *value = 1, CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuProfilerStart() { return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED; }
CUresult cuProfilerStop() { return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED; }
