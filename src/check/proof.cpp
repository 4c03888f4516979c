// See proof.hpp.
#include "check/proof.hpp"

#include <algorithm>
#include <bit>

#include "check/touch.hpp"
#include "machine/lanes.hpp"
#include "machine/memory.hpp"
#include "machine/undefined.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::forEachLane;

std::unique_ptr<Proof> Proof::of(const machine::LaunchEvent& event, Launch& launch, bool checksValues) {
  if (!launch.hasUnorderedBlocks() || launch.takesHeap() || event.grid.count() > kMostBlocks) return nullptr;
  auto plan = ProofPlan::of(event);
  if (!plan) return nullptr;
  std::unique_ptr<Proof> proof(new Proof(std::move(*plan), launch, event.grid, checksValues));
  proof->classOf_.resize(event.grid.count());
  return proof;
}

// --- while blocks run

bool Proof::isLike(const Class& one, const BlockNumber& block) const {
  return std::ranges::all_of(plan_.guards, [&](const auto& entry) {
    const auto& [line, guard] = entry;
    const auto margin = one.margins.find(line);
    return margin == one.margins.end() ||
           margin->second.holds(guard.what, distance(guard.a, one.first, block), distance(guard.b, one.first, block));
  });
}

bool Proof::isLikeAnother(const machine::BlockFrame& frame) {
  if (!isOpen_) return true;
  const BlockNumber block{frame.ctaid[0], frame.ctaid[1], frame.ctaid[2]};
  uint8_t& found = classOf_[numberOf(frame)];
  for (size_t c = classes_.size(); c-- > 0;)
    if (isLike(classes_[c], block)) return found = static_cast<uint8_t>(c), true;
  if (classes_.size() == kMostClasses) return giveUp(), true;
  found = static_cast<uint8_t>(classes_.size());
  classes_.push_back({block, {}, {}});
  return false;
}

void Proof::comesToGuard(const machine::OperandsEvent& event) {
  if (!isOpen_ || classes_.empty()) return;
  const auto guard = plan_.guards.find(event.at.line);
  if (guard == plan_.guards.end()) return;
  Margin& margin = classes_.back().margins[event.at.line];
  forEachLane(event.at.lanes,
              [&](uint32_t lane) { margin.add(guard->second.what.kind, event.a[lane], event.b[lane]); });
}

/// Null: nothing can be said of it.
Proof::Site* Proof::siteOf(const AccessEvent& access, bool writes) {
  auto& sites = classes_.back().sites;
  if (const auto it = sites.find({access.at.line, writes}); it != sites.end()) return &it->second;
  std::optional<Object> object = launch_.objectOf(access);
  if (!object) {
    const uint64_t address = access.addressOf(static_cast<uint32_t>(std::countr_zero(access.at.lanes)));
    const auto allocation = machine::allocations().find(address);
    if (!allocation) return nullptr;
    object = Object{.begin = allocation->address, .bytes = allocation->bytes};
  }
  Site site{&access.at.function,
            access.at.line,
            writes,
            isStrong(access),
            access.bytes,
            plan_.sites.at(access.at.line),
            *object,
            {}};
  return &sites.try_emplace({access.at.line, writes}, std::move(site)).first->second;
}

void Proof::touch(const AccessEvent& access, bool writes, const uint64_t* addresses, const uint32_t* sizes) {
  Site* const site = siteOf(access, writes);
  if (!site) return giveUp();
  site->bytes = std::max(site->bytes, access.bytes);
  bool fits = true;
  if (const uint64_t bytes = addresses || sizes ? 0 : bytesInOnePiece(access)) {
    fits = site->touched.add(access.addressOf(static_cast<uint32_t>(std::countr_zero(access.at.lanes))), bytes);
  } else {
    forEachLane(access.at.lanes, [&](uint32_t lane) {
      const uint32_t size = sizes ? sizes[lane] : access.bytes;
      if (size) fits &= site->touched.add(addresses ? addresses[lane] : access.addressOf(lane), size);
    });
  }
  if (!fits) giveUp();
}

/// A block that reads what nobody has written and makes nothing of it says nothing of another.
bool Proof::readsWhatIsWritten(const AccessEvent& access) const {
  if (doesWrite(access.kind) && !isAtomic(access.kind)) return true;
  const uint64_t window = access.space == AccessSpace::Shared ? reinterpret_cast<uint64_t>(access.at.frame.shared) : 0;
  bool isWritten = true;
  forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint32_t bytes = access.copied ? access.copied[lane] : access.bytes;
    if (bytes) isWritten &= machine::undefinedMemory()->runs(window + access.addressOf(lane), bytes).empty();
  });
  return isWritten;
}

void Proof::accessed(const AccessEvent& access) {
  if (!isOpen_ || classes_.empty()) return;
  const auto step = plan_.sites.find(access.at.line);
  const bool isOwn = access.space == AccessSpace::Shared || access.space == AccessSpace::Local;
  const bool isCopy = access.kind == AccessKind::Copy;
  if (step == plan_.sites.end() || access.kind == AccessKind::Mbarrier || (isOwn && step->second != ir::BlockStep{}))
    return giveUp();
  if (checksValues_ && !readsWhatIsWritten(access)) return giveUp();
  if (isCopy && (isOwn || access.toSpace != AccessSpace::Shared)) return giveUp();
  if (isOwn) return;
  if (isAtomic(access.kind) && !isWide(access.scope)) return giveUp();
  touch(access, doesWrite(access.kind), nullptr, isCopy ? access.copied : nullptr);
}

