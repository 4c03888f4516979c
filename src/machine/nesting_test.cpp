// Who runs after whom when kernels launch kernels; and that depth, number and chains of launches are no problem.
#include "machine/nesting.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "machine/device_block.hpp"
#include "machine/device_runtime.hpp"

using namespace ordito::machine;

namespace {

class Host : public LaunchHost {
 public:
  int prepare(uint64_t, const Dim3&, const Dim3&, uint32_t, Child&) override { return 98; }
  void refused(const Child&, std::string_view) override {}
  int device() override { return 0; }
  int deviceCount() override { return 1; }
  int attribute(int*, int, int) override { return 1; }
  int limit(uint64_t*, int) override { return 1; }
  int functionAttributes(std::byte*, uint64_t) override { return 1; }
  int occupancy(int*, uint64_t, int, uint64_t) override { return 1; }
  int version() override { return 0; }
  const char* errorName(int) override { return ""; }
  const char* errorText(int) override { return ""; }
};

using Body = std::function<void(const BlockFrame&)>;

class Code : public Executable {
 public:
  explicit Code(Body body) : body_(std::move(body)) {}
  BlockStatus runBlock(const BlockFrame& frame) const override {
    body_(frame);
    return BlockStatus::Ended;
  }
  size_t scratchBytes() const override { return 64; }
  size_t localBytes() const override { return 0; }

 private:
  Body body_;
};

Child grid(Body body, uint32_t blocks = 1) {
  auto code = std::make_shared<Code>(std::move(body));
  Child child;
  child.launch.executable = code.get();
  child.launch.kernelName = "test";
  child.launch.grid = {blocks, 1, 1};
  child.keeps = std::move(code);
  return child;
}

/// Runs `body` as the host's launch.
GridResult run(unsigned threads, Body body, uint32_t blocks = 1, size_t pending = 2048) {
  Scheduler scheduler(threads);
  Host host;
  auto nest = std::make_shared<Nest>(scheduler, host, pending);
  Child root = grid(std::move(body), blocks);
  return nest->run(root.launch);
}

Nest::Answer launch(const BlockFrame& frame, Body body, uint32_t blocks = 1) {
  DeviceBlock& block = *frame.device;
  return block.grid().nest().launch(block.grid(), block.implicitStream(), grid(std::move(body), blocks));
}
Nest::Answer fireAndForget(const BlockFrame& frame, Body body, uint32_t blocks = 1) {
  return frame.device->grid().nest().fireAndForget(frame.device->grid(), grid(std::move(body), blocks));
}
Nest::Answer launchTail(const BlockFrame& frame, Body body) {
  return frame.device->grid().nest().launchTail(frame.device->grid(), grid(std::move(body)));
}

/// What happened, in order.
class Log {
 public:
  Body note(std::string what) {
    return [this, what = std::move(what)](const BlockFrame&) { add(what); };
  }
  void add(const std::string& what) {
    std::lock_guard lock(mutex_);
    text_ += what + " ";
  }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

class Nesting : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, Nesting, testing::Values(1, 4));

TEST_P(Nesting, StreamsRunInOrder) {
  Log log;
  run(GetParam(), [&](const BlockFrame& f) {
    for (int i = 0; i < 5; ++i)
      launch(f, [&, i](const BlockFrame& g) {
        fireAndForget(g, log.note("child" + std::to_string(i)));  // belongs to launch i, so launch i+1 waits for it
      });
  });
  EXPECT_EQ(log.text(), "child0 child1 child2 child3 child4 ");
}

TEST_P(Nesting, TailsComeAfterEverything) {
  Log log;
  run(GetParam(), [&](const BlockFrame& f) {
    launchTail(f, [&](const BlockFrame& g) {
      log.add("tail1");
      launchTail(g, log.note("tail1.tail"));
      fireAndForget(g, log.note("tail1.child"));
    });
    launchTail(f, log.note("tail2"));
    fireAndForget(f, [&](const BlockFrame& g) {
      launchTail(g, log.note("child.tail"));
      log.add("child");
    });
    log.add("root");
  });
  const std::string text = log.text();
  EXPECT_EQ(text.substr(text.find("tail1 ")), "tail1 tail1.child tail1.tail tail2 ");
  EXPECT_LT(text.find("child "), text.find("child.tail "));
  EXPECT_LT(text.find("child.tail "), text.find("tail1 "));
}

TEST_P(Nesting, ThousandsOfLaunchesAllRun) {
  std::atomic<int> ran{0};
  auto result = run(
      GetParam(),
      [&](const BlockFrame& f) {
        for (int i = 0; i < 100; ++i)
          EXPECT_EQ(fireAndForget(f, [&](const BlockFrame&) { ++ran; }, 3), Nest::Answer::Done);
      },
      100, 64);
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(ran, 100 * 100 * 3);
}

/// Threads that were started to make room sleep when the host's own grid is the last to end.
TEST_P(Nesting, WaitingGridsGetNoThreadsOfTheirOwn) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Body child = [&](const BlockFrame&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  };
  auto result = run(
      GetParam(),
      [&](const BlockFrame& f) {
        for (int i = 0; i < 100; ++i) fireAndForget(f, child);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // as if it were compiled just now
      },
      8);
  EXPECT_FALSE(result.fault);
  EXPECT_LE(threads.size(), 24u);
}

