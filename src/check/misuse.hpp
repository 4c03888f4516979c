// Misuse of barriers and of the masks of warp operations: what runs here and may hang or give anything on a GPU.
//
// A barrier without a count is one place of the program for all threads of a block (CUDA guide, "Synchronization
// Functions"); copies of it that a compiler makes have the same line of the source, so lines tell places apart.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "check/bypass.hpp"
#include "check/finding.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class Launch;

class Misuse {
 public:
  Misuse(const Launch& launch, std::shared_ptr<const BypassPlan> plan) : launch_(launch), bypass_(std::move(plan)) {}
  void synchronised(const machine::SyncEvent& sync, Findings& findings);
  /// Before it does.
  void accesses(const machine::AccessEvent& access, Findings& findings) const;
  /// Lanes come to an instruction that is told.
  void comesTo(const machine::WarpSite& at, Findings& findings);
  void blockChanged(const machine::BlockEvent& block);
  /// Of a value that a shuffle has got from no lane.
  void used(const machine::UndefinedEvent& use, Findings& findings) const;

 private:
  /// Lanes of a warp that wait at a barrier.
  struct Arrival {
    const ptx::Function* function;
    uint32_t line, warp, lanes;
    uint32_t threads = 0;  // that the barrier waits for
  };
  using BarrierId = std::pair<uint64_t, uint32_t>;  // block, number of the barrier

  Side sideOf(const machine::BlockFrame& frame, const Arrival& arrival) const;
  void judgeMask(const machine::SyncEvent& sync, Findings& findings) const;
  void judgeInit(const machine::SyncEvent& sync, Findings& findings);
  void judgeBarrier(const machine::BlockFrame& frame, std::vector<Arrival> arrivals, Findings& findings) const;
  void judgeCounts(const machine::SyncEvent& sync, const std::vector<Arrival>& arrivals, Findings& findings) const;
  void addBypass(const machine::WarpSite& wait, const Arrival& past, Findings& findings) const;
  void judgeMissing(const machine::WarpSite& at, uint32_t warp, uint32_t missing, Findings& findings) const;
  void judgeMissing(const machine::SyncEvent& barrier, Findings& findings) const;

  const Launch& launch_;
  Bypass bypass_;
  std::map<BarrierId, std::vector<Arrival>> waiting_;
  std::map<uint64_t, std::map<uint64_t, uint32_t>> mbarriers_;  // by block, by address: the line that made them
};

}  // namespace ordito::check
