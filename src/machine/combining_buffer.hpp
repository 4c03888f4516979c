// Where a host thread combines atomic operations before memory sees them (simt/combined_atomics.hpp).
//
// The buffer stands for a piece of one allocation of device memory: a word of its own for each of its words, which
// begins as what changes nothing. Compiled code sees that all addresses of a warp lie inside, and changes the buffer's
// words without locked instructions. What has come together goes to memory when the buffer is emptied. Small pieces
// have several copies, among which the lanes take turns, as privatised counters do (simt/privatised_counters.hpp).
//
// With an address outside, compiled code asks whether the buffer could stand for that. Where little comes together in
// it, it stands aside for the rest of the grid, and compiled code changes memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simt/combination.hpp"

namespace ordito::machine {

/// What compiled code reads and counts, by offset.
struct CombiningView {
  uint64_t first = 0;          // the address that the first word stands for
  uint64_t bytes = 0;          // of what it stands for; 0: nothing
  std::byte* words = nullptr;  // the first copy
  uint64_t uses = 0;           // operations of warps since it was emptied
  uint32_t standsAside = 0;
  alignas(64) uint32_t turns[32] = {};  // from the first copy to that of each lane
};

class CombiningBuffer : public CombiningView {
 public:
  CombiningBuffer() = default;
  CombiningBuffer(const CombiningBuffer&) = delete;
  CombiningBuffer& operator=(const CombiningBuffer&) = delete;

  /// What has come together goes to memory.
  void empty();
  /// The same because of an access that it must not come behind.
  void emptyForAccess();
  /// Empties it, and it stands for nothing: a grid ends.
  void reset();
  /// Can it stand for the words from `low` to `high`, which a warp has found outside? Then it does from now on.
  bool admit(uint64_t low, uint64_t high, simt::Combination combination);

 private:
  bool hasComeToLittle();
  void standFor(uint64_t address, uint64_t size, simt::Combination combination);
  template <class Word, class Combine>
  void emptyWords(Combine combine);
  template <class Word>
  void emptyWords();

  simt::Combination combination_;
  unsigned copies_ = 0;
  size_t pitch_ = 0;     // from copy to copy
  unsigned little_ = 0;  // how often in this grid little had come together when it was emptied or moved
  std::vector<std::byte> memory_;
};

}  // namespace ordito::machine
