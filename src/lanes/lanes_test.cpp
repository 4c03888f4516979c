// Only the first warp of the first block is kept, with the addresses of the lanes that took part, launch by launch.
#include "lanes/lanes.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "machine/gpu.hpp"
#include "machine/kernel.hpp"
#include "ptx/parser.hpp"

using namespace ordito;

namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing()
{
  ret;
}
)";

class Lanes : public testing::Test {
 protected:
  void access(uint32_t block, uint32_t warp, uint64_t launch) {
    machine::BlockFrame frame{};
    frame.ctaid[0] = block;
    frame.gridid = launch;
    collector_.accessed({.at = {frame, module_->functions[0], 6, warp, 0x80000001},
                         .kind = machine::AccessKind::Store,
                         .space = machine::AccessSpace::Global,
                         .bytes = 4,
                         .base = 1000,
                         .stride = 8});
  }
  void end(uint64_t launch) {
    const machine::SiteCounters sites;
    const uint64_t none[machine::kCounterCount] = {};
    const machine::GpuDescription gpu;
    collector_.launchEnded({.kernel = "nothing",
                            .mangled = "nothing",
                            .launcher = "",
                            .grid = {},
                            .block = {},
                            .launch = launch,
                            .sites = sites,
                            .counters = none,
                            .module = *module_,
                            .function = module_->functions[0],
                            .gpu = gpu});
  }

  Expected<ptx::Module> module_ = ptx::parse(kText, "nothing.ptx");
  lanes::Collector collector_{""};
};

TEST_F(Lanes, TheFirstWarpOfTheFirstBlock) {
  access(0, 0, 7);
  access(0, 1, 7);
  access(1, 0, 7);
  end(7);
  const auto launches = collector_.launches();
  ASSERT_EQ(launches.size(), 1u);
  ASSERT_EQ(launches[0].accesses.size(), 1u);
  const auto& addresses = launches[0].accesses[0].addresses;
  ASSERT_EQ(addresses.size(), 2u);
  EXPECT_EQ(addresses[1], std::pair(31u, uint64_t{1000 + 31 * 8}));
}

TEST_F(Lanes, EachLaunchHasItsOwn) {
  access(0, 0, 1);
  access(0, 0, 2);
  access(0, 0, 2);
  end(2);
  end(1);
  end(3);
  const auto report = nlohmann::json::parse(lanes::toJson(collector_.launches())).at("launches");
  ASSERT_EQ(report.size(), 3u);
  EXPECT_EQ(report[0].at("accesses").size(), 2u);
  EXPECT_EQ(report[1].at("accesses").size(), 1u);
  EXPECT_EQ(report[2].at("accesses").size(), 0u);
  EXPECT_EQ(report[1].at("accesses")[0].at("kind"), "store");
  EXPECT_EQ(report[1].at("accesses")[0].at("space"), "global");
}

TEST_F(Lanes, NoMoreThanAPictureCanShow) {
  for (std::size_t i = 0; i < lanes::Collector::kMostAccesses + 5; ++i) access(0, 0, 1);
  end(1);
  EXPECT_EQ(collector_.launches()[0].accesses.size(), lanes::Collector::kMostAccesses);
}

}  // namespace
