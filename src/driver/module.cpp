// See module.hpp.
#include "driver/module.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <shared_mutex>

#include "base/kernel_name.hpp"
#include "driver/context.hpp"
#include "driver/engine.hpp"
#include "machine/device_runtime.hpp"
#include "registers/estimate.hpp"

namespace ordito::driver {

namespace {

constexpr int kNotFound = CUDA_ERROR_NOT_FOUND;

uint32_t largestSharedAlignment(const ptx::Module& module, const ptx::Function& kernel) {
  uint32_t alignment = 16;
  auto look = [&](const std::vector<ptx::Variable>& variables) {
    for (const auto& variable : variables)
      if (variable.space == ptx::Space::Shared) alignment = std::max(alignment, variable.alignment);
  };
  look(module.variables);
  look(kernel.variables);
  for (const auto& function : module.functions)
    if (!function.isEntry) look(function.variables);
  return alignment;
}

struct LiveFunctions {
  std::shared_mutex mutex;
  std::set<const void*> all;
};
LiveFunctions& liveFunctions() {
  static auto* live = new LiveFunctions;
  return *live;
}

}  // namespace

Function* functionFrom(CUfunction handle) {
  LiveFunctions& live = liveFunctions();
  std::shared_lock lock(live.mutex);
  return live.all.contains(handle) ? reinterpret_cast<Function*>(handle) : nullptr;
}

// --- functions

Function::Function(Module& owner, const ptx::Function& entry)
    : module(owner),
      kernel(entry),
      displayName(kernelName(entry.name)),
      layout(machine::layoutKernel(owner.parsed(), entry)),
      sharedAlignment(largestSharedAlignment(owner.parsed(), entry)),
      maxDynamicShared_(kDefaultShared - std::min(kDefaultShared, layout.staticSharedBytes)) {}

CUresult Function::setMaxDynamicShared(int bytes) {
  uint32_t limit = maxOptInShared(module.context.device.gpu);
  if (bytes < 0 || layout.staticSharedBytes > limit || static_cast<uint32_t>(bytes) > limit - layout.staticSharedBytes)
    return CUDA_ERROR_INVALID_VALUE;
  maxDynamicShared_ = static_cast<uint32_t>(bytes);
  return CUDA_SUCCESS;
}

uint32_t Function::registers() const {
  std::call_once(registersOnce_, [this] {
    const auto& gpu = module.context.device.gpu;
    registers_ = registers::estimate(module.parsed(), kernel,
                                     {gpu.computeCapability(), gpu.registersPerBlock, gpu.registersPerMultiprocessor,
                                      gpu.threadsPerMultiprocessor, gpu.maxRegistersPerThread});
  });
  return registers_;
}

uint32_t Function::maxThreads() const {
  auto product = [](const uint32_t(&dims)[3]) {
    uint64_t threads = 1;
    for (uint32_t d : dims) threads *= std::max(d, 1u);
    return dims[0] ? threads : uint64_t{kMaxThreadsPerBlock};
  };
  return static_cast<uint32_t>(
      std::min({product(kernel.maxntid), product(kernel.reqntid), uint64_t{kMaxThreadsPerBlock}}));
}

Expected<Function::Compiled> Function::compile(const machine::Specialisation& specialisation) {
  std::lock_guard lock(mutex_);
  for (const auto& [known, executable] : compiled_)
    if (known == specialisation) return Compiled{executable, 0};
  auto start = std::chrono::steady_clock::now();
  auto executable = engine().compile(module.keptParsed(), kernel, specialisation);
  if (!executable) return tl::unexpected(executable.error());
  compiled_.emplace_back(specialisation, *executable);
  auto spent = std::chrono::steady_clock::now() - start;
  return Compiled{*executable, static_cast<uint64_t>(std::chrono::nanoseconds(spent).count())};
}

// --- modules

Module::Module(Context& owner, Image image, std::string copy)
    : context(owner), image_(std::move(image)), copy_(std::move(copy)) {
  if (!copy_.empty()) {
    image_.data = copy_.data();
    image_.bytes = copy_.size();
  }
}

Module::~Module() {
  {
    LiveFunctions& live = liveFunctions();
    std::unique_lock lock(live.mutex);
    for (auto& [name, function] : functions_) live.all.erase(function.get());
  }
  for (const auto& [name, address] : bound_)
    machine::allocations().remove(reinterpret_cast<uint64_t>(address), machine::MemoryKind::Managed);
  for (uint64_t address : owned_) context.device.memory.free(address);
  for (uint64_t address : ownedManaged_) machine::freeHost(address, machine::MemoryKind::Managed);
}

Expected<> Module::parse() {
  if (parseResult_) return *parseResult_;
  auto parsed = parseImage(image_, context.device.gpu.computeCapability());
  if (parsed) {
    parsed_ = std::move(parsed->module);
    withoutPtx_ = std::move(parsed->withoutPtx);
    usesDeviceRuntime_ = parsed_ && std::ranges::any_of(parsed_->functions, [](const ptx::Function& f) {
                           return !f.hasBody && machine::findDeviceFunction(f.name);
                         });
    parseResult_ = Expected<>();
  } else {
    parseResult_ = tl::unexpected(parsed.error());
  }
  return *parseResult_;
}

Expected<> Module::load() {
  std::lock_guard lock(mutex_);
  if (auto ok = parse(); !ok) return ok;
  if (!placeResult_) placeResult_ = parsed_ ? placeVariables() : Expected<>();
  return *placeResult_;
}

Expected<> Module::placeVariables() {
  addresses_.assign(parsed_->variables.size(), nullptr);
  for (size_t i = 0; i < addresses_.size(); ++i)
    if (auto ok = place(i); !ok) return ok;
  for (size_t i = 0; i < addresses_.size(); ++i) initialise(i);
  return {};
}

Expected<> Module::place(size_t index) {
  const ptx::Variable& variable = parsed_->variables[index];
  if (variable.space != ptx::Space::Global && variable.space != ptx::Space::Const) return {};
  if (auto it = bound_.find(variable.name); it != bound_.end()) {
    addresses_[index] = static_cast<std::byte*>(it->second);
    machine::allocations().add({.address = reinterpret_cast<uint64_t>(it->second),
                                .bytes = variable.size,
                                .kind = machine::MemoryKind::Managed,
                                .flags = CU_MEM_ATTACH_GLOBAL,
                                .isModules = true});
    return {};
  }
  if (variable.linkage == ptx::Linkage::Extern)
    return failWith(CUDA_ERROR_NOT_FOUND, "{}: the variable '{}' is declared but defined nowhere in the program",
                    image_.origin, variable.name);
  if (variable.size == 0) return {};
  auto address = variable.managed
                     ? machine::allocateHost(variable.size, machine::MemoryKind::Managed, CU_MEM_ATTACH_GLOBAL, true)
                     : context.device.memory.allocate(variable.size, true, &context);
  if (!address) return failWith(address.error().code, "variable '{}': {}", variable.name, address.error().message);
  (variable.managed ? ownedManaged_ : owned_).push_back(*address);
  addresses_[index] = reinterpret_cast<std::byte*>(*address);
  return {};
}

void Module::initialise(size_t index) {
  const ptx::Variable& variable = parsed_->variables[index];
  std::byte* address = addresses_[index];
  if (!address || variable.size == 0) return;
  if (!variable.initial.empty())
    std::memcpy(address, variable.initial.data(), variable.initial.size());
  else if (bound_.contains(variable.name))
    std::memset(address, 0, variable.size);
  for (const ptx::Relocation& relocation : variable.relocations) {
    uint64_t value = valueOf(relocation);
    std::memcpy(address + relocation.offset, &value, relocation.bytes);
  }
}

/// The address of a function is that of its ptx::Function: the engines agree on it.
uint64_t Module::valueOf(const ptx::Relocation& relocation) const {
  uint64_t base = 0;
  if (relocation.symbol.kind == ptx::Symbol::Kind::ModuleVariable)
    base = reinterpret_cast<uint64_t>(addresses_[relocation.symbol.index]);
  else if (relocation.symbol.kind == ptx::Symbol::Kind::Function)
    base = reinterpret_cast<uint64_t>(&parsed_->functions[relocation.symbol.index]);
  return base + static_cast<uint64_t>(relocation.addend);
}

Expected<Function*> Module::function(const std::string& name) {
  if (auto ok = load(); !ok) return tl::unexpected(ok.error());
  std::lock_guard lock(mutex_);
  if (!parsed_)
    return failWith(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "kernel '{}': {} holds {}. Ordito runs PTX: rebuild with PTX inside, for example nvcc "
                    "-gencode arch=compute_80,code=compute_80, or without -gencode and -arch=sm_…",
                    kernelName(name), image_.origin, withoutPtx_);
  if (auto it = functions_.find(name); it != functions_.end()) return it->second.get();
  const ptx::Function* kernel = parsed_->findFunction(name);
  if (!kernel || !kernel->isEntry || !kernel->hasBody)
    return failWith(kNotFound, "{}: there is no kernel '{}'", image_.origin, kernelName(name));
  auto& made = functions_[name] = std::make_unique<Function>(*this, *kernel);
  LiveFunctions& live = liveFunctions();
  std::unique_lock guard(live.mutex);
  live.all.insert(made.get());
  return made.get();
}

bool Module::holds(uint64_t address) const {
  if (!parsed_ || parsed_->functions.empty()) return false;
  const auto first = reinterpret_cast<uint64_t>(&parsed_->functions.front());
  const auto last = reinterpret_cast<uint64_t>(&parsed_->functions.back());
  return address >= first && address <= last && (address - first) % sizeof(ptx::Function) == 0;
}

Expected<Function*> Module::functionAt(uint64_t address) {
  for (const ptx::Function& candidate : parsed_->functions)
    if (reinterpret_cast<uint64_t>(&candidate) == address) return function(candidate.name);
  return failWith(CUDA_ERROR_INVALID_HANDLE, "{:#x} is the address of no kernel", address);
}

Expected<std::vector<Function*>> Module::functions() {
  if (auto ok = load(); !ok) return tl::unexpected(ok.error());
  std::vector<Function*> all;
  if (!parsed_) return all;
  for (const auto& entry : parsed_->functions) {
    if (!entry.isEntry || !entry.hasBody) continue;
    auto found = function(entry.name);
    if (!found) return tl::unexpected(found.error());
    all.push_back(*found);
  }
  return all;
}

Expected<ModuleVariable> Module::variable(const std::string& name) {
  if (auto ok = load(); !ok) return tl::unexpected(ok.error());
  for (size_t i = 0; i < addresses_.size(); ++i)
    if (parsed_->variables[i].name == name && addresses_[i])
      return ModuleVariable{reinterpret_cast<uint64_t>(addresses_[i]), parsed_->variables[i].size};
  return failWith(kNotFound, "{}: there is no variable '{}'", image_.origin, name);
}

Expected<> Module::bind(const std::string& name, void* address) {
  std::lock_guard lock(mutex_);
  if (auto ok = parse(); !ok) return ok;
  if (placeResult_) return failWith(CUDA_ERROR_ILLEGAL_STATE, "the variable '{}' has its place already", name);
  bool found = parsed_ && std::any_of(parsed_->variables.begin(), parsed_->variables.end(),
                                      [&](const ptx::Variable& v) { return v.name == name; });
  if (!found) return failWith(kNotFound, "{}: there is no variable '{}'", image_.origin, name);
  bound_[name] = address;
  return {};
}

}  // namespace ordito::driver
