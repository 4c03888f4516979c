// What LLVM's instruction selection gets wrong is fenced, and nothing else.
#include "jit/masked_logic.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

namespace ordito::jit {
namespace {

/// How many fences does a function with this body get, which has vectors x, y and c, and a mask k?
int fences(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::string text =
      "declare <4 x float> @llvm.copysign.v4f32(<4 x float>, <4 x float>)\n"
      "define <4 x i32> @f(<4 x i32> %x, <4 x i32> %y, <4 x i32> %c, <4 x i1> %k) {\n" +
      body + "  ret <4 x i32> %r\n}\n";
  auto module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module) return -1;
  keepLogicUnmasked(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  int found = 0;
  for (const llvm::BasicBlock& block : *module->getFunction("f"))
    for (const llvm::Instruction& i : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i))
        found += call->getCalledFunction()->getName().starts_with("llvm.arithmetic.fence");
  return found;
}

constexpr const char* kChosenBits =
    "  %a = and <4 x i32> %x, %c\n"
    "  %n = xor <4 x i32> %c, <i32 -1, i32 -1, i32 -1, i32 -1>\n"
    "  %b = and <4 x i32> %y, %n\n"
    "  %o = or <4 x i32> %a, %b\n";

TEST(MaskedLogic, ASelectThatKeepsAnOperandIsFenced) {
  const std::string bits = kChosenBits;
  EXPECT_EQ(fences(bits + "  %r = select <4 x i1> %k, <4 x i32> %o, <4 x i32> %x\n"), 1);
  EXPECT_EQ(fences(bits + "  %r = select <4 x i1> %k, <4 x i32> %c, <4 x i32> %o\n"), 1);
}

TEST(MaskedLogic, ABlendOfLanesIsFenced) {
  const std::string bits = kChosenBits;
  EXPECT_EQ(fences(bits + "  %r = shufflevector <4 x i32> %o, <4 x i32> %y, <4 x i32> <i32 0, i32 5, i32 2, i32 7>\n"),
            1);
}

TEST(MaskedLogic, CastsHideNothing) {
  EXPECT_EQ(fences("  %xf = bitcast <4 x i32> %x to <4 x float>\n"
                   "  %yf = bitcast <4 x i32> %y to <4 x float>\n"
                   "  %s = call <4 x float> @llvm.copysign.v4f32(<4 x float> %xf, <4 x float> %yf)\n"
                   "  %o = bitcast <4 x float> %s to <4 x i32>\n"
                   "  %r = select <4 x i1> %k, <4 x i32> %o, <4 x i32> %x\n"),
            1);
}

TEST(MaskedLogic, OthersStay) {
  const std::string bits = kChosenBits;
  EXPECT_EQ(fences(bits + "  %z = add <4 x i32> %x, %y\n  %r = select <4 x i1> %k, <4 x i32> %o, <4 x i32> %z\n"), 0);
  EXPECT_EQ(fences(bits + "  %r = shufflevector <4 x i32> %o, <4 x i32> %x, <4 x i32> <i32 1, i32 5, i32 2, i32 7>\n"),
            0);
  EXPECT_EQ(fences("  %o = xor <4 x i32> %x, %c\n  %r = select <4 x i1> %k, <4 x i32> %o, <4 x i32> %x\n"), 0);
}

}  // namespace
}  // namespace ordito::jit
