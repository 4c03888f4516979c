// The scheduling rule of block.hpp, barriers, and what to say when nobody can go on.
#include "interp/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <new>
#include <tuple>
#include <utility>

#include "interp/executor.hpp"
#include "machine/fault.hpp"
#include "machine/listener.hpp"
#include "machine/restart.hpp"

namespace ordito::interp {

using machine::FaultKind;

namespace {

constexpr std::align_val_t kActivationAlignment{128};
constexpr std::chrono::seconds kReplayTime{1};
constexpr int kStepsPerTurn = 1000;     // of a warp, before the next warp moves
constexpr uint32_t kPatience = 200;     // backward branches of one group while others wait
constexpr uint32_t kLookWeight = 50;    // of such branches, one behind a look at a lock or a flag counts for so many
constexpr int kLookSteps = 100;         // and for so many steps of the warp's turn
constexpr uint32_t kFocusSteps = 1000;  // what a lane that waited gets
constexpr int kIdleRounds = 3;          // in which a block only waits, before it is suspended
/// So long all threads of a block may wait for mbarriers in vain; loops with a limit come to it in that time.
constexpr std::chrono::seconds kPhasePatience{3};
/// A loop may wait for a plain load, which does not look like waiting: a block that changes nothing for so long lets
/// others run too.
constexpr std::chrono::milliseconds kLongestIdleness{500};

bool testsPhase(isa::Op op) {
  return op == isa::Op::MbarrierTestWait || op == isa::Op::MbarrierTestParity || op == isa::Op::MbarrierTryWait ||
         op == isa::Op::MbarrierTryParity;
}

bool touchesMemory(const ptx::Instruction& i) {
  switch (i.info().effect) {
    case isa::Effect::Load: return isa::spaceOf(i.mods) != ptx::Space::Param;
    case isa::Effect::Store:
    case isa::Effect::Atomic: return true;
    default: return false;
  }
}

/// Does it read what a thread may be waiting for?
bool looksForOthers(const ptx::Instruction* i) {
  using isa::ModifierKind;
  if (!i || testsPhase(i->op)) return i != nullptr;
  switch (i->op) {
    case isa::Op::AtomCas:
    case isa::Op::AtomCas128: return true;
    case isa::Op::Atom: return i->mods.name(ModifierKind::AtomOp) == "exch";
    case isa::Op::Ld: return i->has(ModifierKind::Semantics) && i->mods.name(ModifierKind::Semantics) != "weak";
    default: return false;
  }
}

}  // namespace

void FreeAligned::operator()(std::byte* memory) const { ::operator delete[](memory, kActivationAlignment); }

std::unique_ptr<std::byte[], FreeAligned> alignedMemory(size_t bytes) {
  return std::unique_ptr<std::byte[], FreeAligned>(new (kActivationAlignment) std::byte[bytes]{});
}

Activation::Activation(const FunctionPlan& plan)
    : plan(&plan), registers(plan.source->registers.size()), memory(alignedMemory(std::max(plan.memoryBytes, 1u))) {}

const ptx::Instruction* Thread::instruction() const {
  const auto& instructions = top().plan->source->instructions;
  return top().pc < instructions.size() ? &instructions[top().pc] : nullptr;
}

uint32_t Warp::lanesIn(Thread::State state) const {
  uint32_t mask = 0;
  for (const Thread& thread : threads)
    if (thread.state == state) mask |= 1u << thread.lane;
  return mask;
}

Block::Block(const Program& program, const machine::BlockFrame& frame)
    : program(program), frame(frame), isHeard(!program.isReplay && program.specialisation.accesses) {
  uint64_t count = program.specialisation.block.count();
  for (uint32_t index = 0; index < count; ++index) {
    if (index % machine::kWarpSize == 0) {
      warps.emplace_back();
      warps.back().index = index / machine::kWarpSize;
    }
    Thread thread;
    thread.index = index;
    thread.lane = index % machine::kWarpSize;
    thread.tid[0] = index % frame.ntid[0];
    thread.tid[1] = index / frame.ntid[0] % frame.ntid[1];
    thread.tid[2] = index / frame.ntid[0] / frame.ntid[1];
    thread.stack.emplace_back(program.functions[program.kernel]);
    warps.back().threads.push_back(std::move(thread));
  }
}

machine::BlockStatus Block::run() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto changed = start;
  int idleRounds = 0;
  if (isHeard && frame.resumes == 0) undefineMemory(), raise(machine::BlockEvent::Kind::Begin);
  auto isLive = [](const Warp& warp) { return warp.live() != 0; };
  while (std::any_of(warps.begin(), warps.end(), isLive)) {
    bool progress = false;
    hasChanged = false;
    const bool lastFirst = isBehindBarrier && !program.prints && !isHeard;
    for (size_t k = 0; k < warps.size(); ++k) {
      Warp& warp = warps[lastFirst ? warps.size() - 1 - k : k];
      if (leavesForBetterCode()) return machine::BlockStatus::Ended;
      if (machine::isStopped(frame)) notePlace(), fault(FaultKind::Timeout, nullptr, frame.waitsAt, 0, {});
      progress |= runWarp(warp);
      hasChanged |= releaseBarriers();
    }
    if (!progress && !hasChanged) reportDeadlock();
    const auto now = Clock::now();
    if (isStuck(now) && !program.isReplay) reportDeadlock();
    if (program.isReplay && now > start + kReplayTime) giveUp();
    if (hasChanged) changed = now;
    idleRounds = hasChanged || !onlyWaits() ? 0 : idleRounds + 1;
    if (!program.isReplay && (idleRounds >= kIdleRounds || now > changed + kLongestIdleness))
      return notePlace(), machine::BlockStatus::Suspended;
  }
  if (isHeard) raise(machine::BlockEvent::Kind::End);
  return machine::BlockStatus::Ended;
}

