// Each rule of the verifier, broken once.
#include <gtest/gtest.h>

#include "ir/parse.hpp"

namespace ordito::ir {
namespace {

/// What the verifier says of a kernel with this body.
std::string problemOf(const std::string& body) {
  const auto document = parse(
      ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .u32 %a, %b, %c;\n.reg .pred %p;\n"
      ".reg .f32 %f;\n" +
          body + "\n}\n",
      "k.ir");
  if (!document) return document.error().message;
  const auto ok = verify(document->functions.at(0));
  return ok ? "" : ok.error().message;
}

TEST(Verify, AcceptsALoop) {
  EXPECT_EQ(problemOf("B0:\nmov.u32 %a, 0;\njump B1;\nB1: from B0, B1\nphi %b = %a, %c;\nadd.u32 %c, %b, 1;\n"
                      "setp.eq.u32 %p, %c, 9;\nbranch %p, B2, B1;\nB2: from B1\nexit;"),
            "");
}

TEST(Verify, AcceptsAValueThatNobodyDefines) { EXPECT_EQ(problemOf("B0:\nadd.u32 %a, %b, 1;\nexit;"), ""); }

TEST(Verify, TwoDefinitions) {
  EXPECT_EQ(problemOf("B0:\nmov.u32 %a, 0;\nmov.u32 %a, 1;\nexit;"),
            "B0: %a (value 0) has two definitions (kernel 'k')");
}

TEST(Verify, UseBeforeDefinition) {
  EXPECT_EQ(problemOf("B0:\nadd.u32 %b, %a, 1;\nmov.u32 %a, 0;\nexit;"),
            "B0: %a (value 0) is used where its definition in B0 does not reach (kernel 'k')");
}

TEST(Verify, DefinitionOnOneSideOnly) {
  EXPECT_EQ(problemOf("B0:\nsetp.eq.u32 %p, %c, 0;\nbranch %p, B1, B2;\nB1: from B0\nmov.u32 %a, 0;\njump B2;\n"
                      "B2: from B0, B1\nadd.u32 %b, %a, 1;\nexit;"),
            "B2: %a (value 0) is used where its definition in B1 does not reach (kernel 'k')");
}

TEST(Verify, PhiOfTheWrongEdge) {
  EXPECT_EQ(problemOf("B0:\nsetp.eq.u32 %p, %c, 0;\nbranch %p, B1, B2;\nB1: from B0\nmov.u32 %a, 0;\njump B2;\n"
                      "B2: from B0, B1\nphi %b = %a, %a;\nexit;"),
            "B2: %a (value 0) is used where its definition in B1 does not reach (kernel 'k')");
}

TEST(Verify, PhiOfAnotherType) {
  EXPECT_EQ(problemOf("B0:\nmov.u32 %a, 0;\njump B1;\nB1: from B0\nphi %f = %a;\nexit;"),
            "B1: %a (value 0) and %f (value 4) differ in type (kernel 'k')");
}

TEST(Verify, Predecessors) {
  EXPECT_EQ(problemOf("B0:\njump B1;\nB1: from B1\nexit;"),
            "B1: its predecessors are not the blocks that lead to it (kernel 'k')");
  EXPECT_EQ(problemOf("B0:\nexit;\nB1:\nexit;"), "B1: nothing leads to it (kernel 'k')");
  EXPECT_EQ(problemOf("B0:\njump B0;"), "B0: the entry has a predecessor (kernel 'k')");
  EXPECT_EQ(problemOf("B0:\njump B7;"), "k.ir:9: B7, to which a block leads, is missing");
}

TEST(Verify, ConditionsArePredicates) {
  EXPECT_EQ(problemOf("B0:\nmov.u32 %a, 0;\nbranch %a, B1, B2;\nB1:\nexit;\nB2:\nexit;"),
            "B0: the condition %a (value 0) is no predicate (kernel 'k')");
}

TEST(Verify, GuardedResultsHaveAnOldValue) {
  EXPECT_EQ(problemOf("B0:\nsetp.eq.u32 %p, %c, 0;\n@%p mov.u32 %a, 0; !line 3\nexit;"),
            "B0: line 3: a guarded result without its old value (kernel 'k')");
  EXPECT_EQ(problemOf("B0:\nsetp.eq.u32 %p, %c, 0;\n@%p mov.u32 %a, 0; !line 3 !prior %b\nexit;"), "");
}

}  // namespace
}  // namespace ordito::ir
