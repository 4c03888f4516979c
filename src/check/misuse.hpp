// Misuse of barriers and of the masks of warp operations: what runs here and may hang or give anything on a GPU.
//
// A barrier without a count is one place of the program for all threads of a block (CUDA guide, "Synchronization
// Functions"); copies of it that a compiler makes have the same line of the source, so lines tell places apart.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "check/finding.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class Launch;

class Misuse {
 public:
  explicit Misuse(const Launch& launch) : launch_(launch) {}
  void synchronised(const machine::SyncEvent& sync, Findings& findings);
  /// Before it does.
  void accesses(const machine::AccessEvent& access, Findings& findings) const;
  void blockChanged(const machine::BlockEvent& block);
  /// Of a value that a shuffle has got from no lane.
  void used(const machine::UndefinedEvent& use, Findings& findings) const;

 private:
  /// Lanes of a warp that wait at a barrier.
  struct Arrival {
    const ptx::Function* function;
    uint32_t line, warp, lanes;
  };
  using BarrierId = std::pair<uint64_t, uint32_t>;  // block, number of the barrier

  Side sideOf(const machine::BlockFrame& frame, const Arrival& arrival) const;
  void judgeMask(const machine::SyncEvent& sync, Findings& findings) const;
  void judgeInit(const machine::SyncEvent& sync, Findings& findings);
  void judgeBarrier(const machine::BlockFrame& frame, std::vector<Arrival> arrivals, Findings& findings) const;

  const Launch& launch_;
  std::map<BarrierId, std::vector<Arrival>> waiting_;
  std::map<uint64_t, std::map<uint64_t, uint32_t>> mbarriers_;  // by block, by address: the line that made them
};

}  // namespace ordito::check
