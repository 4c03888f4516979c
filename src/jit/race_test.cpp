// Variants of a kernel race: who wins, what the disk keeps of it, and that nobody sees anything but the time.
#include "jit/race.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "jit/jit.hpp"
#include "jit/racing_kernel.hpp"
#include "jit/test_folder.hpp"
#include "ptx/parser.hpp"

namespace ordito::jit {
namespace {

using machine::BlockStatus;

constexpr Race::Rules kShort{.heat = 1000, .pieces = 4, .turn = 1, .lead = 1.1};

/// Pieces of ten blocks until the race is over; returns how many.
unsigned run(Race& race, uint64_t favourite, uint64_t contender) {
  unsigned pieces = 0;
  for (bool isOver = false; !isOver && pieces < 1000; ++pieces) {
    const Race::Variant turn = race.turn();
    isOver = race.ran(turn, 10, 10 * (turn == Race::Variant::Favourite ? favourite : contender));
  }
  return pieces;
}

TEST(Race, TheVariantsTakeTurns) {
  Race race(kShort);
  EXPECT_EQ(race.turn(), Race::Variant::Favourite);
  EXPECT_FALSE(race.ran(Race::Variant::Favourite, 1, 1));
  EXPECT_EQ(race.turn(), Race::Variant::Contender);
  EXPECT_FALSE(race.ran(Race::Variant::Contender, 1, 1));
  EXPECT_EQ(race.turn(), Race::Variant::Favourite);
  EXPECT_EQ(race.winner(), std::nullopt);
}

TEST(Race, ATurnIsLongerThanAShortPiece) {
  Race race({.heat = 1000, .pieces = 4, .turn = 30, .lead = 1.1});
  for (unsigned piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(race.turn(), Race::Variant::Favourite);
    EXPECT_FALSE(race.ran(Race::Variant::Favourite, 1, 10));
  }
  EXPECT_EQ(race.turn(), Race::Variant::Contender);
  EXPECT_FALSE(race.ran(Race::Variant::Favourite, 1, 100));  // begun before, by another thread
  EXPECT_EQ(race.turn(), Race::Variant::Contender);
  EXPECT_FALSE(race.ran(Race::Variant::Contender, 1, 40));
  EXPECT_EQ(race.turn(), Race::Variant::Favourite);
}

TEST(Race, AFasterContenderWinsAfterTwoHeats) {
  Race race(kShort);
  EXPECT_EQ(run(race, 30, 20), 20u);  // heats of five pieces each, so that the faster has had a thousand
  EXPECT_EQ(race.winner(), Race::Variant::Contender);
  EXPECT_EQ(race.turn(), Race::Variant::Contender);
  EXPECT_EQ(race.perBlock(Race::Variant::Contender), 20);
}

TEST(Race, AContenderThatIsHardlyFasterLosesAtOnce) {
  Race race(kShort);
  EXPECT_EQ(run(race, 105, 100), 8u);  // one heat, of four pieces each
  EXPECT_EQ(race.winner(), Race::Variant::Favourite);
  EXPECT_EQ(race.turn(), Race::Variant::Favourite);
}

TEST(Race, OneLuckyHeatIsNotEnough) {
  Race race(kShort);
  for (unsigned k = 0; k < 8; ++k)
    EXPECT_FALSE(race.ran(race.turn(), 1, race.turn() == Race::Variant::Favourite ? 500 : 250));
  run(race, 100, 100);
  EXPECT_EQ(race.winner(), Race::Variant::Favourite);
}

TEST(Race, WhatComesLateChangesNothing) {
  Race race(kShort);
  run(race, 10, 100);
  EXPECT_FALSE(race.ran(Race::Variant::Contender, 1000, 1));
  EXPECT_EQ(race.winner(), Race::Variant::Favourite);
}

// ---- a kernel whose code moves the clock
uint64_t now = 0, ranFavourite = 0, ranContender = 0;

uint32_t favourite(const machine::BlockFrame*, uint32_t) { return now += 30, ++ranFavourite, 0; }
uint32_t contender(const machine::BlockFrame*, uint32_t) { return now += 10, ++ranContender, 0; }

class RacingKernelTest : public testing::Test {
 protected:
  RacingKernelTest() : needs_(CompiledObject{}, 32), kernel_(favourite, needs_, {0, kShort, [] { return now; }}) {
    frame_.nctaid[0] = frame_.nctaid[1] = frame_.nctaid[2] = 1;
    now = ranFavourite = ranContender = 0;
    kernel_.set({[this] { ++asked_; }, [this](Race::Variant winner, double time) { end_.push_back({winner, time}); }});
  }
  void runPiece() { EXPECT_EQ(kernel_.latest().runBlocks(frame_, 1), BlockStatus::Ended); }

