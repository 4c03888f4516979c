// Grids that would run for ever are ended and say where their blocks stand; those that get on are left alone.
#include "machine/grid_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "machine/test_sanitizer.hpp"

using namespace ordito;
using namespace ordito::machine;
using std::chrono::milliseconds;

namespace {

using Clock = std::chrono::steady_clock;

// What stands for generated code: it owns nothing, and a range of addresses is registered for it.
#define GENERATED __attribute__((noinline, section("generated_by_test"), no_sanitize("address", "thread", "undefined")))
// NOLINTNEXTLINE(readability-identifier-naming): linkers call them so
extern "C" const char __start_generated_by_test[], __stop_generated_by_test[];

GENERATED void loopForEver(volatile uint64_t* count) {
  for (;;) *count = *count + 1;
}

struct Limits {
  explicit Limits(TimeLimits limits) { setTimeLimits(limits); }
  ~Limits() { setTimeLimits({}); }
};

struct CodeRange {
  CodeRange() {
    registerCodeRange(begin(), reinterpret_cast<uintptr_t>(__stop_generated_by_test), [](uintptr_t) { return 7u; });
  }
  ~CodeRange() { unregisterCodeRange(begin()); }
  static uintptr_t begin() { return reinterpret_cast<uintptr_t>(__start_generated_by_test); }
};

/// Blocks that wait until `goes` says so. Their state is what `state` gives.
class Waiting : public Executable {
 public:
  std::function<bool()> goes = [] { return false; };
  std::function<std::optional<Digest>()> state = [] { return Digest(); };
  BlockStatus runBlock(const BlockFrame& frame) const override {
    frame.waitsAt = 5;
    return frame.ctaid[0] == 0 || goes() ? BlockStatus::Ended : BlockStatus::Suspended;
  }
  std::optional<Digest> suspendedState(const BlockFrame&) const override { return state(); }
  bool canSuspend() const override { return true; }
  size_t scratchBytes() const override { return 8; }
  size_t localBytes() const override { return 0; }
};

class Endless : public Executable {
 public:
  BlockStatus runBlock(const BlockFrame& frame) const override {
    loopForEver(reinterpret_cast<volatile uint64_t*>(frame.scratch));
    return BlockStatus::Ended;
  }
  size_t scratchBytes() const override { return 8; }
  size_t localBytes() const override { return 0; }
};

std::optional<Fault> run(const Executable& code, uint32_t blocks, unsigned threads) {
  GridLaunch launch;
  launch.executable = &code;
  launch.kernelName = "test";
  launch.grid = {blocks, 1, 1};
  return Scheduler(threads).run(launch).fault;
}

TEST(GridWatch, EndsAGridWhoseTimeIsOver) {
  SKIP_UNDER_THREAD_SANITIZER("a signal of another thread in generated code");
  const CodeRange code;
  const Limits limits({.grid = milliseconds(200)});
  const auto fault = run(Endless(), 1, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::Timeout);
  EXPECT_EQ(fault->message,
            "kernel 'test' was stopped after 0.2 s, the limit that ORDITO_KERNEL_TIMEOUT sets: block (0,0,0) stood at "
            "PTX line 7");
  EXPECT_EQ(fault->ptxLine, 7u);
}

TEST(GridWatch, EndsAGridThatOnlyWaits) {
  const Limits limits({.hang = milliseconds(300)});
  for (const unsigned threads : {1u, 3u}) {
    const auto fault = run(Waiting(), 12, threads);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, FaultKind::Timeout);
    EXPECT_NE(
        fault->message.find("has hung: for 0.3 s its threads have only waited, and nothing has changed: blocks ("),
        std::string::npos)
        << fault->message;
    EXPECT_NE(fault->message.find(" and 3 more stood at PTX line 5"), std::string::npos) << fault->message;
  }
}

TEST(GridWatch, LeavesAGridAloneThatIsLetGoOn) {
  const Limits limits({.hang = milliseconds(2000)});
  const auto start = Clock::now();
  Waiting waiting;
  waiting.goes = [start] { return Clock::now() - start > milliseconds(700); };
  EXPECT_FALSE(run(waiting, 3, 2));
}

TEST(GridWatch, LeavesAGridAloneThatChangesOrCannotTell) {
  const Limits limits({.hang = milliseconds(200)});
  for (const bool canTell : {true, false}) {
    const auto start = Clock::now();
    std::atomic<uint64_t> looks{0};
    Waiting waiting;
    waiting.goes = [start] { return Clock::now() - start > milliseconds(900); };
    waiting.state = [&]() -> std::optional<Digest> {
      return canTell ? std::optional(Digest().add(++looks)) : std::nullopt;
    };
    EXPECT_FALSE(run(waiting, 3, 1));
  }
}

TEST(GridWatch, KnowsALoopThatIsMetAtDifferentPlaces) {
  const Limits limits({.hang = milliseconds(400)});
  std::atomic<uint64_t> looks{0};
  Waiting waiting;
  waiting.state = [&] { return Digest().add(++looks % 3); };
  EXPECT_TRUE(run(waiting, 2, 1));
}

}  // namespace
