// See races.hpp.
#include "check/races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/launch.hpp"
#include "machine/lanes.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::MemoryOrder;
using machine::MemoryScope;
using machine::SyncEvent;

namespace {

constexpr size_t kForeignReads = 2;          // of other blocks: whoever writes is in another block than one of two
constexpr size_t kForeignReadsInOrder = 16;  // where some of them may be ordered

constexpr const char* kWords[] = {
    "read", "write", "read", "write", "atomic operation", "atomic operation", "copy", "mbarrier operation"};

bool acquires(MemoryOrder o) {
  return o == MemoryOrder::Acquire || o == MemoryOrder::AcquireRelease || o == MemoryOrder::Sequential;
}
bool releases(MemoryOrder o) {
  return o == MemoryOrder::Release || o == MemoryOrder::AcquireRelease || o == MemoryOrder::Sequential;
}

uint64_t keyOf(AccessSpace space, uint64_t address) {
  return address / kWordBytes * 2 + (space == AccessSpace::Shared ? 1 : 0);
}

uint32_t threadsOf(const machine::BlockFrame& frame) { return frame.ntid[0] * frame.ntid[1] * frame.ntid[2]; }

/// Calls visit(thread) for each lane of the site.
template <class F>
void forEachThread(const machine::WarpSite& at, F visit) {
  for (uint32_t rest = at.lanes; rest; rest &= rest - 1)
    visit(at.warp * machine::kWarpSize + static_cast<uint32_t>(__builtin_ctz(rest)));
}

}  // namespace

const char* wordOf(AccessKind kind) { return kWords[static_cast<size_t>(kind)]; }

std::shared_ptr<Races::Shared> Races::share(bool isByLane) {
  auto shared = std::make_shared<Shared>();
  shared->isByLane = isByLane;
  return shared;
}

Family::Member Races::first(Shared& shared, std::shared_ptr<const Launch> launch) {
  const Family::Member self = shared.family.add(std::nullopt);
  shared.family.setLaunch(self, std::move(launch));
  return self;
}

Family::Member Races::launched(const machine::ChildLaunchEvent& child) {
  return shared_->family.add(Family::Birth{.parent = self_,
                                           .block = numberOf(child.frame),
                                           .known = blockOf(child.frame).clocks.release(child.thread),
                                           .stream = child.stream});
}

Races::Block& Races::blockOf(const machine::BlockFrame& frame) {
  const uint64_t number = numberOf(frame);
  if (number == lastNumber_) return *last_;
  std::unique_ptr<Block>& block = blocks_[number];
  if (!block && !spare_.empty()) {
    block = std::move(spare_.back());
    spare_.pop_back();
    block->reset(threadsOf(frame), launch_.copiesInBulk());
  }
  if (!block) block = std::make_unique<Block>(threadsOf(frame), launch_.copiesInBulk());
  lastNumber_ = number;
  return *(last_ = block.get());
}

void Races::blockChanged(const machine::BlockEvent& event) {
  if (event.kind != machine::BlockEvent::Kind::End) return;
  if (auto ended = blocks_.extract(numberOf(event.frame))) spare_.push_back(std::move(ended.mapped()));
  lastNumber_ = ~uint64_t{0};
}

void Races::accessed(const AccessEvent& access, Findings& findings) {
  Block& block = blockOf(access.at.frame);
  if (canUseRows(access))
    accessedByRow(access, block, findings);
  else
    accessedByLane(access, block, findings);
  if (launch_.copiesInBulk()) followProxies(access, block, findings);
  if (access.order != MemoryOrder::Weak && !launch_.hasUnorderedBlocks()) followOrder(access);
}

/// Copies are made by agents. `isTarget`: of the side that is written.
ActorId Races::actorOf(const AccessEvent& access, const Clocks& clocks, uint32_t thread, bool isTarget) {
  if (access.kind != AccessKind::Copy) return thread;
  const Agent agent = !access.isBulk                          ? Agent::Copies
                      : access.toSpace == AccessSpace::Shared ? bulkAgentOf(access.mbarrier)
                      : isTarget                              ? Agent::BulkWrites
                                                              : Agent::BulkReads;
  return clocks.agentOf(thread, agent);
}

