// The table of compute capabilities against the descriptions of GPUs, which come from other sources, and against the
// courses' printed numbers.
#include "machine/capability.hpp"

#include <gtest/gtest.h>

#include <map>

#include "machine/gpu.hpp"

using namespace ordito::machine;

namespace {

std::map<std::string, bool> featuresOf(uint32_t major, uint32_t minor) {
  const auto list = findCapability(major, minor)->features();
  return {list.begin(), list.end()};
}

TEST(Capability, EveryGpuHasOneWhoseUnitsAreItsCores) {
  for (const GpuDescription& gpu : knownGpus()) {
    const Capability* capability = findCapability(gpu.computeMajor, gpu.computeMinor);
    ASSERT_NE(capability, nullptr) << gpu.name;
    EXPECT_EQ(capability->single, gpu.coresPerMultiprocessor) << gpu.name;
    EXPECT_EQ(gpu.architecture.find(capability->family), 0u) << gpu.name;
  }
}

TEST(Capability, AnUnknownOneIsNone) { EXPECT_EQ(findCapability(4, 2), nullptr); }

TEST(Capability, PascalsConsumerCards) {
  const Capability& pascal = *findCapability(6, 1);
  EXPECT_EQ(pascal.single, 128u);
  EXPECT_EQ(pascal.half, 2u);
  EXPECT_EQ(pascal.twice, 4u);
  EXPECT_EQ(pascal.special, 32u);
  EXPECT_EQ(pascal.schedulers, 4u);
  EXPECT_EQ(pascal.textureUnits, 8u);
  auto features = featuresOf(6, 1);
  for (const char* missing :
       {"tensor cores", "warp matrix functions of mixed precision", "asynchronous copies to shared memory",
        "barriers split into arrive and wait", "control of what stays in L2"}) {
    ASSERT_TRUE(features.contains(missing)) << missing;
    EXPECT_FALSE(features[missing]) << missing;
  }
  EXPECT_TRUE(featuresOf(8, 0)["control of what stays in L2"]);
}

TEST(Capability, KeplersLimits) {
  const GpuDescription k40 = findGpu("k40c").value();
  EXPECT_EQ(k40.residentGrids, 32u);
  EXPECT_EQ(k40.blocksPerMultiprocessor, 16u);
  EXPECT_EQ(k40.threadsPerMultiprocessor, 2048u);
  EXPECT_EQ(k40.threadsPerMultiprocessor / 32, 64u);
  EXPECT_EQ(k40.registersPerBlock, 65536u);
  EXPECT_EQ(k40.sharedPerMultiprocessor, 49152u);
  EXPECT_FALSE(featuresOf(2, 0)["dynamic parallelism"]);
  EXPECT_TRUE(featuresOf(3, 5)["dynamic parallelism"]);
}

// The class of the courses' Fermi card: a TFLOP, 150 GB/s, a queue for kernels beside one for copies each way.
TEST(Capability, FermisQueuesAndRoof) {
  const GpuDescription fermi = findGpu("c2070").value();
  EXPECT_EQ(fermi.hardwareQueues + fermi.copyEngines, 3u);
  EXPECT_EQ(fermi.residentGrids, 16u);
  EXPECT_NEAR(fermi.peakFloatTflops, 1, 0.05);
  EXPECT_NEAR(fermi.memoryBandwidthGbPerS, 150, 7.5);
  EXPECT_NEAR(2e-9 * findCapability(2, 0)->single * fermi.multiprocessors * fermi.clockKhz, fermi.peakFloatTflops,
              0.01);
}

}  // namespace
