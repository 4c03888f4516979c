// See misuse.hpp.
#include "check/misuse.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/launch.hpp"
#include "ptx/module.hpp"

namespace ordito::check {

using machine::SyncEvent;

namespace {

/// All threads of a warp must execute the same such instruction; barrier.sync without .aligned asks for less.
/// (PTX ISA, "bar, barrier".)
bool isAligned(const ptx::Function& function, uint32_t line) {
  const auto& all = function.instructions;
  const auto it = std::ranges::find(all, line, &ptx::Instruction::line);
  return it != all.end() && (!it->info().form.mnemonic.starts_with("barrier") || it->has(isa::ModifierKind::Aligned));
}

}  // namespace

Side Misuse::sideOf(const machine::BlockFrame& frame, const Arrival& a) const {
  const uint32_t thread = a.warp * machine::kWarpSize + static_cast<uint32_t>(__builtin_ctz(a.lanes));
  return launch_.side(*a.function, a.line, numberOf(frame), thread, "wait", 0);
}

/// The engine tells of a lane that its own mask leaves out before the lane meets others.
void Misuse::judgeMask(const SyncEvent& sync, Findings& findings) const {
  if (!(sync.at.lanes & ~sync.mask)) return;
  findings.add(launch_.key(Rule::SyncMask, {&sync.at.function, sync.at.line}), [&] {
    Finding f = launch_.finding(Rule::SyncMask);
    f.message =
        fmt::format("a thread calls a warp operation with the mask {:#010x}, which leaves the thread out", sync.mask);
    f.sides.push_back(
        sideOf(sync.at.frame, {&sync.at.function, sync.at.line, sync.at.warp, sync.at.lanes & ~sync.mask}));
    f.sides.back().what = "warp operation";
    return f;
  });
}

/// One finding for each pair of neighbours in the order of warps that stand at different lines.
void Misuse::judgeBarrier(const machine::BlockFrame& frame, std::vector<Arrival> arrivals, Findings& findings) const {
  const auto isElsewhere = [&](const Arrival& a) {
    return a.function != arrivals[0].function || a.line != arrivals[0].line;
  };
  if (std::ranges::none_of(arrivals, isElsewhere)) return;
  std::erase_if(arrivals, [](const Arrival& a) { return !isAligned(*a.function, a.line); });
  std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::pair(a.warp, a.line); });
  for (size_t i = 1; i < arrivals.size(); ++i) {
    const Arrival &one = arrivals[i - 1], &two = arrivals[i];
    if (one.function == two.function && one.line == two.line) continue;
    const Side first = sideOf(frame, one), second = sideOf(frame, two);
    if (first.source.empty() || (first.source == second.source && first.column == second.column)) continue;
    const Rule rule = one.warp == two.warp ? Rule::SyncDivergent : Rule::SyncPlaces;
    findings.add(launch_.key(rule, {one.function, one.line}, {two.function, two.line}), [&] {
      Finding f = launch_.finding(rule);
      f.message = fmt::format("threads of one {} wait at different __syncthreads()",
                              rule == Rule::SyncDivergent ? "warp" : "block");
      f.sides = {first, second};
      return f;
    });
  }
}

/// All that come to a barrier must name one count, as the last of them does not. (PTX ISA, "bar, barrier".)
void Misuse::judgeCounts(const SyncEvent& sync, const std::vector<Arrival>& arrivals, Findings& findings) const {
  const Arrival &first = arrivals.front(), &last = arrivals.back();
  if (first.threads == last.threads) return;
  findings.add(launch_.key(Rule::SyncCount, {first.function, first.line}, {last.function, last.line}), [&] {
    Finding f = launch_.finding(Rule::SyncCount);
    const auto countOf = [](const Arrival& a) { return a.threads ? fmt::format("{}", a.threads) : "all"; };
    f.message =
        fmt::format("threads come to barrier {} for {} threads and for {}", sync.number, countOf(first), countOf(last));
    f.sides = {sideOf(sync.at.frame, first), sideOf(sync.at.frame, last)};
    return f;
  });
}

/// Of lanes of a warp that did not come: has one gone past?
void Misuse::judgeMissing(const machine::WarpSite& at, uint32_t warp, uint32_t missing, Findings& findings) const {
  const auto past = bypass_.past(numberOf(at.frame), warp, missing, at.line);
  if (past) addBypass(at, {&at.function, past->line, warp, 1u << past->number % machine::kWarpSize}, findings);
}

void Misuse::addBypass(const machine::WarpSite& wait, const Arrival& past, Findings& findings) const {
  findings.add(launch_.key(Rule::SyncBypassed, {&wait.function, wait.line}, {past.function, past.line}), [&] {
    Finding f = launch_.finding(Rule::SyncBypassed);
    f.message = "a thread goes past a synchronisation at which others wait for it";
    f.sides = {sideOf(wait.frame, {&wait.function, wait.line, wait.warp, wait.lanes}), sideOf(wait.frame, past)};
    f.sides[1].what = "behind it";
    return f;
  });
}

