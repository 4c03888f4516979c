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

/// Addresses of lanes that are off count as that of the first that is on.
struct Extent {
  alignas(64) uint64_t at[kWarp];
  uint64_t low, high, bits;
  Extent(uint32_t lanes, const uint64_t* addresses) {
    const uint64_t first = addresses[firstOf(lanes)];
    uint64_t least = first, most = first, any = 0;
    for (uint32_t l = 0; l < kWarp; ++l) {
      const uint64_t a = at[l] = lanes >> l & 1 ? addresses[l] : first;
      least = a < least ? a : least, most = a > most ? a : most, any |= a;
    }
    low = least, high = most, bits = any;
  }
  /// Are the lanes that are on neighbours of so many bytes, from lane 0 on?
  bool areNeighbours(uint32_t lanes, uint32_t bytes) const {
    const uint32_t first = firstOf(lanes);
    const uint64_t base = at[first] - uint64_t{first} * bytes;
    uint64_t differs = 0;
    for (uint32_t l = 0; l < kWarp; ++l) differs |= lanes >> l & 1 ? at[l] ^ (base + uint64_t{l} * bytes) : 0;
    return differs == 0;
  }
};

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
  if (stride == 0) {
    if (s.op == TrialOp::Write && !std::has_single_bit(lanes)) doubt(frame, "lanes write to one place");
    // Two that read stand for all.
    const uint32_t rest = lanes & (lanes - 1);
    lanes = s.op == TrialOp::Read ? (lanes & -lanes) | (rest & -rest) : lanes & -lanes;
  }
  uint64_t addresses[kWarp];
  for (uint32_t l = 0; l < kWarp; ++l) addresses[l] = lanes >> l & 1 ? base + l * distance : first;
  sparse(frame, s, warp, lanes, addresses);
}

void Trial::access(const BlockFrame* frame, const AccessSite* site, const LocalVariables* locals, uint32_t warp,
                   uint32_t lanes, const uint64_t* addresses) {
  if (!lanes) return;
  if (site->space == static_cast<uint32_t>(AccessSpace::Local))
    return local(frame, site, locals, warp, lanes, addresses);
  Extent e(lanes, addresses);
  const bool isGeneric = site->space == static_cast<uint32_t>(AccessSpace::Generic);
  const auto window = reinterpret_cast<uint64_t>(frame->shared);
  if (isGeneric && (e.low - window < layout_.sharedBytes || e.high - window < layout_.sharedBytes ||
                    e.low - reinterpret_cast<uint64_t>(frame->local) < frame->localBytes))
    doubt(frame, "a generic address of shared or local memory");
  if (site->space == static_cast<uint32_t>(AccessSpace::Shared)) {
    for (uint64_t& a : e.at) a -= window;
    e.low -= window, e.high -= window;
    e.bits = e.low;
    for (const uint64_t a : e.at) e.bits |= a;
  }
  Site& s = siteOf(frame, site, e.low);
  check(frame, s, e.low, e.high + site->bytes, e.bits);
  if (s.space == AccessSpace::Constant) return;
  const uint32_t first = firstOf(lanes);
  if (e.areNeighbours(lanes, site->bytes))
    return dense(frame, s, warp, lanes, e.at[first] - uint64_t{first} * site->bytes);
  sparse(frame, s, warp, lanes, e.at);
}

/// `base`: where lane 0 is, or would be. Lanes in front of the first that is on could be in front of the array.
void Trial::dense(const BlockFrame* frame, Site& s, uint32_t warp, uint32_t lanes, uint64_t base) {
  const bool isShared = s.space == AccessSpace::Shared;
  const uint32_t first = firstOf(lanes), bytes = s.site->bytes;
  const uint64_t start = base + uint64_t{first} * bytes;
  lanes >>= first;
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
  if (!isShared) forEachLane(lanes, [&](uint32_t l) { touch(s, addresses[l], addresses[l] + s.site->bytes); });
  if (!isShared && !s.storage->isWritten && s.op != TrialOp::Write) checkValues(frame, s, lanes, addresses);
  if (!isShared && s.isOnlyRead) return note(s, lanes, addresses);
  const unsigned shift = isShared ? layout_.sharedShift : layout_.globalShift;
  const uint64_t begin = isShared ? 0 : s.storage->begin;
  if (!isShared && s.storage->bytes >> shift >> 32) doubt(frame, "an allocation of more cells than are numbered");
  alignas(64) uint32_t at[kWarp];
  for (uint32_t l = 0; l < kWarp; ++l) at[l] = static_cast<uint32_t>((addresses[l] - begin) >> shift);
  uint32_t* const cells = isShared ? shared_ : s.storage->cellOf(begin);
  if (!isShared && s.op != TrialOp::Read)
    forEachLane(lanes,
                [&](uint32_t l) { s.storage->writers[(addresses[l] - begin) / TrialStorage::kRow] = s.number(); });
  if (loops_.sparse[isShared][static_cast<size_t>(s.op)](cells, at, lanes, s.site->bytes >> shift, warp * kWarp,
                                                         times(warp)))
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

void Trial::note(Site& s, uint32_t lanes, const uint64_t* addresses) {
  const unsigned units = s.site->bytes >> layout_.globalShift;
  const uint8_t number = s.number();
  forEachLane(lanes, [&](uint32_t l) {
    uint8_t* const mark = s.storage->markOf(addresses[l]);
    for (unsigned k = 0; k < units; ++k) mark[k] = number;
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
  const auto* variables = reinterpret_cast<const uint64_t*>(locals + 1);
  const bool writes = static_cast<machine::AccessKind>(site->kind) == machine::AccessKind::Store;
  bool isFine = true;
  forEachLane(lanes, [&](uint32_t l) {
    const uint64_t own = (uint64_t{warp} * kWarp + l) * locals->bytesOfThread;
    const uint64_t offset = addresses[l] - reinterpret_cast<uint64_t>(frame->local) - own;
    bool isInside = false;
    for (uint64_t v = 0; v < locals->count && !isInside; ++v)
      isInside = offset - variables[2 * v] < variables[2 * v + 1] &&
                 site->bytes <= variables[2 * v + 1] - (offset - variables[2 * v]);
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
