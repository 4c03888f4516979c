// See checker.hpp. The rules about memory stand here: an access must lie in the object that its address was made from,
// and be aligned. (PTX ISA, "Addresses as Operands".) The rules about order are in races.cpp.
#include "check/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/environment.hpp"
#include "check/whole_access.hpp"
#include "machine/fault.hpp"
#include "machine/lanes.hpp"
#include "machine/undefined.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using Lock = std::lock_guard<std::mutex>;

namespace {

constexpr const char* kSpaces[] = {"memory",          "global memory",    "shared memory", "local memory",
                                   "constant memory", "parameter memory", "a texture",     "a surface"};

/// Of a piece of the heap that is freed so many are compared with what others do.
constexpr uint64_t kFreedBytes = 1 << 16;

/// The message is for nobody.
constexpr const char* kInVain = "a block that must run again";

const char* spaceOf(const AccessEvent& access) { return kSpaces[static_cast<size_t>(access.space)]; }

/// "12 bytes past the end of", "before the start of".
std::string placeIn(const Object& object, uint64_t address) {
  if (address < object.begin) return fmt::format("{} bytes before the start of", object.begin - address);
  const uint64_t end = object.begin + object.bytes;
  if (address < end) return fmt::format("at the last {} bytes of", end - address);
  return address == end ? "just past the end of" : fmt::format("{} bytes past the end of", address - end);
}

bool isImage(AccessSpace space) { return space == AccessSpace::Texture || space == AccessSpace::Surface; }

/// Texels lie in global memory. What is special about them is when fetches see what was written.
AccessEvent inGlobalMemory(const AccessEvent& texels) {
  AccessEvent access = texels;
  access.space = AccessSpace::Global;
  return access;
}

/// Atomics of one and two bytes are made of those of the aligned word around them, whose other bytes they leave as they
/// are. At an object's edge the word hangs over; it is read and written in one piece, by strong accesses.
bool hangsOver(const Object& object, const AccessEvent& access) {
  const bool isStrong = access.kind == machine::AccessKind::Atomic || access.order != machine::MemoryOrder::Weak;
  return isStrong && access.bytes == 4 && access.base % 4 == 0 && access.base < object.begin + object.bytes &&
         access.base + 4 > object.begin;
}

uint32_t laneOf(const AccessEvent& access) { return static_cast<uint32_t>(__builtin_ctz(access.at.lanes)); }
uint32_t threadOf(const AccessEvent& access) { return access.at.warp * machine::kWarpSize + laneOf(access); }

Side sideOf(const Launch& launch, const AccessEvent& access) {
  return launch.side(access.at.function, access.at.line, numberOf(access.at.frame), threadOf(access),
                     wordOf(access.kind), access.bytes);
}

/// The operation that the calling thread runs, and what the host called for it.
struct Current {
  machine::StreamPoint point;
  std::optional<CallSite> call;
};
thread_local Current current;

}  // namespace

Checker::Running* Checker::running(const machine::BlockFrame& frame) {
  const auto it = running_.find(frame.gridid);
  return it == running_.end() ? nullptr : it->second.get();
}

const machine::Allocation* Checker::freedAt(uint64_t address) const {
  const auto behind = freed_.upper_bound(address);
  if (behind == freed_.begin()) return nullptr;
  const machine::Allocation& freed = std::prev(behind)->second;
  return freed.contains(address) ? &freed : nullptr;
}

/// `object`: what the address was made from, if that is known.
void Checker::addOutside(Running& r, const AccessEvent& access, const Object* object) {
  if (isEnough(r)) return;
  const uint64_t address = access.addressOf(laneOf(access));
  const machine::Allocation* const gone = access.space == AccessSpace::Shared ? nullptr : freedAt(address);
  if (gone && operations_.addLateUse(r.operation, *gone, sideOf(r.launch, access), findingsOf(r))) return;
  const Rule rule = gone ? Rule::Freed : Rule::Bounds;
  findingsOf(r).add(r.launch.key(rule, {&access.at.function, access.at.line}), [&] {
    Finding f = r.launch.finding(rule);
    const char* what = wordOf(access.kind);
    f.sides.push_back(sideOf(r.launch, access));
    if (gone) {
      f.message = fmt::format("{} of memory that was freed", what);
      f.object = fmt::format("byte {} of an allocation of {} bytes", address - gone->address, gone->bytes);
    } else if (object) {
      f.message = fmt::format("{} of {} bytes outside of its object", what, access.bytes);
      f.object = fmt::format("{} {}", placeIn(*object, address), object->name());
    } else {
      f.message = fmt::format("{} of {} bytes of {} that do not exist", what, access.bytes, spaceOf(access));
      f.object = access.space == AccessSpace::Shared ? fmt::format("byte {} of the block's {} bytes of shared memory",
                                                                   address, access.at.frame.totalSharedBytes)
                                                     : machine::describeAddress(address);
    }
    return f;
  });
}

