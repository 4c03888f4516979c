// The managers of analyses that a run of LLVM's new passes needs, which know each other and those of `builder`.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace ordito::jit {

struct LlvmAnalyses {
  explicit LlvmAnalyses(llvm::PassBuilder& builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  LlvmAnalyses(const LlvmAnalyses&) = delete;  // they point at each other
  LlvmAnalyses& operator=(const LlvmAnalyses&) = delete;

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace ordito::jit
