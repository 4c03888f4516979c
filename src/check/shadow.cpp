// See shadow.hpp.
#include "check/shadow.hpp"

#include <algorithm>

#include "machine/lanes.hpp"

namespace ordito::check {

namespace {

uint64_t bits(uint32_t first, uint32_t end) {
  if (end <= first) return 0;
  return (end - first >= 64 ? ~uint64_t{0} : (uint64_t{1} << (end - first)) - 1) << first;
}

/// Bytes that several have touched.
struct Later {
  ByteMask once, twice;                         // by one; by two different ones
  std::unordered_map<uint64_t, ByteMask> each;  // by who it was
  void add(uint64_t who, const ByteMask& mask) {
    const ByteMask isNew = mask.without(each[who]);
    twice = twice | (isNew & once);
    once = once | isNew;
    each[who] = each[who] | isNew;
  }
};

}  // namespace

ByteMask ByteMask::range(uint32_t first, uint32_t end) {
  return {bits(std::min(first, 64u), std::min(end, 64u)), bits(std::max(first, 64u) - 64, std::max(end, 64u) - 64)};
}

Shadow::Row& Shadow::row(uint64_t number) {
  const uint64_t page = number / kPageRows;
  if (page != lastNumber_) {
    std::unique_ptr<Page>& there = pages_[page];
    if (!there) {
      there = std::make_unique<Page>();
      for (Row& row : *there) row.start = start_;
    }
    lastNumber_ = page, last_ = there.get();
  }
  Row& row = (*last_)[number % kPageRows];
  if (row.start == start_) return row;
  const bool isOfAnother = row.start < forgotten_;
  row.start = start_;
  row.newest = row.entries = 0;
  row.hasOnlyReads = row.hasOnlyStrong = true, row.atomicBytes = 0;
  if (row.spread && (isOfAnother || !row.spread->hasAgents)) row.spread.reset();
  return row;
}

void Shadow::add(Row& row, uint32_t stamp, const ByteMask& mask) {
  const uint32_t number = entries_.add();
  entries_[number] = {mask, stamp, row.newest};
  row.newest = number;
  ++row.entries;
  ++stamps_[stamp].entries;
}

void Shadow::dropUnused(uint32_t stamp) {
  const Stamp& s = stamps_[stamp];
  if (s.entries) return;
  for (uint32_t lanes : {s.offsets, s.clocks, s.values, s.highValues})
    if (lanes) lanes_.drop(lanes);
  stamps_.drop(stamp);
}

void Shadow::remove(Row& row, uint32_t& link) {
  const uint32_t number = link, stamp = entries_[number].stamp;
  link = entries_[number].next;
  entries_.drop(number);
  --row.entries;
  --stamps_[stamp].entries;
  dropUnused(stamp);
}

/// What counts as a later touch: it must race with all that the earlier one races with, and be as bad.
void Shadow::thin(Row& row) {
  if (!row.newest) return;
  const Family::Member member = stamps_[entries_[row.newest].stamp].member;
  Later blocks;
  std::unordered_map<uint64_t, Later> warps;  // by block
  for (uint32_t* link = &row.newest; *link;) {
    Entry& entry = entries_[*link];
    const Stamp& stamp = stamps_[entry.stamp];
    if (stamp.member != member) return;
    if (!stamp.writes || isAtomic(stamp.kind)) {
      Later& ofBlock = warps[stamp.block];
      entry.mask = entry.mask.without(blocks.twice).without(ofBlock.twice);
      if ((row.hasOnlyStrong || !stamp.isStrong) && (row.hasOnlyReads || stamp.writes))
        blocks.add(stamp.block, entry.mask), ofBlock.add(stamp.warp, entry.mask);
    }
    if (entry.mask.any())
      link = &entry.next;
    else
      remove(row, *link);
  }
}

Touch Shadow::touchOf(const Stamp& s, uint32_t lane) const {
  uint64_t value = s.values ? lanes_[s.values][lane] : 0;
  if (s.highValues) value |= uint64_t{lanes_[s.highValues][lane]} << 32;
  return {.block = s.block,
          .actor = s.warp * machine::kWarpSize + lane,
          .at = clockOf(s, lane),
          .shown = clockOf(s, lane),
          .member = s.member,
          .line = s.line,
          .kind = s.kind,
          .bytes = 0,
          .writes = s.writes,
          .isStrong = s.isStrong,
          .scope = s.scope,
          .hasValue = s.values != 0,
          .address = addressOf(s, lane),
          .value = value,
          .size = s.size,
          .function = s.function};
}

void Shadow::spreadEntry(Spread& spread, uint64_t begin, const Entry& entry) const {
  const Stamp& stamp = stamps_[entry.stamp];
  machine::forEachLane(stamp.lanes, [&](uint32_t lane) {
    const uint64_t address = addressOf(stamp, lane), end = address + stamp.size;
    if (end <= begin || address >= begin + kRowBytes) return;
    const auto from = static_cast<uint32_t>(std::max(address, begin) - begin),
               to = static_cast<uint32_t>(std::min(end, begin + kRowBytes) - begin);
    const ByteMask mask = ByteMask::range(from, to) & entry.mask;
    Touch touch = touchOf(stamp, lane);
    for (uint32_t word = from / kWordBytes; word * kWordBytes < to; ++word) {
      touch.bytes = mask.ofWord(word);
      if (touch.bytes) spread.words[word].touches.push_back(touch);
    }
  });
}

Shadow::Spread& Shadow::spread(uint64_t number, Row& row) {
  if (row.spread) return *row.spread;
  row.spread = std::make_unique<Spread>();
  std::vector<uint32_t> oldestFirst;
  for (uint32_t entry = row.newest; entry; entry = entries_[entry].next) oldestFirst.push_back(entry);
  std::ranges::reverse(oldestFirst);
  for (uint32_t entry : oldestFirst) spreadEntry(*row.spread, number * kRowBytes, entries_[entry]);
  while (row.newest) remove(row, row.newest);
  return *row.spread;
}

}  // namespace ordito::check