/// Kernels only read constants. Where one is written, that is told.
bool Checker::isOfConstant(Running& r, const AccessEvent& access) {
  const auto constant = r.launch.writtenConstant(access, access.base);
  if (!constant) return false;
  if (isEnough(r)) return true;
  findingsOf(r).add(r.launch.key(Rule::Bounds, {&access.at.function, access.at.line}), [&] {
    Finding f = r.launch.finding(Rule::Bounds);
    f.message =
        fmt::format("{} of {} bytes of constant memory, which kernels only read", wordOf(access.kind), access.bytes);
    f.sides.push_back(sideOf(r.launch, access));
    f.object = fmt::format("byte {} of {}", access.base - constant->begin, constant->name());
    return f;
  });
  return true;
}

bool Checker::isInside(Running& r, const AccessEvent& access) {
  const uint64_t address = access.base;
  if (isOfConstant(r, access)) return false;
  std::optional<Object> object;
  if (access.space == AccessSpace::Local) {
    if (access.objectBytes)
      object = Object{access.objectBegin, access.objectBytes, access.object ? nullptr : "a variable in local memory",
                      access.object, 0};
    if (object && object->contains(address, access.bytes)) return true;
    return addOutside(r, access, object ? &*object : nullptr), false;
  }
  object = r.launch.objectOf(access);
  if (object) {
    const bool isFine = object->contains(address, access.bytes) || hangsOver(*object, access);
    if (!isFine) addOutside(r, access, &*object);
    return isFine;
  }
  if (access.space == AccessSpace::Shared) {
    const uint64_t all = access.at.frame.totalSharedBytes;
    const bool isFine = address <= all && access.bytes <= all - address;
    if (!isFine) addOutside(r, access, nullptr);
    return isFine;
  }
  if (machine::allocations().bytesFrom(address) >= access.bytes || r.launch.isItsOwn(access.at.frame, address))
    return true;
  return addOutside(r, access, nullptr), false;
}

/// A bulk copy has units of its own, and the engine refuses what breaks them.
bool Checker::isAligned(Running& r, const AccessEvent& access) {
  const bool isPower = access.bytes && (access.bytes & (access.bytes - 1)) == 0;
  if (!isPower || access.bytes > 32 || access.base % access.bytes == 0) return true;
  if (isEnough(r)) return false;
  findingsOf(r).add(r.launch.key(Rule::Misaligned, {&access.at.function, access.at.line}), [&] {
    Finding f = r.launch.finding(Rule::Misaligned);
    f.message = fmt::format("{} of {} bytes of {} at an address that is no multiple of {}", wordOf(access.kind),
                            access.bytes, spaceOf(access), access.bytes);
    f.sides.push_back(sideOf(r.launch, access));
    f.object = access.space == AccessSpace::Shared ? r.launch.describeShared(access.at, access.base)
                                                   : machine::describeAddress(access.base);
    return f;
  });
  return false;
}

/// Its coordinates are wrong.
void Checker::addBadSurface(Running& r, const AccessEvent& access) {
  if (isEnough(r)) return;
  const bool isMisaligned = access.problem->kind == machine::FaultKind::MisalignedAddress;
  const Rule rule = isMisaligned ? Rule::Misaligned : Rule::Bounds;
  findingsOf(r).add(r.launch.key(rule, {&access.at.function, access.at.line}), [&] {
    Finding f = r.launch.finding(rule);
    f.message = access.problem->says;
    f.sides.push_back(sideOf(r.launch, access));
    f.object = r.launch.describe(access.base);
    return f;
  });
}

