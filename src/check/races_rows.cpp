// The quick way of races.hpp: an instruction of a warp is compared with others as a whole, for each row of memory that
// it touches. Two stamps cannot race if all threads of the block have met between them, if each byte belongs to the
// same thread in both, if neither writes, or if both are strong enough. Where none of that helps the row is spread, and
// races.cpp compares its words. What is written by lanes that overlap is spread at once.
#include <algorithm>
#include <bit>

#include "check/launch.hpp"
#include "check/races.hpp"
#include "machine/lanes.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::forEachLane;

namespace {

// Entries of a row, beyond which they are thinned: of shared memory until the next barrier, of global memory until the
// launch ends. What only reads, or only atomic operations, have touched is looked through by nobody until something
// else comes, so there may be more.
constexpr uint32_t kMostShared = 512, kMostGlobal = 128, kMostOfOneKind = 4096;
constexpr uint32_t kWidest = 32;  // bytes of a lane

/// As forEachLane, and quicker where all lanes are on.
template <class Body>
void forEach(uint32_t lanes, Body body) {
  if (lanes != ~0u) return forEachLane(lanes, body);
  for (uint32_t lane = 0; lane < machine::kWarpSize; ++lane) body(lane);
}

}  // namespace

/// Neighbours of the warp are mostly in the same row, so only the last is looked at; a row may have several parts.
void Races::Parts::add(uint64_t row, const ByteMask& mask) {
  if (count && all[count - 1].row == row) {
    isInjective &= !(all[count - 1].mask & mask).any();
    all[count - 1].mask = all[count - 1].mask | mask;
    return;
  }
  for (uint32_t k = 0; isInjective && k < count; ++k) isInjective = all[k].row != row || !(all[k].mask & mask).any();
  all[count++] = {row, mask};
}

void Races::Parts::addRange(uint64_t address, uint64_t bytes) {
  for (const uint64_t end = address + bytes; address < end;) {
    const uint64_t row = address / kRowBytes, last = std::min(end, (row + 1) * kRowBytes);
    add(row,
        ByteMask::range(static_cast<uint32_t>(address % kRowBytes), static_cast<uint32_t>(last - row * kRowBytes)));
    address = last;
  }
}

void Races::findParts(const AccessEvent& access, Parts& parts) {
  const uint32_t lanes = access.at.lanes;
  if (const uint64_t bytes = bytesInOnePiece(access)) {
    parts.addRange(access.addressOf(static_cast<uint32_t>(std::countr_zero(lanes))), bytes);
    parts.isInjective = access.stride != 0 || std::has_single_bit(lanes);
  } else {
    uint64_t before = ~uint64_t{0};
    forEachLane(lanes, [&](uint32_t lane) {
      const uint64_t address = access.addressOf(lane), offset = address % kRowBytes;
      if (address == before)
        parts.isInjective = false;
      else if (offset + access.bytes <= kRowBytes)
        parts.add(address / kRowBytes, ByteMask::few(static_cast<uint32_t>(offset), access.bytes));
      else
        parts.addRange(address, access.bytes);
      before = address;
    });
  }
}

/// Not: copies, whose agents come to no barrier; mbarriers; global memory of kernels that order their blocks, or that
/// take memory from the heap, where each address is asked for.
bool Races::canUseRows(const AccessEvent& access) const {
  if (shared_->isByLane || access.kind == AccessKind::Copy || access.kind == AccessKind::Mbarrier) return false;
  if (access.bytes == 0 || access.bytes > kWidest) return false;
  return access.space == AccessSpace::Shared ||
         (access.space == AccessSpace::Global && launch_.hasUnorderedBlocks() && !launch_.takesHeap());
}

/// Nothing if the addresses are too far apart for one.
std::optional<uint32_t> Races::stampOf(const AccessEvent& access, const Block& block, Shadow& shadow,
                                       const Parts& parts) const {
  const uint32_t lanes = access.at.lanes, first = access.at.warp * machine::kWarpSize,
                 one = static_cast<uint32_t>(std::countr_zero(lanes));
  Stamp s{.block = numberOf(access.at.frame),
          .base = access.addresses ? access.addresses[one] : access.base,
          .stride = access.addresses ? 0 : access.stride,
          .function = &access.at.function,
          .member = self_,
          .line = access.at.line,
          .warp = access.at.warp,
          .lanes = lanes,
          .size = access.bytes,
          .interval = block.clocks.meetings(),
          .at = block.clocks.now(first + one),
          .kind = access.kind,
          .scope = access.scope,
          .writes = doesWrite(access.kind),
          .isStrong = isStrong(access),
          .isInjective = parts.isInjective,
          .offsets = 0,
          .clocks = 0,
          .values = 0,
          .highValues = 0,
          .entries = 1};
  const auto keep = [&](auto numberOfLane) {
    const uint32_t kept = shadow.lanes().add();
    Lanes& all = shadow.lanes()[kept];
    forEach(lanes, [&](uint32_t lane) { all[lane] = static_cast<uint32_t>(numberOfLane(lane)); });
    return kept;
  };
  if (access.addresses) {
    bool isNear = true;
    forEach(lanes, [&](uint32_t lane) { isNear &= access.addresses[lane] - s.base + INT32_MAX < UINT32_MAX; });
    if (!isNear) return std::nullopt;
    s.offsets = keep([&](uint32_t lane) { return access.addresses[lane] - s.base; });
  }
  bool isOneClock = true;
  if (!block.clocks.areEven())
    forEachLane(lanes, [&](uint32_t lane) { isOneClock &= block.clocks.now(first + lane) == s.at; });
  if (!isOneClock) s.clocks = keep([&](uint32_t lane) { return block.clocks.now(first + lane); });
  if (access.stored) {
    s.values = keep([&](uint32_t lane) { return access.stored[lane]; });
    if (access.bytes > 4) s.highValues = keep([&](uint32_t lane) { return access.stored[lane] >> 32; });
  }
  const uint32_t number = shadow.stamps().add();
  shadow.stamps()[number] = s;
  return number;
}

