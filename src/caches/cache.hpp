// One cache as a functional model: sets of lines of 128 bytes, each with four sectors of 32 bytes that are there or
// not; of a set the line that was used longest ago leaves. It knows what is where, and nothing of time.
#pragma once

#include <cstdint>
#include <vector>

namespace ordito::caches {

inline constexpr uint64_t kLineBytes = 128, kSectorBytes = 32;

class Cache {
 public:
  /// `fillsLines`: a miss brings the whole line, as Fermi and Kepler did, instead of the sector. No bytes: every access
  /// misses and nothing is kept.
  Cache(uint64_t bytes, uint32_t ways, bool fillsLines);

  /// Is the sector at this address there? It is afterwards.
  bool read(uint64_t address) { return touch(address, false); }
  /// The same for a store of the cache that keeps what is written until the line leaves (write-back).
  bool write(uint64_t address) { return touch(address, true); }
  /// The sector is out of date.
  void drop(uint64_t address);
  void clear();

  /// Written sectors of lines that have left: what went on to the memory behind.
  uint64_t writtenBack() const { return writtenBack_; }

 private:
  struct Line {
    uint64_t number = ~0ULL;
    uint8_t present = 0, dirty = 0;  // by sector
  };

  bool touch(uint64_t address, bool isWrite);
  Line* setOf(uint64_t number) { return &lines_[number % sets_ * ways_]; }
  Line* find(uint64_t number);
  /// The line, in front of its set; it may be new and empty.
  Line& bring(uint64_t number);

  uint64_t ways_, sets_;
  bool fillsLines_;
  std::vector<Line> lines_;  // of each set, the one used last first
  uint64_t writtenBack_ = 0;
};

}  // namespace ordito::caches