uint32_t Checker::allowed(const AccessEvent& access) {
  return isImage(access.space) ? allowedInMemory(inGlobalMemory(access)) : allowedInMemory(access);
}

uint32_t Checker::allowedInMemory(const AccessEvent& access) {
  const OpenAccesses* const open = open_.load(std::memory_order_acquire);
  if (open && open->launch() == access.at.frame.gridid && open->isFine(access)) return access.at.lanes;
  uint32_t lanes = access.at.lanes;
  bool isInVain = false;
  {
    Lock lock(mutex_);
    if (Running* const r = running(access.at.frame)) {
      lanes = allowedLanes(*r, access);
      isInVain = r->attempt && r->attempt->hasFailed();
    }
  }
  if (isInVain) machine::raiseFault(access.at.frame, machine::FaultKind::Unsupported, access.at.line, 0, kInVain);
  return lanes;
}

uint32_t Checker::allowedLanes(Running& r, const AccessEvent& access) {
  r.misuse->accesses(access, findingsOf(r));
  if (access.problem) return addBadSurface(r, access), 0;
  if (isWhollyFine(r.launch, access)) {
    if (r.attempt) r.attempt->allowed(access);
    return access.at.lanes;
  }
  uint32_t lanes = 0;
  for (uint32_t rest = access.at.lanes; rest; rest &= rest - 1) {
    AccessEvent one{.at = access.at, .kind = access.kind, .space = access.space};
    one.at.lanes = rest & -rest;
    one.order = access.order, one.scope = access.scope, one.bytes = access.bytes;
    one.base = access.addressOf(laneOf(one));
    one.objectBegin = access.objectBegin, one.objectBytes = access.objectBytes, one.object = access.object;
    if (!isAligned(r, one) || !isInside(r, one)) continue;
    lanes |= one.at.lanes;
    if (r.attempt) r.attempt->allowed(one);
  }
  return lanes;
}

void Checker::accessed(const AccessEvent& access) {
  isImage(access.space) ? accessedMemory(inGlobalMemory(access), true) : accessedMemory(access, false);
}

void Checker::accessedMemory(const AccessEvent& access, bool isImage) {
  OpenAccesses* const open = open_.load(std::memory_order_acquire);
  if (open && open->launch() == access.at.frame.gridid && open->note(access)) return;
  Lock lock(mutex_);
  Running* r = running(access.at.frame);
  if (!r) return;
  r->misuse->comesTo(access.at, findingsOf(*r));
  if (r->attempt) r->attempt->accessed(access);
  if (!r->isProved && !isEnough(*r)) {
    if (isImage && !doesWrite(access.kind))
      r->races->fetched(access, findingsOf(*r));
    else
      r->races->accessed(access, findingsOf(*r));
  }
  operations_.accessed(r->operation, r->launch, access);
  if (r->proof) r->proof->accessed(access, r->attempt != nullptr);
}

void Checker::comesToGuard(const machine::OperandsEvent& guard) {
  Lock lock(mutex_);
  Running* r = running(guard.at.frame);
  if (!r) return;
  r->misuse->comesTo(guard.at, findingsOf(*r));
  if (r->proof) r->proof->comesToGuard(guard);
}

void Checker::synchronised(const machine::SyncEvent& sync) {
  Lock lock(mutex_);
  Running* r = running(sync.at.frame);
  if (!r) return;
  if (r->attempt) r->attempt->synchronised(sync);
  r->races->synchronised(sync);
  if (r->proof) r->proof->synchronised(sync);
  r->misuse->synchronised(sync, findingsOf(*r));
}

void Checker::blockChanged(const machine::BlockEvent& block) {
  Lock lock(mutex_);
  Running* r = running(block.frame);
  if (!r) return;
  r->told += block.kind == machine::BlockEvent::Kind::End;
  if (r->attempt) r->attempt->blockChanged(block);
  r->races->blockChanged(block);
  if (r->proof) r->proof->blockChanged(block);
  r->misuse->blockChanged(block);
}

void Checker::usedUndefined(const machine::UndefinedEvent& use) {
  Lock lock(mutex_);
  Running* r = running(use.at.frame);
  if (!r) return;
  if (r->attempt) return r->attempt->fail();
  if (use.space == AccessSpace::Generic) return r->misuse->used(use, findings_);  // of no memory: a shuffle's
  initialisation_.used(r->launch, use, findings_);
}

