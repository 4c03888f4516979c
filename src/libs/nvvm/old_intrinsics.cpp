// See old_intrinsics.hpp. NVVM IR Specification, "Warp-level Operations": one shuffle and one vote, whose kind is an
// operand. LLVM has an intrinsic for each kind, and other names for some. "Addressing Support": conversions between
// address spaces, for which LLVM's inference of spaces knows casts only; behind an intrinsic every access would stay a
// generic one.
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

/// One of NVVM's intrinsics whose second operand says which of LLVM's is meant.
struct ManyInOne {
  llvm::StringRef name;
  unsigned operands;
  std::array<Intrinsic::ID, 4> kinds;
};
constexpr ManyInOne kManyInOne[] = {
    {"llvm.nvvm.shfl.sync.i32",  // {i32, i1} (mask, kind, value, lane, clamp)
     5,
     {Intrinsic::nvvm_shfl_sync_idx_i32p, Intrinsic::nvvm_shfl_sync_up_i32p, Intrinsic::nvvm_shfl_sync_down_i32p,
      Intrinsic::nvvm_shfl_sync_bfly_i32p}},
    {"llvm.nvvm.vote.sync",  // {i32, i1} (mask, kind, predicate): the ballot is the integer, the others are the bit
     3,
     {Intrinsic::nvvm_vote_all_sync, Intrinsic::nvvm_vote_any_sync, Intrinsic::nvvm_vote_uni_sync,
      Intrinsic::nvvm_vote_ballot_sync}}};

/// The same under another name.
struct Renamed {
  llvm::StringRef name;
  Intrinsic::ID id;
};
constexpr Renamed kRenamed[] = {{"llvm.nvvm.match.all.sync.i32", Intrinsic::nvvm_match_all_sync_i32p},
                                {"llvm.nvvm.match.all.sync.i64", Intrinsic::nvvm_match_all_sync_i64p}};

/// A function for an intrinsic: a switch over the kinds. Compilers for Python write the kind as a variable that only
/// LLVM's passes find to be a constant, after they have put this in the place of the call.
void defineSwitch(llvm::Function& function, const ManyInOne& old) {
  llvm::LLVMContext& context = function.getContext();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", &function));
  auto* none = llvm::BasicBlock::Create(context, "none", &function);
  llvm::SwitchInst* choice = builder.CreateSwitch(function.getArg(1), none, old.kinds.size());
  builder.SetInsertPoint(none);
  builder.CreateUnreachable();
  llvm::SmallVector<llvm::Value*> operands;
  for (llvm::Argument& argument : function.args())
    if (argument.getArgNo() != 1) operands.push_back(&argument);
  for (unsigned kind = 0; kind < old.kinds.size(); ++kind) {
    auto* block = llvm::BasicBlock::Create(context, "kind", &function);
    choice->addCase(builder.getInt32(kind), block);
    builder.SetInsertPoint(block);
    llvm::Value* answer = builder.CreateIntrinsic(old.kinds[kind], {}, operands);
    if (answer->getType() != function.getReturnType()) {
      llvm::Value* both = llvm::Constant::getNullValue(function.getReturnType());
      answer = builder.CreateInsertValue(both, answer, {answer->getType()->isIntegerTy(1) ? 1u : 0u});
    }
    builder.CreateRet(answer);
  }
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::Convergent);
}

/// The type that the NVVM IR Specification gives it.
llvm::FunctionType* typeOf(const ManyInOne& old, llvm::LLVMContext& context) {
  auto* word = llvm::Type::getInt32Ty(context);
  auto* bit = llvm::Type::getInt1Ty(context);
  llvm::SmallVector<llvm::Type*> operands(old.operands, word);
  if (old.operands == 3) operands.back() = bit;
  return llvm::FunctionType::get(llvm::StructType::get(word, bit), operands, false);
}

Expected<> replaceBy(llvm::Function& old, llvm::Function& successor) {
  if (old.getFunctionType() != successor.getFunctionType())
    return fail("{}: a call whose operands are not those of the NVVM IR Specification", old.getName().str());
  old.replaceAllUsesWith(&successor);
  old.eraseFromParent();
  return {};
}

bool convertsAddresses(const llvm::Function& function) {
  switch (function.getIntrinsicID()) {
    case Intrinsic::nvvm_ptr_global_to_gen:
    case Intrinsic::nvvm_ptr_shared_to_gen:
    case Intrinsic::nvvm_ptr_constant_to_gen:
    case Intrinsic::nvvm_ptr_local_to_gen:
    case Intrinsic::nvvm_ptr_gen_to_global:
    case Intrinsic::nvvm_ptr_gen_to_shared:
    case Intrinsic::nvvm_ptr_gen_to_constant:
    case Intrinsic::nvvm_ptr_gen_to_local: return true;
    default: return false;
  }
}

void castInstead(llvm::Function& conversion) {
  for (llvm::User* user : llvm::make_early_inc_range(conversion.users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);  // the verifier lets nothing else use an intrinsic
    llvm::IRBuilder<> builder(call);
    call->replaceAllUsesWith(builder.CreateAddrSpaceCast(call->getArgOperand(0), call->getType()));
    call->eraseFromParent();
  }
  conversion.eraseFromParent();
}

}  // namespace

Expected<> replaceOldIntrinsics(llvm::Module& module) {
  for (const ManyInOne& old : kManyInOne)
    if (llvm::Function* function = module.getFunction(old.name)) {
      auto* successor = llvm::Function::Create(typeOf(old, module.getContext()), llvm::GlobalValue::InternalLinkage,
                                               "ordito." + old.name, module);
      defineSwitch(*successor, old);
      if (auto replaced = replaceBy(*function, *successor); !replaced) return replaced;
    }
  for (const Renamed& old : kRenamed)
    if (llvm::Function* function = module.getFunction(old.name))
      if (auto replaced = replaceBy(*function, *Intrinsic::getDeclaration(&module, old.id)); !replaced) return replaced;
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (convertsAddresses(function)) castInstead(function);
  for (const llvm::Function& function : module)
    if (function.getName().starts_with("llvm.") && function.getIntrinsicID() == Intrinsic::not_intrinsic)
      return fail("{}: LLVM {} has no such intrinsic", function.getName().str(), LLVM_VERSION_STRING);
  return {};
}

}  // namespace ordito::nvvm
