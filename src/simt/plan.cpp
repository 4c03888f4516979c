// See plan.hpp.
#include "simt/plan.hpp"

#include "ir/speculated.hpp"
#include "simt/code_passes.hpp"

namespace ordito::simt {

Plan makePlan(const Kernel& k, PassTimes* times) {
  const auto& [analyses, syncPoints, facts, shapes] = k;
  const ir::Function& f = analyses.function();
  const ir::Definitions& definitions = analyses.definitions();
  Regions regions = timed(times, "regions", [&] { return findRegions(f, syncPoints, facts); });
  EarlyExits exits = timed(times, "early-exits", [&] { return findEarlyExits(f, syncPoints, shapes, regions); });
  Parting parting = timed(times, "parting", [&] { return findParting(f, syncPoints, shapes, facts); });
  Liveness liveness = timed(times, "liveness", [&] { return findLiveness(f, definitions, regions); });
  std::vector<char> speculated = timed(times, "speculated", [&] { return ir::speculatedValues(analyses); });
  KnownBits knownBits = timed(times, "known-bits", [&] { return KnownBits(f, shapes, definitions); });
  knownBits.keepRoots(liveness);
  WarpDistances distances = timed(times, "warp-distances", [&] { return WarpDistances(f, shapes); });
  NanPlan nans = timed(times, "nan", [&] { return NanPlan(f); });
  Versions versions = timed(times, "versions", [&] { return findVersions(f, shapes); });
  MergedLoads mergedLoads = timed(times, "merged-loads", [&] { return findMergedLoads(f, shapes, facts); });
  Prefetches prefetches = timed(times, "prefetch", [&] { return findPrefetches(analyses, shapes, facts.launch); });
  NonTemporal nonTemporal = timed(times, "non-temporal", [&] { return findNonTemporal(f, definitions, facts); });
  PrivateSlots privateSlots = timed(times, "private-slots", [&] { return findPrivateSlots(f, regions, facts); });
  PrivatisedCounters counters =
      timed(times, "privatised-counters", [&] { return findPrivatisedCounters(f, syncPoints, definitions, facts); });
  std::vector<char> rematerialised =
      timed(times, "rematerialise", [&] { return findRematerialised(f, syncPoints, shapes, definitions, liveness); });
  SpillSlots spills = timed(times, "spill-slots", [&] {
    return SpillSlots({f, syncPoints, shapes, liveness, rematerialised, counters, facts});
  });
  Stretches stretches =
      timed(times, "by-thread", [&] { return findStretches({analyses, syncPoints, facts, shapes, privateSlots}); });
  CombinedAtomics combined =
      timed(times, "combined-atomics", [&] { return findCombinedAtomics(analyses, syncPoints, shapes, facts); });
  Code code = makeCode({f, syncPoints, facts, shapes, regions, exits, parting, versions, stretches}, {}, times);
  AccessPlan accesses = timed(times, "access-plan", [&] {
    return findAccesses(
        {f, facts, shapes, knownBits, mergedLoads, nonTemporal, privateSlots, combined, code, definitions, distances});
  });
  Structures structures = timed(times, "structures", [&] {
    Structures found = findStructures(f, accesses, facts);
    accesses.becomeStructures(found.members);
    return found;
  });
  return {
      f,
      syncPoints,
      facts,
      shapes,
      analyses,
      std::move(regions),
      std::move(exits),
      std::move(parting),
      std::move(speculated),
      std::move(nans),
      std::move(versions),
      std::move(stretches),
      std::move(code),
      {std::move(knownBits), std::move(distances), std::move(mergedLoads), std::move(prefetches),
       std::move(nonTemporal), std::move(privateSlots), std::move(combined), std::move(accesses),
       std::move(structures)},
      {std::move(liveness), std::move(counters), std::move(rematerialised), std::move(spills)},
  };
}

CodeInputs codeInputsOf(const Plan& p) {
  return {p.function, p.syncPoints, p.facts, p.shapes, p.regions, p.exits, p.parting, p.versions, p.stretches};
}

}  // namespace ordito::simt
