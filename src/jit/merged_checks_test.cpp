// Questions whether accesses are misaligned become one where nothing happens between them.
#include "jit/merged_checks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "jit/llvm_test.hpp"

namespace ordito::jit {
namespace {

/// Three questions, of pointers %a, %b and `third`, with `between` before the third.
std::string kernel(const std::string& between, const std::string& third = "%c", const std::string& lastLine = "30") {
  return fmt::format(
      "define void @f(ptr %frame, i64 %a, i64 %b, i64 %c) {{\n"
      "entry:\n  %ax = and i64 %a, 3\n  %ay = icmp eq i64 %ax, 0\n  br i1 %ay, label %one, label %fail.a\n"
      "fail.a:\n  call void @ordito_misaligned(ptr %frame, i32 10)\n  unreachable\n"
      "one:\n  %bx = and i64 %b, 3\n  %by = icmp ne i64 %bx, 0\n  br i1 %by, label %fail.b, label %two\n"
      "fail.b:\n  call void @ordito_misaligned(ptr %frame, i32 20)\n  unreachable\n"
      "two:\n  {}\n  %cx = and i64 {}, 7\n  %cy = icmp eq i64 %cx, 0\n  br i1 %cy, label %on, label %fail.c\n"
      "fail.c:\n  call void @ordito_misaligned(ptr %frame, i32 {})\n  unreachable\n"
      "on:\n  %p = inttoptr i64 %a to ptr\n  store i32 1, ptr %p\n  ret void\n}}\n"
      "declare void @ordito_misaligned(ptr, i32)\ndeclare void @act()\n",
      between, third, lastLine);
}

struct Merged {
  unsigned branches = 0, failures = 0;
};

Merged merged(const std::string& text) {
  const ParsedModule p = parsedModule(text);
  mergeMisalignmentChecks(p.function());
  expectValid(p);
  Merged m;
  for (const llvm::Instruction& i : llvm::instructions(p.function())) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i);
    m.branches += branch && branch->isConditional();
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
    m.failures += call && call->getCalledFunction()->getName() == "ordito_misaligned";
  }
  return m;
}

TEST(MergedChecks, ThreeBecomeOne) {
  const Merged m = merged(kernel(""));
  EXPECT_EQ(m.branches, 1u);
  EXPECT_EQ(m.failures, 1u);
}

TEST(MergedChecks, WhatTheyAskIsMadeBefore) { EXPECT_EQ(merged(kernel("%d = add i64 %c, %a", "%d")).branches, 1u); }

TEST(MergedChecks, WhatHappensBetweenStaysBetween) {
  EXPECT_EQ(merged(kernel("call void @act()")).branches, 2u);
  EXPECT_EQ(merged(kernel("store i32 1, ptr %frame")).branches, 2u);
}

TEST(MergedChecks, ReadNumbersStayWhereTheyAreRead) {
  EXPECT_EQ(merged(kernel("%d = load i64, ptr %frame", "%d")).branches, 2u);
}

TEST(MergedChecks, NumbersOfTwoTypes) {
  EXPECT_EQ(merged("define void @f(ptr %frame, i64 %a, i32 %b) {\n"
                   "  %ax = and i64 %a, 3\n  %ay = icmp eq i64 %ax, 0\n  br i1 %ay, label %one, label %fail.a\n"
                   "fail.a:\n  call void @ordito_misaligned(ptr %frame, i32 10)\n  unreachable\n"
                   "one:\n  %bx = and i32 %b, 3\n  %by = icmp eq i32 %bx, 0\n  br i1 %by, label %two, label %fail.b\n"
                   "fail.b:\n  call void @ordito_misaligned(ptr %frame, i32 20)\n  unreachable\n"
                   "two:\n  ret void\n}\ndeclare void @ordito_misaligned(ptr, i32)\n")
                .branches,
            1u);
}

TEST(MergedChecks, ALoopWithoutAnEndIsLeftAlone) {
  EXPECT_EQ(merged("define void @f(ptr %frame, i64 %a) {\n  br label %loop\nloop:\n"
                   "  %ax = and i64 %a, 3\n  %ay = icmp eq i64 %ax, 0\n  br i1 %ay, label %loop, label %fail\n"
                   "fail:\n  call void @ordito_misaligned(ptr %frame, i32 10)\n  unreachable\n}\n"
                   "declare void @ordito_misaligned(ptr, i32)\n")
                .branches,
            1u);
}

}  // namespace
}  // namespace ordito::jit
