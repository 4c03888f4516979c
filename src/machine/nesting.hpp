// Grids that kernels launch: who waits for whom.
//
// The rules are those of the CUDA programming guide, "Dynamic Parallelism", as of CUDA 12:
//
// * A grid is complete when its blocks have run, everything that they launched is complete, and its tail launches have
//   run after that, one after another. Whoever waits for the grid waits for all of it.
// * Launches into one stream of a block run in order, each after the one before is complete. Streams of other blocks,
//   other streams of the block and fire-and-forget launches run whenever there is room.
//
// A Nest is what grows out of one launch by the host. It keeps the books and starts grids; the scheduler runs them.
// Nobody waits on a stack: a grid that is complete says so to the grid that launched it, so depth costs no stack. The
// last tail launch of a grid takes the grid's place, so kernels may relaunch themselves for ever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "machine/kernel.hpp"
#include "machine/scheduler.hpp"

namespace ordito::machine {

class DeviceStream;
class LaunchHost;
class Nest;

/// A grid that a kernel asked for, ready to run.
struct Child {
  GridLaunch launch;
  std::vector<std::byte> parameters;
  std::shared_ptr<const void> keeps;  // owns what the launch points to
  /// Told before the first block runs and once all have run; null: nobody wants to know.
  std::function<void(const GridLaunch&)> begun;
  std::function<void(const GridResult& result, uint64_t wallNs)> ended;
};

/// An event of device code: it orders the streams of one block.
struct DeviceEvent {
  uint64_t recorded = 0, reached = 0;  // how many records were submitted, and how many of them have been reached
  std::vector<std::shared_ptr<DeviceStream>> waiting;
};

/// A stream of one block. Guarded by the nest's mutex.
class DeviceStream {
 public:
  explicit DeviceStream(std::shared_ptr<NestedGrid> launcher) : launcher_(std::move(launcher)) {}

 private:
  friend class Nest;
  struct Item {
    std::optional<Child> grid;
    std::shared_ptr<DeviceEvent> event;  // without a grid: to wait for or to record
    bool records = false;
    uint64_t record = 0;  // which record of the event
  };
  std::shared_ptr<NestedGrid> launcher_;
  std::deque<Item> items_;
  bool busy_ = false;  // one of its grids is not complete
};

/// A grid of a nest.
class NestedGrid : public std::enable_shared_from_this<NestedGrid> {
 public:
  explicit NestedGrid(std::shared_ptr<Nest> nest) : nest_(std::move(nest)) {}
  Nest& nest() { return *nest_; }

 private:
  friend class Nest;
  std::shared_ptr<Nest> nest_;
  std::shared_ptr<NestedGrid> parent_;    // waits for this grid
  std::shared_ptr<DeviceStream> stream_;  // goes on behind this grid
  unsigned depth_ = 0;                    // 0: the host's launch
  size_t open_ = 1;                       // its blocks, and what they launched except tail launches
  std::deque<Child> tails_;
};

class Nest : public std::enable_shared_from_this<Nest> {
 public:
  static constexpr unsigned kMaxDepth = 24;

  Nest(Scheduler& scheduler, LaunchHost& host, size_t pendingLimit)
      : scheduler_(scheduler), host_(host), pendingLimit_(pendingLimit) {}

  /// Runs a grid and all that it and its descendants launch. The result has the grid's own counters and the first fault
  /// of any.
  GridResult run(GridLaunch root);

  LaunchHost& host() { return host_; }

  enum class Answer { Done, TooDeep, TooMany };
  /// `launcher` launches a grid: at once, behind its tail, or into a stream. Waits while too many launches are pending
  /// and some thread can start them.
  Answer fireAndForget(NestedGrid& launcher, Child child);
  Answer launchTail(NestedGrid& launcher, Child child);
  Answer launch(NestedGrid& launcher, const std::shared_ptr<DeviceStream>& stream, Child child);

  void record(NestedGrid& launcher, const std::shared_ptr<DeviceStream>& stream, std::shared_ptr<DeviceEvent> event);
  void wait(NestedGrid& launcher, const std::shared_ptr<DeviceStream>& stream, std::shared_ptr<DeviceEvent> event);

 private:
  class Started;
  using Lock = std::unique_lock<std::mutex>;

  bool makeRoom(Lock& lock);
  void drain();
  void begun();
  void ended(const std::shared_ptr<NestedGrid>& grid, std::optional<Fault> fault);

  // With the mutex held:
  void start(Child child, std::shared_ptr<NestedGrid> grid);
  void startChild(Child child, std::shared_ptr<NestedGrid> parent, std::shared_ptr<DeviceStream> stream);
  void startTail(const std::shared_ptr<NestedGrid>& grid);
  void advance(const std::shared_ptr<DeviceStream>& stream);
  void complete(const std::shared_ptr<NestedGrid>& grid);
  void settle();

  Scheduler& scheduler_;
  LaunchHost& host_;
  const size_t pendingLimit_;
  std::mutex mutex_;
  std::condition_variable room_;  // fewer launches are pending
  // Guarded by the mutex:
  size_t pending_ = 0;  // launched into a stream, and no block has begun
  unsigned drainers_ = 0, waitingDrainers_ = 0;
  std::vector<std::thread> drainerThreads_;
  bool stopped_ = false;  // a fault: what has not begun is dropped
  std::optional<Fault> fault_;
  std::deque<std::shared_ptr<NestedGrid>> closing_;    // one thing that these waited for has ended
  std::deque<std::shared_ptr<DeviceStream>> movable_;  // these may go on
  std::atomic<bool> done_{false};
};

}  // namespace ordito::machine
