// See loop_alignment.hpp.
#include "jit/loop_alignment.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace ordito::jit {
namespace {

/// What `v` was before its loop, if each iteration adds a constant to it, or takes one away, whose low bits are zero.
llvm::Value* beforeLoop(llvm::Value* v, const llvm::APInt& low) {
  auto* phi = llvm::dyn_cast<llvm::PHINode>(v);
  llvm::BinaryOperator* next = nullptr;
  llvm::Value *start = nullptr, *step = nullptr;
  if (phi == nullptr || !llvm::matchSimpleRecurrence(phi, next, start, step)) return nullptr;
  const bool adds = next->getOpcode() == llvm::Instruction::Add;
  if (!adds && (next->getOpcode() != llvm::Instruction::Sub || next->getOperand(0) != phi)) return nullptr;
  const llvm::APInt* constant = nullptr;
  if (!llvm::PatternMatch::match(step, llvm::PatternMatch::m_APInt(constant))) return nullptr;
  return (*constant & low).isZero() ? start : nullptr;
}

}  // namespace

llvm::PreservedAnalyses LoopAlignment::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  using namespace llvm::PatternMatch;
  bool changed = false;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    llvm::Value* v = nullptr;
    const llvm::APInt* low = nullptr;
    if (!match(&i, m_And(m_Value(v), m_APInt(low))) || !low->isMask()) continue;
    while (llvm::Value* before = beforeLoop(v, *low)) {
      v = before;
      i.setOperand(0, v);
      changed = true;
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace ordito::jit
