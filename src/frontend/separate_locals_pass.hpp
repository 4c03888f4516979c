// See separate_locals_pass.cpp.
#pragma once

#include <llvm/IR/PassManager.h>

struct SeparateLocalsPass : llvm::PassInfoMixin<SeparateLocalsPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};
