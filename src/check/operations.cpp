// See operations.hpp.
#include "check/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/launch.hpp"
#include "check/proof.hpp"
#include "check/races.hpp"
#include "check/touch.hpp"
#include "rt/trial_uses.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::StreamEvent;
using machine::StreamPoint;
using Kind = StreamEvent::Kind;

namespace {

/// More operations than the host has waited for are not kept, the oldest go first: docs/check.md.
constexpr size_t kMostOperations = 4096;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;

bool mayUseMemory(Kind kind) {
  return kind == Kind::Kernel || kind == Kind::Copy || kind == Kind::Fill || kind == Kind::Graph ||
         kind == Kind::Free || kind == Kind::Allocation;
}

/// For all of the device?
bool isStrongForAll(const AccessEvent& a) { return isWide(a.scope) && isStrong(a); }

bool isHosts(uint64_t address) {
  const auto found = machine::allocations().find(address);
  return found && !found->isOnDevice();
}

/// What tells findings apart: of many streams that do the same one is told.
/// Lines of the PTX that come from one place of the source are one.
std::string keyOf(const Side& side) {
  std::string key = side.what + side.kernel;
  key += side.source.empty() ? fmt::format("@{}", side.ptxLine) : fmt::format("@{}:{}", side.source, side.column);
  if (side.call && !side.call->frames.empty())
    key += fmt::format("{}+{}", side.call->frames[0].module, side.call->frames[0].offset);
  return key;
}

}  // namespace

// --- what operations do

Operations::Operation* Operations::find(StreamPoint point) {
  const auto it = index_.find({point.stream, point.number});
  return it == index_.end() ? nullptr : &*it->second;
}

void Operations::submitted(const StreamEvent& e, std::span<const StreamPoint> after,
                           const std::optional<CallSite>& call, Findings& findings) {
  const StreamPoint point{e.stream, e.correlation};
  order_.submitted(e, after);
  isBlind_ |= e.kind == Kind::Value;
  // What a host function tells the host's threads is not seen: they may know by it that all before it has ended.
  if (e.kind == Kind::HostFunction && *e.name == 0) hostWaited(point);
  if (isBlind_ || !mayUseMemory(e.kind)) return;
  all_.push_back(
      {.point = point, .context = e.context, .isBlocking = e.isBlocking, .kind = e.kind, .name = e.name, .call = call});
  index_[{point.stream, point.number}] = std::prev(all_.end());
  Operation& operation = all_.back();
  if (e.kind != Kind::Allocation && e.kind != Kind::Free) return limit();
  const bool isFree = e.kind == Kind::Free;
  operation.touched.push_back(
      {.use = Use::Lifetime, .side = sideOf(operation, isFree ? "free" : "allocation", e.bytes)});
  operation.touched.back().bytes.add(e.to, e.bytes);
  if (!isFree) ended(point, findings);
}

void Operations::nodeBegan(StreamPoint point, const machine::GraphNodeEvent& node) {
  Operation* const operation = find(point);
  if (!operation) return;
  operation->node = node.number;
  if (node.isHostFunction) mayWaitForHost(point);
  auto& before = operation->before;
  if (before.size() <= node.number) before.resize(node.number + 1);
  std::vector<bool> mine(node.number, false);
  for (const uint32_t k : node.after) {
    mine[k] = true;
    for (size_t i = 0; i < before[k].size(); ++i)
      if (before[k][i]) mine[i] = true;
  }
  before[node.number] = std::move(mine);
}

std::string Operations::nameOf(const Operation& o) {
  const std::string stream =
      o.point.stream == o.context ? std::string("the legacy default stream") : fmt::format("stream {}", o.point.stream);
  return (o.kind == Kind::Graph ? "a graph in " : "") + stream +
         (o.isBlocking || o.point.stream == o.context ? "" : " (non-blocking)");
}

Side Operations::sideOf(const Operation& operation, const char* what, uint64_t bytes) {
  Side side{
      .what = what,
      .bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, ~uint32_t{0})),
  };
  side.operation = nameOf(operation);
  side.call = operation.call;
  return side;
}

template <class MakeSide>
Operations::Touched& Operations::at(Operation& operation, const Site& site, Touched kind, MakeSide makeSide) {
  Touched*& touched = operation.sites[site];
  if (touched) return *touched;
  kind.node = operation.node;
  kind.side = makeSide();
  kind.side.operation = nameOf(operation);
  kind.side.call = operation.call;
  operation.touched.push_back(std::move(kind));
  return *(touched = &operation.touched.back());
}

