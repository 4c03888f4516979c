// How many different sectors accesses go to whose lanes lie anywhere, sixteen accesses at a time.
//
// To compare 32 lanes with each other takes about fifty nanoseconds, which is more than the gather itself. Compiled
// code only writes down the lanes' sectors, a row for each access; when the rows are full, they are sorted all at once,
// each in its own place of 32 vectors, by a network of minima and maxima, and sectors that differ from those before
// them are counted. That takes a quarter of the time, and waits for nothing but itself. Hosts with `vp2intersectd` need
// no network.
#pragma once

#include <cstdint>

namespace ordito::rt {

/// Compiled code reads and writes it by place.
struct alignas(64) SectorRows {
  static constexpr uint32_t kRows = 16, kLanes = 32;
  static constexpr uint32_t kOff = ~0u;  // instead of the sector of a lane that is off
  /// Sectors are told apart by 31 bits: from one place on. Accesses elsewhere are counted one by one.
  static constexpr uint64_t kWindow = uint64_t{1} << 36;

  uint32_t sectors[kRows][kLanes];  // from `begin` on
  uint32_t word[kRows];             // of the counters, to which a row's sectors are added
  uint32_t count;                   // of rows that are filled
  uint64_t begin;
};

/// Adds up the rows that are filled and empties them.
void countRows(SectorRows* rows, uint64_t* words);

/// Where lanes lie outside of the window: their sectors, of `bytes` each. The window moves there.
uint64_t sectorsElsewhere(SectorRows* rows, const int64_t* addresses, uint32_t lanes, uint32_t bytes);

}  // namespace ordito::rt