/// To free memory is to write all of it, as far as order goes.
void Checker::heapFrees(const machine::HeapFreeEvent& event) {
  Lock lock(mutex_);
  Running* r = running(event.at.frame);
  if (!r) return;
  std::vector<uint64_t> freed;
  machine::forEachLane(event.at.lanes, [&](uint32_t lane) {
    const uint64_t address = event.addresses[lane];
    if (address == 0) return;
    machine::WarpSite at = event.at;
    at.lanes = 1u << lane;
    const bool isTwice = std::ranges::find(freed, address) != freed.end();
    const auto piece = live_.find(address);
    if (isTwice || piece == live_.end() || piece->second.kind != machine::MemoryKind::Heap)
      return addBadFree(*r, at, address, isTwice);
    freed.push_back(address);
    AccessEvent write{.at = at, .kind = AccessKind::Store, .space = AccessSpace::Global};
    write.bytes = static_cast<uint32_t>(std::min<uint64_t>(piece->second.bytes, kFreedBytes)), write.base = address;
    r->races->accessed(write, findings_);
  });
}

void Checker::addBadFree(const Running& r, const machine::WarpSite& lane, uint64_t address, bool isTwice) {
  findings_.add(r.launch.key(Rule::Free, {&lane.function, lane.line}), [&] {
    Finding f = r.launch.finding(Rule::Free);
    const machine::Allocation* const gone = freedAt(address);
    f.message = isTwice || (gone && gone->address == address)
                    ? "a thread frees memory that was freed already"
                    : "a thread frees memory that no malloc() of a kernel has given";
    const uint32_t thread = lane.warp * machine::kWarpSize + static_cast<uint32_t>(std::countr_zero(lane.lanes));
    f.sides.push_back(r.launch.side(lane.function, lane.line, numberOf(lane.frame), thread, "free", 0));
    f.object = gone ? fmt::format("byte {} of {} bytes that were freed", address - gone->address, gone->bytes)
                    : machine::describeAddress(address);
    return f;
  });
}

void Checker::rowsMove(const machine::RowsEvent& rows) {
  Lock lock(mutex_);
  if (options_.followsValues) initialisation_.rowsMove(rows, current.call, findings_);
  operations_.rowsMove(current.point, rows);
}

void Checker::operationSubmitted(const machine::StreamEvent& event, std::span<const machine::StreamPoint> after) {
  auto site = callSiteHere();
  Lock lock(mutex_);
  operations_.hostTouches(findings_);
  operations_.submitted(event, after, site, findings_);
  if (site) submitted_[{event.stream, event.correlation}] = std::move(*site);
}

void Checker::operationBegan(const machine::StreamEvent& event) {
  Lock lock(mutex_);
  operations_.hostTouches(findings_);
  operations_.began(event);
  const auto it = submitted_.find({event.stream, event.correlation});
  current = {{event.stream, event.correlation}, std::nullopt};
  if (it == submitted_.end()) return;
  current.call = std::move(it->second);
  submitted_.erase(it);
}

void Checker::operationEnded(const machine::StreamEvent& event) {
  Lock lock(mutex_);
  operations_.hostTouches(findings_);
  operations_.ended({event.stream, event.correlation}, findings_);
  current = {};
}

void Checker::graphNodeBegan(const machine::GraphNodeEvent& node) {
  Lock lock(mutex_);
  operations_.nodeBegan(current.point, node);
}

void Checker::hostWaited(machine::StreamPoint point) {
  Lock lock(mutex_);
  operations_.hostTouches(findings_);
  operations_.hostWaited(point);
}

void Checker::hostWaitedForAll(uint64_t context) {
  Lock lock(mutex_);
  operations_.hostTouches(findings_);
  operations_.hostWaitedForAll(context);
}

void Checker::callFailed(const machine::FailedCallEvent& event) {
  Lock lock(mutex_);
  apiErrors_.failed(event, findings_);
}

void Checker::lastErrorRead() {
  Lock lock(mutex_);
  apiErrors_.read();
}

void Checker::childLaunched(const machine::ChildLaunchEvent& child) {
  Lock lock(mutex_);
  if (Running* r = running(child.frame)) children_[child.launch] = {r->races->shared(), r->races->launched(child)};
}

