// See open_accesses.hpp.
#include "check/open_accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "check/touch.hpp"
#include "machine/lanes.hpp"
#include "machine/memory.hpp"

namespace ordito::check {

using machine::AccessEvent;

OpenAccesses::OpenAccesses(uint64_t launch, const std::vector<Line>& lines) : launch_(launch) {
  for (const Line& line : lines) {
    uint32_t& slot = slots_[line.line % kSlots];
    if (slot) continue;
    sites_.emplace_back().what = line;
    slot = static_cast<uint32_t>(sites_.size());
  }
}

const OpenAccesses::Site* OpenAccesses::siteOf(const AccessEvent& access) const {
  const uint32_t slot = slots_[access.at.line % kSlots];
  if (!slot) return nullptr;
  const Site& site = sites_[slot - 1];
  const bool isSame = site.what.line == access.at.line && site.what.function == &access.at.function;
  return isSame && site.what.isShared == (access.space == machine::AccessSpace::Shared) ? &site : nullptr;
}

bool OpenAccesses::isFine(const AccessEvent& access) const {
  const Site* const site = siteOf(access);
  if (!site || !std::has_single_bit(access.bytes)) return false;
  const Object& object = site->what.object;
  if (object.bytes < access.bytes) return false;
  // Two's complement tells without a comparison, which vectors of 64 bits lack on many hosts: where an offset is beyond
  // `most`, one of the two differences has its highest bit set.
  const uint64_t most = object.bytes - access.bytes;
  uint64_t beyond = 0, odd = 0;
  const auto look = [&](uint64_t address) {
    const uint64_t offset = address - object.begin;
    beyond |= offset | (most - offset), odd |= address;
  };
  if (access.addresses)
    machine::forEachLaneInVectors(access.at.lanes, [&](uint32_t lane) { look(access.addresses[lane]); });
  else
    machine::forEachLane(access.at.lanes, [&](uint32_t lane) { look(access.addressOf(lane)); });
  return (beyond >> 63) == 0 && (odd & (access.bytes - 1)) == 0;
}

bool OpenAccesses::note(const AccessEvent& access) {
  auto* const site = const_cast<Site*>(siteOf(access));
  if (!site) return false;
  if (site->what.isShared) return true;
  if (!site->isSeen) {
    site->isSeen = true, site->writes = doesWrite(access.kind);
    site->shift = static_cast<unsigned>(std::countr_zero(access.bytes));
    site->touched.resize((site->what.object.bytes >> site->shift) + 1);
    return false;
  }
  const uint64_t begin = site->what.object.begin;
  const size_t units = access.bytes >> site->shift;
  if (units == 0) return false;
  uint8_t* const touched = site->touched.data();
  const unsigned shift = site->shift;
  const auto unitOf = [&](uint32_t lane) { return (access.addressOf(lane) - begin) >> shift; };
  if (units == 1)
    machine::forEachLane(access.at.lanes, [&](uint32_t lane) { touched[unitOf(lane)] = 1; });
  else
    machine::forEachLane(access.at.lanes, [&](uint32_t lane) { std::memset(touched + unitOf(lane), 1, units); });
  return true;
}

/// Is some object memory that the host can use, too?
bool OpenAccesses::touchesHost() const {
  return std::ranges::any_of(sites_, [](const Site& s) {
    const auto allocation = s.what.isShared ? std::nullopt : machine::allocations().find(s.what.object.begin);
    return allocation && !allocation->isOnDevice();
  });
}

}  // namespace ordito::check
