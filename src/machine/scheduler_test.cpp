// Every block runs exactly once, in index order; grids from several threads share the pool; blocks that wait for later
// blocks get there.
#include "machine/scheduler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "machine/block_shares.hpp"
#include "machine/test_sanitizer.hpp"

using namespace ordito::machine;

namespace {

class Block : public Executable {
 public:
  explicit Block(std::function<void(const BlockFrame&)> body) : body_(std::move(body)) {}
  BlockStatus runBlock(const BlockFrame& frame) const override {
    body_(frame);
    return BlockStatus::Ended;
  }
  size_t scratchBytes() const override { return 100; }
  size_t localBytes() const override { return 0; }
  size_t counterWords() const override { return 1; }
  void addCounters(const uint64_t* words, SiteCounters& sites) const override {
    sites.try_emplace(7).first->second[0] += words[0];
  }

 private:
  std::function<void(const BlockFrame&)> body_;
};

GridLaunch launchOf(const Block& block, Dim3 grid) {
  GridLaunch launch;
  launch.executable = &block;
  launch.kernelName = "test";
  launch.grid = grid;
  return launch;
}

TEST(Scheduler, RunsEveryBlockOnce) {
  Scheduler scheduler(4);
  std::mutex mutex;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
  Block block([&](const BlockFrame& frame) {
    std::lock_guard lock(mutex);
    EXPECT_TRUE(seen.insert({frame.ctaid[2], frame.ctaid[1], frame.ctaid[0]}).second);
  });
  auto result = scheduler.run(launchOf(block, {17, 5, 3}));
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(seen.size(), 17u * 5 * 3);
}

TEST(Scheduler, ThreadsBeginWithTheSameBlocksInEachLaunch) {
  Scheduler scheduler(2);
  for (int launch = 0; launch < 3; ++launch) {
    std::mutex mutex;
    std::map<std::thread::id, std::vector<uint32_t>> blocksOf;
    Block block([&](const BlockFrame& frame) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::lock_guard lock(mutex);
      blocksOf[std::this_thread::get_id()].push_back(frame.ctaid[0]);
    });
    GridLaunch grid = launchOf(block, {64, 1, 1});
    grid.mayAwaitBlocks = false;
    EXPECT_FALSE(scheduler.run(grid).fault);
    size_t all = 0;
    for (const auto& [thread, blocks] : blocksOf) {
      EXPECT_EQ(blocks.front(), thread == std::this_thread::get_id() ? 0u : 32u);
      all += blocks.size();
    }
    EXPECT_EQ(all, 64u);
  }
}

TEST(BlockShares, EveryPieceIsTakenOnce) {
  constexpr uint64_t kPieces = 1000;
  for (const unsigned threads : {1u, 3u, 8u}) {
    BlockShares shares(kPieces, threads);
    std::vector<std::atomic<int>> taken(kPieces);
    std::vector<std::thread> takers;
    for (unsigned t = 0; t < 4; ++t)
      takers.emplace_back([&, t] {
        for (uint64_t k = 0; k < kPieces / 4; ++k) ++taken[shares.take(t)];
      });
    for (std::thread& taker : takers) taker.join();
    for (const std::atomic<int>& times : taken) EXPECT_EQ(times, 1);
  }
}

TEST(Scheduler, OneThreadRunsBlocksInIndexOrder) {
  Scheduler scheduler(1);
  std::vector<uint32_t> order;
  Block block([&](const BlockFrame& f) { order.push_back(f.ctaid[0] + 100 * f.ctaid[1] + 10000 * f.ctaid[2]); });
  scheduler.run(launchOf(block, {100, 100, 2}));
  ASSERT_EQ(order.size(), 20000u);
  for (uint32_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);
}

TEST(Scheduler, AddsUpCounters) {
  Scheduler scheduler(3);
  Block block([](const BlockFrame& frame) { frame.counters[0] += frame.ctaid[0]; });
  GridLaunch launch = launchOf(block, {1000, 1, 1});
  launch.counters = true;
  const GridResult result = scheduler.run(launch);
  EXPECT_EQ(result.counters[0], 1000u * 999 / 2);
  EXPECT_EQ(result.sites.at(7)[0], result.counters[0]);
}

TEST(Scheduler, TheFirstFaultStopsTheGrid) {
  Scheduler scheduler(2);
  std::atomic<int> ran{0};
  Block block([&](const BlockFrame& frame) {
    ++ran;
    if (frame.ctaid[0] == 5) raiseFault(frame, FaultKind::Trap, 1, 0, nullptr);
  });
  auto result = scheduler.run(launchOf(block, {1000000, 1, 1}));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->block[0], 5u);
  EXPECT_LT(ran, 1000000);
}

