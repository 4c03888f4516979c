// For tests of passes over LLVM's IR: a module from text, and passes run on its first function.
#pragma once

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>
#include <utility>

#include "jit/llvm_analyses.hpp"

namespace ordito::jit {

struct ParsedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  llvm::Function& function() const { return *module->begin(); }
};

inline ParsedModule parsedModule(const std::string& text) {
  ParsedModule p;
  llvm::SMDiagnostic problem;
  p.module = llvm::parseAssemblyString(text, problem, *p.context);
  EXPECT_TRUE(p.module) << problem.getMessage().str() << "\n" << text;
  return p;
}

inline void expectValid(const ParsedModule& p) { EXPECT_FALSE(llvm::verifyModule(*p.module, &llvm::errs())); }

/// Runs passes of the new pass manager in turn.
template <class... Passes>
void runPasses(const ParsedModule& p, Passes... passes) {
  llvm::PassBuilder builder;
  LlvmAnalyses analyses(builder);
  llvm::FunctionPassManager manager;
  (manager.addPass(std::move(passes)), ...);
  manager.run(p.function(), analyses.functions);
  expectValid(p);
}

}  // namespace ordito::jit
