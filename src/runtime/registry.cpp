// Loading what was registered. See registry.hpp.
#include "runtime/registry.hpp"

#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "runtime/elf_section.hpp"
#include "runtime/fat_binary.hpp"

namespace ordito::runtime {
namespace {

/// Path of the executable or library, for messages.
std::string pathOf(const link_map* file) {
  if (file == nullptr) return "";
  return *file->l_name == '\0' ? program_invocation_name : file->l_name;
}

/// A binary that cannot be loaded is told about, whatever the program does with the error.
cudaError_t explained(CUresult result) {
  explain(toRuntime(result));
  return toRuntime(result);
}

cudaError_t notAKernel(const void* function) {
  return isCuda13() && function != nullptr ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}

}  // namespace

bool Binary::hasManagedVariables() const {
  return std::any_of(variables_.begin(), variables_.end(),
                     [](const Variable& v) { return v.shared || v.slot != nullptr; });
}

CUresult Binary::module(CUmodule* module) {
  CUcontext context = nullptr;
  if (const CUresult got = cuCtxGetCurrent(&context); got != CUDA_SUCCESS) return got;
  const std::scoped_lock lock(mutex_);
  if (const auto found = modules_.find(context); found != modules_.end()) {
    *module = found->second.module;
    return CUDA_SUCCESS;
  }
  Loaded loaded;
  CUresult result = load(&loaded);
  if (result == CUDA_SUCCESS) result = placeManaged(loaded.module);
  if (result != CUDA_SUCCESS) {
    discard(loaded);
    return result;
  }
  modules_.emplace(context, loaded);
  *module = loaded.module;
  return CUDA_SUCCESS;
}

CUresult Binary::load(Loaded* loaded) const {
  const std::vector<const void*> images = linkedImages(images_);
  if (images.size() > 1) return loadLinked(images, loaded);
  const void* const only = images.empty() ? images_.front() : images.front();
  return orditoModuleLoadStatic(&loaded->module, only, origin_.c_str());
}

// There is no device link step at build time: the driver links the PTX of the objects by name.
CUresult Binary::loadLinked(const std::vector<const void*>& images, Loaded* loaded) const {
  if (const CUresult created = cuLinkCreate(0, nullptr, nullptr, &loaded->link); created != CUDA_SUCCESS)
    return created;
  for (const void* image : images) {
    const CUresult added = cuLinkAddData(loaded->link, CU_JIT_INPUT_FATBINARY, const_cast<void*>(image),
                                         fatBinarySize(image), origin_.c_str(), 0, nullptr, nullptr);
    if (added != CUDA_SUCCESS) return added;
  }
  void* linked = nullptr;
  size_t bytes = 0;
  if (const CUresult done = cuLinkComplete(loaded->link, &linked, &bytes); done != CUDA_SUCCESS) return done;
  return orditoModuleLoadStatic(&loaded->module, linked, origin_.c_str());
}

void Binary::discard(const Loaded& loaded) {
  if (loaded.module != nullptr) cuModuleUnload(loaded.module);
  if (loaded.link != nullptr) cuLinkDestroy(loaded.link);
}

// Binding a variable and asking for its address gives it its initial value. That happens once: another context, or the
// same after more of the program was loaded, finds the variables as the program left them.
CUresult Binary::placeManaged(CUmodule module) {
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> kept;
  for (const Variable& variable : variables_) {
    if (!variable.isManaged()) continue;
    if (managedInitialised_) {
      auto* const storage = static_cast<std::byte*>(variable.storage());
      kept.emplace_back(storage, std::vector<std::byte>(storage, storage + variable.bytes));
    }
    // A variable that no kernel uses may be missing from the PTX.
    const CUresult bound = bindManaged(module, variable);
    if (bound != CUDA_SUCCESS && bound != CUDA_ERROR_NOT_FOUND) return bound;
  }
  for (const Variable& variable : variables_) {
    if (!variable.isManaged()) continue;
    CUdeviceptr storage = 0;
    size_t bytes = 0;
    const CUresult got = cuModuleGetGlobal(&storage, &bytes, module, variable.name.c_str());
    if (got == CUDA_SUCCESS && variable.slot != nullptr) *variable.slot = reinterpret_cast<void*>(storage);
    if (got != CUDA_SUCCESS && got != CUDA_ERROR_NOT_FOUND) return got;
  }
  for (const auto& [storage, bytes] : kept) std::copy(bytes.begin(), bytes.end(), storage);
  managedInitialised_ = true;
  return CUDA_SUCCESS;
}

CUresult Binary::bindManaged(CUmodule module, const Variable& variable) const {
  const bool hasStorage = variable.shared || (managedInitialised_ && variable.storage() != nullptr);
  return hasStorage ? orditoModuleBindVariable(module, variable.name.c_str(), variable.storage()) : CUDA_SUCCESS;
}

void Binary::forget(CUcontext context) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = modules_.find(context); found != modules_.end()) {
    discard(found->second);
    modules_.erase(found);
  }
  if (modules_.empty()) managedInitialised_ = false;
}

