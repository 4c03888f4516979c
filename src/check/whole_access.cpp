// See whole_access.hpp.
#include "check/whole_access.hpp"

#include <algorithm>
#include <bit>

#include "check/launch.hpp"
#include "machine/lanes.hpp"
#include "machine/memory.hpp"

namespace ordito::check {

using machine::AccessSpace;

namespace {

struct Extent {
  uint64_t low = UINT64_MAX, high = 0, bits = 0;  // of addresses; the low ones that none has are not set
};

Extent extentOf(const machine::AccessEvent& access) {
  Extent e;
  if (!access.addresses) {  // the first and the last lane say it
    const uint64_t first = access.addressOf(static_cast<uint32_t>(std::countr_zero(access.at.lanes))),
                   last = access.addressOf(31 - static_cast<uint32_t>(std::countl_zero(access.at.lanes)));
    const uint64_t between = std::has_single_bit(access.at.lanes) ? 0 : static_cast<uint64_t>(access.stride);
    return {access.stride < 0 ? last : first, access.stride < 0 ? first : last, first | between};
  }
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint64_t address = access.addressOf(lane);
    e.low = std::min(e.low, address), e.high = std::max(e.high, address), e.bits |= address;
  });
  return e;
}

}  // namespace

bool isWhollyFine(Launch& launch, const machine::AccessEvent& access) {
  if (access.space == AccessSpace::Local || !std::has_single_bit(access.bytes)) return false;
  const Extent e = extentOf(access);
  const uint64_t bytes = e.high - e.low + access.bytes;
  if ((e.bits & (access.bytes - 1)) != 0 || bytes < access.bytes || e.low > e.high) return false;  // or it wraps
  if (launch.writtenConstant(access, e.low)) return false;
  if (const auto object = launch.objectOf(access)) return object->contains(e.low, bytes);
  const uint64_t window = access.at.frame.totalSharedBytes;
  if (access.space == AccessSpace::Shared) return e.high <= window && access.bytes <= window - e.high;
  return machine::allocations().bytesFrom(e.low) >= bytes;
}

}  // namespace ordito::check