Operations::Touched& Operations::at(Operation& operation, const Launch& launch, const AccessEvent& access,
                                    bool writes) {
  Touched kind{.use = writes ? Use::Write : Use::Read,
               .isStrong = isStrongForAll(access),
               .isOfSystem = isStrongForAll(access) && access.scope == machine::MemoryScope::System,
               .isOrdering = !launch.hasUnorderedBlocks()};
  return at(operation, {&access.at.function, access.at.line, operation.node, writes}, std::move(kind), [&] {
    const auto lane = static_cast<uint32_t>(std::countr_zero(access.at.lanes));
    Side side = launch.side(access.at.function, access.at.line, numberOf(access.at.frame),
                            access.at.warp * machine::kWarpSize + lane, wordOf(access.kind), access.bytes);
    side.kernel = launch.finding(Rule::RaceStream).kernel;
    return side;
  });
}

/// Where the host could touch it, and in graphs, it is asked for at once.
void Operations::tried(StreamPoint point, const Launch& launch, std::shared_ptr<const rt::TrialUses> uses) {
  Operation* const operation = find(point);
  if (!operation) return;
  for (const rt::TrialUses::Site& site : uses->sites())
    at(*operation, {site.function, site.line, operation->node, site.writes},
       {.use = site.writes ? Use::Write : Use::Read, .isStrong = site.isStrong}, [&] {
         Side side = launch.side(*site.function, site.line, 0, 0, wordOf(site.kind), site.width);
         side.kernel = launch.finding(Rule::RaceStream).kernel;
         return side;
       });
  bool touchesHost = false;
  uses->forEachAllocation([&](uint64_t begin, uint64_t) { touchesHost |= isHosts(begin); });
  operation->repeated.push_back({operation->node, nullptr, nullptr, std::move(uses)});
  if (touchesHost || !operation->before.empty()) expand(*operation);
}

/// Memory that is in no allocation is a kernel's own: its parameters, its stack, the heap of malloc().
void Operations::note(Operation& operation, Touched& touched, uint64_t address, uint64_t bytes) {
  if (address / ByteSet::kPage != knownPage_) {
    knownPage_ = address / ByteSet::kPage;
    const auto allocation = machine::allocations().find(address);
    isKnownPage_ = allocation && allocation->kind != machine::MemoryKind::Heap;
    if (touched.isOfSystem && touched.use == Use::Write && isHosts(address)) operation.signalsHost = true;
  }
  if (isKnownPage_) touched.bytes.add(address, bytes);
}

void Operations::accessed(StreamPoint point, const Launch& launch, const AccessEvent& access) {
  const bool reads = access.space == AccessSpace::Global, isCopy = access.kind == AccessKind::Copy,
             isTarget = isCopy && access.toSpace == AccessSpace::Global;
  if ((!reads && !isTarget) || access.kind == AccessKind::Mbarrier) return;
  Operation* const operation = find(point);
  if (!operation) return;
  knownPage_ = ~uint64_t{0};
  const bool writes = access.kind != AccessKind::Load && access.kind != AccessKind::MatrixLoad && !isCopy;
  if (!writes && isStrongForAll(access)) readsStrongly(*operation);
  if (access.kind == AccessKind::Atomic) readsStrongly(*operation);
  Touched* const from = reads ? &at(*operation, launch, access, writes) : nullptr;
  Touched* const to = isTarget ? &at(*operation, launch, access, true) : nullptr;
  const uint32_t first = static_cast<uint32_t>(std::countr_zero(access.at.lanes));
  if (const uint64_t bytes = isCopy ? 0 : bytesInOnePiece(access); bytes) {
    const uint64_t begin = access.addressOf(first), rest = ByteSet::kPage - begin % ByteSet::kPage;
    note(*operation, *from, begin, std::min(bytes, rest));
    if (bytes > rest) note(*operation, *from, begin + rest, bytes - rest);
    return;
  }
  for (uint32_t rest = access.at.lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    if (from)
      note(*operation, *from, access.addressOf(lane), isCopy && access.copied ? access.copied[lane] : access.bytes);
    if (to && access.targets) note(*operation, *to, access.targets[lane], access.bytes);
  }
}