// --- when the classes are known

bool Proof::holds() {
  if (!isOpen_) return false;
  giveUp();  // nobody is watched any more
  for (Class& c : classes_) {
    std::erase_if(c.sites, [](const auto& entry) { return entry.second.touched.ranges().empty(); });
    for (auto& [key, site] : c.sites) site.touched.finish();
  }
  return staysInside() && isRaceFree() && (!checksValues_ || isDefined());
}

/// Of a site's ranges the first and the last say it.
bool Proof::staysInside() const {
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites) {
      const int64_t unit = std::has_single_bit(site.bytes) && site.bytes <= 32 ? int64_t{site.bytes} : 1;
      if (!std::ranges::all_of(site.step, [&](int64_t step) { return step % unit == 0; })) return false;
    }
  return forEachBlock([&](uint8_t of, const BlockNumber& block) {
    const Class& c = classes_[of];
    return std::ranges::all_of(c.sites, [&](const auto& entry) {
      const Site& site = entry.second;
      const auto by = static_cast<uint64_t>(distance(site.step, c.first, block));
      return site.object.contains(site.touched.low() + by, site.touched.high() - site.touched.low());
    });
  });
}

/// Do the blocks that were not watched read what has been written, and have those that were written what is defined?
/// What a block has itself written before counts only if it was there before the launch, too.
bool Proof::isDefined() const {
  const machine::UndefinedMemory& undefined = *machine::undefinedMemory();
  const auto isWritten = [&](const Range& r) { return undefined.runs(r.begin, r.end - r.begin).empty(); };
  bool are = true;
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      for (const Range& r : site.touched.ranges()) are &= isWritten(r);
  forEachUnwatched([&](const Site& site, const Range& r) {
    if (!site.writes || site.isStrong) are = are && isWritten(r);
  });
  return are;
}

bool Proof::isRaceFree() const {
  std::map<uint64_t, Object> written;
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      if (site.writes) written.try_emplace(site.object.begin, site.object);
  // Objects that overlap (a variable, and the allocation that it lies in) are one to memory.
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      for (const auto& [begin, object] : written)
        if (site.object.begin != begin && site.object.begin < begin + object.bytes &&
            begin < site.object.begin + site.object.bytes)
          return false;
  return std::ranges::all_of(written, [&](const auto& entry) { return isRaceFree(entry.second); });
}

/// Does each block lie behind all blocks before it? Then no two of them touch one byte.
bool Proof::ascends(const Object& object) const {
  uint64_t last = 0;
  return forEachBlock([&](uint8_t of, const BlockNumber& block) {
    const Class& c = classes_[of];
    uint64_t low = UINT64_MAX, high = 0;
    for (const auto& [key, site] : c.sites) {
      if (site.object.begin != object.begin) continue;
      const auto by = static_cast<uint64_t>(distance(site.step, c.first, block));
      low = std::min(low, site.touched.low() + by), high = std::max(high, site.touched.high() + by);
    }
    if (high == 0) return true;
    if (low < last) return false;
    last = high;
    return true;
  });
}

/// Block after block is compared with what all before it have done.
bool Proof::isRaceFree(const Object& object) const {
  bool areAllStrong = true;
  uint64_t odd = 64;  // the lowest bit that is set tells the unit
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites) {
      if (site.object.begin != object.begin) continue;
      areAllStrong &= site.isStrong;
      for (const int64_t step : site.step) odd |= static_cast<uint64_t>(step);
      for (const Range& r : site.touched.ranges()) odd |= (r.begin - object.begin) | (r.end - object.begin);
    }
  if (areAllStrong || ascends(object)) return true;
  const auto shift = static_cast<unsigned>(std::countr_zero(odd));
  Marks written(object.bytes, shift), atomic(object.bytes, shift), read(object.bytes, shift);
  const auto marksOf = [&](const Site& site) -> Marks& {
    return site.writes ? site.isStrong ? atomic : written : read;
  };
  const auto forEachRange = [&](const Class& c, const BlockNumber& block, auto visit) {
    for (const auto& [key, site] : c.sites) {
      if (site.object.begin != object.begin) continue;
      const uint64_t by = static_cast<uint64_t>(distance(site.step, c.first, block)) - object.begin;
      for (const Range& r : site.touched.ranges())
        if (!visit(site, r.begin + by, r.end + by)) return false;
    }
    return true;
  };
  return forEachBlock([&](uint8_t of, const BlockNumber& block) {
    const Class& c = classes_[of];
    const bool isAlone = forEachRange(c, block, [&](const Site& site, uint64_t begin, uint64_t end) {
      const bool isPlain = site.writes && !site.isStrong;
      return !written.any(begin, end) && (!site.writes || !read.any(begin, end)) &&
             (!(isPlain || !site.writes) || !atomic.any(begin, end));
    });
    forEachRange(c, block,
                 [&](const Site& site, uint64_t begin, uint64_t end) { return marksOf(site).set(begin, end), true; });
    return isAlone;
  });
}

}  // namespace ordito::check
