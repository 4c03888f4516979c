// What one host thread needs to run blocks: shared windows, scratch and local memory, and counters.
//
// A block that can only wait for other blocks is suspended: it keeps its memory, and the thread goes on with the next
// block, then by and by with those that wait. So any number of blocks can meet at a barrier across the grid on a few
// host threads, and a change from one block to the next costs no more than a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "machine/combining_buffer.hpp"
#include "machine/counters.hpp"
#include "machine/device_block.hpp"
#include "machine/fault.hpp"
#include "machine/scheduler.hpp"
#include "machine/shared_window.hpp"

namespace ordito::machine {

class GridDeadlock;
class GridWatch;

/// Who is told what becomes of a grid's blocks; each may be null.
struct Onlookers {
  GridDeadlock* deadlock = nullptr;
  GridWatch* watch = nullptr;
};

/// A buffer that only grows, 64-byte aligned, with an inaccessible page behind it.
class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  ~GrowingBuffer();
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  /// Null when the host has no memory for it.
  std::byte* get(size_t bytes);

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

/// One per thread (see current()).
class Worker {
 public:
  /// The calling thread's worker.
  static Worker& current();

  /// Prepares for `launch`. False when the host has too little memory.
  bool begin(const GridLaunch& launch, uint64_t gridId, uint32_t threads, Onlookers onlookers = {});
  /// Starts blocks [first, last) in order; the fault that stopped it, if any. Some may be suspended.
  std::optional<Fault> runBlocks(const GridLaunch& launch, uint64_t first, uint64_t last,
                                 const std::atomic<bool>& stop);
  bool hasSuspended() const { return !waiting_.empty(); }
  /// Runs the suspended blocks to their ends, unless the launch is stopped. Ends the worker's part in it.
  std::optional<Fault> finish(const GridLaunch& launch, const std::atomic<bool>& stop);
  /// Adds what this thread's blocks have counted.
  void addCounters(SiteCounters& sites) const;
  static Fault noMemory(const GridLaunch& launch);

 private:
  /// A block's memory, and its frame while it runs or waits.
  struct BlockContext {
    const Executable* code = nullptr;  // what the block runs on
    SharedWindow shared;
    GrowingBuffer scratch, local;
    DeviceBlock device;
    BlockFrame frame{};
  };

  Worker();
  bool takeContext(const GridLaunch& launch);
  uint64_t* countersOf(const Executable& code);
  std::optional<Fault> runContext(const GridLaunch& launch, std::unique_ptr<BlockContext>& context, uint32_t count = 1);
  void adaptBatch(uint32_t ran, uint64_t ticks);
  uint32_t batchFor(const GridLaunch& launch, uint64_t blocks) const;
  std::optional<Fault> resume(const GridLaunch& launch, size_t count, const std::atomic<bool>& stop);
  std::optional<Fault> resumeAll(const GridLaunch& launch, const std::atomic<bool>& stop);
  void abandonWaiting();
  std::optional<Digest> stateOfWaiting(const GridLaunch& launch) const;
  void emptyInTime(uint64_t ticks);

  const uint32_t number_;
  BlockFrame frame_{};                                 // what all blocks of the launch have in common
  std::unique_ptr<BlockContext> context_;              // for the next block; may be null
  std::vector<std::unique_ptr<BlockContext>> free_;    // used before
  std::deque<std::unique_ptr<BlockContext>> waiting_;  // of suspended blocks, by when they last ran
  Onlookers onlookers_;
  uint32_t batch_ = 1;  // how many blocks one call runs
  CombiningBuffer combining_;
  uint64_t emptied_ = 0;      // when that was last emptied
  bool nonTemporal_ = false;  // some block's stores may have gone round the caches
  /// What blocks count, by the code that they run on: a launch may go over to better code.
  std::vector<std::pair<const Executable*, std::vector<uint64_t>>> counters_;
};

}  // namespace ordito::machine
