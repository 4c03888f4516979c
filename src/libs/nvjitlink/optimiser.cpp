// See optimiser.hpp. libNVVM is loaded when it is first needed: it brings LLVM along, which most programs that link can
// do without.
#include "libs/nvjitlink/optimiser.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "nvvm.h"

namespace ordito::nvjitlink {
namespace fs = std::filesystem;
namespace {

/// The toolkit has it beside the folder that this library is in.
void* compiler() {
  static void* const library = [] {
    Dl_info info{};
    std::error_code ignored;
    if (dladdr(reinterpret_cast<const void*>(&hasOptimiser), &info) == 0) return static_cast<void*>(nullptr);
    const fs::path toolkit = fs::canonical(info.dli_fname, ignored).parent_path().parent_path();
    return dlopen((toolkit / "nvvm" / "lib64" / "libnvvm.so.4").c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

template <typename Call>
Call* find(const char* name) {
  return reinterpret_cast<Call*>(dlsym(compiler(), name));
}
#define NVVM(call) find<decltype(call)>(#call)

/// A text that two calls give: its size, and itself.
template <typename Size, typename Get>
std::string textOf(nvvmProgram program, Size* size, Get* get) {
  size_t bytes = 0;
  if (size(program, &bytes) != NVVM_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  get(program, text.data());
  text.resize(bytes - 1);
  return text;
}

}  // namespace

bool hasOptimiser() { return compiler() != nullptr; }

Expected<std::string> optimised(const std::vector<std::string>& modules, const std::vector<std::string>& options) {
  nvvmProgram program = nullptr;
  nvvmResult result = NVVM(nvvmCreateProgram)(&program);
  for (const std::string& module : modules)
    if (result == NVVM_SUCCESS) result = NVVM(nvvmAddModuleToProgram)(program, module.data(), module.size(), "a part");
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  if (result == NVVM_SUCCESS) result = NVVM(nvvmCompileProgram)(program, static_cast<int>(words.size()), words.data());
  const std::string log = textOf(program, NVVM(nvvmGetProgramLogSize), NVVM(nvvmGetProgramLog));
  std::string ptx = textOf(program, NVVM(nvvmGetCompiledResultSize), NVVM(nvvmGetCompiledResult));
  NVVM(nvvmDestroyProgram)(&program);
  if (result != NVVM_SUCCESS) return fail("link-time optimisation: {}", log);
  return ptx;
}

}  // namespace ordito::nvjitlink