void Misuse::comesTo(const machine::WarpSite& at, Findings& findings) {
  const auto late = bypass_.comesTo(at);
  if (!late) return;
  const auto laneOf = [](uint32_t thread) { return 1u << thread % machine::kWarpSize; };
  addBypass({at.frame, at.function, late->line, at.warp, laneOf(late->waiter)},
            {&at.function, at.line, at.warp, laneOf(late->thread)}, findings);
}

void Misuse::judgeMissing(const SyncEvent& barrier, Findings& findings) const {
  if (barrier.number != 0 || barrier.threads != 0) return;
  for (uint32_t warp = 0; warp < barrier.met.size(); ++warp)
    if (~barrier.met[warp]) judgeMissing(barrier.at, warp, ~barrier.met[warp], findings);
}

/// The manual's "mbarrier.init": on a location that holds one it is undefined, until mbarrier.inval.
void Misuse::judgeInit(const SyncEvent& sync, Findings& findings) {
  const auto [there, isNew] = mbarriers_[numberOf(sync.at.frame)].try_emplace(sync.address, sync.at.line);
  if (isNew) return;
  findings.add(launch_.key(Rule::SyncMbarrier, {&sync.at.function, sync.at.line}, {&sync.at.function, there->second}),
               [&] {
                 Finding f = launch_.finding(Rule::SyncMbarrier);
                 f.message = "an mbarrier is initialised where there is one already";
                 f.sides = {sideOf(sync.at.frame, {&sync.at.function, sync.at.line, sync.at.warp, sync.at.lanes})};
                 f.sides[0].what = "mbarrier.init";
                 return f;
               });
}

void Misuse::accesses(const machine::AccessEvent& access, Findings& findings) const {
  if (access.kind != machine::AccessKind::Mbarrier || Launch::initialises(access.at)) return;
  const auto block = mbarriers_.find(numberOf(access.at.frame));
  for (uint32_t rest = access.at.lanes; rest; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint64_t address = access.addressOf(lane);
    if (block != mbarriers_.end() && block->second.contains(address)) continue;
    findings.add(launch_.key(Rule::SyncMbarrier, {&access.at.function, access.at.line}), [&] {
      Finding f = launch_.finding(Rule::SyncMbarrier);
      f.message = "an mbarrier is used that was not initialised, or is invalidated";
      f.sides = {sideOf(access.at.frame, {&access.at.function, access.at.line, access.at.warp, 1u << lane})};
      f.sides[0].what = "mbarrier operation";
      f.object = launch_.describeShared(access.at, address);
      return f;
    });
  }
}

void Misuse::used(const machine::UndefinedEvent& use, Findings& findings) const {
  findings.add(launch_.key(Rule::SyncShuffle, {use.readIn, use.readLine}, {&use.at.function, use.at.line}), [&] {
    Finding f = launch_.finding(Rule::SyncShuffle);
    f.message = "a value is used that a shuffle has taken from a lane that does not take part in it";
    f.sides = {sideOf(use.at.frame, {use.readIn, use.readLine, use.at.warp, use.at.lanes}),
               sideOf(use.at.frame, {&use.at.function, use.at.line, use.at.warp, use.at.lanes})};
    f.sides[0].what = "shuffle";
    f.sides[1].what = "use";
    return f;
  });
}

void Misuse::blockChanged(const machine::BlockEvent& block) {
  if (block.kind != machine::BlockEvent::Kind::End) return;
  mbarriers_.erase(numberOf(block.frame));
  bypass_.blockEnded(numberOf(block.frame));
}

void Misuse::synchronised(const SyncEvent& sync, Findings& findings) {
  const BarrierId id{numberOf(sync.at.frame), sync.number};
  switch (sync.kind) {
    case SyncEvent::Kind::WarpSync:
      judgeMask(sync, findings);
      bypass_.met(sync.at, sync.mask);
      return judgeMissing(sync.at, sync.at.warp, sync.mask & ~sync.at.lanes, findings);
    case SyncEvent::Kind::MbarrierInit: return judgeInit(sync, findings);
    case SyncEvent::Kind::MbarrierInvalidate: mbarriers_[numberOf(sync.at.frame)].erase(sync.address); return;
    case SyncEvent::Kind::BarrierArrive:
    case SyncEvent::Kind::BarrierWait:
      waiting_[id].push_back({&sync.at.function, sync.at.line, sync.at.warp, sync.at.lanes, sync.threads});
      return judgeCounts(sync, waiting_[id], findings);
    case SyncEvent::Kind::BarrierDone:
      judgeMissing(sync, findings);
      if (auto arrivals = waiting_.extract(id); arrivals && sync.number == 0 && sync.threads == 0)
        judgeBarrier(sync.at.frame, std::move(arrivals.mapped()), findings);
      return;
    default: return;
  }
}

}  // namespace ordito::check
