// Rows and passes of an access, and which access of a variant is drawn.
#include "cli/lab_accesses.hpp"

#include <gtest/gtest.h>

using namespace ordito::cli;
using nlohmann::json;

namespace {

json access(const char* kind, const char* space, std::vector<std::uint64_t> addresses) {
  json lanes = json::array();
  for (std::size_t i = 0; i < addresses.size(); ++i) lanes.push_back(i);
  return {{"kind", kind}, {"space", space}, {"source", "a.cu:1"}, {"lanes", lanes}, {"addresses", addresses}};
}

json variant(const char* spec, int first, int count) {
  return {{"name", "v"}, {"title", "V"}, {"spec", spec}, {"launch_first", first}, {"launch_count", count}};
}

TEST(LabAccesses, TheKindThatTheVariantIsAbout) {
  const json recording = {
      {"launches",
       {{{"accesses", {access("load", "global", {0, 4}), access("store", "global", {64, 96, 128})}}},
        {{"accesses", {access("store", "shared", {0}), access("load", "shared", {0, 128, 4})}}}}}};
  const json document = {
      {"variants",
       {variant("mem.coalesced", 0, 1), variant("mem.stores", 0, 1), variant("mem.bank_conflict", 1, 1),
        variant("mem.local", 0, 1), variant("mem.stores", 2, 0)}}};
  const auto all = labAccesses(document, recording);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);  // local arrays are not drawn, and neither is what launched nothing
  EXPECT_EQ((*all)[0].rows().size(), 1u);
  EXPECT_EQ((*all)[1].rows(), (std::vector<std::uint64_t>{2, 3, 4}));
  EXPECT_EQ((*all)[2].rows().size(), 32u);
  EXPECT_EQ((*all)[2].passes(), 2);
}

TEST(LabAccesses, ARecordingThatIsTooShortIsAnError) {
  EXPECT_FALSE(
      labAccesses({{"variants", {variant("mem.stores", 1, 1)}}}, {{"launches", {{{"accesses", json::array()}}}}}));
}

}  // namespace
