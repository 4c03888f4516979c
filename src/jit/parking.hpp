// Which lanes of a running block may go on, and where: the run-time half of blocks whose threads can get out of step.
//
// Compiled code asks next() for a region and the lanes of one warp that are to run it. At its end every one of them has
// parked (at a barrier, for other lanes of its warp, or because it spins), or it has ended. A round goes through all
// warps; in it each lane gets at most one turn, so that lanes which spin cannot keep others from theirs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/kernel.hpp"

namespace ordito::jit {

/// How lanes arrive at a barrier.
enum BarrierFlags : uint32_t {
  kByWarp = 1,      // .aligned: the warp arrives as a whole
  kArriveOnly = 2,  // bar.arrive: the lanes go on at once
  kPopcount = 4,    // bar.red.popc
  kAll = 8,         // bar.red.and
  kAny = 16,        // bar.red.or
};

/// The lanes of one warp. Compiled code reads `result`.
struct ParkedWarp {
  uint32_t result[32];  // of the bar.red behind which a lane goes on
  uint32_t members[32];
  uint32_t threads[32];  // that the lane's barrier asks for; 0 = all
  uint32_t line[32];
  uint16_t point[32];
  uint8_t barrier[32];
  uint8_t flags[32];
  uint32_t live, ready, atBarrier, atWarp, isTrue;
};

/// The lanes of one block: plain memory in the block's scratch, followed by a ParkedWarp for each warp.
struct ParkingLot {
  static constexpr unsigned kBarriers = 16, kClusterBarrier = kBarriers;
  const machine::BlockFrame* frame;
  uint32_t warps;
  uint32_t current;                  // the warp whose turn it is
  uint32_t left;                     // its lanes that have not had their turn
  uint32_t running;                  // lanes given out by next() that have not parked
  uint32_t progress;                 // in this round a lane has ended or arrived somewhere
  uint32_t arrivals[kBarriers + 1];  // bar.arrive, since the barrier was last complete

  static size_t bytes(uint32_t warps) { return sizeof(ParkingLot) + warps * sizeof(ParkedWarp); }
  static size_t resultOffset() { return sizeof(ParkingLot) + offsetof(ParkedWarp, result); }

  void begin(const machine::BlockFrame* frame, uint32_t warps, uint32_t threads);
  /// Lanes in the low word, then 16 bits each of point and warp; 0 when all threads have ended.
  uint64_t next();
  /// Lanes of the running warp that will go on at `point` when the barrier is complete.
  void atBarrier(uint32_t lanes, uint32_t point, uint32_t line, uint32_t flags, uint32_t number, uint32_t count,
                 uint32_t isTrue);
  /// … when the lanes that `members` names have come too.
  void forWarp(uint32_t lanes, uint32_t point, uint32_t line, const uint32_t* members);
  /// … in the next round.
  void spinning(uint32_t lanes, uint32_t point);

 private:
  ParkedWarp* all() { return reinterpret_cast<ParkedWarp*>(this + 1); }
  void settle();
  bool endRound();
  bool releaseBarrier(uint32_t barrier);
  bool releaseWarp(ParkedWarp& warp);
  bool releaseAll();
  [[noreturn]] void reportDeadlock();
};

}  // namespace ordito::jit
