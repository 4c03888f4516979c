// Every half is a float, so code is emitted that widens first and then compares, rounds to an integer or converts to
// one. LLVM's optimiser sees that the wide numbers come from halves and does it with those, and its code generator has
// no instruction for that: it takes each lane out of the vector, widens it for itself, and puts the results together
// one by one, 50 ns for a warp instead of two. (What is not a number is told by a comparison, so nearly all arithmetic
// with halves has one.) Results are the same: a half rounded to an integer is one that a half can hold.
#include "jit/half_operations.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

namespace ordito::jit {
namespace {

bool isHalves(const llvm::Type* type) { return type->isVectorTy() && type->getScalarType()->isHalfTy(); }

bool roundsToInteger(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::roundeven: return true;
    default: return false;
  }
}

bool isToBeWidened(const llvm::Instruction& i) {
  if (i.getNumOperands() == 0 || !isHalves(i.getOperand(0)->getType())) return false;
  return llvm::isa<llvm::FCmpInst, llvm::FPToSIInst, llvm::FPToUIInst>(i) || roundsToInteger(i);
}

llvm::Value* widened(llvm::IRBuilder<>& b, llvm::Value* v) {
  const auto* narrow = llvm::cast<llvm::FixedVectorType>(v->getType());
  return b.CreateFPExt(v, llvm::FixedVectorType::get(b.getFloatTy(), narrow->getNumElements()));
}

void widen(llvm::Instruction& i) {
  llvm::IRBuilder<> b(&i);
  if (roundsToInteger(i)) {
    const auto id = llvm::cast<llvm::IntrinsicInst>(i).getIntrinsicID();
    i.replaceAllUsesWith(b.CreateFPTrunc(b.CreateUnaryIntrinsic(id, widened(b, i.getOperand(0))), i.getType()));
    i.eraseFromParent();
    return;
  }
  for (llvm::Use& operand : i.operands()) operand.set(widened(b, operand));
}

}  // namespace

void widenHalfOperations(llvm::Function& function) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (isToBeWidened(i)) found.push_back(&i);
  for (llvm::Instruction* i : found) widen(*i);
}

}  // namespace ordito::jit
