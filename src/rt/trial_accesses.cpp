// What a trial does at each access (trial.hpp).
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/lanes.hpp"
#include "machine/undefined.hpp"
#include "rt/trial.hpp"

namespace ordito::rt {

using machine::AccessSpace;
using machine::forEachLane;

namespace {

constexpr uint32_t kWarp = machine::kWarpSize;

uint32_t firstOf(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }
uint32_t lastOf(uint32_t lanes) { return kWarp - 1 - static_cast<uint32_t>(std::countl_zero(lanes)); }

}  // namespace

inline void Trial::check(const BlockFrame* frame, Site& s, uint64_t low, uint64_t high, uint64_t bits) {
  if (low < s.low || high > s.high || low >= high) place(frame, s, low, high);
  if (bits & (s.site->bytes - 1)) doubt(frame, "a misaligned access");
}

/// Global memory in [low, high) is about to be used.
inline void Trial::touch(const Site& s, uint64_t low, uint64_t high) {
  if (s.isOnlyRead) return s.storage->touchMarks(low, high);
  s.storage->touchCells(low, high);
  if (s.op != TrialOp::Read) s.storage->save(low, high);
}

/// The same of lanes, none of which is in two chunks or rows, since all accesses are aligned.
inline void Trial::touch(const Site& s, uint32_t lanes, const uint64_t* addresses) {
  TrialStorage& storage = *s.storage;
  const bool writes = s.op != TrialOp::Read;
  const uint8_t number = s.number();
  uint64_t last = ~uint64_t{0};
  forEachLane(lanes, [&](uint32_t l) {
    const uint64_t offset = addresses[l] - storage.begin, chunk = offset / TrialStorage::kChunk;
    if (chunk != last) touch(s, addresses[l], addresses[l] + 1);
    last = chunk;
    if (writes) storage.writers[offset / TrialStorage::kRow] = number;
  });
}

void Trial::access(const BlockFrame* frame, const AccessSite* site, uint32_t warp, uint32_t lanes, uint64_t base,
                   int64_t stride) {
  if (!lanes) return;
  const auto distance = static_cast<uint64_t>(stride);
  if (site->space == static_cast<uint32_t>(AccessSpace::Shared)) base -= reinterpret_cast<uint64_t>(frame->shared);
  const uint64_t first = base + firstOf(lanes) * distance, last = base + lastOf(lanes) * distance;
  Site& s = siteOf(frame, site, first);
  const uint64_t low = stride < 0 ? last : first, high = (stride < 0 ? first : last) + site->bytes;
  check(frame, s, low, high, first | (std::has_single_bit(lanes) ? 0 : distance));
  if (s.space == AccessSpace::Constant) return;
  if (stride == site->bytes) return dense(frame, s, warp, lanes, base);
  if (stride == 0) return single(frame, s, warp, lanes, base);
  uint64_t addresses[kWarp];
  for (uint32_t l = 0; l < kWarp; ++l) addresses[l] = lanes >> l & 1 ? base + l * distance : first;
  sparse(frame, s, warp, lanes, addresses);
}

void Trial::access(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
                   uint32_t lanes, const uint64_t* addresses) {
  if (!lanes) return;
  if (site->space == static_cast<uint32_t>(AccessSpace::Local))
    return local(frame, site, locals, warp, lanes, addresses);
  const bool isGeneric = site->space == static_cast<uint32_t>(AccessSpace::Generic),
             isShared = site->space == static_cast<uint32_t>(AccessSpace::Shared);
  const auto window = reinterpret_cast<uint64_t>(frame->shared);
  if (isShared && changesNothing(site, warp, lanes, {addresses, window, layout_.sharedShift})) return;
  TrialExtent e;
  loops_.extent(e, lanes, addresses, isShared ? window : 0, site->bytes);
  if (isGeneric && (e.low - window < layout_.sharedBytes || e.high - window < layout_.sharedBytes ||
                    e.low - reinterpret_cast<uint64_t>(frame->local) < frame->localBytes))
    doubt(frame, "a generic address of shared or local memory");
  Site& s = siteOf(frame, site, e.low);
  check(frame, s, e.low, e.high + site->bytes, e.bits);
  if (s.space == AccessSpace::Constant) return;
  if (e.low == e.high) return single(frame, s, warp, lanes, e.low);
  const uint32_t first = firstOf(lanes);
  if (e.areNeighbours) return dense(frame, s, warp, lanes, e.at[first] - uint64_t{first} * site->bytes);
  sparse(frame, s, warp, lanes, e.at);
}

/// Most atomic operations on shared memory: the site is known, and others have done the same since the block last met.
bool Trial::changesNothing(const AccessSite* site, uint32_t warp, uint32_t lanes, const TrialPlaces& places) const {
  const Site* const s = site->number < sites_.size() ? &sites_[site->number] : nullptr;
  if (!s || !s->site || s->op != TrialOp::Strong || s->high - s->low < site->bytes) return false;
  const TrialBounds bounds{s->low, s->high - site->bytes, uint64_t{site->bytes} - 1};
  return loops_.areSettledWithin(shared_, places, bounds, lanes, site->bytes >> places.shift, times(warp));
}

/// All lanes are at one place. Two that read stand for all; so does one for all atomic operations.
void Trial::single(const BlockFrame* frame, Site& s, uint32_t warp, uint32_t lanes, uint64_t address) {
  const bool isShared = s.space == AccessSpace::Shared, areMany = !std::has_single_bit(lanes);
  if (s.op == TrialOp::Write && areMany) doubt(frame, "lanes write to one place");
  const uint32_t first = firstOf(lanes);
  uint64_t addresses[kWarp];
  addresses[first] = address;
  if (!isShared && !s.storage->isWritten && s.op != TrialOp::Write) checkValues(frame, s, 1u << first, addresses);
  if (!isShared && s.isOnlyRead) {
    note(s, 1u << first, addresses);
    if (!areMany) openWindow(s, address);  // code that runs thread by thread asks for one lane
    return;
  }
  if (!isShared) touch(s, address, address + s.site->bytes);
  const unsigned shift = isShared ? layout_.sharedShift : layout_.globalShift;
  if (!isShared && s.op != TrialOp::Read)
    s.storage->writers[(address - s.storage->begin) / TrialStorage::kRow] = s.number();
  uint32_t* const cells = isShared ? shared_ + (address >> shift) : s.storage->cellOf(address);
  const uint32_t thread = warp * kWarp + first,
                 other = s.op == TrialOp::Read && areMany ? warp * kWarp + firstOf(lanes & (lanes - 1)) : thread;
  if (loops_.single[isShared][static_cast<size_t>(s.op)](cells, s.site->bytes >> shift, thread, other, times(warp)))
    doubt(frame, "accesses that may not be in order");
}

/// Marks for the chunks that the lanes read; and for all of the object, once that is no more work than what has been
/// done for chunks.
inline void Trial::askForMarks(Site& s, uint32_t lanes, const uint64_t* addresses) {
  if (s.isWhole) return;
  TrialStorage& storage = *s.storage;
  forEachLane(lanes, [&](uint32_t l) { storage.touchMarks((addresses[l] - storage.begin) / TrialStorage::kChunk); });
  s.asked += TrialStorage::kChunk * static_cast<uint32_t>(std::popcount(lanes));
  if (s.asked < s.high - s.low) return;
  storage.touchMarks(s.low, s.high);
  s.isWhole = true;
}

/// The window is the chunk around the address, or all of the object if that has marks.
inline void Trial::openWindow(Site& s, uint64_t address) {
  const TrialStorage& storage = *s.storage;
  const uint32_t bytes = s.site->bytes, number = s.site->number, units = bytes >> storage.shift;
  if (number >= kCount || !storage.isWritten || units > 2) return;
  uint64_t low = s.low, high = s.high;
  if (!s.isWhole) {
    const uint64_t chunk = storage.begin + (address - storage.begin) / TrialStorage::kChunk * TrialStorage::kChunk;
    low = std::max(low, chunk), high = std::min(high, chunk + TrialStorage::kChunk);
  }
  const uint64_t unit = uint64_t{1} << storage.shift;
  low = storage.begin + ((low - storage.begin + unit - 1) & ~(unit - 1));
  if (high - low < bytes || high < low) return;
  windows[number] = {low, high - bytes - low, s.storage->markOf(low), storage.shift, units - 1};
}

/// Loops over a grid's stride come to another page each time, and a trial's instructions between two of their reads are
/// too many for the processor to begin the next by itself.
inline void Trial::foresee(Site& s, uint64_t start) const {
  const uint64_t next = 2 * start - s.last;
  s.last = start;
  if (next < s.low || next >= s.high) return;
  __builtin_prefetch(reinterpret_cast<const void*>(next));
  if (s.isOnlyRead) return __builtin_prefetch(s.storage->markOf(next), 1);
  __builtin_prefetch(s.storage->cellOf(next), 1);
}

/// `base`: where lane 0 is, or would be. Lanes in front of the first that is on could be in front of the array.
void Trial::dense(const BlockFrame* frame, Site& s, uint32_t warp, uint32_t lanes, uint64_t base) {
  const bool isShared = s.space == AccessSpace::Shared;
  const uint32_t first = firstOf(lanes), bytes = s.site->bytes;
  const uint64_t start = base + uint64_t{first} * bytes;
  lanes >>= first;
  if (!isShared) foresee(s, start);
  if (!isShared) touch(s, start, start + uint64_t{bytes} * (lastOf(lanes) + 1));
  if (!isShared && s.isOnlyRead) return noteDense(frame, s, lanes, start);
  if (!isShared && !s.storage->isWritten && s.op != TrialOp::Write) {
    uint64_t addresses[kWarp];
    for (uint32_t l = 0; l < kWarp; ++l) addresses[l] = start + uint64_t{l} * bytes;
    checkValues(frame, s, lanes, addresses);
  }
  const unsigned shift = isShared ? layout_.sharedShift : layout_.globalShift;
  uint32_t* const cells = isShared ? shared_ + (start >> shift) : s.storage->cellOf(start);
  if (!isShared && s.op != TrialOp::Read) {
    const uint64_t from = start - s.storage->begin, last = from + uint64_t{bytes} * lastOf(lanes);
    for (uint64_t row = from / TrialStorage::kRow; row <= last / TrialStorage::kRow; ++row)
      s.storage->writers[row] = s.number();
  }
  if (loops_.dense[isShared][static_cast<size_t>(s.op)](cells, lanes, bytes >> shift, warp * kWarp + first,
                                                        times(warp)))
    doubt(frame, "accesses that may not be in order");
}

void Trial::sparse(const BlockFrame* frame, Site& s, uint32_t warp, uint32_t lanes, const uint64_t* addresses) {
  const bool isShared = s.space == AccessSpace::Shared;
  TrialPlaces places{addresses, 0, layout_.sharedShift};
  uint32_t* cells = shared_;
  if (!isShared) {
    if (!s.storage->isWritten && s.op != TrialOp::Write) checkValues(frame, s, lanes, addresses);
    if (s.isOnlyRead) return note(s, lanes, addresses);
    places.origin = s.storage->begin, places.shift = layout_.globalShift;
    if (s.storage->bytes >> places.shift >> 32) doubt(frame, "an allocation of more cells than are numbered");
    cells = s.storage->cellOf(places.origin);
    if (s.op == TrialOp::Strong && loops_.areSettled(cells, places, s.site->bytes >> places.shift, times(warp)))
      return;  // it has been saved, and noted for another such access
    touch(s, lanes, addresses);
  }
  if (loops_.sparse[isShared][static_cast<size_t>(s.op)](cells, places, lanes, s.site->bytes >> places.shift,
                                                         warp * kWarp, times(warp)))
    doubt(frame, "accesses that may not be in order");
}

void Trial::noteDense(const BlockFrame* frame, Site& s, uint32_t lanes, uint64_t start) {
  const uint32_t bytes = s.site->bytes, units = bytes >> layout_.globalShift;
  if (!s.storage->isWritten && !machine::undefinedMemory()->isDefined(start, uint64_t{bytes} * (lastOf(lanes) + 1)))
    doubt(frame, "a read of what nobody has written");
  uint8_t* const marks = s.storage->markOf(start);
  if ((lanes & (lanes + 1)) == 0)
    std::memset(marks, s.number(), size_t{units} * static_cast<uint32_t>(std::popcount(lanes)));
  else
    forEachLane(lanes, [&](uint32_t l) { std::memset(marks + size_t{units} * l, s.number(), units); });
}

/// None of the accesses is in two chunks, since all are aligned.
void Trial::note(Site& s, uint32_t lanes, const uint64_t* addresses) {
  const unsigned units = s.site->bytes >> layout_.globalShift, shift = layout_.globalShift;
  const uint8_t number = s.number();
  const uint64_t begin = s.storage->begin;
  uint8_t* const marks = s.storage->markOf(begin);
  askForMarks(s, lanes, addresses);
  forEachLane(lanes, [&](uint32_t l) {
    const uint64_t offset = addresses[l] - begin;
    uint8_t* const mark = marks + (offset >> shift);
    mark[0] = number;
    for (unsigned k = 1; k < units; ++k) mark[k] = number;
  });
}

/// The launch may have written what had none before.
bool Trial::hasValues(const Site& s, uint64_t address) const {
  if (machine::undefinedMemory()->isDefined(address, s.site->bytes)) return true;
  const uint32_t* const cells = s.storage->cellOf(address);
  for (unsigned k = 0; k < s.site->bytes >> layout_.globalShift; ++k)
    if (cells[k] < launch_ || !(cells[k] & cell::kDefined)) return false;
  return true;
}

void Trial::checkValues(const BlockFrame* frame, const Site& s, uint32_t lanes, const uint64_t* addresses) {
  bool have = true;
  forEachLane(lanes, [&](uint32_t l) { have = have && hasValues(s, addresses[l]); });
  if (!have) doubt(frame, "a read of what nobody has written");
}

/// Each thread has variables of its own, which begin without values in each block.
void Trial::local(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
                  uint32_t lanes, const uint64_t* addresses) {
  const bool writes = static_cast<machine::AccessKind>(site->kind) == machine::AccessKind::Store;
  bool isFine = true;
  forEachLane(lanes, [&](uint32_t l) {
    const uint32_t thread = warp * kWarp + l;
    const uint64_t own = thread * locals->bytesOfThread;
    const uint64_t offset = addresses[l] - reinterpret_cast<uint64_t>(frame->local) - own;
    const bool isInside = localObject(*frame, *locals, thread, site->object, addresses[l]).contains(site->bytes);
    isFine &= isInside && offset % site->bytes == 0;
    if (!isInside || !layout_.followsValues) return;
    for (uint32_t k = 0; k < site->bytes; ++k) {
      uint8_t& tag = local_[own + offset + k];
      if (writes) tag = tag_;
      isFine &= tag == tag_;
    }
  });
  if (!isFine) doubt(frame, "an access to local memory");
}

}  // namespace ordito::rt
