// What listeners that want every access hear from this engine (machine/events.hpp): the accesses of each instruction,
// the threads' synchronisation, and the blocks. Counters are in executor.cpp and counting.cpp.
//
// Listeners are asked for each lane before it touches memory. If they refuse, the lane's instruction is abandoned by an
// exception: bodies own nothing that would be left half done, since all of them find their places first.
#include <algorithm>
#include <cstring>

#include "interp/executor.hpp"
#include "ir/block_forms.hpp"
#include "machine/listener.hpp"
#include "machine/memory_order.hpp"
#include "machine/undefined.hpp"

namespace ordito::interp {

using isa::Type;
using machine::AccessKind;
using machine::AccessSpace;
using ptx::Space;

machine::WarpSite Executor::site(uint32_t lanes) const {
  return {block_.frame, *thread_->top().plan->source, instruction_->line, warp_.index, lanes};
}

namespace {

/// What AccessEvent::stored says of bytes.
uint64_t digestOf(const std::byte* bytes, uint32_t count) {
  uint64_t digest = 0;
  for (uint32_t first = 0; first < count; first += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + first, std::min(count - first, 8u));
    digest = digest * 0x9E3779B97F4A7C15 + word;
  }
  return digest;
}

}  // namespace

/// Lanes follow each other, so what a lane has stored is looked at before the next one stores.
void Executor::runHeard() {
  const size_t before = accesses_.entries().size();
  const std::vector<Result> results = undefinedResults();
  const isa::Effect effect = instruction_->info().effect;
  raiseOperands();
  try {
    (this->*kBodies[static_cast<size_t>(instruction_->op)])();
  } catch (const RefusedAccess&) {
    if (effect != isa::Effect::Load && effect != isa::Effect::Atomic) return;
    const ptx::Operand& d = operand(0);
    keepUndefined(results);
    if (d.is(ptx::Operand::Kind::Vector))
      for (const ptx::Operand& element : d.elements) write(element, type(), {});
    else if (d.is(ptx::Operand::Kind::Register))
      write(d, type(), {});
    return;
  }
  if (effect == isa::Effect::Control || effect == isa::Effect::Call) return;  // the thread may be elsewhere
  keepUndefined(results);
  followAccesses(before);
  accesses_.forEachStore(before, [&](AccessLog::Entry& e) {
    const bool isImage = e.space == AccessSpace::Texture || e.space == AccessSpace::Surface;
    const auto* at = reinterpret_cast<const std::byte*>(e.address + (e.space == AccessSpace::Shared ? window() : 0));
    if (!isImage) e.stored = digestOf(at, e.bytes);
  });
}

void Executor::askListeners(Space space, uint64_t address, uint32_t bytes, AccessKind kind) const {
  if (!block_.isHeard || space == Space::Param) return;
  if (space == Space::Generic) space = genericSpace(address), address -= space == Space::Shared ? window() : 0;
  askListeners(accessSpace(space), address, bytes, kind);
}

/// `image`: the begin of the texture that the address lies in, if it has one level.
void Executor::askListeners(AccessSpace space, uint64_t address, uint32_t bytes, AccessKind kind,
                            const std::byte* image) const {
  if (!block_.isHeard || bytes == 0) return;
  machine::AccessEvent event{.at = site(1u << thread_->lane),
                             .kind = kind,
                             .space = space,
                             .order = machine::memoryOrder(*instruction_),
                             .scope = machine::memoryScope(*instruction_),
                             .bytes = bytes,
                             .base = address,
                             .objectBegin = reinterpret_cast<uint64_t>(image)};
  if (space == AccessSpace::Local) {
    const machine::NearestObject found = localObject(address);
    event.objectBegin = found.begin(), event.objectBytes = found.bytes(), event.object = found.variable();
  }
  askListeners(event);
}

/// Of the lane that runs.
void Executor::askListeners(const machine::AccessEvent& event) const {
  if (block_.isHeard && !machine::allowedLanes(event)) throw RefusedAccess{};
}

