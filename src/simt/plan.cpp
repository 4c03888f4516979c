// See plan.hpp.
#include "simt/plan.hpp"

#include "ir/speculated.hpp"
#include "simt/code_passes.hpp"

namespace ordito::simt {

Plan makePlan(const Kernel& k) {
  const auto& [f, syncPoints, facts, shapes, definitions] = k;
  Regions regions = findRegions(f, syncPoints, facts);
  EarlyExits exits = findEarlyExits(f, syncPoints, shapes, regions);
  Parting parting = findParting(f, syncPoints, shapes, facts);
  Liveness liveness = findLiveness(f, definitions, regions);
  std::vector<char> speculated = ir::speculatedValues(f);
  KnownBits knownBits(f, shapes, definitions);
  NanPlan nans(f);
  Versions versions = findVersions(f, shapes);
  MergedLoads mergedLoads = findMergedLoads(f, shapes, facts);
  Prefetches prefetches = findPrefetches(f, shapes, definitions);
  NonTemporal nonTemporal = findNonTemporal(f, definitions, facts);
  PrivateSlots privateSlots = findPrivateSlots(f, regions);
  PrivatisedCounters counters = findPrivatisedCounters(f, syncPoints, definitions, facts);
  std::vector<char> rematerialised = findRematerialised(f, syncPoints, shapes, definitions, liveness);
  SpillSlots spills({f, syncPoints, shapes, liveness, rematerialised, counters, facts});
  Code code = makeCode({f, syncPoints, facts, shapes, regions, exits, parting, versions});
  return {f,
          syncPoints,
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
          std::move(spills),
          std::move(code)};
}

CodeInputs codeInputsOf(const Plan& p) {
  return {p.function, p.syncPoints, p.facts, p.shapes, p.regions, p.exits, p.parting, p.versions};
}

}  // namespace ordito::simt