Touch Races::touchOf(const AccessEvent& access, const Block& block, uint32_t lane) const {
  const bool isMbarrier = access.kind == AccessKind::Mbarrier;
  const uint32_t thread = access.at.warp * machine::kWarpSize + lane;
  const ActorId actor = actorOf(access, block.clocks, thread, false);
  const Clock now = block.clocks.now(actor);
  return {.block = numberOf(access.at.frame),
          .actor = actor,
          .at = now,
          .shown = isStrong(access) && doesWrite(access.kind) ? block.outside.fence(thread).value_or(now) : now,
          .member = self_,
          .line = access.at.line,
          .kind = access.kind,
          .bytes = 0,
          .writes = doesWrite(access.kind) || isMbarrier,
          .isStrong = isMbarrier ? !Launch::initialises(access.at) : isStrong(access),
          .scope = access.scope,
          .hasValue = access.stored != nullptr,
          .address = access.addressOf(lane),
          .value = access.stored ? access.stored[lane] : 0,
          .size = access.bytes,
          .function = &access.at.function};
}

void Races::accessedByLane(const AccessEvent& access, Block& block, Findings& findings) {
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    Touch touch = touchOf(access, block, lane);
    const bool isCopy = access.kind == AccessKind::Copy;
    this->touch(access, access.space, touch.address, isCopy ? access.copied[lane] : access.bytes, touch, findings);
    if (!isCopy) return;
    touch.writes = true;
    touch.actor = actorOf(access, block.clocks, access.at.warp * machine::kWarpSize + lane, true);
    touch.at = touch.shown = block.clocks.now(touch.actor), touch.address = access.targets[lane];
    this->touch(access, access.toSpace, access.targets[lane], access.bytes, touch, findings);
  });
}

Shadow& Races::shadowOf(Block& block, AccessSpace space) const {
  return space == AccessSpace::Shared ? block.shared : shared_->global;
}

/// One access of one lane, word by word.
void Races::touch(const AccessEvent& access, AccessSpace space, uint64_t address, uint32_t bytes, Touch touch,
                  Findings& findings) {
  if (space != AccessSpace::Shared && space != AccessSpace::Global) return;
  if (space == AccessSpace::Global && launch_.isHeaps(address)) return;
  Block& block = blockOf(access.at.frame);
  Shadow& shadow = shadowOf(block, space);
  for (uint64_t first = address, end = address + bytes; first < end;) {
    const uint64_t word = first / kWordBytes, last = std::min(end, (word + 1) * kWordBytes), row = first / kRowBytes;
    touch.bytes = 0;
    for (uint64_t byte = first; byte < last; ++byte) touch.bytes |= static_cast<uint8_t>(1u << byte % kWordBytes);
    Shadow::Spread& spread = shadow.spread(row, shadow.row(row));
    spread.hasAgents |= touch.actor >= block.clocks.threads();
    compare(access, spread.words[word % (kRowBytes / kWordBytes)], touch, space, findings);
    first = last;
  }
}

bool Races::reaches(const Reach& reach, const Touch& touch) {
  return knows(reach, touch.block, touch.actor, touch.shown);
}

bool Races::areOrdered(const Block& block, const Touch& earlier, const Touch& later) const {
  if (earlier.member != later.member)
    return !launch_.hasUnorderedBlocks() ||
           shared_->family.isOrdered({earlier.member, earlier.block, earlier.actor, earlier.at},
                                     {later.member, later.block, later.actor, later.at});
  if (earlier.block != later.block)
    return !launch_.hasUnorderedBlocks() && reaches(block.outside.known(later.actor % launch_.threads()), earlier);
  return block.clocks.knows(later.actor, earlier.actor, earlier.at);
}

/// Would they be ordered if relaxed atomic operations were acquires?
bool Races::isHoped(const Block& block, const Touch& earlier, const Touch& later) const {
  return earlier.member == later.member && earlier.block != later.block && !launch_.hasUnorderedBlocks() &&
         reaches(block.outside.hoped(later.actor % launch_.threads()), earlier);
}

