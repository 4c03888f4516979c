// What the compilers' start-up code registers: fat binaries, and the kernels and variables inside them, keyed by the
// host address that stands for each.
//
// Registration runs before main and only records. A binary is loaded into a context when one of its symbols is first
// used there, so a program that never touches the GPU pays nothing, and the error of a bad binary is the error of the
// first launch.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/call.hpp"

struct link_map;

namespace ordito::runtime {

/// Does the launch that the calling thread is about to make come from kernel<<<...>>>(), which drops its result? Once
/// for each.
bool takeLaunchSyntax();

struct Variable {
  const void* symbol = nullptr;  // the host's shadow variable
  void** slot = nullptr;         // nvcc's managed variables: where the host finds the address
  bool shared = false;           // clang's managed variables: the shadow itself is the storage
  bool constant = false;
  size_t bytes = 0;
  std::string name;

  bool isManaged() const { return shared || slot != nullptr; }
  /// Where a managed variable lives; null before nvcc's are placed.
  void* storage() const { return shared ? const_cast<void*>(symbol) : *slot; }
};

/// One or more device images that are loaded together. Whole programs have one image; separately compiled ones have one
/// for each object file, linked by name.
class Binary {
 public:
  explicit Binary(std::string origin) : origin_(std::move(origin)) {}

  void addImage(const void* wrapper) { images_.push_back(wrapper); }
  void addVariable(const Variable& variable) { variables_.push_back(variable); }
  void addAddress(const void* address) { addresses_.push_back(address); }
  const std::vector<const void*>& addresses() const { return addresses_; }
  bool hasManagedVariables() const;
  const std::string& origin() const { return origin_; }

  /// The module of the current context, loaded and with its managed variables in place.
  CUresult module(CUmodule* module);
  void forget(CUcontext context);
  void unload();

 private:
  /// A module, and the linker's output that it was loaded from if there is one: it must outlive the module.
  struct Loaded {
    CUmodule module = nullptr;
    CUlinkState link = nullptr;
  };
  CUresult load(Loaded* loaded) const;
  CUresult loadLinked(const std::vector<const void*>& images, Loaded* loaded) const;
  static void discard(const Loaded& loaded);
  CUresult placeManaged(CUmodule module);
  CUresult bindManaged(CUmodule module, const Variable& variable) const;

  std::string origin_;  // path of the executable or library, for messages
  std::vector<const void*> images_;
  std::deque<Variable> variables_;
  std::vector<const void*> addresses_;  // what the registry has under its name
  std::mutex mutex_;
  std::map<CUcontext, Loaded> modules_;
  bool managedInitialised_ =
      false;  // a second context shares the variables of the first, with the values that they have by then
};

struct Kernel {
  Binary* binary = nullptr;
  std::string name;
  std::vector<std::pair<CUcontext, CUfunction>> functions;  // guarded by the registry's mutex
};

class Registry {
 public:
  static Registry& instance();

  Binary* addBinary(const void* wrapper);
  /// The binary that collects the separately compiled objects of the executable or library that contains `wrapper`.
  Binary* linkedBinary(const void* wrapper);
  /// The binary whose managed variables can be placed now that `wrapper` has registered its symbols: managed variables
  /// must be ready when main touches them, but separately compiled objects can only be loaded when the last of them is
  /// known. Null if there is none.
  Binary* readyForManaged(const void* wrapper);
  void addKernel(Binary* binary, const void* hostFunction, const char* name);
  void addVariable(Binary* binary, const Variable& variable);
  /// A texture or surface reference; a texture's integers may be read as fractions of 1.
  void addReference(Binary* binary, const void* symbol, const char* name, bool readsFloats);
  /// Removes the binary and all that it registered (a library is unloaded, or the program ends).
  void remove(Binary* binary);

  /// The function of the current context for a host function, or for a handle that handle() gave.
  cudaError_t function(const void* hostFunction, CUfunction* function);
  /// A registered kernel's name in PTX; empty for any other function.
  std::string kernelSymbol(const void* hostFunction);
  /// A context-independent handle for a registered kernel.
  cudaError_t handle(const void* hostFunction, cudaKernel_t* handle);
  /// Address and size of a variable in the current context.
  cudaError_t variable(const void* symbol, CUdeviceptr* address, size_t* bytes);
  /// Where the descriptor of a texture or surface reference lies in the current context.
  cudaError_t reference(const void* symbol, CUdeviceptr* address, bool* readsFloats);
  void forget(CUcontext context);

 private:
  cudaError_t locate(Binary* binary, const std::string& name, CUdeviceptr* address, size_t* bytes);
  struct Reference {
    Binary* binary = nullptr;
    std::string name;
    bool readsFloats = false;
  };
  std::unordered_map<const void*, Reference> references_;
  std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Binary>> binaries_;
  /// What one executable or library has registered so far.
  struct File {
    Binary* linked = nullptr;
    size_t wrappers = 0;
  };
  std::map<const link_map*, File> files_;
  std::unordered_map<const void*, std::shared_ptr<Kernel>> kernels_;
  std::unordered_map<const void*, std::pair<Binary*, Variable>> variables_;
};

/// Forgets what was loaded into a context that is about to go.
inline void forgetContext(CUcontext context) { Registry::instance().forget(context); }

}  // namespace ordito::runtime
