// The event of one warp-level instruction's access to memory, and what the counters (machine/counters.hpp) make of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "machine/counters.hpp"
#include "machine/events.hpp"

namespace ordito::interp {

/// What the lanes of a warp touched while executing one instruction. The lanes of a generic access may go to different
/// spaces, and each of these hears of its own lanes.
class AccessLog {
 public:
  using Kind = machine::AccessKind;
  using Space = machine::AccessSpace;

  void clear() { count_ = 0; }
  bool isEmpty() const { return count_ == 0; }
  /// `address` is an offset into the window for shared memory, otherwise a host address.
  void add(Kind kind, Space space, uint32_t lane, uint64_t address, unsigned bytes) {
    entries_[count_++] = {kind, space, lane, address, bytes, 0, 0, 0};
  }
  /// A copy from global to shared memory (cp.async).
  void addCopy(uint32_t lane, uint64_t from, uint64_t to, unsigned bytes, unsigned copied) {
    entries_[count_++] = {Kind::Copy, Space::Global, lane, from, bytes, to, copied, 0};
  }
  void addTo(uint64_t* counters) const;

  struct Entry {
    Kind kind;
    Space space;
    uint32_t lane;
    uint64_t address;
    unsigned bytes;
    uint64_t to;      // of a copy: where in shared memory
    unsigned copied;  // and how many bytes are read, the rest being zeros
    uint64_t stored;  // of a store: what listeners hear of it
  };
  /// Calls remember(entry) for each store from the `first` entry on.
  template <class F>
  void forEachStore(size_t first, F remember) {
    for (size_t i = first; i < count_; ++i)
      if (entries_[i].kind == Kind::Store) remember(entries_[i]);
  }
  std::span<const Entry> entries() const { return {entries_.data(), count_}; }

 private:
  AccessLog in(Space space) const;
  uint64_t sectors() const;
  uint64_t copiedSectors() const;
  uint64_t wavefronts(uint32_t firstLane, uint32_t lanes) const;
  bool readsInPairs(uint32_t distance) const;
  void addGlobal(uint64_t* counters) const;
  void addShared(uint64_t* counters) const;
  void addRequest(uint64_t* counters) const;

  std::array<Entry, 32> entries_;
  uint32_t count_ = 0;
};

}  // namespace ordito::interp
