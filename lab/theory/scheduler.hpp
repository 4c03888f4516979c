// One scheduler of a multiprocessor, cycle by cycle. In each cycle it issues an instruction of one warp that is
// eligible: whose last instruction has its result. Warps keep their registers, so that changing from one to another
// costs nothing. Each is in one of three states: selected, eligible but not selected, or stalled.
#pragma once

#include <algorithm>
#include <vector>

namespace theory {

/// What every warp executes for ever: groups of `group` instructions that each need the one before, of which the first
/// takes `first` cycles and the others `others`.
struct WarpCode {
  int group = 1;
  int first = 20, others = 1;
};

struct SchedulerCounts {
  long cycles = 0, selected = 0, eligible = 0, stalled = 0;
  bool isInOrder = true;  // no instruction was issued before the one that it needs had its result

  double throughput() const { return static_cast<double>(selected) / static_cast<double>(cycles); }
};

/// `switchCost`: cycles that are lost when another warp than the last is chosen; 0 on a GPU.
inline SchedulerCounts schedule(int warps, const WarpCode& code, int switchCost = 0) {
  constexpr int kWarmUp = 2000, kCycles = 8000;
  std::vector<long> readyAt(static_cast<std::size_t>(warps), 0);
  std::vector<int> place(static_cast<std::size_t>(warps), 0);  // in the group
  SchedulerCounts counts;
  std::size_t last = 0;
  long freeAt = 0;
  for (long now = 0; now < kWarmUp + kCycles; ++now) {
    std::vector<std::size_t> eligible;
    for (std::size_t k = 0; k < readyAt.size(); ++k) {  // the last one goes on while it can, then the next one
      const std::size_t warp = (last + k) % readyAt.size();
      if (readyAt[warp] <= now) eligible.push_back(warp);
    }
    const bool issues = !eligible.empty() && now >= freeAt;
    if (now >= kWarmUp) {
      ++counts.cycles;
      counts.selected += issues ? 1 : 0;
      counts.eligible += static_cast<long>(eligible.size()) - (issues ? 1 : 0);
      counts.stalled += warps - static_cast<long>(eligible.size());
    }
    if (!issues) continue;
    const std::size_t warp = eligible.front();
    counts.isInOrder = counts.isInOrder && readyAt[warp] <= now;
    readyAt[warp] = now + (place[warp] == 0 ? code.first : code.others);
    place[warp] = (place[warp] + 1) % code.group;
    freeAt = now + 1 + (warp == last ? 0 : switchCost);
    last = warp;
  }
  return counts;
}

/// The fewest warps with which the scheduler issues in every cycle but one of two hundred.
inline int warpsNeeded(const WarpCode& code) {
  int tooFew = 0, enough = 1024;
  while (enough - tooFew > 1) {
    const int warps = (tooFew + enough) / 2;
    (schedule(warps, code).throughput() < 0.995 ? tooFew : enough) = warps;
  }
  return enough;
}

}  // namespace theory
