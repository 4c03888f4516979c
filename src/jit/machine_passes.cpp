// About a hundred passes lie between LLVM's IR and machine code, made for all languages and all habits of compiling.
// Kernels have no exceptions, no garbage collector, no thread-local variables, no AMX tiles and no defences against
// speculative execution; and in their long blocks of vector instructions some passes find nothing to do that could be
// measured (the cases of bench_kernels, Zen 4). Together they are 5 % of a kernel's compile time (callgrind, the lab's
// reductions).
#include "jit/machine_passes.hpp"

#include <llvm/Pass.h>

namespace ordito::jit {
namespace {

/// Passes for what kernels do not have.
constexpr std::string_view kForOthers[] = {
    "Expand large div/rem",
    "Expand large fp convert",
    "Lower AMX intrinsics",
    "Lower AMX type for load/store",
    "Merge contiguous icmps into a memcmp",
    "Expand memcmp() to load/stores",
    "Lower Garbage Collection Instructions",
    "Shadow Stack GC Lowering",
    "Replace intrinsics with calls to vector library",
    "Partially inline calls to library functions",
    "Expand vector predication intrinsics",
    "TLS Variable Hoist",
    "Expand indirectbr instructions",
    "Exception handling preparation",
    "Prepare callbr",
    "Safe Stack instrumentation pass",
    "Local Dynamic TLS Access Clean-up",
    "X86 PIC Global Base Reg Initialization",
    "Argument Stack Rebase",
    "X86 Windows Fixup Buffer Security Check",
    "X86 speculative load hardening",
    "Tile Register Pre-configure",
    "Tile Register Configure",
    "X86 Lower Tile Copy",
    "Init Undef Pass",
    "X86 Load Value Injection (LVI) Load Hardening",
    "Remove Redundant DEBUG_VALUE analysis",
    "Fixup Statepoint Caller Saved",
    "Insert KCFI indirect call checks",
    "Analyze Machine Code For Garbage Collection",
    "Insert fentry calls",
    "Insert XRay ops",
    "Implement the 'patchable-function' attribute",
    "X86 Indirect Branch Tracking",
    "X86 Atom pad short functions",
    "X86 Discriminate Memory Operands",
    "X86 Insert Cache Prefetches",
    "X86 insert wait instruction",
    "Contiguously Lay Out Funclets",
    "StackMap Liveness Analysis",
    "Live DEBUG_VALUE analysis",
    "Machine Sanitizer Binary Metadata",
    "Stack Frame Layout Analysis",
    "X86 Speculative Execution Side Effect Suppression",
    "X86 Indirect Thunks",
    "X86 Return Thunks",
    "X86 Load Value Injection (LVI) Ret-Hardening",
    "Pseudo Probe Inserter",
};

/// Passes that make the code of kernels no faster.
constexpr std::string_view kWithoutGain[] = {
    "Constant Hoisting",
    "X86 Domain Reassignment Pass",
    "Early Tail Duplication",
    "Early If-Conversion",
    "Machine InstCombiner",
    "X86 cmov Conversion",
    "Live Range Shrink",
    "X86 LEA Optimize",
    "X86 Avoid Store Forwarding Blocks",
    "Machine Loop Invariant Code Motion",
    "PostRA Machine Sink",
    "Shrink Wrapping analysis",
    "Machine Late Instructions Cleanup Pass",
    "Tail Duplication",
    "X86 Byte/Word Instruction Fixup",
    "X86 LEA Fixup",
    "X86 Fixup Inst Tuning",
};

/// Passes that baseline code does without.
constexpr std::string_view kForLeisure[] = {
    "Control Flow Optimizer", "Loop Strength Reduction",
    "Machine code sinking",   "Machine Common Subexpression Elimination",
    "Peephole Optimizations",
};

const std::set<std::string_view>& leftOut(bool hurries) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all(std::begin(kForOthers), std::end(kForOthers));
    all.insert(std::begin(kWithoutGain), std::end(kWithoutGain));
    return all;
  }();
  static const std::set<std::string_view> more = [] {
    std::set<std::string_view> all = names;
    all.insert(std::begin(kForLeisure), std::end(kForLeisure));
    return all;
  }();
  return hurries ? more : names;
}

}  // namespace

MachinePasses::MachinePasses(llvm::legacy::PassManagerBase& to, bool hurries)
    : to_(to), hurries_(hurries), unmet_(leftOut(hurries)) {}

void MachinePasses::add(llvm::Pass* pass) {
  const llvm::StringRef name = pass->getPassName();
  const std::string_view key(name.data(), name.size());
  unmet_.erase(key);
  if (leftOut(hurries_).contains(key))
    delete pass;  // the pass manager that it was meant for would own it
  else
    to_.add(pass);
}

}  // namespace ordito::jit
