// A barrier across the grid that a block never comes to is a deadlock; one that is only late, and blocks that spin, are
// none.
#include "machine/grid_deadlock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>

using namespace ordito::machine;

namespace {

using Clock = std::chrono::steady_clock;

/// Blocks that come to the barrier once, as compiled code does: `comes` says of a block, each time that it has a turn
/// before it has come, whether it comes now (Suspended), ends without (Ended), or waits for something else (nothing).
class Meeting : public Executable {
 public:
  enum class Does { Comes, Ends, Spins };
  explicit Meeting(std::function<Does(uint32_t block)> choose) : choose_(std::move(choose)) {}

  BlockStatus runBlock(const BlockFrame& frame) const override {
    auto* const word = reinterpret_cast<uint32_t*>(frame.gridWorkspace + 4);
    auto& before = *reinterpret_cast<uint64_t*>(frame.scratch);
    constexpr uint64_t kNotYet = ~uint64_t{0};
    if (!frame.resumes) before = kNotYet;
    frame.waitsAt = 10 + frame.ctaid[0] % 2;
    if (before == kNotYet) {
      const Does what = choose_(frame.ctaid[0]);
      if (what == Does::Ends) return BlockStatus::Ended;
      if (what == Does::Spins) return BlockStatus::Suspended;
      before =
          __atomic_fetch_add(word, frame.ctaid[0] == 0 ? 0x80000000u - (frame.nctaid[0] - 1) : 1u, __ATOMIC_SEQ_CST);
    }
    const bool open = (before ^ __atomic_load_n(word, __ATOMIC_SEQ_CST)) & 0x80000000u;
    return open ? BlockStatus::Ended : BlockStatus::Suspended;
  }
  bool canSuspend() const override { return true; }
  size_t scratchBytes() const override { return sizeof(uint64_t); }
  size_t localBytes() const override { return 0; }

 private:
  std::function<Does(uint32_t)> choose_;
};

std::optional<Fault> run(const Meeting& meeting, uint32_t blocks, unsigned threads) {
  alignas(64) std::byte workspace[64] = {};
  GridLaunch launch;
  launch.executable = &meeting;
  launch.kernelName = "test";
  launch.grid = {blocks, 1, 1};
  launch.cooperative = true;
  launch.gridWorkspace = workspace;
  return Scheduler(threads).run(launch).fault;
}

TEST(GridDeadlock, NamesWhoWaitsWhereAndWhoHasEnded) {
  Meeting meeting([](uint32_t block) { return block == 1 ? Meeting::Does::Ends : Meeting::Does::Comes; });
  for (const unsigned threads : {1u, 3u}) {
    const auto fault = run(meeting, 4, threads);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, FaultKind::BarrierDeadlock);
    EXPECT_EQ(fault->message,
              "kernel 'test': a deadlock: 3 of the grid's 4 blocks wait in grid.sync() for ever, since the others have "
              "ended: (0,0,0), (2,0,0) wait at PTX line 10; (3,0,0) wait at PTX line 11; (1,0,0) have ended");
  }
}

TEST(GridDeadlock, IsNoneWhileABlockMayStillCome) {
  const auto start = Clock::now();
  Meeting late([start](uint32_t block) {
    const bool waits = block == 2 && Clock::now() - start < std::chrono::milliseconds(900);
    return waits ? Meeting::Does::Spins : Meeting::Does::Comes;
  });
  EXPECT_FALSE(run(late, 4, 2));
}

TEST(GridDeadlock, IsNoneWhileABlockSpinsThoughOthersHaveEnded) {
  const auto start = Clock::now();
  Meeting spinning([start](uint32_t) {
    return Clock::now() - start < std::chrono::milliseconds(900) ? Meeting::Does::Spins : Meeting::Does::Ends;
  });
  EXPECT_FALSE(run(spinning, 4, 2));
}

}  // namespace
