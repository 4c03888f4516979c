// A pass for clang, not part of the JIT: makes launches from kernels what CUDA makes of them in PTX, and refuses
// kernels that clang takes and CUDA does not.
//
// clang compiles `kernel<<<grid, block, shared, stream>>>(arguments)` to the two steps of a launch by the host, also
// where the code is for the device (src/frontend/device_launches.cpp says how it gets there at all):
//
//   if (__cudaPushCallConfiguration(grid, block, shared, stream) == 0) kernel(arguments);
//
// Before anything can be optimised, this pass makes of it
//
//   if (void* buffer = __cudaCDP2GetParameterBufferV2(kernel, grid, block, shared)) {
//     // store the arguments into the buffer, at the offsets of the kernel's parameters
//     __cudaCDP2LaunchDeviceV2(buffer, stream);
//   }
//
// Under -fgpu-rdc clang gives a static variable another name once it has read a host function that uses it. A kernel
// that stands before that function was compiled with the old name, of which clang makes a variable of some other unit
// (through clang 19). Here the two become one again.
//
// `ordito nvcc` has clang load it with -fpass-plugin.
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "frontend/aligned_locals_pass.hpp"
#include "frontend/inlined_lines_pass.hpp"
#include "frontend/separate_locals_pass.hpp"
#include "frontend/static_names_pass.hpp"

namespace {

using namespace llvm;

constexpr char kPush[] = "__cudaPushCallConfiguration";

/// The block in which the kernel is called if the configuration was accepted.
BasicBlock* acceptedBlock(CallInst& push) {
  auto* branch = dyn_cast<BranchInst>(push.getParent()->getTerminator());
  return branch && branch->isConditional() ? branch->getSuccessor(1) : nullptr;
}

/// The call of the kernel: behind copies of its arguments, the last call before the branches meet again.
CallInst* kernelCall(CallInst& push) {
  BasicBlock* end = cast<BranchInst>(push.getParent()->getTerminator())->getSuccessor(0);
  CallInst* last = nullptr;
  for (BasicBlock* block = acceptedBlock(push); block && block != end; block = block->getSingleSuccessor())
    for (Instruction& i : *block)
      if (auto* call = dyn_cast<CallInst>(&i))
        if (call->getType()->isVoidTy() && !isa<IntrinsicInst>(call)) last = call;
  return last;
}

/// Stores each argument where PTX puts the kernel's parameter: at the next multiple of its alignment.
void storeArguments(IRBuilder<>& b, CallInst& call, Value* buffer) {
  const DataLayout& layout = call.getModule()->getDataLayout();
  uint64_t offset = 0;
  for (unsigned k = 0; k < call.arg_size(); ++k) {
    Value* argument = call.getArgOperand(k);
    Type* aggregate = call.isByValArgument(k) ? call.getParamByValType(k) : nullptr;
    if (argument->getType()->isIntegerTy(1)) argument = b.CreateZExt(argument, b.getInt8Ty());
    Type* type = aggregate ? aggregate : argument->getType();
    Align alignment = layout.getABITypeAlign(type);
    if (aggregate) alignment = std::max(alignment, call.getParamAlign(k).valueOrOne());
    offset = alignTo(offset, alignment);
    Value* place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), buffer, offset);
    if (aggregate)
      b.CreateMemCpy(place, alignment, argument, alignment, layout.getTypeAllocSize(aggregate));
    else
      b.CreateAlignedStore(argument, place, alignment);
    offset += layout.getTypeAllocSize(type);
  }
}

void replaceLaunch(CallInst& push) {
  CallInst* call = kernelCall(push);
  if (!call) return push.getContext().emitError(&push, "ordito: a launch from device code without a kernel");
  Module& module = *push.getModule();
  IRBuilder<> b(call);
  Type* dim3 = push.getParamByValType(0);
  AttrBuilder attributes(b.getContext());
  attributes.addByValAttr(dim3).addAlignmentAttr(Align(4));
  auto byValue = [&](FunctionCallee callee, CallInst* made) {
    for (unsigned k : {1u, 2u}) {
      cast<Function>(callee.getCallee())->addParamAttrs(k, attributes);
      made->setAttributes(made->getAttributes().addParamAttributes(b.getContext(), k, attributes));
    }
  };
  FunctionCallee getBuffer = module.getOrInsertFunction("__cudaCDP2GetParameterBufferV2", b.getPtrTy(), b.getPtrTy(),
                                                        b.getPtrTy(), b.getPtrTy(), b.getInt32Ty());
  FunctionCallee launch =
      module.getOrInsertFunction("__cudaCDP2LaunchDeviceV2", b.getInt32Ty(), b.getPtrTy(), b.getPtrTy());
  CallInst* buffer = b.CreateCall(getBuffer, {call->getCalledOperand(), push.getArgOperand(0), push.getArgOperand(1),
                                              b.CreateTrunc(push.getArgOperand(2), b.getInt32Ty())});
  byValue(getBuffer, buffer);
  b.SetInsertPoint(SplitBlockAndInsertIfThen(b.CreateIsNotNull(buffer), call, false));
  storeArguments(b, *call, buffer);
  b.CreateCall(launch, {buffer, push.getArgOperand(3)});
  call->eraseFromParent();
  push.replaceAllUsesWith(ConstantInt::get(push.getType(), 0));
  push.eraseFromParent();
}

/// A kernel with an ellipsis, which clang takes and CUDA does not: a launch hands over what is declared and no more.
void refuseEllipses(Module& module) {
  const NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return;
  for (const MDNode* note : annotations->operands()) {
    const auto* what = note->getNumOperands() > 1 ? dyn_cast<MDString>(note->getOperand(1)) : nullptr;
    const auto* kernel = mdconst::dyn_extract_or_null<Function>(note->getOperand(0));
    if (what && kernel && what->getString() == "kernel" && kernel->isVarArg())
      module.getContext().emitError("ordito: a __global__ function cannot have an ellipsis: " +
                                    demangle(kernel->getName().str()));
  }
}

/// Variables of which `name__static__unit` is defined and `name` is used.
void joinRenamed(Module& module) {
  for (GlobalVariable& variable : module.globals()) {
    const size_t mark = variable.getName().rfind("__static__");
    if (mark == StringRef::npos || variable.isDeclaration()) continue;
    GlobalVariable* used = module.getNamedGlobal(variable.getName().take_front(mark));
    if (used && used->isDeclaration()) used->replaceAllUsesWith(&variable);
  }
}

struct LaunchPass : PassInfoMixin<LaunchPass> {
  static PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    refuseEllipses(module);
    joinRenamed(module);
    nameStatics(module);
    Function* push = module.getFunction(kPush);
    if (!push) return PreservedAnalyses::all();
    std::vector<CallInst*> calls;
    for (User* user : push->users())
      if (auto* call = dyn_cast<CallInst>(user)) calls.push_back(call);
    for (CallInst* call : calls) replaceLaunch(*call);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) ::llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "ordito-launches", "1", [](PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(LaunchPass()); });
            builder.registerOptimizerLastEPCallback([](ModulePassManager& passes, OptimizationLevel) {
              passes.addPass(AlignedLocalsPass());
              FunctionPassManager locals;
              locals.addPass(SROAPass(SROAOptions::PreserveCFG));
              locals.addPass(SeparateLocalsPass());
              passes.addPass(createModuleToFunctionPassAdaptor(std::move(locals)));
              passes.addPass(InlinedLinesPass());
            });
          }};
}
