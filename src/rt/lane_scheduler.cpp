// See lane_scheduler.hpp. PTX ISA, "Parallel Synchronization and Communication Instructions": bar, barrier,
// bar.warp.sync.
//
// A barrier without a thread count is complete when every thread that has not ended has arrived. With one, arrivals are
// added up: a warp that has arrived with all its live lanes counts as 32 threads, of any other its lanes count, unless
// the instruction is .aligned.
#include "rt/lane_scheduler.hpp"

#include <emmintrin.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <map>
#include <vector>

#include "machine/fault.hpp"
#include "machine/lanes.hpp"
#include "machine/listener.hpp"

namespace ordito::rt {
namespace {

using machine::forEachLane;

/// Rounds after which a block lets others run, whatever its threads do: they may wait in ways that look like progress.
constexpr uint32_t kMostRounds = 256;

uint32_t lowest(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

/// The threads of `warp` that count at a barrier where `arrived` wait.
uint32_t counted(const ScheduledWarp& warp, uint32_t arrived) {
  if (!arrived) return 0;
  if (arrived == warp.live) return machine::kWarpSize;
  return warp.flags[lowest(arrived)] & kByWarp ? 0 : static_cast<uint32_t>(std::popcount(arrived));
}

/// Gives the lanes of `lanes` the value, in a form that the compiler makes vectors of.
template <class T>
void assign(T (&to)[32], uint32_t lanes, T value) {
  for (uint32_t l = 0; l < 32; ++l) to[l] = lanes >> l & 1 ? value : to[l];
}

const __m128i* quarter(const void* lanes, size_t k) { return static_cast<const __m128i*>(lanes) + k; }

/// The lanes that have the value.
uint32_t lanesWith(const uint8_t (&values)[32], uint8_t value) {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
  uint32_t lanes = 0;
  for (size_t k = 0; k < 2; ++k)
    lanes |= static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(quarter(values, k)), wanted)))
             << 16 * k;
  return lanes;
}

uint32_t lanesWith(const uint16_t (&values)[32], uint16_t value) {
  const __m128i wanted = _mm_set1_epi16(static_cast<int16_t>(value));
  auto at = [&](size_t k) { return _mm_cmpeq_epi16(_mm_loadu_si128(quarter(values, k)), wanted); };
  uint32_t lanes = 0;
  for (size_t k = 0; k < 2; ++k)
    lanes |= static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(at(2 * k), at(2 * k + 1)))) << 16 * k;
  return lanes;
}

uint32_t waitingAt(const ScheduledWarp& warp, uint32_t barrier) {
  return warp.atBarrier ? lanesWith(warp.barrier, static_cast<uint8_t>(barrier)) & warp.atBarrier : 0;
}

}  // namespace

void noBarrier(const machine::BlockFrame* frame, uint32_t line, uint32_t number) {
  machine::raiseFault(
      *frame, machine::FaultKind::IllegalInstruction, line, 0,
      fmt::format("barrier {}; a block has barriers 0 to {}", number, LaneScheduler::kBarriers - 1).c_str());
}

void LaneScheduler::begin(const machine::BlockFrame* f, uint32_t count, uint32_t blockThreads, std::byte* liveLanes,
                          uint32_t* reductionCounts) {
  *this = {};
  frame = f;
  warps = count;
  threads = blockThreads;
  live = liveLanes;
  reduction = reductionCounts;
}

void LaneScheduler::enter(uint32_t resumePoint, bool isWhole) {
  alive = 0;
  for (uint32_t w = 0; w < warps; ++w) {
    ScheduledWarp& warp = all()[w];
    const uint32_t lanes = std::min<uint32_t>(threads - w * 32, 32);
    if (isWhole)
      warp.live = lanes == 32 ? ~0u : (1u << lanes) - 1;
    else
      std::memcpy(&warp.live, live + w * kLiveStride, sizeof warp.live);
    warp.ready = warp.live;
    alive += static_cast<uint32_t>(std::popcount(warp.live));
    warp.atBarrier = warp.atWarp = warp.isTrue = 0;
    std::fill(std::begin(warp.resumePoint), std::end(warp.resumePoint), static_cast<uint16_t>(resumePoint));
  }
  current = running = progress = 0;
  left = all()[0].ready;
  met = resumeAt = kScheduled;
}

/// All that have not ended go on converged.
uint64_t LaneScheduler::leave() {
  for (uint32_t w = 0; w < warps; ++w) std::memcpy(live + w * kLiveStride, &all()[w].live, sizeof(uint32_t));
  return uint64_t{met} << 32;
}

