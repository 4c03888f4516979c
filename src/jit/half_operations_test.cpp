// No comparison, rounding or conversion of a vector of halves is left, and none of anything else is touched.
#include "jit/half_operations.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace ordito::jit {
namespace {

/// The body after the pass, instruction by instruction.
std::string widenedText(const char* body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(body, problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module) return "";
  llvm::Function& f = *module->getFunction("f");
  widenHalfOperations(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const llvm::Instruction& i : llvm::instructions(f)) out << i << "\n";
  return text;
}

TEST(HalfOperations, VectorsAreComparedAsFloats) {
  const std::string text = widenedText(
      "define <4 x i1> @f(<4 x half> %a, <4 x half> %b) {\n"
      "  %c = fcmp olt <4 x half> %a, %b\n  ret <4 x i1> %c\n}\n");
  EXPECT_NE(text.find("fcmp olt <4 x float>"), std::string::npos) << text;
}

TEST(HalfOperations, VectorsAreRoundedAndConvertedAsFloats) {
  const std::string text = widenedText(
      "declare <4 x half> @llvm.floor.v4f16(<4 x half>)\n"
      "define <4 x i16> @f(<4 x half> %a) {\n"
      "  %r = call <4 x half> @llvm.floor.v4f16(<4 x half> %a)\n"
      "  %c = fptosi <4 x half> %r to <4 x i16>\n  ret <4 x i16> %c\n}\n");
  EXPECT_NE(text.find("@llvm.floor.v4f32"), std::string::npos) << text;
  EXPECT_NE(text.find("fptosi <4 x float>"), std::string::npos) << text;
  EXPECT_EQ(text.find("v4f16"), std::string::npos) << text;
}

TEST(HalfOperations, ScalarsAndFloatsStay) {
  const std::string text = widenedText(
      "define i1 @f(half %a, <4 x float> %b) {\n"
      "  %c = fcmp uno half %a, 0.0\n  %d = fcmp uno <4 x float> %b, %b\n  ret i1 %c\n}\n");
  EXPECT_EQ(text.find("fpext"), std::string::npos) << text;
}

}  // namespace
}  // namespace ordito::jit