/// What the host could touch is guarded soon, so it is asked for at once.
void Operations::repeated(StreamPoint point, std::shared_ptr<const Proof> proof) {
  Operation* const operation = find(point);
  if (!operation) return;
  const bool touchesHost = std::ranges::any_of(proof->objects(), [](const Object& o) { return isHosts(o.begin); });
  operation->repeated.push_back({operation->node, std::move(proof), nullptr, nullptr});
  if (touchesHost || !operation->before.empty()) expand(*operation);
}

void Operations::opened(StreamPoint point, std::shared_ptr<const OpenAccesses> open) {
  if (Operation* const operation = find(point))
    operation->repeated.push_back({operation->node, nullptr, std::move(open), nullptr});
}

void Operations::expand(Operation& operation) {
  if (operation.repeated.empty()) return;
  for (const Repeated& r : operation.repeated) expand(r, operation.sites);
  operation.repeated.clear();
  if (!operation.hasEnded) return;
  operation.sites.clear();
  for (Touched& t : operation.touched) t.bytes.compress();
}

void Operations::expand(const Repeated& r, const Sites& sites) {
  const auto find = [&](const ptx::Function* function, uint32_t line, bool writes) {
    const auto it = sites.find({function, line, r.node, writes});
    return it == sites.end() ? nullptr : it->second;
  };
  const auto add = [&](const ptx::Function* function, uint32_t line, bool writes, uint64_t begin, uint64_t bytes) {
    if (Touched* const touched = find(function, line, writes)) touched->bytes.add(begin, bytes);
  };
  if (r.open)
    r.open->forEach([&](const OpenAccesses::Line& line, bool writes, uint64_t begin, uint64_t bytes) {
      add(line.function, line.line, writes, begin, bytes);
    });
  if (r.uses)
    r.uses->forEach([&](uint64_t begin, uint64_t bytes, const rt::TrialUses::Site& site) {
      add(site.function, site.line, site.writes, begin, bytes);
    });
  if (r.proof)
    r.proof->forEachUnwatched(
        [&](const Proof::Site& site, const Range& range) {
          add(site.function, site.line, site.writes, range.begin, range.end - range.begin);
        },
        [&](const Proof::Site& site) { return find(site.function, site.line, site.writes) != nullptr; });
}

/// Host memory that CUDA does not know is copied to or from while the call lasts.
void Operations::rowsMove(StreamPoint point, const machine::RowsEvent& rows) {
  Operation* const operation = find(point);
  if (!operation) return;
  const auto add = [&](const machine::RowsEvent::Side& side, Use use) {
    if (!side.base || !machine::allocations().find(side.base)) return;
    operation->touched.push_back(
        {.use = use,
         .node = operation->node,
         .side = sideOf(*operation, use == Use::Read ? "read" : "write", rows.width * rows.height * rows.depth)});
    ByteSet& bytes = operation->touched.back().bytes;
    for (uint64_t z = 0; z < rows.depth; ++z)
      for (uint64_t y = 0; y < rows.height; ++y) bytes.add(side.base + z * side.slice + y * side.pitch, rows.width);
  };
  add(rows.from, Use::Read);
  add(rows.to, Use::Write);
}

// --- when they are compared, and how long they are kept

void Operations::ended(StreamPoint point, Findings& findings) {
  if (Operation* const operation = find(point)) {
    operation->hasEnded = true;
    const auto touchesHost = [](const Repeated& r) { return r.open && r.open->touchesHost(); };
    if (!operation->before.empty() || std::ranges::any_of(operation->repeated, touchesHost)) expand(*operation);
    if (operation->repeated.empty()) operation->sites.clear();
    for (Touched& t : operation->touched) t.bytes.compress();
    compareNodes(*operation, findings);
    compareWithOthers(*operation, findings);
    operation->hostUse = hostUseOf(*operation);
    if (order_.isBeforeHost(point)) retire();
  }
  hasRun(point);
}

void Operations::compareWithOthers(Operation& operation, Findings& findings) {
  if (operation.signalsHost) return;
  bool isLater = false;  // is `other` submitted later?
  for (Operation& other : all_) {
    if (&other == &operation) {
      isLater = true;
      continue;
    }
    if (!other.hasEnded || other.signalsHost || order_.isBefore(operation.point, other.point) ||
        order_.isBefore(other.point, operation.point))
      continue;
    expand(operation), expand(other);
    isLater ? compare(operation, other, findings) : compare(other, operation, findings);
  }
}