bool Block::leavesForBetterCode() const {
  if (betterCode == nullptr || hasActed || betterCode->load(std::memory_order_acquire) == nullptr) return false;
  machine::betterCode().isTaken = true;
  return true;
}

namespace {

void addState(Digest& state, const Thread& thread) {
  state.add(static_cast<uint64_t>(thread.state)).add(uint64_t{thread.carry} << 32 | thread.barrier);
  for (const Activation& a : thread.stack) {
    state.add(a.pc);
    state.add({reinterpret_cast<const char*>(a.registers.data()), a.registers.size() * sizeof(Slot)});
    state.add({reinterpret_cast<const char*>(a.memory.get()), a.plan->memoryBytes});
  }
  if (!thread.allocated) return;
  const uint64_t end = reinterpret_cast<uint64_t>(thread.allocated.get()) + kAllocaBytes;
  state.add({reinterpret_cast<const char*>(thread.allocatedTop), end - thread.allocatedTop});
}

}  // namespace

Digest Block::state() const {
  Digest state;
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads) addState(state, thread);
  state.add({reinterpret_cast<const char*>(frame.shared), frame.totalSharedBytes});
  return state;
}

/// Where the block waits, should anybody ask: where its first thread that could go on stands.
void Block::notePlace() const {
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads)
      if (const ptx::Instruction* at = thread.instruction(); thread.state == Thread::State::Ready && at) {
        frame.waitsAt = at->line;
        return;
      }
}

/// Have all warps that took their turn only looked?
bool Block::onlyWaits() const {
  return std::all_of(warps.begin(), warps.end(),
                     [](const Warp& warp) { return warp.looked || !warp.lanesIn(Thread::State::Ready); });
}

/// Do all that could go on wait for phases of mbarriers, which nobody else can end, and has none of them gone on?
bool Block::onlyTestsPhases() {
  const bool hasStepped = std::exchange(phaseSteps, frame.phaseSteps) != frame.phaseSteps;
  uint32_t waiting = 0, others = 0;
  for (const Warp& warp : warps) {
    const uint32_t ready = warp.lanesIn(Thread::State::Ready);
    waiting |= ready & warp.forPhase, others |= ready & ~warp.forPhase;
  }
  return !hasStepped && waiting != 0 && others == 0;
}

/// Has that been so for long? The round in which it is first seen may itself have been long.
bool Block::isStuck(std::chrono::steady_clock::time_point now) {
  if (hasChanged || !onlyTestsPhases()) {
    stuckSince.reset();
    return false;
  }
  if (!stuckSince) stuckSince = now;
  return now > *stuckSince + kPhasePatience;
}

