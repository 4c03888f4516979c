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
  bool dump = false;   // print the module before and after the passes
  bool times = false;  // print how long each pass takes
};

/// Optimises a module and turns it into an object file's bytes. After an error the module must not be destroyed: LLVM
/// may have stopped in the middle of its work.
Expected<std::string> compileToObject(llvm::Module& module, const Target& target, const CompileOptions& options);

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
