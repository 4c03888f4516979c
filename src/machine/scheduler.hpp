// Runs a grid: hands its blocks, in index order, to a pool of host threads.
//
// The thread that launches takes part, so a grid of one block costs no hand-over at all and a small one little. Blocks
// are taken in index order (x fastest). Blocks that wait for others are suspended (worker.hpp), so their threads start
// the next ones, and all blocks of a grid get their turns. Where the engine cannot suspend blocks, each block of a
// cooperative launch has a thread of its own, and another grid gets more threads once it is seen not to advance, each
// time after a longer wait: blocks that are only slow look the same from here, and thousands of threads would make them
// slower.
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
  bool cooperative = false;    // every block must make progress at once
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

/// The process's scheduler.
Scheduler& scheduler();

}  // namespace ordito::machine
