#include "timeline/timeline.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ordito::timeline {
namespace {

using nlohmann::json;

json events(std::vector<Operation> operations) { return json::parse(toJson(std::move(operations))).at("traceEvents"); }

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

TEST(Timeline, MemoryOfNobodyIsTheHosts) {
  int here = 0;
  const auto address = reinterpret_cast<uint64_t>(&here);
  EXPECT_EQ(nameOfCopy(address, address), "copy host to host");
}

}  // namespace
}  // namespace ordito::timeline
