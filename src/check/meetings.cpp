// See meetings.hpp.
#include "check/meetings.hpp"

#include <algorithm>

#include "machine/kernel.hpp"

namespace ordito::check {

using machine::kWarpSize;

bool Meetings::Some::has(uint32_t thread) const {
  const uint32_t at = thread / kWarpSize - firstWarp;  // wraps for warps before the first
  return at < lanes.size() && (lanes[at] >> thread % kWarpSize & 1);
}

bool Meetings::Some::isWithin(uint32_t first, std::span<const uint32_t> others) const {
  for (uint32_t k = 0; k < lanes.size(); ++k) {
    const uint32_t at = firstWarp + k - first;
    const uint32_t other = at < others.size() ? others[at] : 0;
    if (lanes[k] & ~other) return false;
  }
  return true;
}

void Meetings::allMet(const machine::WarpSite& at) {
  clear();
  all_ = Place{&at.function, at.line, false};
}

void Meetings::add(const machine::WarpSite& at, uint32_t firstWarp, std::span<const uint32_t> lanes, bool isOfWarp) {
  std::erase_if(some_, [&](const Some& s) { return s.isWithin(firstWarp, lanes); });
  if (some_.size() == kMost) some_.erase(some_.begin()), isComplete_ = false;
  some_.push_back({{&at.function, at.line, isOfWarp}, firstWarp, {lanes.begin(), lanes.end()}});
}

Meetings::Last Meetings::last(uint32_t thread, uint32_t other) const {
  const auto found =
      std::find_if(some_.rbegin(), some_.rend(), [&](const Some& s) { return s.has(thread) && s.has(other); });
  if (found != some_.rend()) return {true, found->place};
  if (!isComplete_) return {false, std::nullopt};
  return {true, all_};
}

}  // namespace ordito::check
