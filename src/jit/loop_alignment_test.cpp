// Low bits of what a loop moves on are those that it began with, if each step leaves them.
#include "jit/loop_alignment.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "jit/llvm_test.hpp"

namespace ordito::jit {
namespace {

/// Whose low bits are asked for in a loop whose pointer is moved on by `step`: "start" or "pointer".
std::string asked(const std::string& step, const std::string& low, const std::string& of = "%pointer") {
  const std::string text = fmt::format(
      "define void @f(i64 %start, i64 %other, i64 %end) {{\n"
      "entry:\n  br label %loop\n"
      "loop:\n"
      "  %pointer = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
      "  %low = and i64 {}, {}\n"
      "  call void @look(i64 %low)\n"
      "  %next = {}\n"
      "  %done = icmp eq i64 %next, %end\n"
      "  br i1 %done, label %after, label %loop\n"
      "after:\n  ret void\n}}\n"
      "declare void @look(i64)\n",
      of, low, step);
  const ParsedModule p = parsedModule(text);
  runPasses(p, LoopAlignment());
  for (const llvm::Instruction& i : llvm::instructions(p.function()))
    if (i.getName() == "low") return i.getOperand(0)->getName().str();
  return "";
}

TEST(LoopAlignment, MultiplesLeaveLowBits) {
  EXPECT_EQ(asked("add i64 %pointer, 16", "3"), "start");
  EXPECT_EQ(asked("add i64 %pointer, -8", "7"), "start");
  EXPECT_EQ(asked("sub i64 %pointer, 4", "3"), "start");
}

TEST(LoopAlignment, OtherStepsDoNot) {
  EXPECT_EQ(asked("add i64 %pointer, 4", "7"), "pointer");
  EXPECT_EQ(asked("add i64 %pointer, 2", "3"), "pointer");
  EXPECT_EQ(asked("add i64 %pointer, %other", "3"), "pointer");
  EXPECT_EQ(asked("sub i64 16, %pointer", "3"), "pointer");
  EXPECT_EQ(asked("mul i64 %pointer, 16", "3"), "pointer");
}

TEST(LoopAlignment, OnlyLowBitsAreAskedFor) {
  EXPECT_EQ(asked("add i64 %pointer, 16", "-4"), "pointer");
  EXPECT_EQ(asked("add i64 %pointer, 16", "%other"), "pointer");
  EXPECT_EQ(asked("add i64 %pointer, 16", "3", "%other"), "other");
}

}  // namespace
}  // namespace ordito::jit