bool LaneScheduler::takesBreak(uint32_t resumePoint) {
  resumeAt = resumePoint;
  if (++rounds < kMostRounds) return false;
  rounds = 0;
  return true;
}

/// Lanes of the last region that have not parked have ended.
void LaneScheduler::settle() {
  if (!running) return;
  all()[current].live &= ~running;
  alive -= static_cast<uint32_t>(std::popcount(running));
  running = 0;
  progress = 1;
}

uint64_t LaneScheduler::next() {
  settle();
  for (;;) {
    if (met != kScheduled) return leave();
    ScheduledWarp& warp = all()[current];
    if (const uint32_t lanes = left & warp.ready) {
      const uint16_t resumePoint = warp.resumePoint[lowest(lanes)];
      running = lanes & lanesWith(warp.resumePoint, resumePoint);
      warp.ready &= ~running;
      left &= ~running;
      return uint64_t{current} << 48 | uint64_t{resumePoint} << 32 | running;
    }
    uint32_t outcome = 0;
    if (++current == warps) {
      current = 0;
      outcome = endRound();
    }
    left = all()[current].ready;
    if (outcome) return uint64_t{outcome} << 32;
  }
}

/// kEnded or kWaits, or 0 where somebody can go on.
uint32_t LaneScheduler::endRound() {
  uint32_t alive = 0, ready = 0;
  for (uint32_t w = 0; w < warps; ++w) alive |= all()[w].live, ready |= all()[w].ready;
  if (!alive) return kEnded;
  const bool onlySpins = !progress && ready;
  // Those that ended may have been the last for whom others waited.
  if (!onlySpins && !releaseAll() && !ready) reportDeadlock();
  if (isStuck(onlySpins)) reportDeadlock();
  progress = 0;
  if (met != kScheduled || (!onlySpins && ++rounds < kMostRounds)) return 0;
  rounds = 0;
  notePlace();
  return kWaits;
}

/// Do all who could go on wait for phases of mbarriers, which nobody else can end, and has nothing come of that for
/// long? Loops with a limit are given time to come to it.
bool LaneScheduler::isStuck(bool onlySpins) {
  constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(3);
  bool waits = onlySpins && frame->phaseSteps == frame->seenPhaseSteps;
  for (uint32_t w = 0; w < warps; ++w) waits &= (all()[w].ready & ~all()[w].forPhase) == 0;
  const int64_t now = onlySpins ? std::chrono::steady_clock::now().time_since_epoch().count() : 0;
  if (!waits) frame->seenPhaseSteps = frame->phaseSteps, frame->stuckSince = now;
  return waits && now - frame->stuckSince > kPatience.count();
}

bool LaneScheduler::releaseAll() {
  uint32_t barriers = 0;
  bool any = false;
  for (uint32_t w = 0; w < warps; ++w) {
    forEachLane(all()[w].atBarrier, [&](uint32_t l) { barriers |= 1u << all()[w].barrier[l]; });
    any |= releaseWarp(all()[w]);
  }
  for (; barriers; barriers &= barriers - 1) any |= releaseBarrier(lowest(barriers));
  return any;
}

void LaneScheduler::atBarrier(uint32_t lanes, uint32_t resumePoint, uint32_t line, uint32_t flags, uint32_t number,
                              uint32_t count, uint32_t isTrue) {
  if (!lanes) return;
  auto refuse = [&](const std::string& what) {
    machine::raiseFault(*frame, machine::FaultKind::IllegalInstruction, line, 0, what.c_str());
  };
  if (flags & kCluster) number = kClusterBarrier;
  if (number >= kBarriers && !(flags & kCluster)) noBarrier(frame, line, number);
  if (count % machine::kWarpSize)
    refuse(fmt::format("barrier with {} threads, which is no multiple of the warp size", count));
  if (flags & kArriveOnly && !count) refuse("bar.arrive with a count of 0 threads");
  ScheduledWarp& warp = all()[current];
  running &= ~lanes;
  progress = 1;
  assign(warp.resumePoint, lanes, static_cast<uint16_t>(resumePoint));
  assign(warp.line, lanes, line);
  assign(warp.barrier, lanes, static_cast<uint8_t>(number));
  assign(warp.threads, lanes, count);
  assign(warp.flags, lanes, static_cast<uint8_t>(flags));
  if (flags & kArriveOnly) {
    warp.ready |= lanes;
    arrivals[number] += lanes == warp.live ? machine::kWarpSize : static_cast<uint32_t>(std::popcount(lanes));
  } else {
    warp.atBarrier |= lanes;
    warp.isTrue = (warp.isTrue & ~lanes) | (isTrue & lanes);
    waiting[number] += static_cast<uint32_t>(std::popcount(lanes));
  }
  if (count || waiting[number] >= alive) releaseBarrier(number);
}

