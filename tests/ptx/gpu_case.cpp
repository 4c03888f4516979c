// The dozen driver calls that a launch takes, looked up by name in libcuda.so.1; nothing of NVIDIA's is needed to build
// this.
#include "gpu_case.hpp"

#include <dlfcn.h>

#include <cstring>

#include "ptx/parser.hpp"

namespace ordito::test {

namespace {

using DevicePointer = uint64_t;
using Handle = void*;

/// NVIDIA's driver; every function returns 0 for success.
struct Driver {
  int (*init)(unsigned);
  int (*deviceGet)(int*, int);
  int (*deviceName)(char*, int, int);
  int (*contextRetain)(Handle*, int);
  int (*contextSet)(Handle);
  int (*moduleLoad)(Handle*, const void*, unsigned, int*, void**);
  int (*moduleUnload)(Handle);
  int (*functionGet)(Handle*, Handle, const char*);
  int (*allocate)(DevicePointer*, size_t);
  int (*release)(DevicePointer);
  int (*toDevice)(DevicePointer, const void*, size_t);
  int (*toHost)(void*, DevicePointer, size_t);
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**);
  int (*synchronize)();

  bool load() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return false;
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    bool found = find(init, "cuInit") && find(deviceGet, "cuDeviceGet") && find(deviceName, "cuDeviceGetName") &&
                 find(contextRetain, "cuDevicePrimaryCtxRetain") && find(contextSet, "cuCtxSetCurrent") &&
                 find(moduleLoad, "cuModuleLoadDataEx") && find(moduleUnload, "cuModuleUnload") &&
                 find(functionGet, "cuModuleGetFunction") && find(allocate, "cuMemAlloc_v2") &&
                 find(release, "cuMemFree_v2") && find(toDevice, "cuMemcpyHtoD_v2") &&
                 find(toHost, "cuMemcpyDtoH_v2") && find(launch, "cuLaunchKernel") &&
                 find(synchronize, "cuCtxSynchronize");
    return found && init(0) == 0 && deviceGet(&device_, 0) == 0 && enterContext();
  }

  bool isLost = false;  // a kernel failed, which leaves the process's context useless for all that follows

 private:
  int device_ = 0;

  bool enterContext() {
    Handle context;
    return contextRetain(&context, device_) == 0 && contextSet(context) == 0;
  }
};

Driver& driver() {
  static Driver d;
  return d;
}

constexpr int kJitErrorLogBuffer = 5, kJitErrorLogBytes = 6;  // CUjit_option

Expected<Handle> loadModule(const std::string& text) {
  static char log[8192];
  log[0] = 0;
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  Handle module;
  if (int code = driver().moduleLoad(&module, text.c_str(), 2, options, values))
    return fail("the GPU's driver refuses the module ({}): {}", code, log);
  return module;
}

std::string firstKernel(const TextTest& test) {
  auto module = ptx::parse(test.text, test.name);
  if (module)
    for (const ptx::Function& f : module->functions)
      if (f.isEntry) return f.name;
  return {};
}

Outcome launch(Handle function, const Case& c) {
  Outcome outcome;
  std::vector<DevicePointer> pointers;
  std::vector<uint64_t> values(c.parameters.size());
  std::vector<void*> arguments;
  auto bytesOf = [](const Buffer& b) { return b.initial.size() * isa::bytes(b.type); };
  for (size_t i = 0; i < c.parameters.size(); ++i) {
    const Buffer& b = c.parameters[i];
    std::vector<std::byte> host(bytesOf(b));
    for (size_t k = 0; k < b.initial.size(); ++k)
      std::memcpy(host.data() + k * isa::bytes(b.type), &b.initial[k], isa::bytes(b.type));
    if (b.isScalar) {
      values[i] = b.initial.at(0);
    } else {
      driver().allocate(&values[i], std::max<size_t>(host.size(), 1));
      driver().toDevice(values[i], host.data(), host.size());
      pointers.push_back(values[i]);
    }
    arguments.push_back(&values[i]);
  }
  int code = driver().launch(function, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.dynamicShared,
                             nullptr, arguments.data(), nullptr);
  if (code == 0) code = driver().synchronize();
  if (code) outcome.error = fmt::format("the GPU answers error {}", code);
  for (size_t i = 0; i < c.parameters.size(); ++i) {
    const Buffer& b = c.parameters[i];
    std::vector<std::byte> host(bytesOf(b));
    if (!b.isScalar) driver().toHost(host.data(), values[i], host.size());
    auto& out = outcome.buffers.emplace_back(b.initial.size());
    for (size_t k = 0; k < out.size(); ++k)
      std::memcpy(&out[k], host.data() + k * isa::bytes(b.type), isa::bytes(b.type));
  }
  for (DevicePointer p : pointers) driver().release(p);
  return outcome;
}

}  // namespace

bool gpuAvailable() {
  static const bool available = driver().load();
  return available;
}

Outcome outcomeOnGpu(const TextTest& test, const Case& c) {
  Outcome outcome;
  auto module = loadModule(test.text);
  if (!module) {
    outcome.error = module.error().message;
    return outcome;
  }
  std::string name = c.kernel.empty() ? firstKernel(test) : c.kernel;
  Handle function;
  if (driver().functionGet(&function, *module, name.c_str()))
    outcome.error = fmt::format("no kernel {} on the GPU", name);
  else
    outcome = launch(function, c);
  driver().moduleUnload(*module);
  driver().isLost |= !outcome.error.empty();
  return outcome;
}

bool gpuIsLost() { return driver().isLost; }

std::string gpuName() {
  char name[256] = "";
  driver().deviceName(name, sizeof name, 0);
  return name;
}

std::vector<std::string> runOnGpu(const TextTest& test, const Case& c) {
  if (c.error || c.fault || c.emulatedOnly) return {};
  return check(c, outcomeOnGpu(test, c), true);
}

}  // namespace ordito::test