namespace {

bool isConflict(bool oneWrites, bool otherWrites, bool areStrong, bool mayWaitForEachOther) {
  return (oneWrites || otherWrites) && !areStrong && !mayWaitForEachOther;
}

}  // namespace

void Operations::compareNodes(Operation& operation, Findings& findings) {
  if (operation.before.empty()) return;
  const auto areOrdered = [&](const Touched& a, const Touched& b) {
    const auto [low, high] = std::minmax(a.node, b.node);
    return low == high || (operation.before[high].size() > low && operation.before[high][low]);
  };
  for (auto a = operation.touched.begin(); a != operation.touched.end(); ++a)
    for (auto b = std::next(a); b != operation.touched.end(); ++b) {
      if (areOrdered(*a, *b)) continue;
      if (!isConflict(a->use != Use::Read, b->use != Use::Read, a->isStrong && b->isStrong,
                      a->isOrdering && b->isOrdering))
        continue;
      if (const auto address = a->bytes.firstCommon(b->bytes)) report(operation, *a, operation, *b, *address, findings);
    }
}

void Operations::compare(const Operation& one, const Operation& other, Findings& findings) {
  for (const Touched& a : one.touched)
    for (const Touched& b : other.touched) {
      if (!isConflict(a.use != Use::Read, b.use != Use::Read, a.isStrong && b.isStrong, a.isOrdering && b.isOrdering))
        continue;
      if (const auto address = a.bytes.firstCommon(b.bytes)) report(one, a, other, b, *address, findings);
    }
}

/// An operation goes when all that may still be compared with it is behind it.
void Operations::retire() {
  const auto isBehind = [this](const Operation& operation) {
    return std::ranges::all_of(
        all_, [&](const Operation& other) { return other.hasEnded || order_.isBefore(operation.point, other.point); });
  };
  for (auto it = all_.begin(); it != all_.end();) {
    const bool goes = it->hasEnded && order_.isBeforeHost(it->point) && isBehind(*it);
    if (goes) index_.erase({it->point.stream, it->point.number});
    it = goes ? all_.erase(it) : std::next(it);
  }
}

/// The memory is counted now and then, since that takes time.
void Operations::limit() {
  const auto footprintOf = [](const Operation& operation) {
    uint64_t bytes = 0;
    for (const Touched& t : operation.touched) bytes += t.bytes.footprint();
    for (const Repeated& r : operation.repeated) bytes += r.uses ? r.uses->footprint() : 0;
    return bytes;
  };
  uint64_t bytes = 0;
  if (all_.size() % 64 == 0)
    for (const Operation& operation : all_) bytes += footprintOf(operation);
  for (auto it = all_.begin(); it != all_.end() && (all_.size() > kMostOperations || bytes > kMostBytes);) {
    if (!it->hasEnded) {
      ++it;
      continue;
    }
    bytes -= std::min(bytes, footprintOf(*it));
    index_.erase({it->point.stream, it->point.number});
    it = all_.erase(it);
  }
}

/// Operations of the stream that have not ended by now were dropped because of an error.
void Operations::hostWaited(StreamPoint point) {
  order_.hostWaited(point);
  order_.forget(point);
  for (auto it = all_.begin(); it != all_.end();) {
    const bool isGone = !it->hasEnded && it->point.stream == point.stream && it->point.number <= point.number;
    if (isGone) index_.erase({it->point.stream, it->point.number});
    it = isGone ? all_.erase(it) : std::next(it);
  }
  retire();
  guardHost();
}

void Operations::hostWaitedForAll(uint64_t context) {
  order_.hostWaitedForAll(context);
  retire();
  guardHost();
}

// --- memory that comes and goes

/// What was there before has nothing to do with it.
void Operations::allocated(const machine::Allocation& a) {
  if (a.kind == machine::MemoryKind::Registered) return;
  freed_.erase(freed_.lower_bound(a.address), freed_.lower_bound(a.address + a.bytes));
  for (Operation& operation : all_) {
    const auto isThere = [&](const Object& o) {
      return o.begin < a.address + a.bytes && a.address < o.begin + o.bytes;
    };
    const auto knows = [&](const Repeated& r) {
      bool isAny = r.proof && std::ranges::any_of(r.proof->objects(), isThere);
      if (r.uses) r.uses->forEachAllocation([&](uint64_t begin, uint64_t bytes) { isAny |= isThere({begin, bytes}); });
      return isAny;
    };
    if (std::ranges::any_of(operation.repeated, knows)) expand(operation);
    for (Touched& t : operation.touched) t.bytes.remove(a.address, a.bytes);
  }
}

