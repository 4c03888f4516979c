#include "cli/lab_timeline.hpp"

#include <gtest/gtest.h>

namespace ordito::cli {
namespace {

using nlohmann::json;

json operation(int stream, int correlation, const char* name, const char* category, int begin, int end) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", category},
          {"tid", stream},
          {"args", {{"correlation", correlation}, {"begin_ns", begin}, {"end_ns", end}}}};
}

/// Two variants, of which the second has nothing on a stream.
std::vector<LabTimeline> example() {
  const json document = {{"variants",
                          {{{"name", "overlapped"}, {"title", "Two streams"}, {"begin_ns", 1000}, {"end_ns", 1100}},
                           {{"name", "host"}, {"begin_ns", 2000}, {"end_ns", 2100}}}}};
  const json timeline = {{"traceEvents",
                          {{{"ph", "M"}, {"name", "thread_name"}, {"tid", 7}},
                           operation(7, 1, "copy to device", "copy", 900, 990),  // a round before
                           operation(7, 2, "copy to device", "copy", 1000, 1040),
                           operation(9, 1, "add(int*)", "kernel", 1020, 1060),
                           operation(9, 2, "event recorded", "event", 1060, 1060),
                           operation(7, 3, "copy to host", "copy", 1040, 1100)}}};
  return labTimelines(document, timeline);
}

TEST(LabTimeline, OneLaneForEachStreamOfTheLastRound) {
  const auto all = example();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].operations(), 3u);
  ASSERT_EQ(all[0].lanes.size(), 2u);
  EXPECT_EQ(all[0].lanes[0][1].begin, 40);
  EXPECT_EQ(all[0].lanes[1][0].name, "add(int*)");
}

TEST(LabTimeline, WhatEndsWhenAnotherBeginsIsNotAtTheSameTime) {
  const auto all = example();
  EXPECT_EQ(all[0].mostAtOnce(), 2);
  EXPECT_EQ(all[0].mostAtOnce("copy"), 1);
  EXPECT_EQ(all[0].mostAtOnce("host"), 0);
}

TEST(LabTimeline, MarksOnALineOfTime) {
  const std::string text = timelineText(example());
  EXPECT_NE(text.find("overlapped: 3 operations on 2 streams, at most 2 at once, 0.000 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("stream 1  |>>>>"), std::string::npos) << text;
  EXPECT_NE(text.find("<<<|"), std::string::npos) << text;
  EXPECT_NE(text.find("stream 2  |                 ####"), std::string::npos) << text;
}

TEST(LabTimeline, ABarForEachOperation) {
  const std::string picture = timelinePicture("a < b", example());
  EXPECT_NE(picture.find("a &lt; b"), std::string::npos);
  EXPECT_NE(picture.find("<title>add(int*) #1: 0.000 to 0.000 ms</title>"), std::string::npos) << picture;
  std::size_t bars = 0;
  for (std::size_t at = 0; (at = picture.find("</rect>", at)) != std::string::npos; ++at) ++bars;
  EXPECT_EQ(bars, 3u);
}

}  // namespace
}  // namespace ordito::cli
