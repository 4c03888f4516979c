// What LLVM's instruction selection would fold for ever is parted, and nothing else.
#include "jit/integer_masks.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

namespace ordito::jit {
namespace {

/// How many integers of its own does the pass make in this body, of integers m and n, masks k and l, and a bit?
int parted(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module =
      llvm::parseAssemblyString("define <32 x i1> @f(i32 %m, i32 %n, <32 x i1> %k, <32 x i1> %l, i1 %bit, ptr %p) {\n" +
                                    body + "  ret <32 x i1> %r\n}\n",
                                problem, context);
  EXPECT_TRUE(module) << problem.getMessage().str();
  if (!module) return -1;
  keepMasksFromIntegers(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  int found = 0;
  for (const llvm::Instruction& i : llvm::instructions(*module->getFunction("f")))
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) found += call->isInlineAsm();
  return found;
}

constexpr const char* kBoth =
    "  %a = bitcast i32 %m to <32 x i1>\n"
    "  %b = bitcast i32 %n to <32 x i1>\n"
    "  store <32 x i1> %a, ptr %p\n"
    "  store <32 x i1> %b, ptr %p\n";

TEST(IntegerMasks, LogicOfTwoThatOthersUseIsParted) {
  EXPECT_EQ(parted(std::string(kBoth) + "  %r = or <32 x i1> %a, %b\n"), 1);
  EXPECT_EQ(parted(std::string(kBoth) + "  %r = xor <32 x i1> %a, %b\n"), 1);
}

TEST(IntegerMasks, ASelectByOneBitIsLikeAnInteger) {
  EXPECT_EQ(parted(std::string(kBoth) + "  %s = select i1 %bit, <32 x i1> %a, <32 x i1> zeroinitializer\n"
                                        "  store <32 x i1> %s, ptr %p\n"
                                        "  %r = or <32 x i1> %s, %b\n"),
            1);
}

TEST(IntegerMasks, LogicOfIntegersThatAreMasksTooIsParted) {
  EXPECT_EQ(parted(std::string(kBoth) + "  %o = or i32 %m, %n\n  %r = bitcast i32 %o to <32 x i1>\n"), 1);
}

TEST(IntegerMasks, OthersStay) {
  EXPECT_EQ(parted(std::string(kBoth) + "  %r = and <32 x i1> %a, %b\n"), 0);
  EXPECT_EQ(parted(std::string(kBoth) + "  %r = or <32 x i1> %a, %k\n"), 0);
  EXPECT_EQ(parted("  %r = or <32 x i1> %k, %l\n"), 0);
  EXPECT_EQ(parted("  %a = bitcast i32 %m to <32 x i1>\n  %b = bitcast i32 %n to <32 x i1>\n"
                   "  %r = or <32 x i1> %a, %b\n"),
            0);
  EXPECT_EQ(parted("  %o = or i32 %m, %n\n  %r = bitcast i32 %o to <32 x i1>\n"), 0);
}

}  // namespace
}  // namespace ordito::jit
