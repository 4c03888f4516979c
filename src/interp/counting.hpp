// Turns the memory accesses of one warp-level instruction into the numbers of machine/counters.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "machine/counters.hpp"
#include "ptx/module.hpp"

namespace ordito::interp {

/// What the lanes of a warp touched while executing one instruction.
class AccessLog {
 public:
  enum class Kind : uint8_t { Load, Store, Atomic, Copy };

  void clear() { count = 0; }
  /// `address` is an offset into the window for shared memory, otherwise a host address.
  void add(Kind kind, ptx::Space space, uint32_t lane, uint64_t address, unsigned bytes) {
    entries[count++] = {kind, space, lane, address, bytes, 0};
  }
  /// A copy from global to shared memory (cp.async).
  void addCopy(uint32_t lane, uint64_t from, uint64_t to, unsigned bytes) {
    entries[count++] = {Kind::Copy, ptx::Space::Global, lane, from, bytes, to};
  }
  void addTo(uint64_t* counters) const;

 private:
  struct Entry {
    Kind kind;
    ptx::Space space;
    uint32_t lane;
    uint64_t address;
    unsigned bytes;
    uint64_t to;  // of a copy: where in shared memory
  };

  bool touches(ptx::Space space) const;
  uint64_t sectors() const;
  uint64_t copiedSectors() const;
  uint64_t wavefronts(uint32_t firstLane, uint32_t lanes) const;
  bool readsInPairs(uint32_t distance) const;
  void addShared(uint64_t* counters) const;

  std::array<Entry, 32> entries;
  uint32_t count = 0;
};

}  // namespace ordito::interp
