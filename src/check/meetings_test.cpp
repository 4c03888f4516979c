// Random meetings of threads against a list that forgets nothing.
#include "check/meetings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "check/test_launch.hpp"

namespace ordito::check {
namespace {

constexpr uint32_t kThreads = kWarps * kLanes;

class MeetingsTest : public testing::Test {
 protected:
  machine::WarpSite site(uint32_t line, uint32_t warp = 0, uint32_t lanes = ~0u) const {
    return {frame_, module_.functions[0], line, warp, lanes};
  }
  uint32_t lineOf(uint32_t one, uint32_t other) const {
    const Meetings::Last last = meetings_.last(one, other);
    return last.place ? last.place->line : 0;
  }

  const ptx::Module module_ = testModule();
  const machine::BlockFrame frame_ = testFrame(0);
  Meetings meetings_;
};

TEST_F(MeetingsTest, NothingAtFirst) {
  EXPECT_TRUE(meetings_.last(0, 95).isKnown);
  EXPECT_FALSE(meetings_.last(0, 95).place);
}

TEST_F(MeetingsTest, LanesThatWereNotNamedHaveNotMet) {
  meetings_.allMet(site(5));
  meetings_.warpMet(site(7, 1, 0xffff));
  EXPECT_EQ(lineOf(32, 47), 7u);
  EXPECT_TRUE(meetings_.last(32, 47).place->isOfWarp);
  EXPECT_EQ(lineOf(32, 48), 5u);
  EXPECT_EQ(lineOf(0, 1), 5u);
}

TEST_F(MeetingsTest, WhatIsForgottenIsNotKnown) {
  meetings_.allMet(site(1));
  for (uint32_t k = 0; k < 80; ++k)  // pairs of lanes, none within another
    meetings_.warpMet(site(2 + k, k / 31, 1u | 2u << k % 31));
  EXPECT_FALSE(meetings_.last(0, 1).isKnown);
  EXPECT_EQ(lineOf(64, 64 + 18), 2u + 79u);
}

TEST_F(MeetingsTest, AsAListThatForgetsNothing) {
  std::mt19937 random(20261126);
  std::array<std::array<uint32_t, kThreads>, kThreads> expected{};
  for (uint32_t line = 1; line < 400; ++line) {
    std::array<uint32_t, kWarps> lanes{};
    const uint32_t kind = random() % 8, warp = random() % kWarps;
    if (kind == 0) {
      lanes.fill(~0u), meetings_.allMet(site(line));
    } else if (kind < 4) {
      for (uint32_t& word : lanes) word = random() % 2 ? ~0u : 0xffu << random() % 24;
      meetings_.someMet(site(line), lanes);
    } else {
      lanes[warp] = random() % 2 ? ~0u : 0xffffu << 16 * (random() % 2);
      meetings_.warpMet(site(line, warp, lanes[warp]));
    }
    const auto hasMet = [&](uint32_t t) { return lanes[t / kLanes] >> t % kLanes & 1; };
    for (uint32_t a = 0; a < kThreads; ++a)
      for (uint32_t b = 0; b < kThreads; ++b)
        if (hasMet(a) && hasMet(b)) expected[a][b] = line;
    const uint32_t a = random() % kThreads, b = random() % kThreads;
    ASSERT_TRUE(meetings_.last(a, b).isKnown);
    ASSERT_EQ(lineOf(a, b), expected[a][b]) << "threads " << a << " and " << b;
  }
}

}  // namespace
}  // namespace ordito::check
