// See parking.hpp. PTX ISA, "Parallel Synchronization and Communication Instructions": bar, barrier, bar.warp.sync.
//
// A barrier without a thread count is complete when every thread that has not ended has arrived. With one, arrivals are
// added up: a warp that has arrived with all its live lanes counts as 32 threads, of any other its lanes count, unless
// the instruction is .aligned.
#include "jit/parking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "machine/fault.hpp"
#include "machine/scheduler.hpp"

namespace ordito::jit {
namespace {

uint32_t lowest(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

template <class F>
void forEachLane(uint32_t lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) f(lowest(lanes));
}

/// The threads of `warp` that count at a barrier where `arrived` wait.
uint32_t counted(const ParkedWarp& warp, uint32_t arrived) {
  if (!arrived) return 0;
  if (arrived == warp.live) return machine::kWarpSize;
  return warp.flags[lowest(arrived)] & kByWarp ? 0 : static_cast<uint32_t>(std::popcount(arrived));
}

uint32_t waitingAt(const ParkedWarp& warp, uint32_t barrier) {
  uint32_t lanes = 0;
  for (uint32_t l = 0; l < 32; ++l) lanes |= uint32_t{warp.barrier[l] == barrier} << l;
  return lanes & warp.atBarrier;
}

}  // namespace

void ParkingLot::begin(const machine::BlockFrame* f, uint32_t count, uint32_t threads) {
  *this = {};
  frame = f;
  warps = count;
  for (uint32_t w = 0; w < warps; ++w) {
    ParkedWarp& warp = all()[w];
    warp = {};
    const uint32_t lanes = std::min<uint32_t>(threads - w * 32, 32);
    warp.live = warp.ready = lanes == 32 ? ~0u : (1u << lanes) - 1;
  }
  left = all()[0].ready;
}

/// Lanes of the last region that have not parked have ended.
void ParkingLot::settle() {
  if (!running) return;
  all()[current].live &= ~running;
  running = 0;
  progress = 1;
}

uint64_t ParkingLot::next() {
  settle();
  for (;;) {
    ParkedWarp& warp = all()[current];
    if (const uint32_t lanes = left & warp.ready) {
      const uint16_t point = warp.point[lowest(lanes)];
      uint32_t same = 0;
      for (uint32_t l = 0; l < 32; ++l) same |= uint32_t{warp.point[l] == point} << l;
      running = lanes & same;
      warp.ready &= ~running;
      left &= ~running;
      return uint64_t{current} << 48 | uint64_t{point} << 32 | running;
    }
    if (++current == warps) {
      current = 0;
      if (endRound()) return 0;
    }
    left = all()[current].ready;
  }
}

/// Returns whether all threads have ended.
bool ParkingLot::endRound() {
  uint32_t live = 0, ready = 0;
  for (uint32_t w = 0; w < warps; ++w) live |= all()[w].live, ready |= all()[w].ready;
  if (!live) return true;
  // Those that ended may have been the last for whom others waited.
  if (progress || !ready) {
    if (!releaseAll() && !ready) reportDeadlock();
  } else {
    machine::awaitOtherBlocks(*frame);  // everybody who could go on only spins
  }
  progress = 0;
  return false;
}

bool ParkingLot::releaseAll() {
  uint32_t barriers = 0;
  bool any = false;
  for (uint32_t w = 0; w < warps; ++w) {
    forEachLane(all()[w].atBarrier, [&](uint32_t l) { barriers |= 1u << all()[w].barrier[l]; });
    any |= releaseWarp(all()[w]);
  }
  for (; barriers; barriers &= barriers - 1) any |= releaseBarrier(lowest(barriers));
  return any;
}

void ParkingLot::atBarrier(uint32_t lanes, uint32_t point, uint32_t line, uint32_t flags, uint32_t number,
                           uint32_t count, uint32_t isTrue) {
  if (!lanes) return;
  auto refuse = [&](const std::string& what) {
    machine::raiseFault(*frame, machine::FaultKind::IllegalInstruction, line, 0, what.c_str());
  };
  if (number > kClusterBarrier) refuse(fmt::format("barrier {}; a block has barriers 0 to {}", number, kBarriers - 1));
  if (count % machine::kWarpSize)
    refuse(fmt::format("barrier with {} threads, which is no multiple of the warp size", count));
  if (flags & kArriveOnly && !count) refuse("bar.arrive with a count of 0 threads");
  ParkedWarp& warp = all()[current];
  running &= ~lanes;
  progress = 1;
  forEachLane(lanes, [&](uint32_t l) {
    warp.point[l] = static_cast<uint16_t>(point);
    warp.line[l] = line;
    warp.barrier[l] = static_cast<uint8_t>(number);
    warp.threads[l] = count;
    warp.flags[l] = static_cast<uint8_t>(flags);
  });
  if (flags & kArriveOnly) {
    warp.ready |= lanes;
    arrivals[number] += lanes == warp.live ? machine::kWarpSize : static_cast<uint32_t>(std::popcount(lanes));
  } else {
    warp.atBarrier |= lanes;
    warp.isTrue = (warp.isTrue & ~lanes) | (isTrue & lanes);
  }
  releaseBarrier(number);
}

/// Lets the waiting lanes go on if the barrier is complete.
bool ParkingLot::releaseBarrier(uint32_t barrier) {
  uint32_t expected = 0, arrived = arrivals[barrier], threads = 0, isTrue = 0;
  bool everyone = true;
  for (uint32_t w = 0; w < warps; ++w) {
    const ParkedWarp& warp = all()[w];
    const uint32_t here = waitingAt(warp, barrier);
    everyone &= here == warp.live;
    arrived += counted(warp, here);
    threads += static_cast<uint32_t>(std::popcount(here));
    isTrue += static_cast<uint32_t>(std::popcount(here & warp.isTrue));
    if (here) expected = std::max(expected, warp.threads[lowest(here)]);
  }
  if (!threads || (expected == 0 ? !everyone : arrived < expected)) return false;
  arrivals[barrier] = 0;
  for (uint32_t w = 0; w < warps; ++w) {
    ParkedWarp& warp = all()[w];
    const uint32_t here = waitingAt(warp, barrier);
    warp.atBarrier &= ~here;
    warp.ready |= here;
    forEachLane(here, [&](uint32_t l) {
      const uint32_t flags = warp.flags[l];
      warp.result[l] = flags & kAll ? isTrue == threads : flags & kAny ? isTrue != 0 : isTrue;
    });
  }
  return true;
}

void ParkingLot::forWarp(uint32_t lanes, uint32_t point, uint32_t line, const uint32_t* members) {
  if (!lanes) return;
  ParkedWarp& warp = all()[current];
  running &= ~lanes;
  progress = 1;
  forEachLane(lanes, [&](uint32_t l) {
    warp.point[l] = static_cast<uint16_t>(point);
    warp.line[l] = line;
    warp.members[l] = members[l] | 1u << l;
  });
  warp.atWarp |= lanes;
  releaseWarp(warp);
}

/// Lets groups of lanes go on that name one another and have all come.
bool ParkingLot::releaseWarp(ParkedWarp& warp) {
  bool any = false;
  for (uint32_t waiting = warp.atWarp; waiting;) {
    const uint32_t members = warp.members[lowest(waiting)];
    uint32_t same = 0;
    forEachLane(waiting, [&](uint32_t l) { same |= uint32_t{warp.members[l] == members} << l; });
    waiting &= ~same;
    if (members & warp.live & ~same) continue;
    warp.atWarp &= ~same;
    warp.ready |= same;
    any = true;
  }
  return any;
}

void ParkingLot::spinning(uint32_t lanes, uint32_t point) {
  ParkedWarp& warp = all()[current];
  running &= ~lanes;
  warp.ready |= lanes;
  forEachLane(lanes, [&](uint32_t l) { warp.point[l] = static_cast<uint16_t>(point); });
}

/// Names the first thread that waits, where, and how many others do.
void ParkingLot::reportDeadlock() {
  uint32_t waiting = 0, first = 0;
  for (uint32_t w = warps; w-- > 0;) {
    if (all()[w].live) first = w;
    waiting += static_cast<uint32_t>(std::popcount(all()[w].live));
  }
  const ParkedWarp& warp = all()[first];
  const uint32_t lane = lowest(warp.live), thread = first * 32 + lane;
  const std::string what = warp.atBarrier >> lane & 1
                               ? fmt::format("at barrier {}", warp.barrier[lane])
                               : fmt::format("for the lanes {:#010x} in a warp operation", warp.members[lane]);
  const uint32_t x = frame->ntid[0], y = frame->ntid[1];
  const std::string text =
      fmt::format("thread ({}, {}, {}): waits {} and can never go on; {} threads of the block wait", thread % x,
                  thread / x % y, thread / x / y, what, waiting);
  machine::raiseFault(*frame, machine::FaultKind::BarrierDeadlock, warp.line[lane], 0, text.c_str());
}

}  // namespace ordito::jit
