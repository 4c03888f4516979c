// A pass for clang, not part of the JIT: a local variable is as aligned as the accesses to it claim.
//
// CUTLASS and others keep a fragment in an array of 2-byte numbers and load it through a reference to a uint4. By C++'s
// rules the array need not lie at a multiple of 16, and with clang it does not, while the access is made in one piece
// of 16 bytes, which faults. nvcc's arrays happen to lie well; here they do because they must.
#include "frontend/aligned_locals_pass.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace {

using namespace llvm;

void raise(const Value* pointer, MaybeAlign claimed) {
  constexpr unsigned kNoLimit = 0;
  auto* variable = dyn_cast<AllocaInst>(const_cast<Value*>(getUnderlyingObject(pointer, kNoLimit)));
  if (variable && claimed && variable->getAlign() < *claimed) variable->setAlignment(*claimed);
}

}  // namespace

PreservedAnalyses AlignedLocalsPass::run(Module& module, ModuleAnalysisManager&) {
  for (Function& function : module)
    for (Instruction& i : instructions(function)) {
      if (const auto* load = dyn_cast<LoadInst>(&i)) raise(load->getPointerOperand(), load->getAlign());
      if (const auto* store = dyn_cast<StoreInst>(&i)) raise(store->getPointerOperand(), store->getAlign());
      if (const auto* set = dyn_cast<MemIntrinsic>(&i)) raise(set->getRawDest(), set->getDestAlign());
      if (const auto* copy = dyn_cast<MemTransferInst>(&i)) raise(copy->getRawSource(), copy->getSourceAlign());
    }
  return PreservedAnalyses::all();
}