/// A turn of one warp; returns whether anything happened.
bool Block::runWarp(Warp& warp) {
  Executor executor(*this, warp);
  warp.looked = false;
  for (int i = 0; i < kStepsPerTurn; ++i) {
    uint32_t group = selectGroup(warp);
    if (!group) {
      // Lanes that exited may have been the last that a warp operation waited for.
      if (executor.completeWarpOperations()) continue;
      return i > 0;
    }
    ++warp.steps;
    for (uint32_t lane : Lanes(group)) warp.threads[lane].lastStep = warp.steps;
    const ptx::Instruction* const at = warp.threads[*Lanes(group).begin()].instruction();
    warp.looks |= looksForOthers(at);
    if (at && testsPhase(at->op))
      warp.forPhase |= group;
    else if (at && touchesMemory(*at))
      warp.forPhase &= ~group;
    const bool wentBackwards = executor.step(group);
    if (wentBackwards && warp.looks) {
      i += kLookSteps;
      warp.looked = true;
    }
    noteProgress(warp, group, wentBackwards);
  }
  return true;
}

namespace {

auto placeOf(const Thread& thread) {
  const Activation& top = thread.top();
  return std::tuple(~thread.stack.size(), top.plan, top.plan->placeOf(top.pc));
}

/// The lane that goes first, of those that are ready: one of the deepest and then first in order (lane_order.hpp). But
/// at the head of a loop lanes wait for those that are still in it.
const Thread& leaderOf(const Warp& warp, uint32_t ready) {
  const Thread* leader = nullptr;
  for (uint32_t lane : Lanes(ready))
    if (!leader || placeOf(warp.threads[lane]) < placeOf(*leader)) leader = &warp.threads[lane];
  const Activation& top = leader->top();
  const uint32_t head = top.plan->placeOf(top.pc), end = top.plan->loopEnd(top.pc);
  uint32_t inside = 0;
  for (uint32_t lane : Lanes(end ? ready : 0)) {
    const Thread& thread = warp.threads[lane];
    const uint32_t place = thread.top().plan->placeOf(thread.top().pc);
    const bool isInLoop =
        thread.stack.size() == leader->stack.size() && thread.top().plan == top.plan && place > head && place <= end;
    inside |= uint32_t{isInLoop} << lane;
  }
  return inside ? leaderOf(warp, inside) : *leader;
}

/// A lane, of those that are ready, which only has to end: it waits for nobody. Null if there is none.
const Thread* endingLane(const Warp& warp, uint32_t ready) {
  for (uint32_t lane : Lanes(ready)) {
    const Thread& thread = warp.threads[lane];
    if (thread.stack.size() == 1 && thread.top().plan->endsKernel[thread.top().pc]) return &thread;
  }
  return nullptr;
}

}  // namespace

/// The lanes that stand at the same instruction as the leader or, if one has waited for long, as that one.
uint32_t Block::selectGroup(Warp& warp) const {
  uint32_t ready = warp.lanesIn(Thread::State::Ready);
  if (!ready) return 0;
  const Thread* leader = nullptr;
  if (warp.focus >= 0 && warp.focusSteps > 0 && (ready >> warp.focus & 1)) {
    leader = &warp.threads[warp.focus];
    --warp.focusSteps;
  } else {
    warp.focus = -1;
    leader = endingLane(warp, ready);
    if (!leader) leader = &leaderOf(warp, ready);
  }
  uint32_t group = 0;
  for (uint32_t lane : Lanes(ready))
    if (placeOf(warp.threads[lane]) == placeOf(*leader)) group |= 1u << lane;
  return group;
}

void Block::noteProgress(Warp& warp, uint32_t group, bool wentBackwards) const {
  if (!wentBackwards) return;
  const uint32_t weight = std::exchange(warp.looks, false) ? kLookWeight : 1;
  if (warp.focus >= 0) return;
  uint32_t waiting = warp.lanesIn(Thread::State::Ready) & ~group;
  if (!waiting) {
    warp.backwardBranches = 0;
    return;
  }
  warp.backwardBranches += weight;
  if (warp.backwardBranches < kPatience) return;
  warp.backwardBranches = 0;
  warp.focusSteps = kFocusSteps;
  for (uint32_t lane : Lanes(waiting)) {
    if (warp.focus < 0) warp.focus = int(lane);
    const uint64_t steps = warp.threads[lane].lastStep, best = warp.threads[warp.focus].lastStep;
    if (warp.favoursRecent ? steps > best : steps < best) warp.focus = int(lane);
  }
  warp.favoursRecent = !warp.favoursRecent;
}