/// Lets the waiting lanes go on if the barrier is complete.
bool LaneScheduler::releaseBarrier(uint32_t barrier) {
  uint32_t expected = 0, arrived = arrivals[barrier], present = 0, isTrue = 0;
  bool everyone = true;
  for (uint32_t w = 0; w < warps; ++w) {
    const ScheduledWarp& warp = all()[w];
    const uint32_t here = waitingAt(warp, barrier);
    everyone &= here == warp.live;
    arrived += counted(warp, here);
    present += static_cast<uint32_t>(std::popcount(here));
    isTrue += static_cast<uint32_t>(std::popcount(here & warp.isTrue));
    if (here) expected = std::max(expected, warp.threads[lowest(here)]);
  }
  if (!present || (expected == 0 ? !everyone : arrived < expected)) return false;
  complete(barrier, isTrue, present);
  return true;
}

void LaneScheduler::complete(uint32_t barrier, uint32_t isTrue, uint32_t arrived) {
  if (heard) tellComplete(barrier);
  arrivals[barrier] = waiting[barrier] = 0;
  bool everyone = true, isReduction = false;
  for (uint32_t w = 0; w < warps; ++w) {
    ScheduledWarp& warp = all()[w];
    const uint32_t here = waitingAt(warp, barrier);
    everyone &= here == warp.live;
    warp.atBarrier &= ~here;
    warp.ready |= here;
    if (!here) continue;
    // Lanes may have come to the barrier in different places.
    uint32_t flags = 0;
    for (uint32_t l = 0; l < 32; ++l) flags |= here >> l & 1 ? warp.flags[l] : 0;
    const bool counts = (flags & (kPopcount | kAll | kAny)) != 0;
    isReduction |= counts;
    if (counts)
      forEachLane(here, [&](uint32_t l) {
        warp.result[l] = warp.flags[l] & kAll ? isTrue == arrived : warp.flags[l] & kAny ? isTrue != 0 : isTrue;
      });
    if (flags & kMeets) met = warp.resumePoint[lowest(here)];
  }
  if (met != kScheduled && !everyone)
    machine::raiseFault(*frame, machine::FaultKind::BarrierDeadlock, 0, 0,
                        "internal error: a barrier that all threads were to reach together was passed by some");
  // A plain barrier leaves alone what the code behind it counts for the next bar.red.
  if (isReduction && met != kScheduled) reduction[0] = isTrue, reduction[1] = arrived;
}

/// Those that waited go on; the last of them stands for all.
void LaneScheduler::tellComplete(uint32_t barrier) {
  std::vector<uint32_t> lanes(warps);
  uint32_t lastWarp = 0;
  for (uint32_t w = 0; w < warps; ++w) {
    lanes[w] = waitingAt(all()[w], barrier);
    if (lanes[w]) lastWarp = w;
  }
  const uint32_t last = 31 - static_cast<uint32_t>(std::countl_zero(lanes[lastWarp]));
  const EventSite site = siteOf(heard, all()[lastWarp].line[last]);
  machine::raise(
      machine::SyncEvent{.at = {*frame, frame->functions[site.function], site.line, lastWarp, lanes[lastWarp]},
                         .kind = machine::SyncEvent::Kind::BarrierDone,
                         .number = barrier,
                         .threads = all()[lastWarp].threads[last],
                         .met = lanes});
}

/// A lane that its own mask leaves out.
void LaneScheduler::tellStranger(uint32_t line, uint32_t lane, uint32_t mask) {
  const EventSite site = siteOf(heard, line);
  machine::raise(machine::SyncEvent{.at = {*frame, frame->functions[site.function], line, current, 1u << lane},
                                    .kind = machine::SyncEvent::Kind::WarpSync,
                                    .mask = mask});
}

/// A warp's barrier. Other operations are told of when they run.
void LaneScheduler::tellMeeting(const ScheduledWarp& warp, uint32_t lanes) {
  forEachLane(warp.atWarp & lanes, [&](uint32_t l) { lanes &= ~(uint32_t{(warp.flags[l] & kExchanges) != 0} << l); });
  if (!lanes) return;
  const EventSite site = siteOf(heard, warp.line[lowest(lanes)]);
  rt::tellMeeting(frame, &site, static_cast<uint32_t>(&warp - all()), lanes, warp.members, true);
}

