// What the emitter got wrong is refused by name, so that the kernel runs in the interpreter.
#include "jit/compile.hpp"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>

namespace ordito::jit {
namespace {

TEST(Compile, InvalidCodeRefusesTheKernel) {
  OwnedModule module;
  llvm::LLVMContext& context = *module.context;
  module.code = std::make_unique<llvm::Module>("k", context);
  llvm::IRBuilder<> b(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty()}, false),
                                          llvm::Function::ExternalLinkage, "f", *module.code);
  auto *entry = llvm::BasicBlock::Create(context, "entry", function),
       *side = llvm::BasicBlock::Create(context, "side", function),
       *end = llvm::BasicBlock::Create(context, "end", function);
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateICmpEQ(function->getArg(0), b.getInt32(0)), side, end);
  b.SetInsertPoint(side);
  llvm::Value* value = b.CreateAdd(function->getArg(0), function->getArg(0));
  b.CreateBr(end);
  b.SetInsertPoint(end);
  b.CreateRet(value);  // there is none where the branch came from the entry
  const auto object = compileToObject(module, Target::host({}), {});
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, kNotSupported);
  EXPECT_NE(object.error().message.find("kernel 'k': internal error"), std::string::npos) << object.error().message;
}

}  // namespace
}  // namespace ordito::jit
