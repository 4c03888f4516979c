// Finds out that a barrier across the blocks of a cooperative grid can never be passed.
//
// grid.sync() counts arrivals in the launch's workspace (our cooperative_groups.h and NVIDIA's alike): thread 0 of each
// block adds 1, that of block 0 adds 2^31 - (blocks - 1), and all wait for the top bit to flip. So the word tells how
// many blocks have arrived. When every block has either ended or arrived, and some have ended, then nobody is left who
// could arrive: those who wait do so for ever. A block that merely spins has not arrived, and nothing is concluded.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/scheduler.hpp"

namespace ordito::machine {

class GridDeadlock {
 public:
  /// Only of use for cooperative launches with a workspace.
  explicit GridDeadlock(const GridLaunch& launch);

  // What happens to blocks, from any thread.
  void ended(const BlockFrame& frame);
  void suspended(const BlockFrame& frame);

  /// For a thread all of whose blocks wait. True once there is a deadlock.
  bool isThere();
  /// After isThere(), for every suspended block: where it waits.
  void waits(const BlockFrame& frame);
  /// What the launch ended with, if it is a deadlock; to be asked when all threads have left the grid.
  std::optional<Fault> fault() const;

 private:
  uint64_t numberOf(const BlockFrame& frame) const;
  uint64_t arrived() const;
  bool allStillWait() const;
  template <class Selects>
  std::string namesOf(Selects selects) const;

  const GridLaunch& launch_;
  const uint64_t blocks_;
  mutable std::mutex mutex_;
  bool isThere_ = false;
  uint64_t endedCount_ = 0;
  // Since when nothing has changed, and in which of these spans each block was last seen to wait.
  uint64_t seenArrived_ = 0, seenEnded_ = 0;
  std::chrono::steady_clock::time_point since_;
  uint32_t span_ = 1;
  std::vector<uint32_t> waitedIn_;  // by block; kEnded
  std::vector<uint32_t> line_;      // PTX line where the block waits
};

}  // namespace ordito::machine
