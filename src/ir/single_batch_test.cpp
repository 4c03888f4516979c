// Which barriers disappear where all warps run together.
#include "ir/single_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/test_kernel.hpp"

namespace ordito::ir {
namespace {

/// Barriers of a kernel with this body before and after; %t is threadIdx.x, %n blockDim.x. After: -1 if it is the same.
std::pair<long, long> barriersOf(const std::string& body) {
  std::pair<long, long> counts;
  const std::string declarations =
      ".reg .b32 %t, %n;\n.reg .pred %p, %q;\nmov.u32 %t, %tid.x;\nmov.u32 %n, %ntid.x;\nsetp.lt.u32 %p, %t, 7;\n";
  withKernel("", declarations + body + "\nret;", [&](const Function& function) {
    auto count = [](const Function& f) {
      return std::count_if(f.blocks.begin(), f.blocks.end(),
                           [](const Block& b) { return b.end.kind == Terminator::Kind::Barrier; });
    };
    const auto without = withoutPlainBarriers(function, findSyncPoints(Analyses(function), {{64, 1, 1}}));
    counts = {count(function), without ? count(*without) : -1};
    if (!without) return;
    const auto ok = verify(*without);
    EXPECT_TRUE(ok) << ok.error().message;
  });
  return counts;
}

using Counts = std::pair<long, long>;

TEST(SingleBatch, NeedsNoPlainBarrier) {
  EXPECT_EQ(barriersOf("bar.sync 0;\nbarrier.sync 1;\nbar.sync 2, 64;"), Counts(3, 0));
}

TEST(SingleBatch, KeepsReductions) { EXPECT_EQ(barriersOf("bar.sync 0;\nbar.red.popc.u32 %t, 0, %p;"), Counts(2, 1)); }

TEST(SingleBatch, KeepsBarriersWithANumberInARegister) { EXPECT_EQ(barriersOf("bar.sync %n;"), Counts(1, -1)); }

TEST(SingleBatch, KeepsWhatOnlySomeReach) {
  EXPECT_EQ(barriersOf("@!%p bra On;\nbarrier.sync 0;\nOn:\nbar.sync 0;"), Counts(2, -1));
}

}  // namespace
}  // namespace ordito::ir
