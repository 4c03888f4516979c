#include "timeline/timeline.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ordito::timeline {
namespace {

using nlohmann::json;

json events(std::vector<Operation> operations, std::vector<machine::Annotation> annotations = {},
            std::vector<machine::NameEvent> names = {}) {
  return json::parse(toJson({std::move(operations), std::move(annotations), std::move(names)})).at("traceEvents");
}

TEST(Timeline, NothingRan) { EXPECT_TRUE(events({}).empty()); }

TEST(Timeline, OperationsInTheOrderOfTheirBeginnings) {
  const json all = events({{"late", "kernel", 2, 1, 0, 90, 3000, 5000}, {"early", "copy", 1, 4, 64, 10, 1000, 2500}});
  ASSERT_EQ(all.size(), 4u);  // the name of each stream before its first operation
  EXPECT_EQ(all[0].at("args").at("name"), "stream 1");
  EXPECT_EQ(all[1].at("name"), "early");
  EXPECT_EQ(all[1].at("ph"), "X");
  EXPECT_EQ(all[1].at("tid"), 1);
  EXPECT_EQ(all[1].at("ts"), 0);
  EXPECT_EQ(all[1].at("dur"), 1.5);
  EXPECT_EQ(all[1].at("args").at("correlation"), 4);
  EXPECT_EQ(all[1].at("args").at("bytes"), 64);
  EXPECT_EQ(all[3].at("name"), "late");
  EXPECT_EQ(all[3].at("ts"), 2);
  EXPECT_EQ(all[3].at("args").at("submitted_ns"), 90);
}

TEST(Timeline, WhatTheProgramSaysOfItself) {
  machine::Annotation outer{"outer", "domain", "category", "7", 0xff00ff00, 5, false, true, 500, 4500};
  machine::Annotation inner{"inner", "", "", "", 0, 5, false, true, 500, 900};
  machine::Annotation crossing{"crossing", "", "", "", 0, 5, false, false, 600, 9000};
  machine::Annotation mark{"mark", "", "", "", 0, 5, true, true, 700, 700};
  const json all = events({{"copy", "copy", 3, 1, 64, 10, 1000, 2500}}, {mark, inner, crossing, outer},
                          {{machine::NameEvent::Of::Stream, 3, "main"}, {machine::NameEvent::Of::Thread, 5, "worker"}});
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[0].at("args").at("name"), "stream 3 (main)");
  EXPECT_EQ(all[1].at("ts"), 0.5);  // after the first range
  EXPECT_EQ(all[4].at("args").at("name"), "worker");
  const json args = {{"domain", "domain"}, {"category", "category"}, {"payload", "7"}, {"color", "#00ff00"}};
  EXPECT_EQ(all[5].at("name"), "outer");
  EXPECT_EQ(all[5].at("args"), args);
  EXPECT_EQ(all[5].at("dur"), 4);
  EXPECT_EQ(all[6].at("name"), "inner");
  EXPECT_EQ(all[7].at("ph"), "b");
  EXPECT_EQ(all[8].at("ph"), "e");
  EXPECT_EQ(all[8].at("id"), all[7].at("id"));
  EXPECT_EQ(all[8].at("ts"), 8.5);
  EXPECT_EQ(all[9].at("ph"), "i");
}

TEST(Timeline, MemoryOfNobodyIsTheHosts) {
  int here = 0;
  const auto address = reinterpret_cast<uint64_t>(&here);
  EXPECT_EQ(nameOfCopy(address, address), "copy host to host");
}

}  // namespace
}  // namespace ordito::timeline
