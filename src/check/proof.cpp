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

std::shared_ptr<Proof> Proof::of(const machine::LaunchEvent& event, std::shared_ptr<Launch> launch, bool checksValues) {
  if (!launch->hasUnorderedBlocks() || launch->takesHeap() || event.grid.count() > kMostBlocks) return nullptr;
  auto plan = ProofPlan::of(event);
  if (!plan) return nullptr;
  const BlockNumber grid{event.grid.x, event.grid.y, event.grid.z};
  return std::shared_ptr<Proof>(new Proof(std::move(*plan), std::move(launch), grid, checksValues));
}

std::shared_ptr<Proof> Proof::again() const {
  return std::shared_ptr<Proof>(new Proof(plan_, launch_, grid_, checksValues_));
}

// --- while blocks run

namespace {

int64_t floorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

/// Limits are straight lines, so a class has one run of blocks in each row of the grid.
uint32_t Proof::alikeInRow(Class& one, const BlockNumber& block, uint32_t count) const {
  if (!one.limits) {
    one.limits.emplace();
    for (const auto& [line, margin] : one.margins) margin.addLimits(*one.limits);
  }
  int64_t last = int64_t{count} - 1;  // how many steps further all limits hold
  for (const Limit& limit : *one.limits) {
    const int64_t here = distance(limit.step, one.first, block), by = limit.step[0];
    if (here < limit.low || here > limit.high) return 0;
    if (by > 0 && limit.high != INT64_MAX) last = std::min(last, floorOf(limit.high - here, by));
    if (by < 0 && limit.low != INT64_MIN) last = std::min(last, floorOf(here - limit.low, -by));
  }
  return static_cast<uint32_t>(last + 1);
}

uint32_t Proof::alike(const machine::BlockFrame& frame, uint32_t count) {
  if (!isOpen_) return count;
  if (!knowsOpenObjects_) findOpenObjects(frame);
  const BlockNumber block{frame.ctaid[0], frame.ctaid[1], frame.ctaid[2]};
  const auto found = classOf_.begin() + static_cast<std::ptrdiff_t>(numberOf(frame));
  count = std::min(count, grid_[0] - block[0]);
  for (size_t k = 0; k < classes_.size(); ++k) {
    const auto c = static_cast<uint8_t>((last_ + k) % classes_.size());
    const uint32_t length = alikeInRow(classes_[c], block, count);
    if (!length) continue;
    std::fill_n(found, length, last_ = c);
    return length;
  }
  if (classes_.size() == kMostClasses) return giveUp(), count;
  *found = last_ = static_cast<uint8_t>(classes_.size());
  lastOperands_.clear();
  classes_.push_back({block, {}, {}, {}});
  return 0;
}

void Proof::comesToGuard(const machine::OperandsEvent& event) {
  if (!isOpen_ || classes_.empty()) return;
  const auto guard = plan_.guards.find(event.at.line);
  if (guard == plan_.guards.end()) return;
  const bool isChosen = plan_.chosen.contains(event.at.line);
  GuardMargin& margin = classes_.back().margins.try_emplace(event.at.line, guard->second).first->second;
  forEachLane(event.at.lanes, [&](uint32_t lane) {
    const uint32_t thread = event.at.warp * machine::kWarpSize + lane;
    margin.add(thread, event.a[lane], event.b[lane], lastOperands_);
    if (isChosen) lastOperands_.set(event.at.line, thread, event.a[lane], event.b[lane]);
  });
}

/// Null: nothing can be said of it.
Proof::Site* Proof::siteOf(const AccessEvent& access, bool writes) {
  auto& sites = classes_.back().sites;
  if (const auto it = sites.find({access.at.line, writes}); it != sites.end()) return &it->second;
  std::optional<Object> object = launch_->objectOf(access);
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

void Proof::touch(const AccessEvent& access, bool writes, const uint32_t* sizes) {
  Site* const site = siteOf(access, writes);
  if (!site) return giveUp();
  site->bytes = std::max(site->bytes, access.bytes);
  bool fits = true;
  if (const uint64_t bytes = sizes ? 0 : bytesInOnePiece(access)) {
    fits = site->touched.add(access.addressOf(static_cast<uint32_t>(std::countr_zero(access.at.lanes))), bytes);
  } else {
    forEachLane(access.at.lanes, [&](uint32_t lane) {
      const uint32_t size = sizes ? sizes[lane] : access.bytes;
      if (size) fits &= site->touched.add(access.addressOf(lane), size);
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
    isWritten &= machine::undefinedMemory()->isDefined(window + access.addressOf(lane), bytes);
  });
  return isWritten;
}

void Proof::accessed(const AccessEvent& access, bool isWritten) {
  if (!isOpen_ || classes_.empty()) return;
  if (checksValues_ && !isWritten && !readsWhatIsWritten(access)) return giveUp();
  const bool isOwn = access.space == AccessSpace::Shared || access.space == AccessSpace::Local;
  if (may_ && access.space == AccessSpace::Shared) touchAll(access);
  if (plan_.covering.contains(access.at.line)) mayStore(access);
  if (plan_.open.contains(access.at.line)) return touchOpen(access);
  if (plan_.covered.contains(access.at.line)) return;
  if (plan_.textures.contains(access.at.line)) return;
  const auto step = plan_.sites.find(access.at.line);
  const bool isCopy = access.kind == AccessKind::Copy;
  if (step == plan_.sites.end() || access.kind == AccessKind::Mbarrier || (isOwn && step->second != ir::BlockStep{}))
    return giveUp();
  if (isCopy && (isOwn || access.toSpace != AccessSpace::Shared)) return giveUp();
  if (isOwn) return;
  if (isAtomic(access.kind) && !isWide(access.scope)) return giveUp();
  touch(access, doesWrite(access.kind), isCopy ? access.copied : nullptr);
}

// --- when the classes are known

bool Proof::holds() {
  if (!isOpen_) return false;
  giveUp();  // nobody is watched any more
  for (Class& c : classes_) {
    std::erase_if(c.sites, [](const auto& entry) { return entry.second.touched.ranges().empty(); });
    for (auto& [key, site] : c.sites) site.touched.finish();
  }
  if (!collectObjects() || !areOpenObjectsFine() || !staysInside()) return false;
  for (size_t k = 0; k < written_; ++k)
    if (!isRaceFree(objects_[k])) return false;
  return !checksValues_ || isDefined();
}

/// Objects that overlap (a variable, and the allocation that it lies in) are one to memory, so nothing is said of them.
bool Proof::collectObjects() {
  std::map<uint64_t, std::pair<Object, bool>> all;
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      all.try_emplace(site.object.begin, site.object, false).first->second.second |= site.writes;
  for (const auto& [begin, open] : openObjects_)
    all.try_emplace(begin, open.object, false).first->second.second |= open.isChanged;
  uint64_t end = 0;
  for (const auto& [begin, object] : all) {
    if (begin < end) return false;
    end = begin + object.first.bytes;
  }
  for (const bool writes : {true, false}) {
    for (const auto& [begin, object] : all)
      if (object.second == writes) objects_.push_back(object.first);
    if (writes) written_ = objects_.size();
  }
  return true;
}

bool Proof::staysInside() const {
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      if (!staysInside(c, site)) return false;
  return true;
}

/// If the corners of the grid do, all blocks do; else each of the class is asked.
bool Proof::staysInside(const Class& c, const Site& site) const {
  const int64_t unit = std::has_single_bit(site.bytes) && site.bytes <= 32 ? int64_t{site.bytes} : 1;
  if (!std::ranges::all_of(site.step, [&](int64_t step) { return step % unit == 0; })) return false;
  const uint64_t low = site.touched.low(), bytes = site.touched.high() - low;
  int64_t least = 0, most = 0;
  for (size_t d = 0; d < site.step.size(); ++d) {
    const int64_t begin = site.step[d] * -int64_t{c.first[d]}, end = begin + site.step[d] * int64_t{grid_[d] - 1};
    least += std::min(begin, end), most += std::max(begin, end);
  }
  if (site.object.contains(low + static_cast<uint64_t>(least), bytes + static_cast<uint64_t>(most - least)))
    return true;
  return forEachBlock([&](uint8_t of, const BlockNumber& block) {
    const auto by = static_cast<uint64_t>(distance(site.step, c.first, block));
    return of != &c - classes_.data() || site.object.contains(low + by, bytes);
  });
}

/// Do the blocks that were not watched read what has been written, and have those that were written what is defined?
/// What a block has itself written before counts only if it was there before the launch, too.
bool Proof::isDefined() const {
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      for (const Range& r : site.touched.ranges())
        if (!machine::undefinedMemory()->isDefined(r.begin, r.end - r.begin)) return false;
  std::map<uint64_t, bool> isWhole;  // by the object's begin
  for (const Object& o : objects_) isWhole[o.begin] = machine::undefinedMemory()->isDefined(o.begin, o.bytes);
  bool are = true;
  forEachUnwatched(
      [&](const Site&, const Range& r) {
        are = are && machine::undefinedMemory()->isDefined(r.begin, r.end - r.begin);
      },
      [&](const Site& site) { return (!site.writes || site.isStrong) && !isWhole.at(site.object.begin); });
  return are;
}

void Proof::define() const {
  forEachUnwatched([](const Site& site,
                      const Range& r) { machine::undefinedMemory()->define(r.begin, r.end - r.begin, site.bytes); },
                   [&](const Site& site) {
                     return site.writes && !machine::undefinedMemory()->isDefined(site.object.begin, site.object.bytes);
                   });
}

// --- races between blocks

bool Proof::isRaceFree(const Object& object) const {
  if (forEachSite(object, [](const Class&, const Site& site) { return site.isStrong; })) return true;
  const std::optional<bool> answer = liesApart(object);
  return answer && *answer ? true : comparesBlocks(object);
}

namespace {

/// Do the first, and the second shifted by so much, have a byte in common?
bool overlap(const Footprint& one, const Footprint& other, int64_t by) {
  const auto shift = static_cast<uint64_t>(by);
  auto a = one.ranges().begin(), b = other.ranges().begin();
  while (a != one.ranges().end() && b != other.ranges().end()) {
    if (a->end <= b->begin + shift)
      ++a;
    else if (b->end + shift <= a->begin)
      ++b;
    else
      return true;
  }
  return false;
}

}  // namespace

/// Where all sites of the object shift alike, it is enough to look at the distances between two blocks at which they
/// could meet at all: few, since most blocks are further from each other than a block is long. All blocks are taken to
/// do what any of them does. Nothing: they do not shift alike, or there are too many distances.
std::optional<bool> Proof::liesApart(const Object& object) const {
  constexpr int64_t kMostTests = 4096;
  std::optional<ir::BlockStep> common;
  Footprint written, atomic, read, all;
  const bool isAlike = forEachSite(object, [&](const Class& c, const Site& site) {
    if (common && *common != site.step) return false;
    common = site.step;
    const auto home = static_cast<uint64_t>(distance(site.step, c.first, BlockNumber{}));
    for (const Range& r : site.touched.ranges()) {
      (!site.writes ? read : site.isStrong ? atomic : written).add(r.begin + home, r.end - r.begin);
      all.add(r.begin + home, r.end - r.begin);
    }
    return true;
  });
  if (!isAlike) return std::nullopt;
  if (!common) return true;
  for (Footprint* f : {&written, &atomic, &read, &all}) f->finish();
  std::array<size_t, 3> d{0, 1, 2};  // the innermost loop is over the longest side of the grid
  std::ranges::sort(d, std::greater(), [&](size_t k) { return grid_[k]; });
  const auto side = [&](size_t k) { return int64_t{grid_[d[k]]} - 1; };
  const auto step = [&](size_t k) { return (*common)[d[k]]; };
  const auto span = static_cast<int64_t>(all.high() - all.low());
  if ((2 * side(2) + 1) * (2 * side(1) + 1) > kMostTests) return std::nullopt;
  int64_t tests = 0;
  for (int64_t z = -side(2); z <= side(2); ++z)
    for (int64_t y = -side(1); y <= side(1); ++y) {
      const int64_t rest = z * step(2) + y * step(1), by = step(0);
      int64_t first = -side(0), last = side(0);
      if (by == 0 && std::abs(rest) >= span) continue;
      if (by != 0) {  // |rest + x × by| < span
        const int64_t low = by > 0 ? -span + 1 - rest : span - 1 - rest,
                      high = by > 0 ? span - 1 - rest : -span + 1 - rest;
        first = std::max(first, -floorOf(-low, by)), last = std::min(last, floorOf(high, by));
      }
      for (int64_t x = first; x <= last; ++x) {
        if (x == 0 && y == 0 && z == 0) continue;
        if (++tests > kMostTests) return std::nullopt;
        const int64_t shift = rest + x * by;
        if (overlap(written, all, shift) || overlap(atomic, read, shift)) return false;
      }
    }
  return true;
}

/// Block after block is compared with what all before it have done.
bool Proof::comparesBlocks(const Object& object) const {
  uint64_t odd = 64;  // the lowest bit that is set tells the unit
  forEachSite(object, [&](const Class&, const Site& site) {
    for (const int64_t step : site.step) odd |= static_cast<uint64_t>(step);
    for (const Range& r : site.touched.ranges()) odd |= (r.begin - object.begin) | (r.end - object.begin);
    return true;
  });
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
