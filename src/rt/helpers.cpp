// The bodies behind the names that the emitter calls: faults, printf, counting, reductions of lanes.
#include "rt/helpers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ir/ir.hpp"
#include "ir/shape.hpp"
#include "ir/shared_functions.hpp"
#include "isa/isa.hpp"
#include "machine/combining_buffer.hpp"
#include "machine/device_functions.hpp"
#include "machine/device_runtime.hpp"
#include "machine/fault.hpp"
#include "machine/multifunction_unit.hpp"
#include "machine/wide_atomics.hpp"
#include "rt/access_counts.hpp"
#include "rt/bulk_copy.hpp"
#include "rt/event_calls.hpp"
#include "rt/iteration_counts.hpp"
#include "rt/lane_scheduler.hpp"
#include "rt/math_functions.hpp"
#include "rt/mbarrier.hpp"
#include "rt/sector_rows.hpp"
#include "rt/trial.hpp"

namespace ordito::rt {

using ir::kLanes;

namespace {

using machine::BlockFrame;

[[noreturn]] void trap(const BlockFrame* frame, uint32_t line, uint32_t cause) {
  using Cause = ir::Terminator::Cause;
  switch (static_cast<Cause>(cause)) {
    case Cause::StackOverflow:
      machine::raiseFault(
          *frame, machine::FaultKind::StackOverflow, line, 0,
          fmt::format("the calls of a thread take more than {} bytes of stack", ir::kStackBytes).c_str());
    case Cause::BadCall:
      machine::raiseFault(*frame, machine::FaultKind::IllegalInstruction, line, 0,
                          "an indirect call of what is no function of the module, or one of another form");
    case Cause::BadIndex:
      machine::raiseFault(*frame, machine::FaultKind::IllegalInstruction, line, 0,
                          "brx.idx with an index behind the end of its .branchtargets");
    case Cause::Trap: break;
  }
  machine::raiseFault(*frame, machine::FaultKind::Trap, line, 0, nullptr);
}

[[noreturn]] void misaligned(const BlockFrame* frame, uint32_t line) {
  machine::raiseFault(*frame, machine::FaultKind::MisalignedAddress, line, 0,
                      "the address of this access is no multiple of its size");
}

/// The frame names the block that runs: a fault's message asks it, and code for single warps. x counts fastest.
void nextBlock(BlockFrame* frame) {
  for (unsigned d = 0; d < 3; ++d) {
    if (++frame->ctaid[d] != frame->nctaid[d]) return;
    frame->ctaid[d] = 0;
  }
}

/// See PureInstructions::emitWidening: a wide base was chosen; is `wide`, made from it, right for its lane?
void checkWidened(const BlockFrame* frame, uint32_t line, int64_t wide, bool isSigned) {
  const auto narrow = static_cast<uint32_t>(wide);
  const int64_t exact = isSigned ? static_cast<int32_t>(narrow) : static_cast<int64_t>(narrow);
  if (exact != wide)
    machine::raiseFault(*frame, machine::FaultKind::AddressWrap, line, static_cast<uint64_t>(exact),
                        "a 32-bit index wraps around between the lanes of one warp; run with ORDITO_ENGINE=interp "
                        "to execute it exactly");
}

/// `bases` has the wide base of each segment of each warp, then the active lanes of each warp.
void checkWidening(const BlockFrame* frame, uint32_t line, const int64_t* bases, uint32_t warps, uint32_t segments,
                   const int64_t* pattern, uint32_t isSigned) {
  const uint32_t width = kLanes / segments;
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t l = 0; l < kLanes; ++l)
      if (bases[warps * segments + warp] >> l & 1)
        checkWidened(frame, line, bases[warp * segments + l / width] + pattern[l], isSigned != 0);
}

/// Of one warp whose lanes are `step` apart from `base` on.
void checkLinearWidening(const BlockFrame* frame, uint32_t line, int64_t base, uint32_t lanes, int64_t step,
                         uint32_t isSigned) {
  for (uint32_t l = 0; l < kLanes; ++l)
    if (lanes >> l & 1) checkWidened(frame, line, base + l * step, isSigned != 0);
}

void beginBlock(LaneScheduler* lot, const BlockFrame* frame, uint32_t warps, uint32_t threads, std::byte* live,
                uint32_t* reduction) {
  lot->begin(frame, warps, threads, live, reduction);
}
void listenToBlock(LaneScheduler* lot, const FunctionLines* functions) { lot->listen(functions); }
void enterRegion(LaneScheduler* lot, uint32_t resumePoint, uint32_t isWhole) { lot->enter(resumePoint, isWhole != 0); }
uint32_t takesBreak(LaneScheduler* lot, uint32_t resumePoint) { return lot->takesBreak(resumePoint); }
uint64_t nextLanes(LaneScheduler* lot) { return lot->next(); }
void waitAtBarrier(LaneScheduler* lot, uint32_t lanes, uint32_t resumePoint, uint32_t line, uint32_t flags,
                   uint32_t number, uint32_t count, uint32_t isTrue) {
  lot->atBarrier(lanes, resumePoint, line, flags, number, count, isTrue);
}
void waitForWarp(LaneScheduler* lot, uint32_t lanes, uint32_t resumePoint, uint32_t line, const uint32_t* members,
                 uint32_t exchanges) {
  lot->forWarp(lanes, resumePoint, line, members, exchanges);
}
void noteSpinning(LaneScheduler* lot, uint32_t lanes, uint32_t resumePoint, uint32_t line, uint32_t onlyTestsPhases) {
  lot->spinning(lanes, resumePoint, line, onlyTestsPhases != 0);
}

Trial& trialOf(const BlockFrame* frame) { return *static_cast<Trial*>(frame->trial); }
void tryAffine(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint64_t base,
               int64_t stride) {
  trialOf(frame).access(frame, site, warp, lanes, base, stride);
}
void tryLanes(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
              uint32_t lanes, const uint64_t* addresses) {
  trialOf(frame).access(frame, site, locals, warp, lanes, addresses);
}
void tryMeeting(const BlockFrame* frame, uint32_t warp, uint32_t lanes, const uint32_t* members,
                uint32_t ordersMemory) {
  trialOf(frame).meeting(frame, warp, lanes, members, ordersMemory != 0);
}
void tryArrive(const BlockFrame* frame, uint32_t warp, uint32_t lanes) { trialOf(frame).arrive(frame, warp, lanes); }
void tryAllMet(const BlockFrame* frame) { trialOf(frame).allMet(); }
void tryNothing(const BlockFrame* frame) { trialOf(frame).doubt(frame, "an instruction that a trial does not know"); }

int32_t devicePrintf(uint64_t format, uint64_t arguments) {
  return machine::devicePrintf(reinterpret_cast<const char*>(format), reinterpret_cast<const std::byte*>(arguments));
}

void deviceAssert(uint64_t frame, uint64_t message, uint64_t file, uint32_t line, uint64_t function, uint32_t x,
                  uint32_t y, uint32_t z) {
  machine::deviceAssert(*reinterpret_cast<const BlockFrame*>(frame), reinterpret_cast<const char*>(message),
                        reinterpret_cast<const char*>(file), line, reinterpret_cast<const char*>(function), x, y, z);
}

/// Calls function number `index` of the device runtime for one lane.
template <class... Words>
uint64_t deviceRuntime(uint64_t frame, uint64_t index, uint64_t thread, Words... words) {
  const uint64_t all[] = {words...};
  return machine::deviceFunctions()[index].run(
      {.frame = *reinterpret_cast<const BlockFrame*>(frame), .thread = static_cast<uint32_t>(thread)}, all);
}

uint64_t deviceMalloc(uint64_t bytes) { return reinterpret_cast<uint64_t>(machine::deviceMalloc(bytes)); }
void deviceFree(uint64_t p) { machine::deviceFree(reinterpret_cast<void*>(p)); }

/// redux.sync with member masks that differ between lanes. The operators are numbered as in redux's modifier.
void redux(const uint32_t* values, uint32_t active, const uint32_t* members, uint32_t op, uint32_t isSigned,
           uint32_t* results) {
  auto combine = [&](uint32_t a, uint32_t b) -> uint32_t {
    const bool less = isSigned ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
    switch (op) {
      case isa::modifierValue(isa::ModifierKind::ReduxOp, "add"): return a + b;
      case isa::modifierValue(isa::ModifierKind::ReduxOp, "min"): return less ? a : b;
      case isa::modifierValue(isa::ModifierKind::ReduxOp, "max"): return less ? b : a;
      case isa::modifierValue(isa::ModifierKind::ReduxOp, "and"): return a & b;
      case isa::modifierValue(isa::ModifierKind::ReduxOp, "or"): return a | b;
      default: return a ^ b;
    }
  };
  for (uint32_t l = 0; l < 32; ++l) {
    uint32_t lanes = active & members[l];
    if (!lanes) continue;
    results[l] = values[std::countr_zero(lanes)];
    while (lanes &= lanes - 1) results[l] = combine(results[l], values[std::countr_zero(lanes)]);
  }
}

/// The old value of the 16 bytes at `address` goes to `old`.
void exchange128(uint64_t address, uint64_t low, uint64_t high, machine::Word128* old) {
  *old = machine::exchange(reinterpret_cast<void*>(address), {low, high});
}
void compareExchange128(uint64_t address, uint64_t low, uint64_t high, uint64_t newLow, uint64_t newHigh,
                        machine::Word128* old) {
  *old = machine::compareExchange(reinterpret_cast<void*>(address), {low, high}, {newLow, newHigh});
}

/// Asks the buffer of atomics to stand for the places of `lanes`, and for `reach` bytes more. The operation is numbered
/// as in simt::Combination.
void combineAt(machine::CombiningView* buffer, const uint64_t* places, uint32_t lanes, uint32_t reach,
               uint32_t operation, uint32_t bytes) {
  uint64_t low = ~uint64_t{0}, high = 0;
  for (; lanes; lanes &= lanes - 1) {
    const uint64_t place = places[std::countr_zero(lanes)];
    low = std::min(low, place), high = std::max(high, place);
  }
  static_cast<machine::CombiningBuffer*>(buffer)->admit(
      low, high + reach, {static_cast<simt::Combination::Operation>(operation), static_cast<uint8_t>(bytes)});
}
void combineEnd(machine::CombiningView* buffer) { static_cast<machine::CombiningBuffer*>(buffer)->emptyForAccess(); }

uint64_t nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}
uint64_t clock64() { return __builtin_ia32_rdtsc(); }
uint32_t clock32() { return static_cast<uint32_t>(clock64()); }
uint32_t clockHi() { return static_cast<uint32_t>(clock64() >> 32); }

}  // namespace

