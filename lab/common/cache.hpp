// A processor's caches, simulated: sets of lines, the least recently used one leaves. What misses the first level asks
// the second. Enough to see why the order of loops matters; no prefetching, no write-back, no other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab {

class CacheLevel {
 public:
  static constexpr std::uint64_t kLine = 64;

  CacheLevel(std::size_t bytes, std::size_t ways)
      : ways_(ways), sets_(bytes / kLine / ways), lines_(sets_ * ways, ~0ULL) {}

  /// True if the line was there. It is the most recently used one afterwards.
  bool touch(std::uint64_t address) {
    const std::uint64_t line = address / kLine;
    std::uint64_t* set = &lines_[line % sets_ * ways_];
    std::size_t place = 0;
    while (place < ways_ && set[place] != line) ++place;
    const bool hit = place < ways_;
    for (std::size_t i = hit ? place : ways_ - 1; i > 0; --i) set[i] = set[i - 1];
    set[0] = line;
    ++(hit ? hits : misses);
    return hit;
  }

  double hitRate() const { return static_cast<double>(hits) / static_cast<double>(hits + misses); }

  std::uint64_t hits = 0;
  std::uint64_t misses = 0;

 private:
  std::size_t ways_;
  std::size_t sets_;
  std::vector<std::uint64_t> lines_;  // of each set, the most recently used first
};

/// Two levels as processors of these years have them.
struct Caches {
  CacheLevel first{32 << 10, 8};
  CacheLevel second{1 << 20, 16};

  void touch(std::uint64_t address) {
    if (!first.touch(address)) second.touch(address);
  }
};

}  // namespace lab