TEST(Scheduler, SharedWindowsAreSeparateAndGuarded) {
  SKIP_UNDER_THREAD_SANITIZER("a second hardware fault in one thread");
  Scheduler scheduler(2);
  Block block([](const BlockFrame& frame) {
    auto* shared = reinterpret_cast<volatile uint32_t*>(frame.shared);
    for (int i = 0; i < 25; ++i) shared[i] = frame.ctaid[0];
    for (int i = 0; i < 25; ++i)
      if (shared[i] != frame.ctaid[0]) raiseFault(frame, FaultKind::Trap, 1, 0, "another block wrote here");
    if (frame.ctaid[0] == 99) shared[28] = 1;  // 112 bytes is the window rounded up to 16
  });
  GridLaunch launch = launchOf(block, {100, 1, 1});
  launch.totalSharedBytes = 100;
  auto result = scheduler.run(launch);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::IllegalAddress);
  EXPECT_NE(result.fault->message.find("shared memory"), std::string::npos) << result.fault->message;
}

TEST(Scheduler, ABarrierAcrossTheGridIsPassed) {
  Scheduler scheduler(2);
  std::atomic<uint32_t> arrived{0};
  Block block([&](const BlockFrame& frame) {
    ++arrived;
    while (arrived.load() < frame.nctaid[0]) std::this_thread::yield();
  });
  EXPECT_FALSE(scheduler.run(launchOf(block, {20, 1, 1})).fault) << "blocks that wait for later ones";
  arrived = 0;
  GridLaunch cooperative = launchOf(block, {20, 1, 1});
  cooperative.cooperative = true;
  EXPECT_FALSE(scheduler.run(cooperative).fault);
}

TEST(Scheduler, SlowBlocksGetNoMoreThreads) {
  Scheduler scheduler(2);
  std::atomic<int> running{0}, most{0};
  Block block([&](const BlockFrame&) {
    most = std::max(most.load(), ++running);
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    --running;
  });
  GridLaunch launch = launchOf(block, {8, 1, 1});
  launch.mayAwaitBlocks = false;
  EXPECT_FALSE(scheduler.run(launch).fault);
  EXPECT_LE(most, 2);
}

TEST(Scheduler, TakesGridsFromManyThreads) {
  Scheduler scheduler(4);
  std::atomic<uint64_t> sum{0};
  Block block([&](const BlockFrame& frame) { sum += frame.ctaid[0]; });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) scheduler.run(launchOf(block, {10, 1, 1}));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 4u * 200 * 45);
}

// The sixth block of a grid waits until a grid of better priority is there, whose first block waits until another
// thread than its own runs it: that must be the first grid's, which gives no block until the better one has none left.
TEST(Scheduler, ABetterPriorityGoesBeforeAtTheNextBlock) {
  Scheduler scheduler(1);
  constexpr uint32_t kBetter = 50;
  std::atomic<uint32_t> begunBetter{0}, begunWhileBetter{0}, ranByFirst{0};
  std::atomic<std::thread::id> first{};
  Block better([&](const BlockFrame&) {
    ++begunBetter;
    if (std::this_thread::get_id() == first.load()) ++ranByFirst;
    while (ranByFirst == 0) std::this_thread::yield();
  });
  Block plain([&](const BlockFrame& frame) {
    first = std::this_thread::get_id();
    while (frame.ctaid[0] == 5 && begunBetter == 0) std::this_thread::yield();
    if (begunBetter > 0 && begunBetter < kBetter) ++begunWhileBetter;
  });
  std::thread launcher([&] {
    while (first.load() == std::thread::id()) std::this_thread::yield();
    GridLaunch launch = launchOf(better, {kBetter, 1, 1});
    launch.priority = -1;
    EXPECT_FALSE(scheduler.run(launch).fault);
  });
  EXPECT_FALSE(scheduler.run(launchOf(plain, {100, 1, 1})).fault);
  launcher.join();
  EXPECT_EQ(begunBetter, kBetter);
  EXPECT_GT(ranByFirst, 0u);
  EXPECT_LE(begunWhileBetter, 1u) << "the block that was running, and no other";
}

TEST(Scheduler, ATinyGridIsQuick) {
  Scheduler scheduler(2);
  Block block([](const BlockFrame&) {});
  scheduler.run(launchOf(block, {1, 1, 1}));
  auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 1000;
  for (int i = 0; i < kRounds; ++i) scheduler.run(launchOf(block, {1, 1, 1}));
  auto each = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / kRounds;
  RecordProperty("microseconds", std::to_string(each));
  EXPECT_LT(each, 100) << "microseconds for a grid of one empty block; far below 10 on a quiet machine";
}

}  // namespace