  const Needs needs_;
  RacingKernel kernel_;
  machine::BlockFrame frame_{};
  unsigned asked_ = 0;
  std::vector<std::pair<Race::Variant, double>> end_;
};

TEST_F(RacingKernelTest, AsksOnceForAContenderAndRunsWithoutOne) {
  for (int k = 0; k < 10; ++k) runPiece();
  EXPECT_EQ(asked_, 1u);
  EXPECT_EQ(ranFavourite, 10u);
  EXPECT_TRUE(end_.empty());
}

TEST_F(RacingKernelTest, GoesOnWithTheWinner) {
  runPiece();
  kernel_.enter(contender, needs_);
  for (int k = 0; k < 10000 && end_.empty(); ++k) runPiece();
  ASSERT_EQ(end_.size(), 1u);
  EXPECT_EQ(end_[0], std::pair(Race::Variant::Contender, 10.0));
  const uint64_t before = ranFavourite;
  for (int k = 0; k < 10; ++k) runPiece();
  EXPECT_EQ(ranFavourite, before);
}

// ---- of the engine
/// Thread t sums up t % 7 + 1 words of the row t * 37 % 61.
constexpr const char* kRows = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 in, .param .u64 out) {
  .reg .b32 %t, %k, %v, %sum;
  .reg .b64 %i, %o;
  .reg .pred %q;
  ld.param.u64 %i, [in];
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %o, %t, 4, %o;
  mul.lo.u32 %k, %t, 37;
  rem.u32 %k, %k, 61;
  mad.wide.u32 %i, %k, 64, %i;
  rem.u32 %k, %t, 7;
  mov.u32 %sum, 0;
Loop:
  ld.global.u32 %v, [%i];
  add.u32 %sum, %sum, %v;
  add.u64 %i, %i, 4;
  sub.u32 %k, %k, 1;
  setp.ge.s32 %q, %k, 0;
  @%q bra Loop;
  st.global.u32 [%o], %sum;
  ret;
}
)";
constexpr uint32_t kThreads = 64;

class RacesTest : public FolderTest {
 protected:
  RacesTest() {
    for (uint32_t k = 0; k < kThreads * 16; ++k) in_.push_back(k);
  }

  std::unique_ptr<machine::Engine> engine(bool races) const {
    return makeJit({.races = races, .racePatience = 0, .caches = true, .cacheFolder = folder_});
  }
  std::shared_ptr<const machine::Executable> compile(machine::Engine& engine) const {
    auto code = engine.compile(module_, module_->functions[0], {{kThreads, 1, 1}, false});
    EXPECT_TRUE(code) << code.error().message;
    return code ? *code : nullptr;
  }
  void runBlock(const machine::Executable& code) {
    std::vector<uint32_t> out(kThreads, 0);
    const void* parameters[] = {in_.data(), out.data()};
    std::vector<std::byte> memory(code.scratchBytes() + 64);
    machine::BlockFrame frame{};
    frame.parameters = reinterpret_cast<const std::byte*>(parameters);
    frame.nctaid[0] = frame.nctaid[1] = frame.nctaid[2] = 1;
    void* start = memory.data();
    size_t room = memory.size();
    frame.scratch = static_cast<std::byte*>(std::align(64, code.scratchBytes(), start, room));
    code.runBlocks(frame, 1);
    for (uint32_t t = 0; t < kThreads; ++t) {
      uint32_t sum = 0;
      for (uint32_t k = 0; k <= t % 7; ++k) sum += in_[t * 37 % 61 * 16 + k];
      ASSERT_EQ(out[t], sum) << t;
    }
  }
  /// Runs blocks until the disk keeps so many copies, for a minute at most.
  bool keepsSoon(const machine::Executable& code, size_t copies) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (kernels() != copies && std::chrono::steady_clock::now() < end)
      for (int k = 0; k < 100; ++k) runBlock(code.latest());
    return kernels() == copies;
  }

  const machine::ModulePtr module_ = [] {
    auto module = std::make_shared<ptx::Module>(std::move(*ptx::parse(kRows)));
    module->source.digest = Digest().add("rows");
    return module;
  }();
  std::vector<uint32_t> in_;
};

TEST_F(RacesTest, TheDiskKeepsTheWinner) {
  {
    const auto racing = engine(true);
    const auto code = compile(*racing);
    ASSERT_TRUE(code);
    EXPECT_TRUE(keepsSoon(*code, 1)) << "the favourite";
    EXPECT_TRUE(keepsSoon(*code, 2)) << "and the contender";
    EXPECT_TRUE(keepsSoon(*code, 1)) << "the winner";
  }
  const auto again = engine(true);
  const auto code = compile(*again);
  ASSERT_TRUE(code);
  for (int k = 0; k < 100; ++k) runBlock(code->latest());
  EXPECT_EQ(&code->latest(), code.get());
  EXPECT_TRUE(keepsSoon(*code, 1)) << "there was another race";
}

TEST_F(RacesTest, NobodyRacesUnlessAsked) {
  const auto calm = engine(false);
  const auto code = compile(*calm);
  ASSERT_TRUE(code);
  for (int k = 0; k < 100; ++k) runBlock(code->latest());
  EXPECT_TRUE(keepsSoon(*code, 1));
  EXPECT_EQ(&code->latest(), code.get());
}

}  // namespace
}  // namespace ordito::jit
