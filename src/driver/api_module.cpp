// Driver API: modules, functions, libraries, and the linker calls.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver/api.hpp"
#include "driver/extensions.hpp"
#include "driver/fatbin.hpp"
#include "driver/foreign_compilers.hpp"
#include "driver/link_parts.hpp"
#include "driver/module.hpp"
#include "ptx/parser.hpp"

using namespace ordito::driver;

namespace {

CUmodule handleOf(Module* module) { return reinterpret_cast<CUmodule>(module); }
CUfunction handleOf(Function* function) { return reinterpret_cast<CUfunction>(function); }

/// Copies an image whose lifetime ends with the call. The compiler's wrapper points into the executable and is not
/// copied.
CUresult loadCopy(CUmodule* module, const void* data, size_t bytes, const std::string& origin, bool contracts = true) {
  ORDITO_CONTEXT(context);
  if (!module || !data) return CUDA_ERROR_INVALID_VALUE;
  tellOfForeignCompilers();
  if (bytes == 0) bytes = imageBytes(data);
  if (bytes == 0) return remember(CUDA_ERROR_INVALID_IMAGE, origin + ": neither PTX text nor a fat binary");
  std::string copy(static_cast<const char*>(data), bytes);
  auto made = std::make_shared<Module>(*context, Image{nullptr, 0, origin, contracts}, std::move(copy));
  if (auto ok = made->load(); !ok) {
    tell(ok.error().message);
    return remember(ok.error());
  }
  context->modules.add(made);
  *module = handleOf(made.get());
  return CUDA_SUCCESS;
}

CUresult readFile(const char* path, std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return remember(CUDA_ERROR_FILE_NOT_FOUND, fmt::format("cannot read {}", path));
  text.assign(std::istreambuf_iterator<char>(in), {});
  return CUDA_SUCCESS;
}

CUresult loadFile(CUmodule* module, const char* path, bool contracts = true) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  if (CUresult bad = readFile(path, text)) return bad;
  return loadCopy(module, text.c_str(), text.size(), path, contracts);
}

/// Libraries need no context: without one they are in that of the first device, which lives on once something is
/// loaded.
enum class Keeps { Nothing, Context };
template <class Call>
CUresult inSomeContext(Keeps keeps, Call&& call) {
  CUcontext context = nullptr;
  if (const CUresult bad = cuCtxGetCurrent(&context)) return bad;
  if (context) return call();
  if (const CUresult bad = cuDevicePrimaryCtxRetain(&context, 0)) return bad;
  cuCtxPushCurrent(context);
  const CUresult result = call();
  cuCtxPopCurrent(&context);
  if (keeps == Keeps::Nothing || result != CUDA_SUCCESS) cuDevicePrimaryCtxRelease(0);
  return result;
}

/// Does the compiler fuse products into sums with these options? Not at level 0, to which debug information leads, too.
/// CU_JIT_FMA, which is for another kind of input, changes nothing, as seen on an H100.
bool contracts(unsigned count, const CUjit_option* names, void* const* values) {
  for (unsigned i = 0; i < count && names && values; ++i) {
    const auto value = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values[i]));
    if (names[i] == CU_JIT_OPTIMIZATION_LEVEL && value == 0) return false;
    if (names[i] == CU_JIT_GENERATE_DEBUG_INFO && value != 0) return false;
  }
  return true;
}

CUresult findModule(CUmodule handle, std::shared_ptr<Module>& module) {
  ORDITO_CONTEXT(context);
  module = context->modules.find(handle);
  return module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult functionAttribute(const Function& function, CUfunction_attribute attribute, int& value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: value = static_cast<int>(function.maxThreads()); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: value = static_cast<int>(function.layout.staticSharedBytes); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
      uint64_t bytes = 0;
      for (const auto& variable : function.module.parsed().variables)
        if (variable.space == ordito::ptx::Space::Const) bytes += variable.size;
      value = static_cast<int>(bytes);
      break;
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: value = static_cast<int>(function.layout.localBytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: value = static_cast<int>(function.registers()); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: value = static_cast<int>(function.module.parsed().sm); break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      value = static_cast<int>(function.module.context.device.gpu.computeCapability());
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: value = static_cast<int>(function.maxDynamicShared()); break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: value = function.carveout; break;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      value = 0;
  }
  return CUDA_SUCCESS;
}

/// The parts that a linker was given, each PTX text.
struct Link {
  Link(const Device& gpu, uint32_t most) : device(gpu), mostRegisters(most) {}

  const Device& device;
  const uint32_t mostRegisters;  // for each thread; 0: as many as the compiler likes
  std::vector<std::string> parts;
  std::vector<std::byte> result;
};

/// CU_JIT_MAX_REGISTERS; 0 if it is not there.
uint32_t mostRegisters(unsigned count, const CUjit_option* names, void* const* values) {
  for (unsigned i = 0; i < count && names && values; ++i)
    if (names[i] == CU_JIT_MAX_REGISTERS) return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values[i]));
  return 0;
}