std::vector<std::pair<std::string_view, void*>> helperTable() {
  std::vector<std::pair<std::string_view, void*>> t;
  auto add = [&](std::string_view name, auto* f) { t.push_back({name, reinterpret_cast<void*>(f)}); };
  add("ordito_trap", trap);
  add("ordito_misaligned", misaligned);
  add("ordito_no_barrier", noBarrier);
  add("ordito_next_block", nextBlock);
  add("ordito_check_widening", checkWidening);
  add("ordito_check_linear_widening", checkLinearWidening);
  add("ordito_schedule_begin", beginBlock);
  add("ordito_schedule_listen", listenToBlock);
  add("ordito_schedule_enter", enterRegion);
  add("ordito_schedule_takes_break", takesBreak);
  add("ordito_schedule_next", nextLanes);
  add("ordito_schedule_at_barrier", waitAtBarrier);
  add("ordito_schedule_for_warp", waitForWarp);
  add("ordito_schedule_spinning", noteSpinning);
  add("ordito_mbarrier", workOnMbarrier);
  add("ordito_bulk_copy", copyInBulk);
  add("ordito_exchange128", exchange128);
  add("ordito_compare_exchange128", compareExchange128);
  add("ordito_combine_at", combineAt);
  add("ordito_combine_end", combineEnd);
  add("ordito_printf", devicePrintf);
  add("ordito_assert", deviceAssert);
  using Word = uint64_t;
  add("ordito_device_runtime", deviceRuntime<Word, Word, Word, Word, Word, Word, Word, Word, Word, Word>);
  add("ordito_malloc", deviceMalloc);
  add("ordito_free", deviceFree);
  add("ordito_redux", redux);
  for (auto& helper : imageHelperTable()) t.push_back(helper);
  for (auto& helper : matrixHelperTable()) t.push_back(helper);
  for (auto& helper : directedHelperTable()) t.push_back(helper);
  for (const ScalarFunction& f : scalarFunctions()) t.push_back({f.name, f.address});
  add("ordito_globaltimer", nanoseconds);
  add("ordito_clock64", clock64);
  add("ordito_clock32", clock32);
  add("ordito_clock_hi", clockHi);
  add("ordito_add_counters", addCounters);
  add("ordito_count_sectors", sectorsOfLanes);
  add("ordito_count_sectors_elsewhere", sectorsElsewhere);
  add("ordito_count_rows", countRows);
  add("ordito_count_iterations", countIterations);
  add("ordito_sector_elsewhere", sectorElsewhere);
  add("ordito_count_shared", sharedOfLanes);
  add("ordito_count_copied_sectors", copiedSectorsOfLanes);
  add("ordito_count_generic", genericOfLanes);
  add("ordito_try_affine", tryAffine);
  add("ordito_try_lanes", tryLanes);
  add("ordito_try_meeting", tryMeeting);
  add("ordito_try_arrive", tryArrive);
  add("ordito_try_all_met", tryAllMet);
  add("ordito_try_nothing", tryNothing);
  add("ordito_tell_affine", tellAffine);
  add("ordito_tell_operands", tellOperands);
  add("ordito_tell_heap_free", tellHeapFree);
  add("ordito_tell_lanes", tellLanes);
  add("ordito_tell_texels", tellTexels);
  add("ordito_tell_formatted", tellFormatted);
  add("ordito_tell_copy", tellCopy);
  add("ordito_tell_bulk", tellBulk);
  add("ordito_tell_sync", tellSync);
  add("ordito_ask_mbarrier", askMbarrier);
  add("ordito_tell_mbarrier", tellMbarrier);
  add("ordito_tell_meeting", tellMeeting);
  add("ordito_tell_barrier", tellBarrier);
  add("ordito_tell_barrier_done", tellBarrierDone);
  for (auto entry : machine::multifunctionTable()) t.push_back(entry);
  return t;
}

}  // namespace ordito::rt
