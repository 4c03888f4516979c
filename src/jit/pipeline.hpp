// From a kernel of a PTX module to a function of LLVM's: the passes over our IR, then the emitter. What optimises,
// links, keeps and replaces code is in jit.cpp and compile.cpp.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "ir/ir.hpp"
#include "ir/sync_points.hpp"
#include "jit/compile.hpp"
#include "jit/emission_context.hpp"
#include "jit/target.hpp"
#include "machine/kernel.hpp"
#include "machine/layout.hpp"

namespace ordito::jit {

/// The threads of a block, in whole warps.
size_t threadsOf(const machine::Dim3& block);

/// A kernel as the emitter wants it.
struct Analysed {
  ir::Function function;
  ir::SyncPoints syncPoints;
  ir::LaunchShape launch;
  machine::KernelLayout layout;
  bool counters = false, accesses = false, trial = false;
  std::vector<uint32_t> lines = {};
};

/// A kernel as LLVM wants it, on its own: nothing of the program's module is needed any more.
struct Emission : OwnedModule {
  std::string symbol;
  EmittedKernel emitted;
  size_t threads = 0;
  bool isClose = false;  // some choice of the plan's could as well have been another one
};

/// `dump` prints the IR to stderr. An error says which instruction cannot be compiled.
Expected<Analysed> analyse(const ptx::Module& module, const ptx::Function& kernel,
                           const machine::Specialisation& specialisation, bool dump);

/// How many instructions of PTX, after inlining.
size_t instructionCount(const ir::Function& f);

/// What a program may ask of the plan; otherwise it decides for each kernel.
struct Wishes {
  std::vector<unsigned> coarsening = {};  // how many warps advance together, by region in turn
  simt::ByThread byThread = simt::ByThread::Cheaper;
};

/// `symbol` is the name of the function that runs a block. The error kNotSupported refuses the kernel.
Expected<Emission> emit(const Analysed& analysed, const Wishes& wishes, const Target& target, std::string symbol,
                        Effort effort);

}  // namespace ordito::jit
