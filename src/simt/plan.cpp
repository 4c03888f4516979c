// See plan.hpp.
#include "simt/plan.hpp"

#include "ir/speculated.hpp"
#include "simt/code_passes.hpp"

namespace ordito::simt {

Plan makePlan(const Kernel& k, PassTimes* asked) {
  const auto& [f, syncPoints, facts, shapes, definitions] = k;
  PassTimes own;
  PassTimes& times = asked ? *asked : own;
  Regions regions = times.time("regions", [&] { return findRegions(f, syncPoints, facts); });
  EarlyExits exits = times.time("early-exits", [&] { return findEarlyExits(f, syncPoints, shapes, regions); });
  Parting parting = times.time("parting", [&] { return findParting(f, syncPoints, shapes, facts); });
  Liveness liveness = times.time("liveness", [&] { return findLiveness(f, definitions, regions); });
  std::vector<char> speculated = times.time("speculated", [&] { return ir::speculatedValues(f); });
  KnownBits knownBits = times.time("known-bits", [&] { return KnownBits(f, shapes, definitions); });
  NanPlan nans = times.time("nan", [&] { return NanPlan(f); });
  Versions versions = times.time("versions", [&] { return findVersions(f, shapes); });
  MergedLoads mergedLoads = times.time("merged-loads", [&] { return findMergedLoads(f, shapes, facts); });
  Prefetches prefetches = times.time("prefetch", [&] { return findPrefetches(f, shapes, definitions); });
  NonTemporal nonTemporal = times.time("non-temporal", [&] { return findNonTemporal(f, definitions, facts); });
  PrivateSlots privateSlots = times.time("private-slots", [&] { return findPrivateSlots(f, regions); });
  PrivatisedCounters counters =
      times.time("privatised-counters", [&] { return findPrivatisedCounters(f, syncPoints, definitions, facts); });
  std::vector<char> rematerialised =
      times.time("rematerialise", [&] { return findRematerialised(f, syncPoints, shapes, definitions, liveness); });
  SpillSlots spills = times.time(
      "spill-slots", [&] { return SpillSlots({f, syncPoints, shapes, liveness, rematerialised, counters, facts}); });
  Code code = makeCode({f, syncPoints, facts, shapes, regions, exits, parting, versions}, {}, &times);
  AccessPlan accesses = times.time("access-plan", [&] {
    return findAccesses({f, facts, shapes, knownBits, mergedLoads, nonTemporal, privateSlots, code});
  });
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
          std::move(code),
          std::move(accesses)};
}

CodeInputs codeInputsOf(const Plan& p) {
  return {p.function, p.syncPoints, p.facts, p.shapes, p.regions, p.exits, p.parting, p.versions};
}

}  // namespace ordito::simt
