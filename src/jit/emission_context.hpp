// What all classes that emit code for one kernel share: LLVM's function that is being made, the plan that it follows,
// and where in the kernel the code being emitted is.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ir/ir.hpp"
#include "jit/counter_term.hpp"
#include "jit/target.hpp"
#include "machine/kernel.hpp"
#include "machine/layout.hpp"
#include "simt/plan.hpp"

namespace ordito::jit {

using ir::BlockId;
using ir::Instruction;
using ir::kLanes;
using ir::ValueId;
using simt::NanPlan;
using LlvmValue = llvm::Value*;
/// One entry per part (warp of the batch); for masks an empty vector means "all lanes".
using Parts = std::vector<LlvmValue>;

/// What the emitted function tells the Executable.
struct EmittedKernel {
  size_t scratchBytes = 0;
  size_t localBytes = 0;
  size_t nonTemporalBytes = 0;
  bool runsRanges = false;  // a call runs as many blocks as it is told
  CounterTerms counters;
  uint32_t sites = 0;                   // instructions that listeners or a trial are told of
  std::vector<std::string> sleefNames;  // declared math functions, to be resolved at link time
};

/// A refusal met while emitting; caught at the boundary of emitKernel and turned into an Error (bodies stay free of
/// plumbing).
struct Refusal {
  std::string message;
};

/// The block's memory, as BlockFrame names it.
struct BlockMemory {
  LlvmValue parameters = nullptr, shared = nullptr, scratch = nullptr, local = nullptr, globals = nullptr;
  LlvmValue combining = nullptr;  // null where no atomics wait
  LlvmValue ctaid[3] = {}, nctaid[3] = {};
};

/// Of the code that is being emitted.
struct Position {
  const simt::Region* region = nullptr;
  uint32_t resumePoint = 0;       // where the region begins
  unsigned warps = 1;             // that advance together
  LlvmValue firstWarp = nullptr;  // the number of the first of them
  LlvmValue thread = nullptr;     // of code for one thread: its number in the block
  const ir::Block* block = nullptr;
  uint32_t line = 0;
  Parts mask;            // who runs it
  bool hasLane = false;  // it is skipped where `mask` is empty
  /// Values that it writes under the mask: lanes that do not take part still read theirs. Null: none.
  const std::vector<ValueId>* keeping = nullptr;
};

struct EmissionContext {
  EmissionContext(llvm::Module& module, const simt::Plan& plan, const machine::KernelLayout& layout,
                  const Target& target)
      : module(module), plan(plan), layout(layout), target(target), b(module.getContext()) {}

  /// A function that gives an i32, declared in the module.
  llvm::Function* declare(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters);
  void beginLines(const std::string& name);
  void setLine(uint32_t line);
  llvm::BasicBlock* newBlock(const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, function); }
  /// Calls a function of the runtime.
  LlvmValue helper(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments, bool noReturn = false);
  LlvmValue frameField(size_t offset, llvm::Type* type, const char* name);
  /// The words of the launch's counters.
  LlvmValue launchCounters();
  LlvmValue pointer(LlvmValue address, int64_t offset = 0);
  LlvmValue scratchAddress(size_t offset);
  LlvmValue scratchOfWarp(size_t offset, size_t bytesPerWarp, unsigned part = 0);
  /// The number of a warp of those that advance together.
  LlvmValue warp(unsigned part) { return part ? b.CreateAdd(at.firstWarp, b.getInt32(part)) : at.firstWarp; }
  LlvmValue dummyAddress();
  LlvmValue sharedBase() { return b.CreatePtrToInt(memory.shared, b.getInt64Ty()); }
  LlvmValue sharedBytes();
  LlvmValue inMemory(LlvmValue vector);
  llvm::AllocaInst* laneArrays(llvm::Type* element, unsigned count);
  LlvmValue laneArray(llvm::AllocaInst* arrays, unsigned k);
  void compilerFence();
  [[noreturn]] void refuse(const Instruction& i, const std::string& what);

  llvm::Module& module;
  const simt::Plan& plan;
  const machine::KernelLayout& layout;
  const Target& target;
  llvm::IRBuilder<> b;
  llvm::Function* function = nullptr;
  llvm::BasicBlock* entry = nullptr;  // of the allocas
  LlvmValue frame = nullptr;
  BlockMemory memory;
  Position at;
  EmittedKernel result;
};

/// A class that emits code: the context, and what is asked for most in it.
class Emitting {
 protected:
  explicit Emitting(EmissionContext& context)
      : c_(context),
        b_(context.b),
        plan_(context.plan),
        f_(context.plan.function),
        shapes_(context.plan.shapes),
        byThread_(context.plan.facts.launch.byThread) {}
  /// How many warps advance together where code is being emitted.
  unsigned warps() const { return c_.at.warps; }

  EmissionContext& c_;
  llvm::IRBuilder<>& b_;
  const simt::Plan& plan_;
  const ir::Function& f_;
  const ir::Shapes& shapes_;
  const bool byThread_;  // code for one thread at a time, Position::thread
};

}  // namespace ordito::jit