/// Lets the threads of every complete barrier go on.
bool Block::releaseBarriers() {
  uint32_t waiting = 0;
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads)
      if (thread.state == Thread::State::AtBarrier) waiting |= 1u << thread.barrier;
  bool released = false;
  for (uint32_t barrier : Lanes(waiting))
    if (isComplete(barrier)) {
      release(barrier);
      released = true;
    }
  return released;
}

/// Without a thread count every thread that has not exited must have arrived. With one, arrivals must make up the
/// count: a warp that has arrived with all its live lanes counts as 32 threads; of any other warp its lanes count, and
/// with .aligned none.
bool Block::isComplete(uint32_t barrier) const {
  uint32_t expected = 0, count = arrivals[barrier];
  bool everyone = true;
  for (const Warp& warp : warps) {
    uint32_t arrived = 0;
    bool byWarp = false;
    for (const Thread& thread : warp.threads)
      if (thread.state == Thread::State::AtBarrier && thread.barrier == barrier) {
        arrived |= 1u << thread.lane;
        expected = std::max(expected, thread.barrierThreads);
        byWarp |= thread.barrierByWarp;
      }
    everyone &= arrived == warp.live();
    if (arrived == warp.live() && arrived)
      count += machine::kWarpSize;
    else if (!byWarp)
      count += uint32_t(std::popcount(arrived));
  }
  return expected == 0 ? everyone : count >= expected;
}

void Block::release(uint32_t barrier) {
  isBehindBarrier = true;
  arrivals[barrier] = 0;
  uint64_t trueValues = 0, arrived = 0;
  auto forEachWaiting = [&](auto body) {
    for (Warp& warp : warps)
      for (Thread& thread : warp.threads)
        if (thread.state == Thread::State::AtBarrier && thread.barrier == barrier) body(warp, thread);
  };
  forEachWaiting([&](Warp&, Thread& thread) {
    ++arrived;
    trueValues += thread.barrierValue;
  });
  if (isHeard) raiseBarrierDone(barrier);
  forEachWaiting([&](Warp& warp, Thread& thread) {
    Executor(*this, warp).finishBarrier(thread, arrived, trueValues);
    thread.state = Thread::State::Ready;
  });
}

/// The jump out of the block runs no destructors, so the text gives its memory back before.
void Block::fault(FaultKind kind, const Thread* thread, uint32_t line, uint64_t address, std::string detail) const {
  machine::faultHint() = {line, thread != nullptr, {}};
  if (thread) std::copy(thread->tid, thread->tid + 3, machine::faultHint().thread);
  char text[512];
  text[detail.copy(text, sizeof text - 1)] = 0;
  std::string().swap(detail);
  machine::raiseFault(frame, kind, line, address, text);
}

void Block::giveUp() const { fault(FaultKind::Unsupported, nullptr, 0, 0, "a replay cannot go on here"); }

/// How many threads wait at which line.
std::string Block::waitingPlaces() const {
  std::map<uint32_t, unsigned> threads;
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads)
      if (thread.state != Thread::State::Exited)
        ++threads[thread.top()
                      .plan->source->instructions[thread.top().pc - (thread.state == Thread::State::AtBarrier)]
                      .line];
  std::string text;
  for (const auto& [line, count] : threads)
    text += fmt::format("{} {} at PTX line {}", text.empty() ? ":" : ",", count, line);
  return text;
}

/// Names the first thread that waits, where, and how many others do.
void Block::reportDeadlock() const {
  const Thread* first = nullptr;
  unsigned waiting = 0;
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads) {
      if (thread.state == Thread::State::Exited) continue;
      if (!first) first = &thread;
      ++waiting;
    }
  // A thread parked at a barrier has moved past the instruction; one in a warp operation still stands at it.
  const auto& instructions = first->top().plan->source->instructions;
  bool atBarrier = first->state == Thread::State::AtBarrier;
  uint32_t line = instructions[first->top().pc - atBarrier].line;
  std::string what = atBarrier ? fmt::format("at barrier {}", first->barrier)
                     : first->state == Thread::State::Ready
                         ? "for the end of an mbarrier's phase"
                         : fmt::format("for the lanes {:#010x} in a warp operation", first->memberMask);
  fault(FaultKind::BarrierDeadlock, first, line, 0,
        fmt::format("waits {} and can never go on; {} threads of the block wait{}", what, waiting,
                    isHeard ? waitingPlaces() : std::string()));
}

}  // namespace ordito::interp
