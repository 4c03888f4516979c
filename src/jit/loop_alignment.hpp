// A pass of LLVM's: what a loop adds in each iteration does not change the low bits of a pointer that it adds multiples
// of them to. So whether an access is misaligned is asked of the pointer before the loop, and LLVM takes the question
// out of the loop.
#pragma once

#include <llvm/IR/PassManager.h>

namespace ordito::jit {

class LoopAlignment : public llvm::PassInfoMixin<LoopAlignment> {
 public:
  static constexpr const char* kName = "loop-alignment";
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace ordito::jit
