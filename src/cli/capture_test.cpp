// Running other programs.
#include "cli/capture.hpp"

#include <gtest/gtest.h>

namespace ordito::cli {
namespace {

TEST(Capture, TakesOutputAndExitStatus) {
  const auto outcome = capture({{"/bin/sh", "-c", "echo out; exit 7"}, {}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->status, 7);
}

TEST(Capture, AddsToTheEnvironment) {
  const auto outcome = capture({{"/bin/sh", "-c", "printf %s \"$ORDITO_TEST\""}, {{"ORDITO_TEST", "a b"}}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "a b");
}

TEST(Capture, ReportsASignalAsAShellDoes) {
  const auto outcome = capture({{"/bin/sh", "-c", "kill -9 $$"}, {}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 128 + 9);
}

TEST(Capture, TakesMoreThanAPipeHolds) {
  const auto outcome = capture({{"/bin/sh", "-c", "head -c 300000 /dev/zero"}, {}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output.size(), 300000U);
}

TEST(Capture, NamesAProgramThatIsNotThere) {
  const auto outcome = capture({{"/no/such/program"}, {}});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("/no/such/program"), std::string::npos);
}

}  // namespace
}  // namespace ordito::cli