/// Strong accesses that overlap are no race only if they are of the same bytes. Those of less than a word are left out:
/// programs make atomics on them of such on words.
bool Races::areMixed(const Touch& one, const Touch& other) {
  if (one.size == other.size || !isAtomic(one.kind) || !isAtomic(other.kind)) return false;
  const uint32_t bytes = Launch::atomicBytes(*one.function, one.line),
                 others = Launch::atomicBytes(*other.function, other.line);
  return bytes != others && bytes >= kWordBytes && others >= kWordBytes;
}

void Races::compare(const AccessEvent& access, Word& word, const Touch& touch, AccessSpace space, Findings& findings) {
  const Block& block = blockOf(access.at.frame);
  const auto isOfBlock = [&](const Touch& t) { return t.block == touch.block && t.member == touch.member; };
  const size_t mostReads = launch_.hasUnorderedBlocks() ? kForeignReads : kForeignReadsInOrder;
  size_t foreignReads = 0;
  std::erase_if(word.touches, [&](const Touch& earlier) {
    // What races with the earlier one then races with this one too, so the earlier one may be forgotten.
    const bool isCovered = (earlier.bytes & ~touch.bytes) == 0 && (touch.writes || !earlier.writes) &&
                           (earlier.isStrong || !touch.isStrong);
    if (!earlier.writes && !touch.writes && !isOfBlock(earlier))
      return isCovered && earlier.member == touch.member && ++foreignReads > mostReads;
    // As of reads of many blocks a few are enough of their atomic operations.
    if (earlier.size == touch.size && isAtomic(earlier.kind) && isAtomic(touch.kind) && isCovered &&
        !isOfBlock(earlier) && earlier.member == touch.member && isWide(earlier.scope) && isWide(touch.scope) &&
        launch_.hasUnorderedBlocks())
      return ++foreignReads > mostReads;
    const bool conflict = (earlier.writes || touch.writes) && (earlier.bytes & touch.bytes);
    if (!conflict && !isCovered) return false;
    if (areOrdered(block, earlier, touch)) return isCovered;
    const bool isNarrow = !isOfBlock(earlier) && !(isWide(earlier.scope) && isWide(touch.scope));
    const bool areAtomic = earlier.isStrong && touch.isStrong && !isNarrow && !areMixed(earlier, touch);
    if (conflict && !areAtomic) report(access, space, earlier, touch, findings);
    return false;
  });
  word.touches.push_back(touch);
}