const KernelPlan& Checker::planOf(const machine::LaunchEvent& launch) {
  const auto [plan, isNew] = plans_.try_emplace(launch.module.source.digest.hex() + launch.mangled);
  if (isNew) plan->second = KernelPlan::of(launch.module, launch.function);
  return plan->second;
}

void Checker::launchBegan(const machine::LaunchEvent& launch) {
  auto known = std::make_shared<Launch>(launch);
  known->setCall(current.call);
  Lock lock(mutex_);
  const auto child = children_.extract(launch.launch);
  const auto shared = child ? child.mapped().first : Races::share();
  const Family::Member self = child ? child.mapped().second : Races::first(*shared, known);
  if (child) shared->family.setLaunch(self, known);
  auto& made = running_[launch.launch] = std::make_unique<Running>(std::move(known), planOf(launch));
  made->begin(shared, self);
  made->findingsBefore = findings_.total();
  made->operation = current.point;
}

void Checker::launchEnded(const machine::LaunchEvent& launch) {
  Lock lock(mutex_);
  const auto it = running_.find(launch.launch);
  if (it == running_.end()) return;
  const Launch& known = it->second->launch;
  OpenAccesses* open = it->second->open.get();
  if (open) open_.compare_exchange_strong(open, nullptr);
  endAttempt(*it->second);
  blocks_.told += it->second->told;
  if (launch.failure)
    findings_.add(known.key(Rule::LaunchFailed, {}), [&] {
      Finding f = known.finding(Rule::LaunchFailed);
      f.message = ptx::withSources(launch.module, launch.function, launch.failure);
      return f;
    });
  running_.erase(it);
}

void Checker::allocated(const machine::Allocation& a) {
  Lock lock(mutex_);
  live_[a.address] = a;
  const bool isHeap = a.kind == machine::MemoryKind::Heap;
  if (!isHeap)
    for (auto& [launch, r] : running_) r->launch.allocationsChanged();
  if (options_.followsValues) initialisation_.allocated(a);
  if (!isHeap) operations_.allocated(a);
  for (auto it = freed_.lower_bound(a.address); it != freed_.end() && it->first < a.address + a.bytes;)
    it = freed_.erase(it);
}

void Checker::freed(const machine::Allocation& a) {
  Lock lock(mutex_);
  live_.erase(a.address);
  if (trialMemory_) trialMemory_->freed(a.address);
  for (auto& [launch, r] : running_) r->launch.allocationsChanged();
  if (options_.followsValues) initialisation_.freed(a);
  if (a.kind != machine::MemoryKind::Heap) operations_.freed(current.point, a, findings_);
  freed_[a.address] = a;
}

/// Device memory that the program has not freed, but for that of modules.
void Checker::addLeaks() {
  for (const auto& [address, a] : live_) {
    if (a.kind == machine::MemoryKind::Registered || a.isModules) continue;
    const bool isHeap = a.kind == machine::MemoryKind::Heap;
    findings_.add({Rule::Leak, fmt::format("{}{}", a.bytes, isHeap ? " of the heap" : ""), 0, 0}, [&, bytes = a.bytes] {
      Finding f;
      f.rule = Rule::Leak;
      f.message = fmt::format("{} bytes were {} and never freed", bytes,
                              isHeap ? "taken by a kernel from the heap of malloc()" : "allocated");
      return f;
    });
  }
}

void Checker::flush() {
  {
    Lock lock(mutex_);
    operations_.hostTouches(findings_);
    if (options_.wantsLeaks) addLeaks();
    apiErrors_.finish(findings_);
  }
  std::ofstream out(options_.path);
  {
    Lock lock(mutex_);
    out << toJson(findings_, blocks_);
  }
  if (!out.flush()) fmt::print(stderr, "ordito: ORDITO_CHECK: cannot write {}\n", options_.path);
}

machine::Listener* listener() {
  const Environment environment = readEnvironment();
  if (environment.check.empty()) return nullptr;
  // Never destroyed: streams may run while the process ends.
  const bool proves = environment.checkProofs != 0;
  static auto* const instance =
      new Checker({environment.check, environment.checkLeaks != 0, environment.checkValues != 0, proves,
                   proves && environment.engine != "interp" && environment.threads == 1});
  return instance;
}

}  // namespace ordito::check