/// Adds the PTX of an image.
CUresult addToLink(Link& link, const void* data, size_t bytes, const std::string& name) {
  const std::span image(static_cast<const std::byte*>(data), bytes);
  auto parts = partsIn(image, link.device.gpu.computeCapability(), true);
  if (!parts) return remember({name + ": " + parts.error().message, parts.error().code});
  for (std::string& part : *parts) {
    if (link.mostRegisters) {
      auto module = ordito::ptx::parse(part, name);
      if (!module) return remember({module.error().message, CUDA_ERROR_INVALID_PTX});
      part = limitRegisters(std::move(*module), link.mostRegisters);
    }
    link.parts.push_back(std::move(part));
  }
  return CUDA_SUCCESS;
}

HandleTable<Link>& links() {
  static auto* table = new HandleTable<Link>;
  return *table;
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* file) { return loadFile(module, file); }
CUresult cuModuleLoadData(CUmodule* module, const void* image) { return loadCopy(module, image, 0, "<image>"); }
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return loadCopy(module, image, 0, "<fat binary>");
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* names,
                            void** values) {
  CUresult result = loadCopy(module, image, 0, "<image>", contracts(count, names, values));
  // The message goes to the error log that the caller brought.
  for (unsigned i = 0; i < count && names && values; ++i) {
    if (names[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
    for (unsigned k = 0; k < count; ++k) {
      if (names[k] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) continue;
      size_t room = reinterpret_cast<size_t>(values[k]);
      std::string text = result == CUDA_SUCCESS ? "" : lastMessage();
      if (room == 0 || !values[i]) continue;
      text = text.substr(0, room - 1);
      std::memcpy(values[i], text.c_str(), text.size() + 1);
      values[k] = reinterpret_cast<void*>(text.size());
    }
  }
  return result;
}

CUresult orditoModuleLoadStatic(CUmodule* module, const void* image, const char* origin) {
  ORDITO_CONTEXT(context);
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  std::string name = origin ? origin : "<program>";
  auto made = std::make_shared<Module>(*context, Image{image, imageBytes(image), name, true}, "");
  context->modules.add(made);
  *module = handleOf(made.get());
  return CUDA_SUCCESS;
}

CUresult orditoModuleBindVariable(CUmodule handle, const char* name, void* address) {
  if (!name || !address) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  if (CUresult bad = findModule(handle, module)) return bad;
  auto bound = module->bind(name, address);
  return bound ? CUDA_SUCCESS : remember(bound.error());
}

CUresult cuModuleUnload(CUmodule handle) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  Context* const owner = Context::ownerOf(handle);
  const auto module = owner ? owner->modules.remove(handle) : nullptr;
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  owner->group.synchronizeAll();
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  std::shared_ptr<Module> module;
  if (CUresult bad = findModule(handle, module)) return bad;
  if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
  auto found = module->function(name);
  if (!found) {
    if (found.error().code != CUDA_ERROR_NOT_FOUND) tellOnce(found.error().message);
    return remember(found.error());
  }
  *function = handleOf(*found);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  std::shared_ptr<Module> module;
  if (CUresult bad = findModule(handle, module)) return bad;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  auto all = module->functions();
  if (!all) return remember(all.error());
  *count = static_cast<unsigned>(all->size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int count, CUmodule handle) {
  std::shared_ptr<Module> module;
  if (CUresult bad = findModule(handle, module)) return bad;
  if (!functions) return CUDA_ERROR_INVALID_VALUE;
  auto all = module->functions();
  if (!all) return remember(all.error());
  for (unsigned i = 0; i < count && i < all->size(); ++i) functions[i] = handleOf((*all)[i]);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUmodule handle, const char* name) {
  std::shared_ptr<Module> module;
  if (CUresult bad = findModule(handle, module)) return bad;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  auto found = module->variable(name);
  if (!found) return remember(found.error());
  if (pointer) *pointer = found->address;
  if (bytes) *bytes = found->bytes;
  return CUDA_SUCCESS;
}

// --- functions

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  return functionAttribute(*function, attribute, *value);
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return function->setMaxDynamicShared(value);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
    function->carveout = value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  return functionFrom(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig) {
  return functionFrom(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult orditoKernelBeside(CUfunction* kernel, CUdeviceptr address, const char* name) {
  ORDITO_CONTEXT(context);
  if (!kernel || !name) return CUDA_ERROR_INVALID_VALUE;
  const auto module = context->modules.findIf([&](const Module& each) { return each.holds(address); });
  if (!module) return CUDA_ERROR_INVALID_HANDLE;
  auto found = module->function(name);
  if (!found) return remember(found.error());
  *kernel = handleOf(*found);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  *module = handleOf(&function->module);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction handle) {
  if (!name || !handle) return CUDA_ERROR_INVALID_VALUE;
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  *name = function->kernel.name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* bytes) {
  Function* function = functionFrom(handle);
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!offset || index >= function->kernel.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = function->kernel.parameters[index].offset;
  if (bytes) *bytes = function->kernel.parameters[index].size;
  return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  if (!functionFrom(handle)) return CUDA_ERROR_INVALID_HANDLE;
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) { return functionFrom(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }

// --- libraries: a library is a module, a kernel its function

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* names, void** values, unsigned int count,
                           CUlibraryOption*, void**, unsigned int) {
  return inSomeContext(Keeps::Context, [&] {
    return loadCopy(reinterpret_cast<CUmodule*>(library), code, 0, "<library>", contracts(count, names, values));
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* names, void** values,
                               unsigned int count, CUlibraryOption*, void**, unsigned int) {
  return inSomeContext(Keeps::Context, [&] {
    return loadFile(reinterpret_cast<CUmodule*>(library), file, contracts(count, names, values));
  });
}

CUresult cuLibraryUnload(CUlibrary library) { return cuModuleUnload(reinterpret_cast<CUmodule>(library)); }

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return inSomeContext(Keeps::Nothing, [&] {
    return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel), reinterpret_cast<CUmodule>(library), name);
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> found;
  if (CUresult bad = findModule(reinterpret_cast<CUmodule>(library), found)) return bad;
  *module = handleOf(found.get());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  return cuModuleGetGlobal(pointer, bytes, reinterpret_cast<CUmodule>(library), name);
}

CUresult cuLibraryGetManaged(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  return cuModuleGetGlobal(pointer, bytes, reinterpret_cast<CUmodule>(library), name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  if (!functionFrom(reinterpret_cast<CUfunction>(kernel))) return CUDA_ERROR_INVALID_HANDLE;
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  return cuModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(library));
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary library) {
  return cuModuleEnumerateFunctions(reinterpret_cast<CUfunction*>(kernels), count, reinterpret_cast<CUmodule>(library));
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return cuFuncGetModule(reinterpret_cast<CUmodule*>(library), reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, offset, bytes);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice) {
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}

// --- the linker: its product is a fat binary of PTX parts, joined when it is loaded

CUresult cuLinkCreate(unsigned int count, CUjit_option* names, void** values, CUlinkState* state) {
  ORDITO_CONTEXT(context);
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  auto link = std::make_shared<Link>(context->device, mostRegisters(count, names, values));
  *state = static_cast<CUlinkState>(links().add(std::move(link)));
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name, unsigned int,
                       CUjit_option*, void**) {
  auto link = links().find(state);
  if (!link) return CUDA_ERROR_INVALID_HANDLE;
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  const std::string called = name ? name : "a part";
  const std::span image(static_cast<const std::byte*>(data), bytes);
  const bool mayBePtx = type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY || type == CU_JIT_INPUT_OBJECT;
  if (!mayBePtx && !(type == CU_JIT_INPUT_LIBRARY && isEmptyArchive(image)))
    return remember(CUDA_ERROR_NO_BINARY_FOR_GPU, fmt::format("{} cannot be linked: it is no PTX", called));
  return addToLink(*link, data, bytes, called);
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int options,
                       CUjit_option* names, void** values) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  if (CUresult bad = readFile(path, text)) return bad;
  return cuLinkAddData(state, type, text.data(), text.size(), path, options, names, values);
}

CUresult cuLinkComplete(CUlinkState state, void** cubin, size_t* bytes) {
  auto link = links().find(state);
  if (!link) return CUDA_ERROR_INVALID_HANDLE;
  link->result = linkedImage(link->parts);
  if (cubin) *cubin = link->result.data();
  if (bytes) *bytes = link->result.size();
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) { return links().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