void Races::report(const AccessEvent& access, AccessSpace space, const Touch& earlier, const Touch& later,
                   Findings& findings) {
  const Launch& before = shared_->family.launch(earlier.member);
  const uint32_t threads = threadsOf(access.at.frame), threadsBefore = before.threads();
  const uint32_t one = earlier.actor % threadsBefore, two = later.actor % threads;
  const bool isOfCopy = earlier.actor >= threadsBefore || later.actor >= threads;
  const bool isOfLaunch = earlier.member == later.member;
  const bool isOfBlock = isOfLaunch && earlier.block == later.block;
  const bool isSame = earlier.hasValue && later.hasValue && earlier.value == later.value &&
                      earlier.address == later.address && earlier.size == later.size;
  const bool isLoadOfAtomic = (isAtomic(earlier.kind) && !later.writes) || (isAtomic(later.kind) && !earlier.writes);
  const bool isOfWarp = isOfBlock && one / machine::kWarpSize == two / machine::kWarpSize;
  const Rule rule = isHoped(blockOf(access.at.frame), earlier, later) ? Rule::RaceAcquire
                    : isSame                                          ? Rule::SameValue
                    : isLoadOfAtomic                                  ? Rule::RaceAtomic
                    : isOfCopy                                        ? Rule::RaceCopy
                    : isOfWarp                                        ? Rule::RaceWarp
                    : space == AccessSpace::Shared                    ? Rule::RaceShared
                                                                      : Rule::RaceGlobal;
  findings.add(launch_.key(rule, {earlier.function, earlier.line}, {later.function, later.line}), [&] {
    Finding f = launch_.finding(rule);
    const bool isMixed = areMixed(earlier, later), isNarrow = earlier.isStrong && later.isStrong && !isOfBlock;
    const char* who = isOfCopy      ? "an asynchronous copy and an access"
                      : isOfWarp    ? "two lanes of a warp"
                      : isOfBlock   ? "two threads of a block"
                      : !isOfLaunch ? "a kernel and one that was launched by a kernel"
                                    : "two blocks";
    f.message = fmt::format("{} use the same bytes and {}", who,
                            isMixed    ? "as atomic operations of different sizes"
                            : isNarrow ? "the scope of one of them ends at its block"
                                       : "nothing orders them");
    if (rule == Rule::RaceAcquire) f.message += " but a relaxed atomic operation";
    f.sides = {before.side(*earlier.function, earlier.line, earlier.block, one, wordOf(earlier.kind), earlier.size),
               launch_.side(*later.function, later.line, later.block, two, wordOf(later.kind), later.size)};
    if (isOfBlock && !isOfCopy) f.meeting = launch_.meeting(blockOf(access.at.frame).meetings.last(one, two));
    if (space == AccessSpace::Shared) {
      f.object = launch_.describeShared(access.at, std::max(earlier.address, later.address));
    } else {
      f.object = launch_.describe(std::max(earlier.address, later.address));
    }
    return f;
  });
}

/// What the thread knows, its own block included.
Reach Races::reachOf(const machine::BlockFrame& frame, Block& block, uint32_t thread) {
  auto all =
      block.outside.known(thread) ? std::make_shared<Blocks>(*block.outside.known(thread)) : std::make_shared<Blocks>();
  (*all)[numberOf(frame)] = std::make_shared<const Knowledge>(block.clocks.release(thread));
  return all;
}

/// The same between blocks: only scopes that reach both count.
void Races::followOutside(const AccessEvent& access, Block& block, uint32_t thread) {
  if (launch_.hasUnorderedBlocks() || access.space != AccessSpace::Global || !isWide(access.scope)) return;
  const uint64_t word = access.addressOf(thread % machine::kWarpSize) / kWordBytes;
  const auto posted = posted_.find(word);
  if ((access.kind == AccessKind::Load || isAtomic(access.kind)) && posted != posted_.end()) {
    if (acquires(access.order))
      block.outside.acquire(thread, posted->second);
    else
      block.outside.see(thread, posted->second, isAtomic(access.kind));
  }
  if (!doesWrite(access.kind)) return;
  const Reach made = releases(access.order) ? reachOf(access.at.frame, block, thread) : block.outside.fenced(thread);
  Reach& there = posted_[word];
  there = isAtomic(access.kind) ? joined(there, made) : made;
  block.outside.forgetFence(thread);
}

void Races::fence(Block& block, const SyncEvent& sync, uint32_t thread) {
  block.acquire(thread, std::exchange(block.seen[thread], {}));
  if (isWide(sync.scope) && !launch_.hasUnorderedBlocks()) {
    block.outside.acquireSeen(thread);
    const Clock now = block.clocks.now(thread);
    block.outside.setFenced(thread, reachOf(sync.at.frame, block, thread), now);
  }
  fenceProxies(block, sync.number, thread);
  block.fences[thread] = block.release(thread);
}

/// What strong accesses and fences order inside a block (PTX ISA, "Release and Acquire Patterns"). A kernel without
/// fences, releases and acquires orders nothing so.
void Races::followOrder(const AccessEvent& access) {
  Block& block = blockOf(access.at.frame);
  const bool isRead = access.kind == AccessKind::Load || isAtomic(access.kind);
  forEachThread(access.at, [&](uint32_t thread) {
    const uint64_t key = keyOf(access.space, access.addressOf(thread % machine::kWarpSize));
    followOutside(access, block, thread);
    if (const auto it = block.released.find(key); isRead && it != block.released.end()) {
      if (acquires(access.order))
        block.acquire(thread, it->second);
      else
        block.seen[thread].join(it->second);
    }
    if (!doesWrite(access.kind)) return;
    const Message made = releases(access.order) ? block.release(thread) : block.fences[thread];
    if (isAtomic(access.kind))
      block.released[key].join(made);
    else
      block.released[key] = made;
  });
}

