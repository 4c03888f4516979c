// Modules and the functions in them: parsed when first asked for, variables placed in device memory, kernels compiled
// for each block shape on first launch.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda.h"
#include "driver/image.hpp"
#include "machine/kernel.hpp"
#include "machine/layout.hpp"

namespace ordito::driver {

class Context;
class Module;

/// A kernel. Its handle stays valid as long as its module.
class Function {
 public:
  Function(Module& owner, const ptx::Function& kernel);

  struct Compiled {
    std::shared_ptr<const machine::Executable> executable;
    uint64_t compileNs = 0;  // of this very call; 0 when it was there already
  };
  /// The kernel's code for one block shape. Compiles at most once for each, from whatever thread comes first.
  Expected<Compiled> compile(const machine::Specialisation& specialisation);

  Module& module;
  const ptx::Function& kernel;
  const std::string displayName;  // demangled
  const machine::KernelLayout layout;
  const uint32_t sharedAlignment;
  /// What the GPU's compiler would give a thread, as estimated when somebody first asks (registers/estimate.hpp).
  uint32_t registers() const;

  /// Largest dynamic shared memory that a launch may ask for.
  uint32_t maxDynamicShared() const { return maxDynamicShared_; }
  CUresult setMaxDynamicShared(int bytes);
  uint32_t maxThreads() const;
  int carveout = -1;

  /// The state of the launch calls from before CUDA 4.0.
  struct OldLaunch {
    unsigned block[3] = {1, 1, 1};
    unsigned sharedBytes = 0;
    std::vector<std::byte> parameters;
  } oldLaunch;

 private:
  std::atomic<uint32_t> maxDynamicShared_;
  mutable std::once_flag registersOnce_;
  mutable uint32_t registers_ = 0;
  std::mutex mutex_;
  std::vector<std::pair<machine::Specialisation, std::shared_ptr<const machine::Executable>>> compiled_;
};

/// A variable of a module as the program sees it.
struct ModuleVariable {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// `text` is the copied image, or empty when `image` points to memory that outlives the module.
  Module(Context& context, Image image, std::string copy);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Parses the image and places its variables, once.
  Expected<> load();
  Expected<Function*> function(const std::string& name);
  Expected<ModuleVariable> variable(const std::string& name);
  /// See orditoModuleBindVariable.
  Expected<> bind(const std::string& name, void* address);
  Expected<std::vector<Function*>> functions();

  std::byte* const* globals() const { return addresses_.data(); }
  const ptx::Module& parsed() const { return *parsed_; }
  const machine::ModulePtr& keptParsed() const { return parsed_; }
  /// Does any of its code launch kernels or ask the device runtime something? Valid once loaded.
  bool usesDeviceRuntime() const { return usesDeviceRuntime_; }
  /// Whether `address` is that of one of its functions in PTX. Valid once loaded.
  bool holds(uint64_t address) const;
  /// The kernel that `address`, a function's address in PTX, stands for.
  Expected<Function*> functionAt(uint64_t address);
  Context& context;

 private:
  Expected<> parse();
  Expected<> placeVariables();
  Expected<> place(size_t index);
  void initialise(size_t index);
  uint64_t valueOf(const ptx::Relocation& relocation) const;

  Image image_;
  std::string copy_;
  std::mutex mutex_;
  std::optional<Expected<>> parseResult_, placeResult_;
  std::shared_ptr<const ptx::Module> parsed_;
  bool usesDeviceRuntime_ = false;
  std::string withoutPtx_;
  std::vector<std::byte*> addresses_;  // by variable index; null for what has no place of its own (shared memory)
  std::vector<uint64_t> owned_;        // device allocations
  std::vector<uint64_t> ownedManaged_;
  std::map<std::string, void*> bound_;
  std::map<std::string, std::unique_ptr<Function>> functions_;
};

/// A function handle is the address of a Function; checked against all live ones.
Function* functionFrom(CUfunction handle);

}  // namespace ordito::driver
