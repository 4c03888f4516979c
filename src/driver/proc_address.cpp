// cuGetProcAddress: finds entries of this library by their plain names.
#include <dlfcn.h>

#include <string>
#include <string_view>
#include <vector>

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

/// Calls that take other arguments since a version of CUDA.
struct Version {
  std::string_view name;
  int since;
  const char* ending;
};
constexpr Version kVersions[] = {
#define VERSION(name, since, ending) {#name, since, ending},
#include "driver/versions.def"
};

/// The ending of the form that a version of CUDA means by `name`; null where all forms take the same.
const char* endingAt(std::string_view name, int version) {
  const char* ending = nullptr;
  for (const Version& known : kVersions)
    if (known.name == name && known.since <= version) ending = known.ending;
  return ending;
}

/// An entry that is more than a placeholder, or null.
void* look(const std::string& symbol) { return isMissing(symbol) ? nullptr : dlsym(self(), symbol.c_str()); }

void* find(const std::string& name, int version, bool perThread) {
  const char* ending = endingAt(name, version);
  const std::vector<std::string> forms =
      ending ? std::vector<std::string>{name + ending} : std::vector<std::string>{name + "_v2", name};
  if (perThread)
    for (const std::string& form : forms)
      for (const char* own : {"_ptsz", "_ptds"})
        if (void* found = look(form + own)) return found;
  for (const std::string& form : forms)
    if (void* found = look(form)) return found;
  return nullptr;
}

}  // namespace

}  // namespace ordito::driver

using namespace ordito::driver;

// A call that Ordito refuses is not found: a program that asks before it uses one can do without. The placeholder stays
// for programs that are linked to it.
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  void* const found = find(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *function = found;
  if (status) *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return found || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#undef cuGetProcAddress
/// Before CUDA 12.
extern "C" CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