void Races::synchroniseBarrier(Block& block, const SyncEvent& sync) {
  const bool isFull = sync.threads == 0 || sync.threads >= block.clocks.threads();
  const Message arrived = std::exchange(block.arrived[sync.number], {});
  if (isFull)
    return block.clocks.meetAll(), block.outside.meetAll(), block.meetings.allMet(sync.at), block.shared.restart();
  block.meetings.someMet(sync.at, sync.met);
  std::vector<uint32_t> threads;
  for (size_t warp = 0; warp < sync.met.size(); ++warp)
    for (uint32_t rest = sync.met[warp]; rest; rest &= rest - 1)
      threads.push_back(static_cast<uint32_t>(warp * machine::kWarpSize) + static_cast<uint32_t>(__builtin_ctz(rest)));
  block.clocks.meet(threads, arrived.own);
  for (uint32_t t : threads) block.outside.acquire(t, arrived.outside);
  block.outside.meet(threads);
}

void Races::synchronised(const SyncEvent& sync) {
  Block& block = blockOf(sync.at.frame);
  Clocks& clocks = block.clocks;
  const uint64_t key = keyOf(AccessSpace::Shared, sync.address);
  const uint32_t thread = sync.at.warp * machine::kWarpSize + static_cast<uint32_t>(__builtin_ctz(sync.at.lanes));
  std::vector<uint32_t> threads;
  switch (sync.kind) {
    case SyncEvent::Kind::BarrierDone: return synchroniseBarrier(block, sync);
    case SyncEvent::Kind::BarrierArrive:
      return forEachThread(sync.at, [&](uint32_t t) { block.arrived[sync.number].join(block.release(t)); });
    case SyncEvent::Kind::WarpSync:
      if (!sync.ordersMemory) return;
      block.meetings.warpMet(sync.at);
      forEachThread(sync.at, [&](uint32_t t) { threads.push_back(t); });
      return clocks.meet(threads), block.outside.meet(threads);
    case SyncEvent::Kind::Fence: return fence(block, sync, thread);
    case SyncEvent::Kind::MbarrierArrive: return block.released[key].join(block.release(thread));
    case SyncEvent::Kind::MbarrierCopies: return block.released[key].join({clocks.releaseCopies(thread), nullptr});
    case SyncEvent::Kind::MbarrierBulk:
      return block.released[key].join({clocks.releaseBulk(thread, bulkAgentOf(sync.address)), nullptr});
    case SyncEvent::Kind::MbarrierPassed: return block.acquire(thread, block.released[key]);
    default: return synchroniseCopies(clocks, sync, thread);
  }
}

/// Groups of asynchronous copies.
void Races::synchroniseCopies(Clocks& clocks, const SyncEvent& sync, uint32_t thread) {
  switch (sync.kind) {
    case SyncEvent::Kind::CopyCommit: return clocks.commit(thread, Agent::Copies);
    case SyncEvent::Kind::CopyWait: return clocks.waitForCopies(thread, Agent::Copies, sync.number);
    case SyncEvent::Kind::CopyWaitAll:
      clocks.commit(thread, Agent::Copies);
      return clocks.waitForCopies(thread, Agent::Copies, 0);
    case SyncEvent::Kind::BulkCommit:
      clocks.commit(thread, Agent::BulkReads);
      return clocks.commit(thread, Agent::BulkWrites);
    case SyncEvent::Kind::BulkWait: clocks.waitForCopies(thread, Agent::BulkWrites, sync.number); [[fallthrough]];
    case SyncEvent::Kind::BulkWaitRead: return clocks.waitForCopies(thread, Agent::BulkReads, sync.number);
    default: return;
  }
}

}  // namespace ordito::check
