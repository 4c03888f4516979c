// See managed_advice.hpp.
#include "driver/managed_advice.hpp"

#include <algorithm>
#include <iterator>

namespace ordito::driver {

/// No piece reaches over `at` any more.
void AdviceOfMemory::split(uint64_t at) {
  auto it = pieces_.upper_bound(at);
  if (it == pieces_.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  pieces_.emplace(at, Piece{it->second.end, it->second.advice});
  it->second.end = at;
}

/// From `begin` to `end` there is a piece everywhere, and none reaches beyond either.
void AdviceOfMemory::fill(uint64_t begin, uint64_t end) {
  split(begin);
  split(end);
  for (uint64_t at = begin; at < end;) {
    const auto it = pieces_.lower_bound(at);
    const uint64_t next = it == pieces_.end() ? end : std::min(end, it->first);
    if (next > at) pieces_.emplace(at, Piece{next, {}});
    at = next > at ? next : it->second.end;
  }
}

std::vector<Advice> AdviceOfMemory::of(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  std::vector<Advice> all;
  const uint64_t end = address + bytes;
  auto it = pieces_.upper_bound(address);
  if (it != pieces_.begin() && std::prev(it)->second.end > address) --it;
  for (uint64_t at = address; at < end;) {
    const bool isHere = it != pieces_.end() && it->first <= at;
    all.push_back(isHere ? it->second.advice : Advice{});
    at = isHere ? it->second.end : it == pieces_.end() ? end : it->first;
    if (isHere) ++it;
  }
  return all;
}

void AdviceOfMemory::forget(uint64_t address, uint64_t bytes) {
  const uint64_t begin = address & ~kInPage, end = (address + bytes + kInPage) & ~kInPage;
  std::lock_guard lock(mutex_);
  split(begin);
  split(end);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
}

AdviceOfMemory& adviceOfMemory() {
  static auto* all = new AdviceOfMemory;
  return *all;
}

}  // namespace ordito::driver
