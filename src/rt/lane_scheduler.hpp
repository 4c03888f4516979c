// Which lanes of a running block may go on, and where: the run-time half of regions in which threads can get out of
// step.
//
// Compiled code enters with all threads at one place and asks next() for a region and the lanes of one warp that are to
// run it. At its end every one of them has parked (at a barrier, for other lanes of its warp, or because it spins), or
// it has ended. A round goes through all warps; in it each lane gets at most one turn, so that lanes which spin cannot
// keep others from theirs. It is over when all that have not ended have met at a barrier, and the compiled code goes
// on converged.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/kernel.hpp"
#include "rt/event_calls.hpp"

namespace ordito::rt {

/// How lanes arrive at a barrier.
enum BarrierFlags : uint32_t {
  kByWarp = 1,      // .aligned: the warp arrives as a whole
  kArriveOnly = 2,  // bar.arrive: the lanes go on at once
  kPopcount = 4,    // bar.red.popc
  kAll = 8,         // bar.red.and
  kAny = 16,        // bar.red.or
  kMeets = 32,      // all threads of the block come to this very barrier
  kExchanges = 64,  // at a synchronisation point of a warp: an operation in which lanes see each other's values follows
  kCluster = 128,   // the cluster's barrier, which has no number
};

/// The lanes of one warp. Compiled code reads `result`.
struct ScheduledWarp {
  uint32_t result[32];  // of the bar.red behind which a lane goes on
  uint32_t members[32];
  uint32_t threads[32];  // that the lane's barrier asks for; 0 = all
  uint32_t line[32];
  uint16_t resumePoint[32];
  uint8_t barrier[32];
  uint8_t flags[32];
  uint32_t live, ready, atBarrier, atWarp, isTrue;
  uint32_t forPhase;  // spin on nothing but phases of mbarriers
};

/// The lanes of one block: plain memory in the block's scratch, followed by a ScheduledWarp for each warp.
struct LaneScheduler {
  static constexpr unsigned kBarriers = 16, kClusterBarrier = kBarriers;
  /// In place of a point: all threads have ended; the block can only wait for others; lanes are diverged.
  static constexpr uint32_t kEnded = 0xFFFF, kWaits = 0xFFFE, kScheduled = 0xFFFD;
  /// Bytes from one warp's word of lanes that have not ended to the next one's, where regions converged keep them.
  static constexpr unsigned kLiveStride = 4;

  const machine::BlockFrame* frame;
  std::byte* live;                   // lanes that have not ended, as regions converged keep them
  const FunctionLines* heard;        // listeners hear of barriers and meetings; null: they do not
  uint32_t* reduction;               // where those look for what a bar.red counted: true values, threads
  uint32_t warps, threads;           // of the block
  uint32_t current;                  // the warp whose turn it is
  uint32_t left;                     // its lanes that have not had their turn
  uint32_t running;                  // lanes given out by next() that have not parked
  uint32_t progress;                 // in this round a lane has ended or arrived somewhere
  uint32_t rounds;                   // since the block was last suspended
  uint32_t met;                      // the point behind the barrier where all have met, or kScheduled
  uint32_t resumeAt;                 // where a suspended block goes on: a point converged, or kScheduled
  uint32_t alive;                    // threads that have not ended
  uint32_t waiting[kBarriers + 1];   // threads at each barrier
  uint32_t arrivals[kBarriers + 1];  // bar.arrive, since the barrier was last complete

  static size_t bytes(uint32_t warps) { return sizeof(LaneScheduler) + warps * sizeof(ScheduledWarp); }
  static size_t resultOffset() { return sizeof(LaneScheduler) + offsetof(ScheduledWarp, result); }

  /// When a block starts.
  void begin(const machine::BlockFrame* frame, uint32_t warps, uint32_t threads, std::byte* live, uint32_t* reduction);
  /// Listeners are to hear of its barriers and meetings, too.
  void listen(const FunctionLines* functions) { heard = functions; }
  /// All threads are at `point`: all of the block if `isWhole`, else those that have not ended.
  void enter(uint32_t resumePoint, bool isWhole);
  /// Lanes in the low word, then 16 bits each of point and warp. Without lanes: where all have met, kEnded or kWaits.
  uint64_t next();
  /// Lanes of the running warp that will go on at `point` when the barrier is complete.
  void atBarrier(uint32_t lanes, uint32_t resumePoint, uint32_t line, uint32_t flags, uint32_t number, uint32_t count,
                 uint32_t isTrue);
  /// … when the lanes that `members` names have come too.
  /// If they are to exchange something (`exchanges`), all must come to this very place.
  void forWarp(uint32_t lanes, uint32_t resumePoint, uint32_t line, const uint32_t* members, uint32_t exchanges);
  /// … in the next round.
  void spinning(uint32_t lanes, uint32_t resumePoint, uint32_t line, bool onlyTestsPhases);
  /// Before the region converged at `point`: shall the block be suspended instead?
  bool takesBreak(uint32_t resumePoint);

 private:
  ScheduledWarp* all() { return reinterpret_cast<ScheduledWarp*>(this + 1); }
  uint64_t leave();
  void settle();
  uint32_t endRound();
  void complete(uint32_t barrier, uint32_t isTrue, uint32_t threads);
  bool releaseBarrier(uint32_t barrier);
  void tellComplete(uint32_t barrier);
  void tellStranger(uint32_t line, uint32_t lane, uint32_t mask);
  void tellMeeting(const ScheduledWarp& warp, uint32_t lanes);
  bool releaseWarp(ScheduledWarp& warp);
  void refuseExchange(const ScheduledWarp& warp, uint32_t lanes);
  bool releaseAll();
  bool isStuck(bool onlySpins);
  void notePlace();
  [[noreturn]] void reportDeadlock();
};

/// Ends the launch: a block has no barrier of that number.
[[noreturn]] void noBarrier(const machine::BlockFrame* frame, uint32_t line, uint32_t number);

}  // namespace ordito::rt
