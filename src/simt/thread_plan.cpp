// See thread_plan.hpp.
#include "simt/thread_plan.hpp"

#include "simt/code_passes.hpp"

namespace ordito::simt {
namespace {

Facts aThreadAtATime(Facts facts) {
  facts.coarsening = {};
  facts.launch.byThread = true;
  return facts;
}

ir::SyncPoints beginningsOf(const Plan& whole) {
  ir::SyncPoints points;
  const size_t blocks = whole.function.blocks.size(), values = whole.function.values.size();
  for (const Stretch& stretch : whole.stretches.stretches) points.resumePoints.push_back(stretch.first);
  points.independentRegion.assign(blocks, ir::SyncPoints::Stepping::Together);
  points.meets.assign(blocks, 0);
  points.differs.assign(blocks, 0);
  points.scheduleVariant.assign(values, ir::SyncPoints::Stepping::Together);
  return points;
}

Regions stretchesAsRegions(const ThreadKernel& k) {
  const ir::Function& f = k.whole.function;
  Regions r;
  r.function = &f, r.syncPoints = &k.syncPoints;
  r.resumePoints = k.syncPoints.resumePoints;
  r.pointOf.assign(f.blocks.size(), Regions::kNoResumePoint);
  r.graph = ir::Graph(f.blocks.size());
  for (uint32_t p = 0; p < r.resumePoints.size(); ++p) {
    const Stretch& stretch = k.whole.stretches.stretches[p];
    r.pointOf[stretch.first] = p;
    r.entries.push_back({.converged = true});
    for (BlockId b : stretch.blocks) {
      r.instructions += f.blocks[b].code.size();
      for (unsigned t = 0; t < f.blocks[b].end.targetCount(); ++t)
        if (f.blocks[b].end.target[t] != stretch.exit) r.graph.edge(b, f.blocks[b].end.target[t]);
    }
  }
  return r;
}

/// What a stretch finds is there when it begins, and nothing lies in spill slots.
Liveness livenessOf(const Plan& whole) {
  Liveness l;
  for (const Stretch& stretch : whole.stretches.stretches) {
    l.at.emplace_back();
    for (const Stretch::Entry& e : stretch.finds) l.at.back().push_back(e.value);
  }
  l.crossesResume.assign(whole.function.values.size(), 0);
  l.crossesBlock = whole.kept.liveness.crossesBlock;
  return l;
}

}  // namespace

ThreadKernel::ThreadKernel(const Plan& plan)
    : whole(plan),
      facts(aThreadAtATime(plan.facts)),
      syncPoints(beginningsOf(plan)),
      shapes(plan.analyses, facts.launch) {}

Plan makeThreadPlan(const ThreadKernel& k) {
  const ir::Function& f = k.whole.function;
  const ir::Definitions& definitions = k.whole.definitions();
  Regions regions = stretchesAsRegions(k);
  EarlyExits exits;
  exits.mayMiss.assign(regions.resumePoints.size(), 0);
  Parting parting;
  parting.startsAnew.assign(f.blocks.size(), 0);
  Liveness liveness = livenessOf(k.whole);
  KnownBits knownBits(f, k.shapes, definitions);
  Versions versions = findVersions(f, k.shapes);
  PrivatisedCounters counters;
  counters.regions.assign(regions.resumePoints.size(), 0);
  std::vector<char> rematerialised(f.values.size(), 0);
  SpillSlots spills({f, k.syncPoints, k.shapes, liveness, rematerialised, counters, k.facts});
  Code code = makeCode({f, k.syncPoints, k.facts, k.shapes, regions, exits, parting, versions, k.whole.stretches});
  WarpDistances distances(f, k.shapes);
  AccessPlan accesses = findAccesses(
      {f, k.facts, k.shapes, knownBits, {}, {}, k.whole.memory.privateSlots, {}, code, definitions, distances});
  return {
      f,
      k.syncPoints,
      k.facts,
      k.shapes,
      k.whole.analyses,
      std::move(regions),
      std::move(exits),
      std::move(parting),
      k.whole.speculated,
      k.whole.nans,
      std::move(versions),
      k.whole.stretches,
      std::move(code),
      {std::move(knownBits),
       std::move(distances),
       {},
       {},
       {},
       k.whole.memory.privateSlots,
       {},
       std::move(accesses),
       {}},
      {std::move(liveness), std::move(counters), std::move(rematerialised), std::move(spills)},
  };
}

}  // namespace ordito::simt
