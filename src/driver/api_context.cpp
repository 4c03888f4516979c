// Driver API: contexts.
#include <algorithm>

#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/device.hpp"
#include "driver/memory_pool.hpp"
#include "machine/listener.hpp"

using namespace ordito::driver;

namespace {

std::mutex primaryMutex;

CUresult endPrimary(Context& primary) {
  if (primary.alive) primary.destroy();
  ordito::machine::flushListeners();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(primaryMutex);
  Context& primary = *device->primary;
  primary.revive();
  ++primary.retained;
  *context = primary.handle();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  std::lock_guard lock(primaryMutex);
  Context& primary = *device->primary;
  if (primary.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return --primary.retained == 0 ? endPrimary(primary) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  std::lock_guard lock(primaryMutex);
  return endPrimary(*device->primary);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) {
  ORDITO_DEVICE(device, ordinal);
  if (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) return CUDA_ERROR_INVALID_VALUE;
  device->primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int* flags, int* active) {
  ORDITO_DEVICE(device, ordinal);
  if (flags) *flags = device->primary->flags;
  if (active) *active = device->primary->alive && device->primary->retained > 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice ordinal) {
  ORDITO_DEVICE(device, ordinal);
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  auto* made = new Context(*device);  // lives for ever, see context.hpp
  made->flags = flags;
  contextStack().push_back(made);
  *context = made->handle();
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice ordinal) {
  if (parameters && (parameters->numExecAffinityParams != 0 || parameters->cigParams))
    return remember(CUDA_ERROR_NOT_SUPPORTED, "a context always has all multiprocessors, and no graphics beside it");
  return cuCtxCreate(context, flags, ordinal);
}

CUresult cuCtxDestroy(CUcontext handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* context = Context::from(handle);
  if (!context || context == context->device.primary) return CUDA_ERROR_INVALID_CONTEXT;
  context->destroy();
  auto& stack = contextStack();
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext* handle, unsigned int) {
  ORDITO_CONTEXT(context);
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  *handle = context->handle();
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext handle) { return cuCtxDestroy(handle); }

CUresult cuCtxPushCurrent(CUcontext handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* context = Context::from(handle);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  auto& stack = contextStack();
  if (stack.empty() || !stack.back()) return CUDA_ERROR_INVALID_CONTEXT;
  if (handle) *handle = stack.back()->handle();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* context = handle ? Context::from(handle) : nullptr;
  if (handle && !context) return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = contextStack();
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  auto& stack = contextStack();
  *handle = stack.empty() || !stack.back() ? nullptr : stack.back()->handle();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* ordinal) {
  Context* context = nullptr;
  if (CUresult bad = currentContextEvenBroken(context)) return bad;
  if (!ordinal) return CUDA_ERROR_INVALID_VALUE;
  *ordinal = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  ORDITO_CONTEXT(context);
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
  ORDITO_CONTEXT(context);
  if (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) return CUDA_ERROR_INVALID_VALUE;
  context->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  Context* context = Context::from(handle);
  if (!handle)
    if (CUresult bad = currentContextEvenBroken(context)) return bad;
  if (!context) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext, unsigned int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  ORDITO_CONTEXT(context);
  if (CUresult refused = refuseWhileCapturing(nullptr)) return refused;
  context->group.synchronizeAll();
  trimPoolsAfterWait();
  return currentContext(context);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  ORDITO_CONTEXT(context);
  std::lock_guard lock(context->settingsMutex);
  auto it = context->limits.find(limit);
  if (it == context->limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  it->second = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  ORDITO_CONTEXT(context);
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(context->settingsMutex);
  auto it = context->limits.find(limit);
  if (it == context->limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = it->second;
  return CUDA_SUCCESS;
}

// Cache and bank configurations are hints on a GPU and have no meaning here: they are kept and answered. But a switch
// of the split of L1 and shared memory waits for all that runs (CUDA C++ guide, "Implicit Synchronization").
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  ORDITO_CONTEXT(context);
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  CUfunc_cache before;
  cuCtxGetCacheConfig(&before);
  if (before != config) context->group.synchronizeAll();
  std::lock_guard lock(context->settingsMutex);
  context->cacheConfig = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  ORDITO_CONTEXT(context);
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(context->settingsMutex);
  *config = context->cacheConfig;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  ORDITO_CONTEXT(context);
  std::lock_guard lock(context->settingsMutex);
  context->sharedConfig = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  ORDITO_CONTEXT(context);
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(context->settingsMutex);
  // Every GPU since compute capability 5 has banks of four bytes and says so.
  *config = context->sharedConfig == CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ? CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
                                                                            : context->sharedConfig;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  ORDITO_CONTEXT(context);
  (void)context;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() {
  ORDITO_CONTEXT(context);
  (void)context;
  return CUDA_SUCCESS;
}

// All memory is the process's, so a kernel reaches that of every device; what is kept is what a GPU would answer.
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  ORDITO_CONTEXT(context);
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  Context* other = Context::from(peer);
  if (!other || &other->device == &context->device) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard lock(context->settingsMutex);
  return context->peers.insert(other).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  ORDITO_CONTEXT(context);
  Context* other = Context::from(peer);
  if (!other) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard lock(context->settingsMutex);
  return context->peers.erase(other) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
