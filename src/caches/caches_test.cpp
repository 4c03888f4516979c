// Lines, sectors and sets by hand, and which generation has which caches.
#include <gtest/gtest.h>

#include "caches/cache.hpp"
#include "caches/layout.hpp"

using namespace ordito;
using caches::Cache;

namespace {

TEST(Cache, KeepsSectorsAndNotWholeLines) {
  Cache cache(1024, 4, false);
  EXPECT_FALSE(cache.read(0));
  EXPECT_TRUE(cache.read(0));
  EXPECT_TRUE(cache.read(31));
  EXPECT_FALSE(cache.read(32)) << "the next sector of the same line";
}

TEST(Cache, BringsWholeLinesWhereTheGpuDid) {
  Cache cache(1024, 4, true);
  EXPECT_FALSE(cache.read(40));
  for (uint64_t address : {0, 32, 64, 96}) EXPECT_TRUE(cache.read(address)) << address;
  EXPECT_FALSE(cache.read(128));
}

TEST(Cache, ForgetsTheLineThatWasUsedLongestAgo) {
  Cache cache(512, 4, false);  // one set of four lines
  for (uint64_t line = 0; line < 4; ++line) EXPECT_FALSE(cache.read(line * 128));
  EXPECT_TRUE(cache.read(0));
  EXPECT_FALSE(cache.read(4 * 128));  // instead of line 1
  EXPECT_TRUE(cache.read(0));
  EXPECT_FALSE(cache.read(128));
}

TEST(Cache, WritesBackWhatLeaves) {
  Cache cache(512, 4, false);
  EXPECT_FALSE(cache.write(0));
  EXPECT_TRUE(cache.write(0));
  EXPECT_FALSE(cache.write(32));
  for (uint64_t line = 1; line < 4; ++line) cache.read(line * 128);
  EXPECT_EQ(cache.writtenBack(), 0u);
  cache.read(4 * 128);
  EXPECT_EQ(cache.writtenBack(), 2u) << "the two sectors of the first line";
}

TEST(Cache, DropsWhatSomebodyElseHasWritten) {
  Cache cache(1024, 4, false);
  cache.read(64);
  cache.read(96);
  cache.drop(64);
  EXPECT_FALSE(cache.read(64));
  EXPECT_TRUE(cache.read(96));
  cache.clear();
  EXPECT_FALSE(cache.read(96));
}

TEST(Cache, WithoutBytesKeepsNothing) {
  Cache cache(0, 4, false);
  EXPECT_FALSE(cache.read(0));
  EXPECT_FALSE(cache.read(0));
  cache.write(0);
  EXPECT_EQ(cache.writtenBack(), 1u);
}

caches::Layout layoutOf(const char* gpu, uint64_t shared = 0, std::string_view l1 = "") {
  return caches::layoutOf(machine::findGpu(gpu).value(), shared, l1);
}

TEST(Layout, FollowsTheGenerations) {
  EXPECT_EQ(layoutOf("gtx280").l1Bytes, 0u);
  const caches::Layout fermi = layoutOf("c2070"), kepler = layoutOf("k40c"), volta = layoutOf("v100");
  EXPECT_TRUE(fermi.globalLoadsInL1 && fermi.l1FillsLines && fermi.storesDropL1 && !fermi.readOnlyLoads);
  EXPECT_EQ(fermi.l1Bytes, 16u << 10);
  EXPECT_TRUE(!kepler.globalLoadsInL1 && kepler.readOnlyLoads);
  EXPECT_EQ(kepler.readOnlyBytes, 48u << 10);
  EXPECT_FALSE(layoutOf("gtx1060").globalLoadsInL1);
  EXPECT_TRUE(layoutOf("p100").globalLoadsInL1);
  EXPECT_TRUE(volta.globalLoadsInL1 && !volta.storesDropL1 && !volta.l1FillsLines);
}

TEST(Layout, SharesTheFirstCacheWithSharedMemory) {
  EXPECT_EQ(layoutOf("v100").l1Bytes, 128u << 10);
  EXPECT_EQ(layoutOf("v100", 96 << 10).l1Bytes, 32u << 10);
  EXPECT_EQ(layoutOf("h200").l1Bytes, 256u << 10);
}

TEST(Layout, CanBeAskedOtherwise) {
  EXPECT_TRUE(layoutOf("k40c", 0, "on").globalLoadsInL1);
  EXPECT_FALSE(layoutOf("h200", 0, "off").globalLoadsInL1);
  EXPECT_FALSE(layoutOf("gtx280", 0, "on").globalLoadsInL1) << "there is none";
}

}  // namespace
