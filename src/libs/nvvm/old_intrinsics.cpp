// See old_intrinsics.hpp. NVVM IR Specification, "Warp-level Operations": one shuffle and one vote, whose kind is an
// operand. LLVM has an intrinsic for each kind.
#include "libs/nvvm/old_intrinsics.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <array>

namespace ordito::nvvm {
namespace {

namespace Intrinsic = llvm::Intrinsic;

/// The constant operand that says which kind, if it is one of `count`.
bool kindOf(const llvm::CallInst& call, size_t count, size_t& kind) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
  if (!constant || constant->getZExtValue() >= count) return false;
  kind = constant->getZExtValue();
  return true;
}

/// {i32, i1} shfl.sync.i32(mask, kind, value, lane, clamp)
llvm::Value* shuffle(llvm::IRBuilder<>& builder, const llvm::CallInst& call) {
  constexpr std::array kKinds = {Intrinsic::nvvm_shfl_sync_idx_i32p, Intrinsic::nvvm_shfl_sync_up_i32p,
                                 Intrinsic::nvvm_shfl_sync_down_i32p, Intrinsic::nvvm_shfl_sync_bfly_i32p};
  size_t kind = 0;
  if (!kindOf(call, kKinds.size(), kind)) return nullptr;
  return builder.CreateIntrinsic(
      kKinds[kind], {}, {call.getArgOperand(0), call.getArgOperand(2), call.getArgOperand(3), call.getArgOperand(4)});
}

/// {i32, i1} vote.sync(mask, kind, predicate): the ballot is the integer, the others are the bit.
llvm::Value* vote(llvm::IRBuilder<>& builder, const llvm::CallInst& call) {
  constexpr std::array kKinds = {Intrinsic::nvvm_vote_all_sync, Intrinsic::nvvm_vote_any_sync,
                                 Intrinsic::nvvm_vote_uni_sync, Intrinsic::nvvm_vote_ballot_sync};
  size_t kind = 0;
  if (!kindOf(call, kKinds.size(), kind)) return nullptr;
  llvm::Value* answer = builder.CreateIntrinsic(kKinds[kind], {}, {call.getArgOperand(0), call.getArgOperand(2)});
  llvm::Value* both = llvm::Constant::getNullValue(call.getType());
  return builder.CreateInsertValue(both, answer, {answer->getType()->isIntegerTy(1) ? 1u : 0u});
}

struct OldIntrinsic {
  llvm::StringRef name;
  unsigned operands;
  llvm::Value* (*replace)(llvm::IRBuilder<>&, const llvm::CallInst&);
};
constexpr OldIntrinsic kOld[] = {{"llvm.nvvm.shfl.sync.i32", 5, shuffle}, {"llvm.nvvm.vote.sync", 3, vote}};

Expected<> replaceCalls(llvm::Function& function, const OldIntrinsic& old) {
  for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    llvm::Value* replacement = nullptr;
    if (call && call->arg_size() == old.operands) {
      llvm::IRBuilder<> builder(call);
      replacement = old.replace(builder, *call);
    }
    if (!replacement || replacement->getType() != call->getType())
      return fail("{}: a call whose operands are not those of the NVVM IR Specification", old.name.str());
    call->replaceAllUsesWith(replacement);
    call->eraseFromParent();
  }
  function.eraseFromParent();
  return {};
}

}  // namespace

Expected<> replaceOldIntrinsics(llvm::Module& module) {
  for (const OldIntrinsic& old : kOld)
    if (llvm::Function* function = module.getFunction(old.name))
      if (auto replaced = replaceCalls(*function, old); !replaced) return replaced;
  for (const llvm::Function& function : module)
    if (function.getName().starts_with("llvm.") && function.getIntrinsicID() == Intrinsic::not_intrinsic)
      return fail("{}: LLVM {} has no such intrinsic", function.getName().str(), LLVM_VERSION_STRING);
  return {};
}

}  // namespace ordito::nvvm