void Operations::freed(StreamPoint point, const machine::Allocation& a, Findings& findings) {
  hostMemoryFreed(a);
  if (point.number) {
    if (const Operation* const operation = find(point))
      freed_[a.address] = {point, sideOf(*operation, "free", a.bytes)};
    return;
  }
  const auto call = callSiteHere();
  const bool isFree = call && (call->call == "cudaFree" || call->call.starts_with("cuMemFree"));
  if (!isFree || a.isModules) return;
  Operation host{.point = {}, .context = 0, .isBlocking = true, .kind = Kind::Free, .name = {}, .call = call};
  Touched touched{.use = Use::Lifetime, .side = sideOf(host, "free", a.bytes)};
  touched.side.operation = "the host";
  touched.bytes.add(a.address, a.bytes);
  host.touched.push_back(std::move(touched));
  for (Operation& operation : all_)
    if (operation.hasEnded && operation.kind != Kind::Allocation && !operation.signalsHost &&
        !order_.isBeforeHost(operation.point))
      expand(operation), compare(operation, host, findings);
}

bool Operations::addLateUse(StreamPoint point, const machine::Allocation& gone, Side use, Findings& findings) {
  const auto freed = freed_.find(gone.address);
  const Operation* const operation = find(point);
  if (freed == freed_.end() || !operation || order_.isBefore(freed->second.by, point)) return false;
  Touched a{.use = Use::Lifetime, .side = freed->second.side};
  Touched b{.use = Use::Write, .side = std::move(use)};
  b.side.operation = nameOf(*operation);
  b.side.kernel = operation->name;
  b.side.call = operation->call;
  report(*operation, b, *operation, a, gone.address, findings);
  return true;
}

// --- reports

/// Only what is certain.
std::string Operations::help(const Operation& one, const Operation& other) {
  if (one.point.stream == other.point.stream) return "";
  const bool isSynchronous = one.call && !one.call->call.empty() && one.call->call.find("Async") == std::string::npos;
  if (isSynchronous && (one.kind == Kind::Fill || one.kind == Kind::Copy))
    return fmt::format("{} on device memory may return before it is done, and only blocking streams wait for it",
                       one.call->call);
  const auto isLegacy = [](const Operation& o) { return o.point.stream == o.context; };
  if (isLegacy(one) || isLegacy(other)) return "non-blocking streams do not wait for the legacy default stream";
  return fmt::format("no event orders stream {} behind stream {}", other.point.stream, one.point.stream);
}

void Operations::report(const Operation& one, const Touched& a, const Operation& other, const Touched& b,
                        uint64_t address, Findings& findings) {
  const bool isLifetime = a.use == Use::Lifetime || b.use == Use::Lifetime, isHost = other.point.number == 0;
  const Rule rule = isLifetime       ? Rule::RaceLifetime
                    : isHost         ? Rule::RaceHost
                    : &one == &other ? Rule::RaceGraph
                                     : Rule::RaceStream;
  std::string key = keyOf(a.side) + "|" + keyOf(b.side);
  findings.add({rule, std::move(key), 0, 0}, [&] {
    Finding f;
    f.rule = rule;
    f.kernel = b.side.kernel.empty() ? a.side.kernel : b.side.kernel;
    f.message = rule == Rule::RaceGraph    ? "two nodes of a graph use the same bytes and no edge orders them"
                : rule == Rule::RaceStream ? "two operations use the same bytes and nothing orders them"
                : rule == Rule::RaceHost   ? "the host uses bytes of an operation that it has not waited for"
                                           : "nothing orders an operation and the allocation or free of its memory";
    f.sides = {a.side, b.side};
    f.object = machine::allocations().find(address)
                   ? Launch::describe(address)
                   : fmt::format("{:#x}, in an allocation that is freed by now", address);
    f.help = rule == Rule::RaceHost ? ""
             : isHost               ? "cudaFree() does not wait for operations on memory from cudaMallocAsync()"
                                    : help(one, other);
    f.call = b.side.call ? b.side.call : a.side.call;
    return f;
  });
}

}  // namespace ordito::check
