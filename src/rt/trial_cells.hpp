// What a trial remembers of each unit of memory, and what an access makes of it.
//
// A cell is one word: who touched the unit last, how, and when. Times are numbers of *steps*: one more whenever the
// threads of the block, or all lanes of a warp, have met. They stand in the high bits, so times are compared by
// comparing cells. Where a cell cannot say that an access is in order, the access is in *doubt*, and the trial is over;
// so a cell may forget what makes no difference, or makes more doubt.
//
//   ReadOne, WriteOne   one thread alone has touched it since all of the block last met, and has (not) written
//   ReadWarp, ReadMany  several lanes of the warp of `thread`, or several warps, have read it since
//   Strong              atomic operations, of anybody
//   kEarlier            the warp wrote it before its lanes last met, so other warps may not read it
//   kDefined            shared memory: it has a value; global memory: this launch has written it, but by atomics
//   kOthers             global memory: other blocks have touched it as well, in the same way: they read, or were Strong
//
// The loops are compiled for several widths of vectors from one text, trial_loops.hpp.
#pragma once

#include <cstdint>

namespace ordito::rt {

namespace cell {
constexpr uint32_t kThread = 0x3FF, kWarp = 0x3E0;  // bits of the number of a thread in its block, and of its warp
constexpr uint32_t kKind = 7u << 10, kReadOne = 0, kReadWarp = 1u << 10, kReadMany = 2u << 10, kWriteOne = 3u << 10,
                   kStrong = 4u << 10;
constexpr uint32_t kEarlier = 1u << 13, kDefined = 1u << 14, kOthers = 1u << 15;
constexpr unsigned kTimeShift = 16;
constexpr uint32_t kTimes = 1u << (32 - kTimeShift);
}  // namespace cell

/// Times as they stand in cells.
struct TrialTimes {
  uint32_t now;
  uint32_t warp;      // when the lanes of the warp last met
  uint32_t interval;  // when all threads of the block last met
  uint32_t block;     // when the block began; cells from before are of other blocks
  uint32_t launch;    // when the launch began; older ones are of no interest
};

enum class TrialOp : uint8_t { Read, Write, Strong };

/// Where the lanes of a warp go. Addresses of lanes that are off count as that of the first that is on.
struct TrialExtent {
  alignas(64) uint64_t at[32];
  uint64_t low, high, bits;  // the least and the greatest address, and the bits of all
  bool areNeighbours;        // each lane that is on has the bytes behind those of the lane before it
};

struct TrialPlaces {
  const uint64_t* addresses;  // by lane
  uint64_t origin;
  unsigned shift;
};

/// Where accesses may begin, as offsets, and the bits that those of no misaligned one have.
struct TrialBounds {
  uint64_t low, high, misaligned;
};

/// Lanes of a warp that access `units` cells each. Says whether there is doubt.
struct TrialLoops {
  /// The cells follow each other, lane by lane from that of lane 0 on.
  using Dense = bool (*)(uint32_t* cells, uint32_t lanes, uint32_t units, uint32_t thread, const TrialTimes& times);
  /// Lane l has those from cells[(addresses[l] - origin) >> shift] on.
  using Sparse = bool (*)(uint32_t* cells, const TrialPlaces& places, uint32_t lanes, uint32_t units, uint32_t thread,
                          const TrialTimes& times);
  /// One or two threads access the same cells.
  using Single = bool (*)(uint32_t* cells, uint32_t units, uint32_t thread, uint32_t otherThread,
                          const TrialTimes& times);
  /// Would Strong accesses of global memory change no cell, since several blocks have made such?
  using Settled = bool (*)(const uint32_t* cells, const TrialPlaces& places, uint32_t units, const TrialTimes& times);
  /// Do Strong accesses of shared memory lie within bounds, and would they change no cell?
  using SettledWithin = bool (*)(const uint32_t* cells, const TrialPlaces& places, const TrialBounds& bounds,
                                 uint32_t lanes, uint32_t units, const TrialTimes& times);
  Dense dense[2][3];  // by whether the memory is shared, by TrialOp
  Sparse sparse[2][3];
  Single single[2][3];
  Settled areSettled;
  SettledWithin areSettledWithin;
  /// Addresses count from `origin` on.
  void (*extent)(TrialExtent& extent, uint32_t lanes, const uint64_t* addresses, uint64_t origin, uint32_t bytes);
};

/// For the widest vectors that the host has.
const TrialLoops& trialLoops();

}  // namespace ordito::rt
