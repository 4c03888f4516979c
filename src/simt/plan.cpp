// See plan.hpp.
#include "simt/plan.hpp"

#include "ir/hoisted.hpp"

namespace ordito::simt {

Plan makePlan(const Kernel& k) {
  const auto& [f, stops, facts, shapes, definitions] = k;
  Regions regions = findRegions(f, stops, facts);
  EarlyExits exits = findEarlyExits(f, stops, shapes, regions);
  Parting parting = findParting(f, stops, shapes, facts);
  Liveness liveness = findLiveness(f, definitions, regions);
  std::vector<char> speculated = ir::hoistedValues(f);
  KnownBits knownBits(f, shapes, definitions);
  NanPlan nans(f);
  Versions versions = findVersions(f, shapes);
  MergedLoads mergedLoads = findMergedLoads(f, shapes, facts);
  Prefetches prefetches = findPrefetches(f, shapes, definitions);
  NonTemporal nonTemporal = findNonTemporal(f, definitions, facts);
  PrivateSlots privateSlots = findPrivateSlots(f, regions);
  PrivatisedCounters counters = findPrivatisedCounters(f, stops, definitions, facts);
  std::vector<char> rematerialised = findRematerialised(f, stops, shapes, definitions, liveness);
  SpillSlots spills({f, stops, shapes, liveness, rematerialised, counters, facts});
  return {f,
          stops,
          facts,
          shapes,
          definitions,
          std::move(regions),
          std::move(exits),
          std::move(parting),
          std::move(liveness),
          std::move(speculated),
          std::move(knownBits),
          std::move(nans),
          std::move(versions),
          std::move(mergedLoads),
          std::move(prefetches),
          std::move(nonTemporal),
          std::move(privateSlots),
          std::move(counters),
          std::move(rematerialised),
          std::move(spills)};
}

}  // namespace ordito::simt