void Binary::unload() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [context, loaded] : modules_) {
    CUcontext previous = nullptr;
    cuCtxGetCurrent(&previous);
    if (cuCtxSetCurrent(context) == CUDA_SUCCESS) discard(loaded);
    cuCtxSetCurrent(previous);
  }
  modules_.clear();
}

// Never destroyed: the program's last calls come from its own atexit functions.
Registry& Registry::instance() {
  static Registry& registry = *new Registry;
  return registry;
}

Binary* Registry::addBinary(const void* wrapper) {
  const link_map* const file = loadedFileWith(wrapper);
  auto binary = std::make_unique<Binary>(pathOf(file));
  binary->addImage(wrapper);
  const std::scoped_lock lock(mutex_);
  ++files_[file].wrappers;
  return binaries_.emplace_back(std::move(binary)).get();
}

Binary* Registry::linkedBinary(const void* wrapper) {
  const link_map* const loaded = loadedFileWith(wrapper);
  const std::scoped_lock lock(mutex_);
  File& file = files_[loaded];
  if (file.linked == nullptr) file.linked = binaries_.emplace_back(std::make_unique<Binary>(pathOf(loaded))).get();
  file.linked->addImage(wrapper);
  ++file.wrappers;
  return file.linked;
}

Binary* Registry::readyForManaged(const void* wrapper) {
  const std::shared_lock lock(mutex_);
  const auto file = files_.find(loadedFileWith(wrapper));
  if (file == files_.end() || file->second.linked == nullptr || !file->second.linked->hasManagedVariables())
    return nullptr;
  const size_t all = sectionBeside(wrapper, kWrapperSection).bytes() / sizeof(FatBinaryWrapper);
  return all != 0 && file->second.wrappers >= all ? file->second.linked : nullptr;
}

void Registry::addKernel(Binary* binary, const void* hostFunction, const char* name) {
  const auto kernel = std::make_shared<Kernel>(Kernel{binary, name, {}});
  const std::scoped_lock lock(mutex_);
  for (const void* const address : {hostFunction, static_cast<const void*>(kernel.get())}) {
    kernels_[address] = kernel;
    binary->addAddress(address);
  }
}

void Registry::addVariable(Binary* binary, const Variable& variable) {
  const std::scoped_lock lock(mutex_);
  binary->addVariable(variable);
  for (const void* const address : {variable.symbol, static_cast<const void*>(variable.slot)}) {
    if (address == nullptr) continue;
    variables_[address] = {binary, variable};
    binary->addAddress(address);
  }
}

void Registry::addReference(Binary* binary, const void* symbol, const char* name, bool readsFloats) {
  const std::scoped_lock lock(mutex_);
  references_[symbol] = {binary, name, readsFloats};
  binary->addAddress(symbol);
}