namespace {

/// What the function keeps in an activation.
void offerAll(machine::NearestObject& nearest, const Activation& a) {
  const ptx::Function& f = *a.plan->source;
  const auto memory = reinterpret_cast<uint64_t>(a.memory.get());
  for (size_t i = 0; i < f.variables.size(); ++i)
    if (f.variables[i].space == Space::Local || f.variables[i].space == Space::Param)
      nearest.offer(memory + a.plan->variableOffset[i], f.variables[i].size, &f.variables[i]);
  for (const ptx::Parameter& p : f.parameters) nearest.offer(memory + p.offset, p.size, nullptr);
  for (const ptx::Parameter& p : f.returns) nearest.offer(memory + a.plan->returnBase + p.offset, p.size, nullptr);
}

}  // namespace

/// The variable that the address was made from; if that is not known, the one that it lies in, or next to.
machine::NearestObject Executor::localObject(uint64_t address) const {
  machine::NearestObject nearest(address);
  const FunctionPlan& plan = *thread_->top().plan;
  const auto index = static_cast<size_t>(instruction_ - plan.source->instructions.data());
  if (const uint32_t v = index < plan.objects.size() ? plan.objects[index] : ptx::kNoVariable; v != ptx::kNoVariable) {
    nearest.offer(reinterpret_cast<uint64_t>(thread_->top().memory.get()) + plan.variableOffset[v],
                  plan.source->variables[v].size, &plan.source->variables[v]);
    return nearest;
  }
  for (const Activation& a : thread_->stack)
    if (address - reinterpret_cast<uint64_t>(a.memory.get()) < a.plan->memoryBytes) offerAll(nearest, a);
  if (!thread_->allocated) return nearest;
  const uint64_t begin = reinterpret_cast<uint64_t>(thread_->allocated.get()), taken = thread_->allocatedTop;
  if (address - begin < kAllocaBytes) nearest.offer(taken, begin + kAllocaBytes - taken, nullptr);
  return nearest;
}

void Executor::raiseOperands() const {
  const ir::GuardOperands guard = ir::guardOperands(*instruction_);
  if (!guard) return;
  int64_t a[32], b[32];
  auto value = [&](size_t k) {
    return isa::isSigned(guard.type) ? readSigned(k, guard.type) : static_cast<int64_t>(read(k, guard.type));
  };
  a[thread_->lane] = value(guard.a), b[thread_->lane] = value(guard.b);
  machine::raise(machine::OperandsEvent{site(1u << thread_->lane), a, b});
}

void Executor::raiseHeapFree(uint64_t address) const {
  uint64_t addresses[32];
  addresses[thread_->lane] = address;
  machine::raise(machine::HeapFreeEvent{site(1u << thread_->lane), addresses});
}

uint64_t Executor::window() const { return reinterpret_cast<uint64_t>(block_.frame.shared); }

/// One event for the lanes that did the same in the same space. A matrix operation's lanes come more than once.
void Executor::raiseAccess(const AccessLog& log) const {
  if (log.isEmpty()) return;
  if (uint64_t* counters = siteCounters()) log.addTo(counters);
  if (!block_.isHeard) return;
  uint64_t addresses[32], targets[32], stored[32];
  uint32_t copied[32];
  std::vector<AccessLog::Entry> rest(log.entries().begin(), log.entries().end());
  std::erase_if(rest, [](const AccessLog::Entry& e) {
    const bool isDropped = e.space == AccessSpace::Surface && e.bytes == 0;
    return isDropped || e.space == AccessSpace::Parameter || e.space == AccessSpace::Texture;  // whose texels are told
  });
  while (!rest.empty()) {
    const AccessLog::Entry first = rest.front();
    uint32_t lanes = 0;
    std::erase_if(rest, [&](const AccessLog::Entry& e) {
      const bool isSame = e.kind == first.kind && e.space == first.space && e.bytes == first.bytes;
      if (!isSame || (lanes >> e.lane & 1)) return false;
      lanes |= 1u << e.lane;
      addresses[e.lane] = e.address, targets[e.lane] = e.to, copied[e.lane] = e.copied, stored[e.lane] = e.stored;
      return true;
    });
    machine::AccessEvent event{.at = site(lanes),
                               .kind = first.kind,
                               .space = first.space,
                               .order = machine::memoryOrder(*instruction_),
                               .scope = machine::memoryScope(*instruction_),
                               .bytes = first.bytes,
                               .addresses = addresses};
    if (first.kind == AccessKind::Copy)
      event.toSpace = AccessSpace::Shared, event.targets = targets, event.copied = copied;
    if (instruction_->op == isa::Op::St) event.stored = stored;
    machine::raise(event);
  }
}

