// See open_accesses.hpp.
#include "check/open_accesses.hpp"

#include <algorithm>
#include <bit>

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
  const uint64_t most = object.bytes - access.bytes;
  bool isFine = true;
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint64_t address = access.addressOf(lane);
    isFine &= address - object.begin <= most && (address & (access.bytes - 1)) == 0;
  });
  return isFine;
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
  machine::forEachLane(access.at.lanes, [&](uint32_t lane) {
    const uint64_t first = (access.addressOf(lane) - begin) >> site->shift;
    for (size_t k = 0; k < units; ++k) site->touched[first + k] = 1;
  });
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
