// Words that are widened bytes or halves leave vectors as such, and are the same words.
#include "jit/narrow_lanes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>

#include <string>

#include "jit/llvm_test.hpp"

namespace ordito::jit {
namespace {

ParsedModule passed(const std::string& text) {
  ParsedModule p = parsedModule(text);
  takeNarrowLanes(p.function());
  expectValid(p);
  return p;
}

/// `half` of the pair of words 2 and 3 of eight, which are `widened` from `narrow`.
std::string bodyOf(const std::string& type, const std::string& narrow, const std::string& widened,
                   const std::string& half) {
  return fmt::format(
      "define i64 @f({0} %given) {{\n  %narrow = bitcast {0} {1} to {0}\n  %words = {2}\n"
      "  %pairs = bitcast <8 x i32> %words to <4 x i64>\n  %pair = extractelement <4 x i64> %pairs, i64 1\n"
      "  %half = {3}\n  ret i64 %half\n}}\n",
      type, narrow, widened, half);
}

bool takesPairs(const llvm::Function& f) {
  for (const llvm::Instruction& i : llvm::instructions(f))
    if (const auto* e = llvm::dyn_cast<llvm::ExtractElementInst>(&i))
      if (const auto* c = llvm::dyn_cast<llvm::BitCastInst>(e->getVectorOperand()))
        if (c->getSrcTy()->getScalarSizeInBits() == 32) return true;
  return false;
}

uint64_t folded(const ParsedModule& p) {
  runPasses(p, llvm::InstCombinePass());
  auto* end = llvm::cast<llvm::ReturnInst>(p.function().getEntryBlock().getTerminator());
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(end->getReturnValue());
  EXPECT_TRUE(constant != nullptr);
  return constant ? constant->getZExtValue() : 0;
}

const char* kLow = "and i64 %pair, 4294967295";
const char* kSomeOfLow = "and i64 %pair, 508";
const char* kHigh = "lshr i64 %pair, 32";
const char* kHighSigned = "ashr i64 %pair, 32";
const char* kBytes = "<i8 1, i8 2, i8 253, i8 254, i8 5, i8 6, i8 7, i8 8>";
const char* kHalves = "<i16 1, i16 2, i16 65533, i16 254, i16 5, i16 6, i16 7, i16 8>";
const std::string kShift = "shl <8 x i32> %wide, <i32 2, i32 2, i32 2, i32 2, i32 2, i32 2, i32 2, i32 2>";

TEST(NarrowLanes, BytesLeaveVectorsAsBytes) {
  const std::string plain = "zext <8 x i8> %narrow to <8 x i32>";
  for (const char* half : {kLow, kSomeOfLow, kHigh, kHighSigned})
    EXPECT_FALSE(takesPairs(passed(bodyOf("<8 x i8>", "%given", plain, half)).function())) << half;
  EXPECT_EQ(folded(passed(bodyOf("<8 x i8>", kBytes, plain, kLow))), 253U);
  EXPECT_EQ(folded(passed(bodyOf("<8 x i8>", kBytes, plain, kSomeOfLow))), 253U & 508U);
  EXPECT_EQ(folded(passed(bodyOf("<8 x i8>", kBytes, plain, kHigh))), 254U);
  EXPECT_EQ(folded(passed(bodyOf("<8 x i8>", kBytes, plain, kHighSigned))), 254U);
}

TEST(NarrowLanes, HalvesAndMultiples) {
  auto multiple = [](const char* type) { return fmt::format("zext {} %narrow to <8 x i32>", type); };
  EXPECT_EQ(folded(passed(bodyOf("<8 x i16>", kHalves, multiple("<8 x i16>"), kLow))), 65533U);
  EXPECT_EQ(folded(passed(bodyOf("<8 x i16>", kHalves, multiple("<8 x i16>"), kHigh))), 254U);
  std::string text = bodyOf("<8 x i8>", kBytes, "WORDS", kHigh);
  text.replace(text.find("  %words = WORDS\n"), 17,
               "  %wide = zext <8 x i8> %narrow to <8 x i32>\n  %words = " + kShift + "\n");
  const ParsedModule p = passed(text);
  EXPECT_FALSE(takesPairs(p.function()));
  EXPECT_EQ(folded(p), 4 * 254U);
}

TEST(NarrowLanes, OthersStayPairs) {
  EXPECT_TRUE(takesPairs(passed(bodyOf("<8 x i32>", "%given", "add <8 x i32> %narrow, %narrow", kLow)).function()));
  EXPECT_TRUE(takesPairs(passed(bodyOf("<8 x i8>", "%given", "sext <8 x i8> %narrow to <8 x i32>", kLow)).function()));
  EXPECT_TRUE(takesPairs(
      passed(bodyOf("<8 x i8>", "%given", "zext <8 x i8> %narrow to <8 x i32>", "add i64 %pair, 1")).function()));
}

}  // namespace
}  // namespace ordito::jit