/// Of the current lane.
void Executor::raiseTexel(uint64_t address, uint32_t bytes) const {
  machine::raise(machine::AccessEvent{.at = site(1u << thread_->lane),
                                      .kind = AccessKind::Load,
                                      .space = AccessSpace::Texture,
                                      .bytes = bytes,
                                      .base = address});
}

void Executor::raiseBulkCopy(const Place& to, const Place& from, uint32_t bytes, uint64_t mbarrier) const {
  if (!block_.isHeard) return;
  machine::undefinedMemory()->copy(reinterpret_cast<uint64_t>(to.pointer), reinterpret_cast<uint64_t>(from.pointer),
                                   bytes);
  uint64_t targets[32];
  uint32_t copied[32];
  targets[thread_->lane] = to.address, copied[thread_->lane] = bytes;
  machine::raise(machine::AccessEvent{.at = site(1u << thread_->lane),
                                      .kind = AccessKind::Copy,
                                      .space = accessSpace(from.space),
                                      .bytes = bytes,
                                      .base = from.address,
                                      .toSpace = accessSpace(to.space),
                                      .targets = targets,
                                      .copied = copied,
                                      .isBulk = true,
                                      .mbarrier = mbarrier});
}

/// Of the current lane.
void Executor::raiseSync(const Sync& sync) const {
  if (!block_.isHeard) return;
  machine::raise(machine::SyncEvent{.at = site(1u << thread_->lane),
                                    .kind = sync.kind,
                                    .order = sync.order,
                                    .scope = sync.scope,
                                    .number = sync.number,
                                    .threads = sync.threads,
                                    .address = sync.address});
}

/// The lanes may name different barriers; each barrier hears of its own.
void Executor::raiseBarrier(SyncKind kind, int barrierOperand, int countOperand) {
  if (!block_.isHeard) return;
  for (uint32_t rest = active_; rest;) {
    uint32_t lanes = 0, number = 0, threads = 0;
    for (uint32_t lane : Lanes(rest)) {
      select(lane);
      const uint32_t barrier = barrierOperand < 0 ? 16 : barrierNumber(size_t(barrierOperand));
      const uint32_t count =
          countOperand >= 0 && present(size_t(countOperand)) ? barrierThreads(size_t(countOperand)) : 0;
      if (!lanes) number = barrier, threads = count;
      if (number == barrier && threads == count) lanes |= 1u << lane;
    }
    select(*Lanes(lanes).begin());
    machine::raise(machine::SyncEvent{.at = site(lanes), .kind = kind, .number = number, .threads = threads});
    rest &= ~lanes;
  }
}

void Executor::raiseMbarrier(SyncKind kind, size_t address, uint32_t number) {
  if (!block_.isHeard) return;
  const Place place = locate(address, 8, {AccessKind::Mbarrier, 0});
  raiseSync({.kind = kind, .number = number, .address = place.address});
}

/// `lanes` have met at a warp operation, and have not executed it yet.
void Executor::raiseMeeting(uint32_t lanes, uint32_t mask) {
  if (!block_.isHeard) return;
  select(*Lanes(lanes).begin());
  machine::raise(machine::SyncEvent{.at = site(lanes),
                                    .kind = SyncKind::WarpSync,
                                    .mask = mask,
                                    .ordersMemory = instruction_->op == isa::Op::BarWarpSync});
}

void Block::raise(machine::BlockEvent::Kind kind) const {
  machine::raise(machine::BlockEvent{kind, frame, program.module->functions[program.kernel]});
}

/// Each thread that waited stands behind the instruction.
void Block::raiseBarrierDone(uint32_t barrier) const {
  std::vector<uint32_t> met(warps.size());
  const Thread* last = nullptr;
  for (const Warp& warp : warps)
    for (const Thread& thread : warp.threads)
      if (thread.state == Thread::State::AtBarrier && thread.barrier == barrier) {
        met[warp.index] |= 1u << thread.lane;
        last = &thread;
      }
  const ptx::Function& function = *last->top().plan->source;
  const uint32_t warpIndex = last->index / machine::kWarpSize;
  machine::raise(machine::SyncEvent{
      .at = {frame, function, function.instructions[last->top().pc - 1].line, warpIndex, met[warpIndex]},
      .kind = machine::SyncEvent::Kind::BarrierDone,
      .number = barrier,
      .threads = last->barrierThreads,
      .met = met});
}

}  // namespace ordito::interp
