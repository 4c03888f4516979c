// The published worked examples for Fermi, Kepler and Pascal, and the shipped descriptions.
#include "machine/occupancy.hpp"

#include <gtest/gtest.h>

using namespace ordito::machine;

namespace {

GpuDescription gpu(const char* name) { return findGpu(name).value(); }

TEST(Occupancy, FermiTiledMatrixProductUsesEightBytesOfSharedMemoryPerThread) {
  GpuDescription fermi = gpu("c2070");
  Occupancy o = occupancy(fermi, {64, 0, 512});
  EXPECT_EQ(o.blocks, 8u);
  EXPECT_EQ(o.blocks * 64, 512u);
  o = occupancy(fermi, {256, 0, 2048});
  EXPECT_EQ(o.blocks, 6u);
  EXPECT_DOUBLE_EQ(o.ratio, 1.0);
  o = occupancy(fermi, {1024, 0, 8192});
  EXPECT_EQ(o.blocks, 1u);
}

TEST(Occupancy, KeplerTiledMatrixProduct) {
  GpuDescription kepler = gpu("k40c");
  EXPECT_EQ(occupancy(kepler, {64, 0, 512}).blocks, 16u);
  EXPECT_EQ(occupancy(kepler, {256, 0, 2048}).blocks, 8u);
  EXPECT_EQ(occupancy(kepler, {1024, 0, 8192}).blocks, 2u);
}

struct PascalRow {
  uint32_t threads, registers, shared, byRegisters, byShared, byWarps, byBlocks;
  double percent;
};

class Pascal : public testing::TestWithParam<PascalRow> {};

TEST_P(Pascal, HasThePublishedLimits) {
  const PascalRow& row = GetParam();
  Occupancy o = occupancy(gpu("gtx1060"), {row.threads, row.registers, row.shared});
  EXPECT_EQ(o.byRegisters, row.byRegisters);
  EXPECT_EQ(o.byShared, row.byShared);
  EXPECT_EQ(o.byWarps, row.byWarps);
  EXPECT_EQ(o.byBlocks, row.byBlocks);
  EXPECT_DOUBLE_EQ(o.ratio * 100, row.percent);
}

INSTANTIATE_TEST_SUITE_P(
    MatrixProducts, Pascal,
    testing::Values(PascalRow{64, 28, 0, 32, 32, 32, 32, 100}, PascalRow{256, 28, 0, 8, 32, 8, 32, 100},
                    PascalRow{1024, 28, 0, 2, 32, 2, 32, 100}, PascalRow{64, 32, 8192, 32, 12, 32, 32, 37.5},
                    PascalRow{256, 32, 8192, 8, 12, 8, 32, 100}, PascalRow{1024, 32, 8192, 2, 12, 2, 32, 100}));

TEST(Occupancy, MoreRegistersForAThreadAreFewerBlocks) {
  const std::pair<uint32_t, uint32_t> rows[] = {{32, 8}, {64, 4}, {128, 2}, {255, 1}};  // of 65536 in a Pascal
  for (const auto& [registers, blocks] : rows)
    EXPECT_EQ(occupancy(gpu("gtx1060"), {256, registers, 0}).blocks, blocks) << registers;
}

TEST(Occupancy, ABlockThatCannotRunHasNone) {
  GpuDescription ampere = gpu("rtx3090");
  EXPECT_EQ(occupancy(ampere, {1025, 32, 0}).blocks, 0u);
  EXPECT_EQ(occupancy(ampere, {0, 32, 0}).blocks, 0u);
  EXPECT_EQ(occupancy(ampere, {32, 256, 0}).blocks, 0u);
  EXPECT_EQ(occupancy(ampere, {32, 32, 200 * 1024}).blocks, 0u);
  EXPECT_EQ(occupancy(ampere, {1024, 128, 0}).blocks, 0u)
      << "128 registers for each of 1024 threads are more than a block has";
}

TEST(Occupancy, NamesTheLimitThatBinds) {
  EXPECT_STREQ(occupancy(gpu("gtx1060"), {64, 32, 8192}).limiter(), "shared memory");
  EXPECT_STREQ(occupancy(gpu("gtx1060"), {1024, 28, 0}).limiter(), "warps");
  EXPECT_STREQ(occupancy(gpu("gtx1060"), {256, 64, 0}).limiter(), "registers");
  EXPECT_STREQ(occupancy(gpu("gtx1060"), {32, 16, 0}).limiter(), "blocks");
}

TEST(Occupancy, BestBlockFillsTheGpu) {
  GpuDescription hopper = gpu("h200");
  BestBlock best = bestBlockSize(hopper, 8, 1024, [](uint32_t) { return 0u; });
  EXPECT_EQ(best.blockSize, 1024u);
  EXPECT_EQ(best.gridSize, 264u) << "what an H200 answers for a tiny kernel";
}

TEST(Gpus, AreFoundForgivingly) {
  for (const char* name : {"rtx3090", "RTX 3090", "GeForce RTX 3090", "nvidia geforce rtx 3090", "3090"})
    EXPECT_EQ(gpu(name).id, "rtx3090") << name;
  EXPECT_EQ(gpu("GTX 1060 6GB").id, "gtx1060");
  EXPECT_EQ(knownGpus().size(), 11u);
  EXPECT_EQ(knownGpus().front().id, "rtx3090");
}

TEST(Gpus, AListHasOneForEachName) {
  const auto gpus = findGpus("h200,RTX 3090,h200").value();
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_EQ(gpus[0].id, "h200");
  EXPECT_EQ(gpus[1].id, "rtx3090");
  EXPECT_EQ(gpus[2].id, "h200");
  EXPECT_FALSE(findGpus("h200,"));
  EXPECT_FALSE(findGpus("h200,voodoo2"));
  std::string many = "h200";
  for (int i = 0; i < 64; ++i) many += ",h200";
  EXPECT_EQ(findGpus(many).error().message, "65 GPUs are more than the 64 that there can be");
}

TEST(Gpus, AnUnknownNameListsTheKnownOnes) {
  auto found = findGpu("voodoo2");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("h200"), std::string::npos);
}

TEST(Gpus, HaveThePublishedPeaks) {
  for (const GpuDescription& g : knownGpus()) {
    double tflops = 2e-9 * g.multiprocessors * g.coresPerMultiprocessor * g.clockKhz;
    if (g.computeMajor < 2) continue;  // counts an extra multiply
    EXPECT_NEAR(tflops, g.peakFloatTflops, g.peakFloatTflops * 0.05) << g.name;
  }
}

}  // namespace
