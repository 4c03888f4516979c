// cuGetProcAddress: finds entries of this library by their plain names.
#include <dlfcn.h>

#include <string>

#include "driver/api.hpp"
#include "driver/missing.hpp"

namespace ordito::driver {

int reportMissing(const char* name) {
  std::string message = fmt::format("{} is not supported", name);
  tellOnce(message);
  return remember(CUDA_ERROR_NOT_SUPPORTED, message);
}

namespace {

/// This very library, wherever it was loaded from.
void* self() {
  static void* handle = [] {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(&reportMissing), &info)) return static_cast<void*>(nullptr);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return handle;
}

/// The newest version of `name` that is more than a placeholder; with `perThread` its per-thread variant first.
void* find(const std::string& name, bool perThread, bool missingToo) {
  static constexpr const char* kOwn[] = {"_v2_ptsz", "_v2_ptds", "_ptsz", "_ptds"};
  static constexpr const char* kPlain[] = {"_v2", ""};
  auto look = [&](const char* suffix) -> void* {
    std::string full = name + suffix;
    if (isMissing(full) && !missingToo) return nullptr;
    return dlsym(self(), full.c_str());
  };
  if (perThread)
    for (const char* suffix : kOwn)
      if (void* found = look(suffix)) return found;
  for (const char* suffix : kPlain)
    if (void* found = look(suffix)) return found;
  return nullptr;
}

}  // namespace

}  // namespace ordito::driver

using namespace ordito::driver;

CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  bool perThread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  void* found = find(symbol, perThread, false);
  if (!found) found = find(symbol, false, true);
  *function = found;
  if (status) *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return found || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
/// Before CUDA 12.
extern "C" CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
