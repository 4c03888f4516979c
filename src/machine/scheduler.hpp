// Runs a grid: hands its blocks, in index order, to a pool of host threads.
//
// The thread that launches takes part, so a grid of one block costs no hand-over at all and a small one little. Blocks
// are taken in index order (x fastest). Blocks that wait for others are suspended (worker.hpp), so their threads start
// the next ones, and all blocks of a grid get their turns. Where the engine cannot suspend blocks, each block of a
// cooperative launch has a thread of its own, and another grid gets more threads once it is seen not to advance, each
// time after a longer wait: blocks that are only slow look the same from here, and thousands of threads would make them
// slower.
//
// Of several grids, that of the best priority gives its blocks first: a thread that runs another grid turns to it when
// its block has ended, as a GPU's block scheduler does (CUDA C++ Programming Guide, "Stream Priorities").
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "machine/counters.hpp"
#include "machine/fault.hpp"
#include "machine/kernel.hpp"

namespace ordito::machine {

class NestedGrid;

/// One grid to run. Everything it points to stays valid until run() returns.
struct GridLaunch {
  uint64_t number = 0;  // what the kernel sees as %gridid; 0: the next one
  const Executable* executable = nullptr;
  const char* kernelName = nullptr;
  Dim3 grid, block;
  const std::byte* parameters = nullptr;
  std::byte* const* globals = nullptr;
  const ptx::Function* functions = nullptr;  // of the module
  uint32_t dynamicSharedBytes = 0;
  uint32_t totalSharedBytes = 0;       // static + dynamic, from the block's window start
  uint32_t sharedAlignment = 16;       // largest alignment of a shared variable
  std::byte* gridWorkspace = nullptr;  // see BlockFrame
  bool counters = false;
  bool mayAwaitBlocks = true;    // a block may wait for a later one, so a grid that stands still gets more threads
  bool readsClock = false;       // a block that only waits may go on because time has passed
  bool cooperative = false;      // every block must make progress at once
  int priority = 0;              // smaller is better
  void* trial = nullptr;         // see BlockFrame
  NestedGrid* nested = nullptr;  // what the grid's kernel launches belongs to; null: it launches nothing
  std::function<std::shared_ptr<const Executable>()> replay;  // who is asked about a fault; may be empty
};

/// For GridLaunch::number.
uint64_t nextGridNumber();

struct GridResult {
  std::optional<Fault> fault;
  SiteCounters sites;                     // empty without counters
  uint64_t counters[kCounterCount] = {};  // their sums
};

/// A grid that runs by itself, because a kernel launched it: whoever started it does not wait.
class StartedGrid {
 public:
  virtual ~StartedGrid() = default;
  /// Its first block is about to run.
  virtual void begun() = 0;
  /// Every block has run, or a fault has stopped the rest. Called once and outside all locks of the scheduler, which
  /// destroys the object afterwards.
  virtual void finished(GridResult result) = 0;

  GridLaunch launch;
  const void* group = nullptr;  // see Scheduler::helpUntil
};

class Scheduler {
 public:
  /// `threads` = 0: one for each core, or what ORDITO_THREADS says.
  explicit Scheduler(unsigned threads = 0);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Returns when every block has run or the first fault has stopped the rest. May be called from several threads at
  /// once.
  GridResult run(const GridLaunch& launch);

  /// Returns at once; the pool's threads and those in helpUntil run the grid.
  void start(std::unique_ptr<StartedGrid> grid);
  /// Runs blocks of started grids of one group until `done`, which is asked under the scheduler's lock each time that a
  /// started grid has finished.
  void helpUntil(const void* group, const std::function<bool()>& done);
  /// Has those in helpUntil ask again whether they are done: needed where not the end of a started grid makes it so.
  void askAgain();

  unsigned threads() const;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

/// The process's scheduler.
Scheduler& scheduler();

}  // namespace ordito::machine