void Races::accessedByRow(const AccessEvent& access, Block& block, Findings& findings) {
  Shadow& shadow = shadowOf(block, access.space);
  Parts parts;
  findParts(access, parts);
  const auto stamp = stampOf(access, block, shadow, parts);
  if (!stamp) return accessedByLane(access, block, findings);
  const bool overlaps = doesWrite(access.kind) && !isStrong(access) && !parts.isInjective;
  for (uint32_t k = 0; k < parts.count; ++k) {
    const Part& part = parts.all[k];
    if (overlaps || !enter(block, shadow, shadow.row(part.row), *stamp, part.mask))
      touchPart(access, block, part, findings);
  }
  --shadow.stamps()[*stamp].entries;  // the one of this call
  shadow.dropUnused(*stamp);
}

/// Lane by lane, in one row.
void Races::touchPart(const AccessEvent& access, Block& block, const Part& part, Findings& findings) {
  const uint64_t begin = part.row * kRowBytes, end = begin + kRowBytes;
  forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint64_t address = access.addressOf(lane), from = std::max(address, begin),
                   to = std::min(address + access.bytes, end);
    if (from < to)
      touch(access, access.space, from, static_cast<uint32_t>(to - from), touchOf(access, block, lane), findings);
  });
}

/// Does each byte belong to one thread, the same in both?
bool Races::areStepsOfThreads(const Shadow& shadow, const Stamp& earlier, const Stamp& later) {
  if (earlier.warp != later.warp || !earlier.isInjective || !later.isInjective || earlier.size != later.size)
    return false;
  if (!earlier.offsets && !later.offsets) return earlier.base == later.base && earlier.stride == later.stride;
  const uint32_t both = earlier.lanes & later.lanes;
  if (both != (earlier.lanes | later.lanes)) return false;
  bool areSame = true;
  forEachLane(both, [&](uint32_t l) { areSame &= shadow.addressOf(earlier, l) == shadow.addressOf(later, l); });
  return areSame;
}

/// Of one block: has all of the earlier one happened before all of the later one?
bool Races::areOrdered(const Block& block, const Shadow& shadow, const Stamp& earlier, const Stamp& later) const {
  if (earlier.interval < later.interval || areStepsOfThreads(shadow, earlier, later)) return true;
  const uint32_t from = earlier.warp * machine::kWarpSize, to = later.warp * machine::kWarpSize;
  for (uint32_t mine = later.lanes; mine; mine &= mine - 1)
    for (uint32_t its = earlier.lanes; its; its &= its - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(its));
      if (!block.clocks.knows(to + static_cast<uint32_t>(std::countr_zero(mine)), from + lane,
                              shadow.clockOf(earlier, lane)))
        return false;
    }
  return true;
}

/// False: words must be compared.
bool Races::enter(const Block& block, Shadow& shadow, Shadow::Row& row, uint32_t number, const ByteMask& mask) const {
  if (row.spread) return false;
  const Stamp& now = shadow.stamps()[number];
  const bool isShared = &shadow == &block.shared;
  const auto reaches = [&](const Stamp& s) { return isShared || isWide(s.scope); };
  const bool isOfSize = !isAtomic(now.kind) || row.atomicBytes == 0 || row.atomicBytes == now.size;
  const bool isFirstKind =
      (row.hasOnlyReads && !now.writes) || (row.hasOnlyStrong && now.isStrong && isOfSize && reaches(now));
  for (uint32_t* link = &row.newest; !isFirstKind && *link;) {
    Shadow::Entry& entry = shadow.entries()[*link];
    const Stamp& before = shadow.stamps()[entry.stamp];
    const ByteMask common = entry.mask & mask;
    const bool isOfBlock = before.block == now.block && before.member == now.member;
    const bool conflicts = before.writes || now.writes;
    if (!common.any() || (!conflicts && !isOfBlock)) {
      link = &entry.next;
      continue;
    }
    const bool isOrdered = isOfBlock && entry.stamp != number && areOrdered(block, shadow, before, now);
    const bool isOneSize = before.size == now.size || !isAtomic(before.kind) || !isAtomic(now.kind);
    if (!isOrdered && conflicts &&
        !(before.isStrong && now.isStrong && isOneSize && (isOfBlock || (reaches(before) && reaches(now)))))
      return false;
    // What races with the earlier one then races with this one too, so it may be forgotten.
    const bool isCovered = isOrdered && (now.writes || !before.writes) && (before.isStrong || !now.isStrong);
    if (isCovered) entry.mask = entry.mask.without(common);
    if (entry.mask.any())
      link = &entry.next;
    else
      shadow.remove(row, *link);
  }
  const uint32_t most = !isShared ? kMostGlobal : isFirstKind ? kMostOfOneKind : kMostShared;
  if (row.entries >= most) {
    if (!isFirstKind) return false;
    shadow.thin(row);
    if (row.entries > most / 4 * 3) return false;
  }
  if (row.entries == 0) row.hasOnlyReads = row.hasOnlyStrong = true, row.atomicBytes = 0;
  row.hasOnlyReads &= !now.writes;
  row.hasOnlyStrong &= now.isStrong && isOfSize && reaches(now);
  if (isAtomic(now.kind)) row.atomicBytes = now.size;
  shadow.add(row, number, mask);
  return true;
}

}  // namespace ordito::check
