// Where threads of a block have last met, so that a report of a race can name the synchronisation that it should have
// come before, or behind.
//
// A meeting orders what was before it with what comes after it. So two accesses that race have no common meeting
// between them, and the last one of the two threads when the race is found is the last one before both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "machine/events.hpp"

namespace ordito::check {

class Meetings {
 public:
  struct Place {
    const ptx::Function* function;
    uint32_t line;
    bool isOfWarp;  // lanes at a bar.warp.sync; otherwise threads at a barrier
  };
  /// Of two threads: not known, since too many others have met meanwhile; never; or where.
  struct Last {
    bool isKnown;
    std::optional<Place> place;
  };

  void clear() { all_.reset(), some_.clear(), isComplete_ = true; }
  /// All threads of the block, at a barrier.
  void allMet(const machine::WarpSite& at);
  /// Some of them, at a barrier: lanes by warp.
  void someMet(const machine::WarpSite& at, std::span<const uint32_t> lanes) { add(at, 0, lanes, false); }
  /// Lanes of one warp, those of the site.
  void warpMet(const machine::WarpSite& at) { add(at, at.warp, {&at.lanes, 1}, true); }
  Last last(uint32_t thread, uint32_t other) const;

 private:
  static constexpr size_t kMost = 64;
  struct Some {
    Place place;
    uint32_t firstWarp;
    std::vector<uint32_t> lanes;
    bool has(uint32_t thread) const;
    bool isWithin(uint32_t first, std::span<const uint32_t> others) const;
  };
  void add(const machine::WarpSite& at, uint32_t firstWarp, std::span<const uint32_t> lanes, bool isOfWarp);

  std::optional<Place> all_;
  std::vector<Some> some_;  // behind that, the newest last; none within a later one
  bool isComplete_ = true;
};

}  // namespace ordito::check
