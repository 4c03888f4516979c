// A pass of LLVM's: whether any lane, or every lane, fulfils a comparison is asked of scalars where the lanes' numbers
// are a base plus constants, as `blockIdx.x * 256 + threadIdx.x < n` has them: the first or the last of them decides.
// The mask itself is then made only where it is needed, which is in the one block at the array's end.
#pragma once

#include <llvm/IR/PassManager.h>

namespace ordito::jit {

class LaneQuestions : public llvm::PassInfoMixin<LaneQuestions> {
 public:
  static constexpr const char* kName = "lane-questions";
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace ordito::jit