void LaneScheduler::forWarp(uint32_t lanes, uint32_t resumePoint, uint32_t line, const uint32_t* members,
                            uint32_t exchanges) {
  if (!lanes) return;
  ScheduledWarp& warp = all()[current];
  running &= ~lanes;
  progress = 1;
  forEachLane(lanes, [&](uint32_t l) {
    warp.resumePoint[l] = static_cast<uint16_t>(resumePoint);
    warp.line[l] = line;
    warp.flags[l] = static_cast<uint8_t>(exchanges ? kExchanges : 0);
    warp.members[l] = members[l] | 1u << l;
    if (heard && !exchanges && !(members[l] >> l & 1)) tellStranger(line, l, members[l]);
  });
  warp.atWarp |= lanes;
  releaseWarp(warp);
}

/// Lets groups of lanes go on that name one another and have all come.
bool LaneScheduler::releaseWarp(ScheduledWarp& warp) {
  bool any = false;
  for (uint32_t waiting = warp.atWarp; waiting;) {
    const uint32_t members = warp.members[lowest(waiting)];
    uint32_t same = 0;
    forEachLane(waiting, [&](uint32_t l) { same |= uint32_t{warp.members[l] == members} << l; });
    waiting &= ~same;
    if (members & warp.live & ~same) continue;
    refuseExchange(warp, same);
    if (heard) tellMeeting(warp, same);
    warp.atWarp &= ~same;
    warp.ready |= same;
    any = true;
  }
  return any;
}

/// Compiled code works with the lanes that are at one place.
void LaneScheduler::refuseExchange(const ScheduledWarp& warp, uint32_t lanes) {
  const uint32_t first = lowest(lanes);
  uint32_t exchanges = 0, other = first;
  forEachLane(lanes, [&](uint32_t l) {
    exchanges |= warp.flags[l] & kExchanges;
    if (warp.resumePoint[l] != warp.resumePoint[first]) other = l;
  });
  if (!exchanges || other == first) return;
  const std::string text = fmt::format(
      "lanes {} and {} of a warp meet in a warp operation, but come to it in PTX lines {} and {}, which the "
      "JIT cannot do; run with ORDITO_ENGINE=interp",
      first, other, warp.line[first], warp.line[other]);
  machine::raiseFault(*frame, machine::FaultKind::IllegalInstruction, warp.line[first], 0, text.c_str());
}

void LaneScheduler::spinning(uint32_t lanes, uint32_t resumePoint, uint32_t line, bool onlyTestsPhases) {
  ScheduledWarp& warp = all()[current];
  warp.forPhase = onlyTestsPhases ? warp.forPhase | lanes : warp.forPhase & ~lanes;
  running &= ~lanes;
  warp.ready |= lanes;
  assign(warp.resumePoint, lanes, static_cast<uint16_t>(resumePoint));
  assign(warp.line, lanes, line);
}

/// Where the block waits, should anybody ask: where its first thread spins.
void LaneScheduler::notePlace() {
  for (uint32_t w = 0; w < warps; ++w)
    if (const ScheduledWarp& warp = all()[w]; warp.ready) {
      frame->waitsAt = warp.line[lowest(warp.ready)];
      return;
    }
}

/// Names the first thread that waits, where, and how many others do; to listeners where all of them are.
void LaneScheduler::reportDeadlock() {
  uint32_t waiting = 0, first = 0;
  std::map<uint32_t, uint32_t> places;  // threads by line
  for (uint32_t w = warps; w-- > 0;) {
    if (all()[w].live) first = w;
    waiting += static_cast<uint32_t>(std::popcount(all()[w].live));
    forEachLane(all()[w].live, [&](uint32_t l) { ++places[all()[w].line[l]]; });
  }
  const ScheduledWarp& warp = all()[first];
  const uint32_t lane = lowest(warp.live), thread = first * 32 + lane;
  const std::string what = warp.atBarrier >> lane & 1 ? fmt::format("at barrier {}", warp.barrier[lane])
                           : warp.ready >> lane & 1
                               ? "for the end of an mbarrier's phase"
                               : fmt::format("for the lanes {:#010x} in a warp operation", warp.members[lane]);
  const uint32_t x = frame->ntid[0], y = frame->ntid[1];
  std::string text = fmt::format("thread ({}, {}, {}): waits {} and can never go on; {} threads of the block wait",
                                 thread % x, thread / x % y, thread / x / y, what, waiting);
  for (const char* before = ":"; const auto& [line, count] : heard ? places : decltype(places)())
    text += fmt::format("{} {} at PTX line {}", std::exchange(before, ","), count, line);
  machine::raiseFault(*frame, machine::FaultKind::BarrierDeadlock, warp.line[lane], 0, text.c_str());
}

}  // namespace ordito::rt