void Registry::remove(Binary* binary) {
  const std::scoped_lock lock(mutex_);
  const auto owner = std::find_if(binaries_.begin(), binaries_.end(), [&](const auto& b) { return b.get() == binary; });
  if (owner == binaries_.end()) return;
  const auto erase = [](auto& map, const void* address, auto isTheirs) {
    if (const auto found = map.find(address); found != map.end() && isTheirs(found->second)) map.erase(found);
  };
  for (const void* const address : binary->addresses()) {
    erase(kernels_, address, [&](const auto& kernel) { return kernel->binary == binary; });
    erase(variables_, address, [&](const auto& entry) { return entry.first == binary; });
    erase(references_, address, [&](const auto& reference) { return reference.binary == binary; });
  }
  std::erase_if(files_, [&](const auto& entry) { return entry.second.linked == binary; });
  binary->unload();
  binaries_.erase(owner);
}

cudaError_t Registry::function(const void* hostFunction, CUfunction* function) {
  CUcontext context = nullptr;
  if (const CUresult got = cuCtxGetCurrent(&context); got != CUDA_SUCCESS) return toRuntime(got);
  std::shared_ptr<Kernel> kernel;
  {
    const std::shared_lock lock(mutex_);
    const auto found = kernels_.find(hostFunction);
    if (found == kernels_.end()) return notAKernel(hostFunction);
    for (const auto& [loaded_in, loaded] : found->second->functions)
      if (loaded_in == context) {
        *function = loaded;
        return cudaSuccess;
      }
    kernel = found->second;
  }
  CUmodule module = nullptr;
  if (const CUresult loaded = kernel->binary->module(&module); loaded != CUDA_SUCCESS) return explained(loaded);
  const CUresult got = cuModuleGetFunction(function, module, kernel->name.c_str());
  if (got != CUDA_SUCCESS) return got == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : toRuntime(got);
  const std::scoped_lock lock(mutex_);
  kernel->functions.emplace_back(context, *function);
  return cudaSuccess;
}

std::string Registry::kernelSymbol(const void* hostFunction) {
  const std::shared_lock lock(mutex_);
  const auto found = kernels_.find(hostFunction);
  return found == kernels_.end() ? "" : found->second->name;
}

cudaError_t Registry::handle(const void* hostFunction, cudaKernel_t* handle) {
  const std::shared_lock lock(mutex_);
  const auto found = kernels_.find(hostFunction);
  if (found == kernels_.end()) return notAKernel(hostFunction);
  *handle = reinterpret_cast<cudaKernel_t>(found->second.get());
  return cudaSuccess;
}

cudaError_t Registry::variable(const void* symbol, CUdeviceptr* address, size_t* bytes) {
  Binary* binary = nullptr;
  std::string name;
  {
    const std::shared_lock lock(mutex_);
    const auto found = variables_.find(symbol);
    if (found == variables_.end()) return cudaErrorInvalidSymbol;
    binary = found->second.first;
    name = found->second.second.name;
  }
  return locate(binary, name, address, bytes);
}

cudaError_t Registry::reference(const void* symbol, CUdeviceptr* address, bool* readsFloats) {
  Reference reference;
  {
    const std::shared_lock lock(mutex_);
    const auto found = references_.find(symbol);
    if (found == references_.end()) return cudaErrorInvalidSymbol;
    reference = found->second;
  }
  *readsFloats = reference.readsFloats;
  size_t bytes = 0;
  return locate(reference.binary, reference.name, address, &bytes);
}

cudaError_t Registry::locate(Binary* binary, const std::string& name, CUdeviceptr* address, size_t* bytes) {
  CUmodule module = nullptr;
  if (const CUresult loaded = binary->module(&module); loaded != CUDA_SUCCESS) return explained(loaded);
  const CUresult got = cuModuleGetGlobal(address, bytes, module, name.c_str());
  if (got == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidSymbol;
  return got == CUDA_SUCCESS ? cudaSuccess : explained(got);
}

void Registry::forget(CUcontext context) {
  const std::scoped_lock lock(mutex_);
  for (const auto& binary : binaries_) binary->forget(context);
  for (const auto& entry : kernels_)
    std::erase_if(entry.second->functions, [&](const auto& function) { return function.first == context; });
}

}  // namespace ordito::runtime