TEST_P(Nesting, TheHostsGridMayEndLast) {
  std::atomic<int> ran{0};
  run(
      GetParam(),
      [&](const BlockFrame& f) {
        for (int i = 0; i < 8; ++i) fireAndForget(f, [&](const BlockFrame&) { ++ran; }, 1);
        while (ran < 8) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      },
      1, 2);
  EXPECT_EQ(ran, 8);
}

TEST_P(Nesting, AChainOfTailsHasNoEnd) {
  int left = 100000;
  Body again = [&](const BlockFrame& f) {
    if (--left > 0) launchTail(f, again);
  };
  run(GetParam(), again);
  EXPECT_EQ(left, 0);
}

TEST_P(Nesting, DepthIsLimited) {
  std::atomic<unsigned> deepest{0}, refused{0};  // a child may end before its parent's launch returns
  Body deeper = [&](const BlockFrame& f) {
    ++deepest;
    if (launch(f, deeper) == Nest::Answer::TooDeep) ++refused;
  };
  run(GetParam(), deeper);
  EXPECT_EQ(deepest, Nest::kMaxDepth + 1);
  EXPECT_EQ(refused, 1u);
}

TEST_P(Nesting, TailLaunchesAreCounted) {
  int done = 0;
  run(
      GetParam(),
      [&](const BlockFrame& f) {
        while (launchTail(f, [](const BlockFrame&) {}) == Nest::Answer::Done) ++done;
      },
      1, 10);
  EXPECT_EQ(done, 10);
}

TEST_P(Nesting, EventsOrderStreams) {
  Log log;
  run(GetParam(), [&](const BlockFrame& f) {
    DeviceBlock& block = *f.device;
    Nest& nest = block.grid().nest();
    const auto first = block.stream(block.createStream()), second = block.stream(block.createStream());
    const auto event = block.event(block.createEvent());
    nest.wait(block.grid(), second, event);  // never recorded: nothing to wait for
    nest.launch(block.grid(), first, grid([&](const BlockFrame& g) { fireAndForget(g, log.note("slow")); }));
    nest.record(block.grid(), first, event);
    nest.wait(block.grid(), second, event);
    nest.launch(block.grid(), second, grid(log.note("after")));
  });
  EXPECT_EQ(log.text(), "slow after ");
}

TEST_P(Nesting, AFaultDropsWhatHasNotBegun) {
  bool ran = false;
  auto result = run(GetParam(), [&](const BlockFrame& f) {
    launch(f, [](const BlockFrame& g) { raiseFault(g, FaultKind::Trap, 7, 0, "here"); });
    launch(f, [&](const BlockFrame&) { ran = true; });
    launchTail(f, [&](const BlockFrame&) { ran = true; });
  });
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->ptxLine, 7u);
  EXPECT_FALSE(ran);
}

}  // namespace
