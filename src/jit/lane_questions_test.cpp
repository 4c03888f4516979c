// Questions of all lanes become scalar comparisons where the first or last lane decides, and mean the same: small masks
// of every kind are asked with all bases and numbers, by LLVM's own folding of constants.
#include "jit/lane_questions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>

#include <optional>
#include <string>

#include "jit/llvm_test.hpp"

namespace ordito::jit {
namespace {

ParsedModule passed(const std::string& text) {
  ParsedModule p = parsedModule(text);
  runPasses(p, LaneQuestions());
  return p;
}

/// A question about eight lanes of 8 bits: their numbers are `sum` of a base and `constants`, compared with a number.
struct Case {
  std::string sum, constants, comparison, question;
};

std::string bodyOf(const Case& c, const std::string& base, const std::string& number) {
  return fmt::format(
      "define i1 @f(i8 %base, i8 %number) {{\n"
      "  %b0 = insertelement <8 x i8> poison, i8 {}, i64 0\n"
      "  %b = shufflevector <8 x i8> %b0, <8 x i8> poison, <8 x i32> zeroinitializer\n"
      "  %n0 = insertelement <8 x i8> poison, i8 {}, i64 0\n"
      "  %n = shufflevector <8 x i8> %n0, <8 x i8> poison, <8 x i32> zeroinitializer\n"
      "  %lanes = {} <8 x i8> %b, {}\n"
      "  %mask = icmp {} <8 x i8> %lanes, %n\n"
      "  %bits = bitcast <8 x i1> %mask to i8\n"
      "  %r = {}\n  ret i1 %r\n}}\n",
      base, number, c.sum, c.constants, c.comparison, c.question);
}

bool asksScalars(const llvm::Function& f) {
  for (const llvm::Instruction& i : llvm::instructions(f))
    if (llvm::isa<llvm::BitCastInst>(i)) return false;
  return true;
}

const char* kAscending = "<i8 0, i8 1, i8 2, i8 3, i8 4, i8 5, i8 6, i8 7>";
const char* kDescending = "<i8 7, i8 6, i8 5, i8 4, i8 3, i8 2, i8 1, i8 0>";
const char* kPairs = "<i8 0, i8 2, i8 0, i8 2, i8 4, i8 4, i8 6, i8 6>";
const char* kSame = "<i8 5, i8 5, i8 5, i8 5, i8 5, i8 5, i8 5, i8 5>";
const char* kAny = "icmp ne i8 %bits, 0";
const char* kNone = "icmp eq i8 %bits, 0";
const char* kAll = "icmp eq i8 %bits, -1";
const char* kNotAll = "icmp ne i8 %bits, -1";

/// The answer for constants, if LLVM finds it.
std::optional<bool> answer(const Case& c, int base, int number, bool asks) {
  const ParsedModule p = parsedModule(bodyOf(c, std::to_string(base), std::to_string(number)));
  if (asks) runPasses(p, LaneQuestions());
  runPasses(p, llvm::InstCombinePass());
  auto* end = llvm::cast<llvm::ReturnInst>(p.function().getEntryBlock().getTerminator());
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(end->getReturnValue());
  return constant ? std::optional(constant->isOne()) : std::nullopt;
}

TEST(LaneQuestions, ScalarsSayWhatMasksSay) {
  for (const char* constants : {kAscending, kDescending, kPairs, kSame})
    for (const char* comparison : {"ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge", "eq", "ne"})
      for (const char* question : {kAny, kNone, kAll, kNotAll}) {
        const Case c{"or disjoint", constants, comparison, question};
        const bool leavesOut =
            constants == kPairs && (std::string(comparison) == "eq" || std::string(comparison) == "ne");
        const bool asked = asksScalars(passed(bodyOf(c, "%base", "%number")).function());
        if (!leavesOut) EXPECT_TRUE(asked) << constants << comparison << question;
        for (int base : {0, 8, 120, -128, -8})
          for (int number : {-128, -121, -1, 0, 1, 3, 7, 8, 9, 15, 121, 127, -8, -7}) {
            const auto expected = answer(c, base, number, false), got = answer(c, base, number, true);
            ASSERT_TRUE(expected && got);
            EXPECT_EQ(*got, *expected) << constants << " " << comparison << " " << question << " of base " << base
                                       << " and number " << number;
          }
      }
}

TEST(LaneQuestions, SumsMayWrapAround) {
  for (const char* comparison : {"ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge", "eq", "ne"})
    for (const char* question : {kAny, kAll}) {
      const Case c{"add", kAscending, comparison, question};
      EXPECT_TRUE(asksScalars(passed(bodyOf(c, "%base", "%number")).function())) << comparison << question;
      for (int base : {0, 1, 100, 119, 120, 121, 125, 127, -128, -127, -9, -8, -7, -6, -1})
        for (int number : {-128, -127, -122, -8, -7, -3, -1, 0, 1, 2, 6, 7, 8, 119, 120, 126, 127})
          EXPECT_EQ(answer(c, base, number, true), answer(c, base, number, false))
              << comparison << " " << question << " of base " << base << " and number " << number;
    }
}

TEST(LaneQuestions, OthersStayMasks) {
  const auto asks = [](const char* sum, const char* constants, const char* comparison) {
    return asksScalars(passed(bodyOf({sum, constants, comparison, kAny}, "%base", "%number")).function());
  };
  EXPECT_FALSE(asks("or", kAscending, "ult"));  // bits in common
  EXPECT_FALSE(asks("add", kPairs, "ult"));     // if the sums wrap, either end may be between two lanes
  EXPECT_TRUE(asks("add nuw", kPairs, "ult"));
  EXPECT_TRUE(asks("add nsw", kPairs, "slt"));
  EXPECT_FALSE(asks("add nsw", kPairs, "ult"));
  EXPECT_FALSE(asks("add nuw", kPairs, "slt"));
}

/// Two conditions, and whether all lanes fulfil both, or any lane one.
std::string twoConditions(const char* logic, const char* question) {
  return fmt::format(
      "define i1 @f(i32 %base, i32 %m, i32 %n) {{\n"
      "  %b0 = insertelement <4 x i32> poison, i32 %base, i64 0\n"
      "  %b = shufflevector <4 x i32> %b0, <4 x i32> poison, <4 x i32> zeroinitializer\n"
      "  %m0 = insertelement <4 x i32> poison, i32 %m, i64 0\n"
      "  %ms = shufflevector <4 x i32> %m0, <4 x i32> poison, <4 x i32> zeroinitializer\n"
      "  %n0 = insertelement <4 x i32> poison, i32 %n, i64 0\n"
      "  %ns = shufflevector <4 x i32> %n0, <4 x i32> poison, <4 x i32> zeroinitializer\n"
      "  %lanes = or disjoint <4 x i32> %b, <i32 0, i32 1, i32 2, i32 3>\n"
      "  %p = icmp ult <4 x i32> %lanes, %ms\n  %q = icmp sgt <4 x i32> %lanes, %ns\n"
      "  %mask = {} <4 x i1> %p, %q\n  %bits = bitcast <4 x i1> %mask to i4\n"
      "  %r = icmp eq i4 %bits, {}\n  ret i1 %r\n}}\n",
      logic, question);
}

TEST(LaneQuestions, ConditionsTogether) {
  EXPECT_TRUE(asksScalars(passed(twoConditions("and", "-1")).function()));
  EXPECT_TRUE(asksScalars(passed(twoConditions("or", "0")).function()));
  EXPECT_FALSE(asksScalars(passed(twoConditions("and", "0")).function()));  // each may have a lane, and no lane both
  EXPECT_FALSE(asksScalars(passed(twoConditions("or", "-1")).function()));
}

TEST(LaneQuestions, TheConditionsOfEightWarpsThatAdvanceTogether) {
  std::string text = "define i1 @f(i8 %n";
  for (int warp = 0; warp < 8; ++warp) text += fmt::format(", i8 %base{}", warp);
  text +=
      ") {\n  %n0 = insertelement <8 x i8> poison, i8 %n, i64 0\n"
      "  %ns = shufflevector <8 x i8> %n0, <8 x i8> poison, <8 x i32> zeroinitializer\n";
  for (int warp = 0; warp < 8; ++warp)
    text += fmt::format(
        "  %b0{0} = insertelement <8 x i8> poison, i8 %base{0}, i64 0\n"
        "  %b{0} = shufflevector <8 x i8> %b0{0}, <8 x i8> poison, <8 x i32> zeroinitializer\n"
        "  %lanes{0} = add <8 x i8> %b{0}, {1}\n"
        "  %out{0} = icmp uge <8 x i8> %lanes{0}, %ns\n"
        "  %in{0} = xor <8 x i1> %out{0}, splat (i1 true)\n",
        warp, kAscending);
  std::string all = "%in0";
  for (int warp = 1; warp < 8; ++warp) {
    text += fmt::format("  %both{0} = and <8 x i1> {1}, %in{0}\n", warp, all);
    all = fmt::format("%both{}", warp);
  }
  text += fmt::format(
      "  %some = xor <8 x i1> {}, splat (i1 true)\n  %bits = bitcast <8 x i1> %some to i8\n"
      "  %r = icmp eq i8 %bits, 0\n  ret i1 %r\n}}\n",
      all);
  EXPECT_TRUE(asksScalars(passed(text).function()));
}

TEST(LaneQuestions, MasksAreMadeWhereTheyAreRead) {
  const ParsedModule p = passed(
      "define i8 @f(i8 %base, i8 %number) {\n"
      "  %b0 = insertelement <8 x i8> poison, i8 %base, i64 0\n"
      "  %b = shufflevector <8 x i8> %b0, <8 x i8> poison, <8 x i32> zeroinitializer\n"
      "  %n0 = insertelement <8 x i8> poison, i8 %number, i64 0\n"
      "  %n = shufflevector <8 x i8> %n0, <8 x i8> poison, <8 x i32> zeroinitializer\n"
      "  %lanes = or disjoint <8 x i8> %b, <i8 0, i8 1, i8 2, i8 3, i8 4, i8 5, i8 6, i8 7>\n"
      "  %mask = icmp ult <8 x i8> %lanes, %n\n"
      "  %bits = bitcast <8 x i1> %mask to i8\n"
      "  %all = icmp eq i8 %bits, -1\n"
      "  br i1 %all, label %whole, label %part\n"
      "whole:\n  ret i8 0\n"
      "part:\n  %again = bitcast <8 x i1> %mask to i8\n  ret i8 %again\n}\n");
  for (const llvm::Instruction& i : p.function().getEntryBlock())
    EXPECT_FALSE(i.getType()->isVectorTy()) << "a vector is made for every warp";
}

}  // namespace
}  // namespace ordito::jit
