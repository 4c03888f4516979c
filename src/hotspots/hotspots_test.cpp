// Sites are added up over launches, and the one that moved most comes first.
#include "hotspots/hotspots.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "machine/gpu.hpp"
#include "ptx/parser.hpp"

using namespace ordito;
using machine::Counter;

namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 p)
{
  .reg .b64 %p;
  .reg .f32 %v;
  ld.param.u64 %p, [p];
  ld.global.f32 %v, [%p];
  st.global.f32 [%p], %v;
  ret;
}
)";

machine::CounterValues values(std::initializer_list<std::pair<Counter, uint64_t>> list) {
  machine::CounterValues result{};
  for (auto [counter, n] : list) result[static_cast<size_t>(counter)] = n;
  return result;
}

TEST(Hotspots, AddsUpLaunchesAndSortsByTransactions) {
  auto module = ptx::parse(kText, "copy.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const machine::SiteCounters sites = {
      {8, values({{Counter::WarpInstructions, 4}})},
      {9, values({{Counter::GlobalLoadRequests, 1}, {Counter::GlobalLoadSectors, 4}})},
      {10, values({{Counter::GlobalStoreRequests, 1}, {Counter::GlobalStoreSectors, 32}})}};
  const uint64_t none[machine::kCounterCount] = {};
  const machine::GpuDescription gpu;
  const machine::LaunchEvent launch{.kernel = "copy",
                                    .mangled = "copy",
                                    .launcher = "",
                                    .grid = {},
                                    .block = {},
                                    .sites = sites,
                                    .counters = none,
                                    .module = *module,
                                    .function = module->functions[0],
                                    .gpu = gpu};
  hotspots::Collector collector("");
  collector.launchEnded(launch);
  collector.launchEnded(launch);
  const auto found = collector.sites();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].instruction, "st.global.f32");
  EXPECT_EQ(found[0].ptxLine, 10u);
  EXPECT_EQ(found[0].transactions(), 64u);
  EXPECT_EQ(found[1].instruction, "ld.global.f32");
  const auto json = nlohmann::json::parse(hotspots::toJson(found));
  EXPECT_EQ(json.at("transactions"), 72);
  EXPECT_EQ(json.at("sites").at(0).at("requests"), 2);
  EXPECT_TRUE(json.at("sites").at(0).at("source").is_null());
}

}  // namespace
