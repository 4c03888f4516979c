// LLVM IR -> machine code in this process.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "jit/target.hpp"

namespace ordito::jit {

class Linker;

/// CUDA_ERROR_NOT_SUPPORTED: the code of errors about kernels that the emitter refuses or LLVM gives up on.
constexpr int kNotSupported = 801;

/// What compiling is worth.
enum class Effort {
  Baseline,   // soon: a few passes
  Optimised,  // as fast as it can be
};

struct CompileOptions {
  Effort effort = Effort::Optimised;
  bool dump = false;                 // print the module before and after the passes
  bool times = false;                // print how long each pass takes
  uint64_t mostPhis = ~uint64_t{0};  // no optimised code where SSA form could have more
};

/// A module with the context that its types and constants live in.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code;
};

/// Optimises a module and turns it into an object file's bytes. Where LLVM stops in the middle of its work, what it
/// worked on is in no state to be destroyed: it stays in memory, and `module` owns nothing any more.
Expected<std::string> compileToObject(OwnedModule& module, const Target& target, const CompileOptions& options);

/// Links object files into the process; keeps them until it is destroyed.
class CodeStore {
 public:
  CodeStore();
  ~CodeStore();
  /// Links `object` and returns the address of `symbol`.
  /// Faults in its code name their PTX line.
  Expected<void*> link(std::string object, const std::string& symbol);

 private:
  std::unique_ptr<Linker> linker_;
};

}  // namespace ordito::jit
