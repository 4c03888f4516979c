// See access_counts.hpp.
#include "rt/access_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ordito::rt {

using machine::AccessKind;

namespace {

/// A set of sectors; as many as 32 lanes can touch fit.
class SectorSet {
 public:
  explicit SectorSet(uint32_t most) : mask_(std::bit_ceil(2 * most) - 1) { std::fill_n(slots_, mask_ + 1, kFree); }
  void add(uint64_t sector) {
    size_t at = sector * 0x9E3779B97F4A7C15u >> 32 & mask_;
    for (; slots_[at] != kFree; at = (at + 1) & mask_)
      if (slots_[at] == sector) return;
    slots_[at] = sector;
    ++size_;
  }
  uint32_t size() const { return size_; }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  static constexpr size_t kMost = 64;  // no access of a lane is longer than a sector, so it touches two at most
  const size_t mask_;
  uint32_t size_ = 0;
  uint64_t slots_[2 * kMost];
};

uint32_t sectorsOneByOne(const int64_t* addresses, uint32_t lanes, uint32_t bytes) {
  SectorSet sectors(2 * uint32_t(std::popcount(lanes)));
  for (; lanes; lanes &= lanes - 1) {
    const auto a = static_cast<uint64_t>(addresses[std::countr_zero(lanes)]);
    sectors.add(a >> 5);
    if ((a & 31) + bytes > 32) sectors.add((a >> 5) + 1);
  }
  return sectors.size();
}

}  // namespace

uint32_t countSectors(const int64_t* addresses, uint32_t lanes, uint32_t bytes) {
  if (!lanes) return 0;
  const uint32_t sectors = sectorsTogether(addresses, lanes, bytes);
  return sectors ? sectors : sectorsOneByOne(addresses, lanes, bytes);
}

uint32_t countCopiedSectors(const int64_t* from, const int64_t* to, uint32_t lanes, uint32_t bytes) {
  constexpr uint64_t kFree = ~uint64_t{0};
  const unsigned group = 128 / bytes;
  uint32_t total = 0;
  for (unsigned first = 0; first < 32; first += group) {
    uint32_t waiting = lanes >> first & (group == 32 ? ~0u : (1u << group) - 1);
    while (waiting) {
      std::array<uint64_t, 32> taken;  // by which word, of each bank
      taken.fill(kFree);
      uint32_t passing = 0;
      for (uint32_t left = waiting; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const uint64_t word = static_cast<uint64_t>(to[first + lane]) / 4, end = word + bytes / 4;
        bool isFree = true;
        for (uint64_t w = word; w < end; ++w) isFree &= taken[w % 32] == kFree || taken[w % 32] == w;
        for (uint64_t w = word; isFree && w < end; ++w) taken[w % 32] = w;
        passing |= isFree ? 1u << lane : 0;
      }
      total += countSectors(from + first, passing, bytes);
      waiting &= ~passing;
    }
  }
  return total;
}

namespace {

/// Has each active lane the address of its active partner `distance` away?
bool readsInPairs(const int64_t* addresses, uint32_t lanes, unsigned distance) {
  for (unsigned l = 0; l < 32; ++l) {
    const bool both = lanes >> l & 1 && lanes >> (l ^ distance) & 1;
    if (both && addresses[l] != addresses[l ^ distance]) return false;
  }
  return true;
}

}  // namespace

SharedCount countShared(const int64_t* addresses, uint32_t lanes, uint32_t bytes, AccessKind kind) {
  SharedCount result;
  const unsigned words = std::max(1u, bytes / 4);
  const bool pairs =
      words > 1 && kind == AccessKind::Load && (readsInPairs(addresses, lanes, 1) || readsInPairs(addresses, lanes, 2));
  const unsigned perGroup = (pairs ? 64 : 32) / words;
  for (unsigned first = 0; first < 32; first += perGroup) {
    uint32_t group = perGroup == 32 ? lanes : lanes >> first & ((1u << perGroup) - 1);
    if (!group) continue;
    ++result.ideal;
    uint64_t seen[32][32];
    unsigned inBank[32] = {}, passes = 0;
    for (; group; group &= group - 1) {
      const auto a = static_cast<uint64_t>(addresses[first + static_cast<unsigned>(std::countr_zero(group))]);
      for (uint64_t w = a >> 2; w <= (a + bytes - 1) >> 2; ++w) {
        const unsigned bank = w & 31;
        if (std::find(seen[bank], seen[bank] + inBank[bank], w) != seen[bank] + inBank[bank] || inBank[bank] == 32)
          continue;
        seen[bank][inBank[bank]++] = w;
        passes = std::max(passes, inBank[bank]);
      }
    }
    result.wavefronts += passes;
  }
  return result;
}

SharedCount countShared(const int64_t* addresses, uint32_t lanes, uint32_t bytes, AccessKind kind,
                        SharedPattern& last) {
  if (!lanes) return {};
  if (bytes > 4) return countShared(addresses, lanes, bytes, kind);
  if (const uint32_t wavefronts = wordsOfBank(addresses, lanes, bytes, last)) return {wavefronts, 1};
  return countShared(addresses, lanes, bytes, kind);
}

/// Word by word: a load of several words that were just stored one by one would wait until the stores are done, and
/// with them all stores of the kernel before.
void addCounters(uint64_t* to, const uint64_t* from, uint64_t count) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (uint64_t k = 0; k < count; ++k) to[k] += from[k];
}

uint64_t sectorsOfLanes(const int64_t* addresses, uint32_t lanes, uint32_t bytes) {
  return countSectors(addresses, lanes, bytes);
}

uint64_t sharedOfLanes(const int64_t* addresses, uint32_t lanes, uint32_t bytes, uint32_t kind, SharedPattern* last) {
  return countShared(addresses, lanes, bytes, static_cast<AccessKind>(kind), *last).packed();
}

uint64_t copiedSectorsOfLanes(const int64_t* from, const int64_t* to, uint32_t lanes, uint32_t bytes) {
  return countCopiedSectors(from, to, lanes, bytes);
}

void genericOfLanes(const machine::BlockFrame* frame, const int64_t* addresses, uint32_t lanes, uint32_t bytes,
                    uint32_t kind, GenericCount* out) {
  uint32_t shared = 0, local = 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto a = static_cast<uint64_t>(addresses[lane]);
    shared |= uint32_t{a - reinterpret_cast<uint64_t>(frame->shared) < frame->totalSharedBytes} << lane;
    local |= uint32_t{a - reinterpret_cast<uint64_t>(frame->local) < frame->localBytes} << lane;
  }
  const uint32_t global = lanes & ~(shared | local);
  *out = {global != 0, 0, shared != 0, 0, local != 0};
  if (kind >= uint32_t(AccessKind::Atomic)) return;  // of atomics, requests are counted alone
  out->globalSectors = countSectors(addresses, global, bytes);
  if (shared) out->sharedPacked = countShared(addresses, shared, bytes, static_cast<AccessKind>(kind)).packed();
}

}  // namespace ordito::rt
