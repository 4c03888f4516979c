// Runs a grid: hands its blocks, in index order, to a pool of host threads.
//
// The thread that launches takes part, so a grid of one block costs no hand-over at all and a small one little. Blocks
// are taken in index order (x fastest), which is what decoupled look-back relies on: a block that waits for one with a
// lower index waits for a block that some thread already runs or will run before its own next one. A grid whose blocks
// wait for *later* ones (a barrier across the grid) gets more threads: at once where blocks say that they wait
// (awaitOtherBlocks), else once it is seen not to advance, each time after a longer wait: blocks that are only slow
// look the same from here, and thousands of threads would make them slower.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "machine/counters.hpp"
#include "machine/fault.hpp"
#include "machine/kernel.hpp"

namespace ordito::machine {

/// One grid to run. Everything it points to stays valid until run() returns.
struct GridLaunch {
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
  bool mayAwaitBlocks = true;  // a block may wait for a later one, so a grid that stands still gets more threads
  bool cooperative = false;    // every block must make progress at once: one thread each
};

struct GridResult {
  std::optional<Fault> fault;
  uint64_t counters[kCounterCount] = {};
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

  unsigned threads() const;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

/// Called by a running block that can do nothing but look again at what other blocks write. Lets them run: gives up the
/// host thread's turn, and when the grid has started no block for a while, gets it more threads. Leaves the block for
/// good when the launch has been stopped.
void awaitOtherBlocks(const BlockFrame& frame);

/// The process's scheduler.
Scheduler& scheduler();

}  // namespace ordito::machine
