// See inlined_lines_pass.cpp.
#pragma once

#include <llvm/IR/PassManager.h>

struct InlinedLinesPass : llvm::PassInfoMixin<InlinedLinesPass> {
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};
