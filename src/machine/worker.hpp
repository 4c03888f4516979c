// What one host thread needs to run blocks: its shared window, scratch and local memory, and counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/counters.hpp"
#include "machine/fault.hpp"
#include "machine/scheduler.hpp"
#include "machine/shared_window.hpp"

namespace ordito::machine {

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

  /// Sets the frame up for `launch`. False when the host has too little memory.
  bool begin(const GridLaunch& launch, uint64_t gridId, uint32_t threads);
  /// Runs blocks [first, last) in order; the fault that stopped it, if any.
  std::optional<Fault> runBlocks(const GridLaunch& launch, uint64_t first, uint64_t last,
                                 const std::atomic<bool>& stop);
  const uint64_t* counters() const { return counters_; }

 private:
  Worker();
  const uint32_t number_;
  SharedWindow shared_;
  GrowingBuffer scratch_, local_;
  BlockFrame frame_{};
  uint64_t counters_[kCounterCount] = {};
};

}  // namespace ordito::machine
