// See aligned_locals_pass.cpp.
#pragma once

#include <llvm/IR/PassManager.h>

struct AlignedLocalsPass : llvm::PassInfoMixin<AlignedLocalsPass> {
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};
