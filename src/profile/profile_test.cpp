// From counters to metrics, and the JSON that `ordito profile` reads.
#include "profile/profile.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

using namespace ordito;
using namespace ordito::profile;
using machine::Counter;

namespace {

LaunchRecord neighbouredReduction() {
  LaunchRecord record;
  record.kernel = "reduce(int*)";
  record.mangled = "_Z6reducePi";
  record.grid = {1, 1, 1};
  record.block = {512, 1, 1};
  record.registers = 16;
  record.counters[static_cast<size_t>(Counter::Branches)] = 304;
  record.counters[static_cast<size_t>(Counter::DivergentBranches)] = 95;
  return record;
}

double metric(const LaunchRecord& record, const std::string& name) {
  for (const Metric& m : metrics())
    if (name == m.name) return m.value(record.counters);
  ADD_FAILURE() << "no metric " << name;
  return 0;
}

TEST(Profile, BranchEfficiencyIsThePublishedOne) {
  EXPECT_DOUBLE_EQ(metric(neighbouredReduction(), "smsp__sass_average_branch_targets_threads_uniform.pct"), 68.75);
  EXPECT_DOUBLE_EQ(metric(neighbouredReduction(), "branch_efficiency"), 68.75);
}

TEST(Profile, WithoutBranchesTheTwoProfilersSayDifferentThings) {
  EXPECT_DOUBLE_EQ(metric(LaunchRecord(), "smsp__sass_average_branch_targets_threads_uniform.pct"), 0);
  EXPECT_DOUBLE_EQ(metric(LaunchRecord(), "branch_efficiency"), 100);
}

TEST(Profile, WritesEveryLaunch) {
  std::string path = testing::TempDir() + "profile_test.json";
  Recorder recorder(path);
  recorder.add(neighbouredReduction(), machine::knownGpus().front());
  recorder.add(neighbouredReduction(), machine::knownGpus().front());
  recorder.flush();
  std::ifstream in(path);
  auto json = nlohmann::json::parse(in);
  ASSERT_EQ(json.at("launches").size(), 2u);
  const auto& launch = json.at("launches").at(0);
  EXPECT_EQ(launch.at("kernel"), "reduce(int*)");
  EXPECT_EQ(launch.at("block"), nlohmann::json({512, 1, 1}));
  EXPECT_EQ(launch.at("metrics").at("smsp__sass_branch_targets.sum"), 304);
  EXPECT_EQ(launch.at("theoretical_occupancy").at("percent"), 100.0);
}

TEST(Profile, IsOffWithoutAPath) { EXPECT_EQ(listener(), nullptr); }

}  // namespace
