// All that is decided about a kernel before code is made of it: the results of the analyses, each made once from the
// kernel, the launch, the processor and the analyses before it. The lowering to LLVM reads the plan and adds nothing to
// it. docs/engine.md describes the parts in the order in which makePlan computes them.
#pragma once

#include "base/pass_times.hpp"
#include "ir/definitions.hpp"
#include "simt/access_plan.hpp"
#include "simt/build_code.hpp"
#include "simt/by_thread.hpp"
#include "simt/coarsening.hpp"
#include "simt/code.hpp"
#include "simt/combined_atomics.hpp"
#include "simt/early_exits.hpp"
#include "simt/facts.hpp"
#include "simt/known_bits.hpp"
#include "simt/liveness.hpp"
#include "simt/masks.hpp"
#include "simt/merged_loads.hpp"
#include "simt/nan_plan.hpp"
#include "simt/non_temporal.hpp"
#include "simt/parting.hpp"
#include "simt/prefetch.hpp"
#include "simt/private_slots.hpp"
#include "simt/privatised_counters.hpp"
#include "simt/regions.hpp"
#include "simt/rematerialise.hpp"
#include "simt/spill_slots.hpp"
#include "simt/structures.hpp"
#include "simt/versions.hpp"
#include "simt/warp_distances.hpp"

namespace ordito::simt {

/// What is decided about accesses to memory.
struct MemoryPlan {
  KnownBits knownBits;
  WarpDistances distances;
  MergedLoads mergedLoads;
  Prefetches prefetches;
  NonTemporal nonTemporal;
  PrivateSlots privateSlots;
  CombinedAtomics combined;
  AccessPlan accesses;
  Structures structures;
};

/// What lives across resume points, and where.
struct KeptPlan {
  Liveness liveness;
  PrivatisedCounters counters;
  std::vector<char> rematerialised;  // by value
  SpillSlots spills;
};

struct Plan {
  const ir::Function& function;
  const ir::SyncPoints& syncPoints;
  const Facts facts;
  const ir::Shapes& shapes;
  const ir::Analyses& analyses;

  const Regions regions;
  const EarlyExits exits;
  const Parting parting;
  const std::vector<char> speculated;  // by value: see ir/speculated.hpp
  const NanPlan nans;
  const Versions versions;
  const Stretches stretches;
  const Code code;
  const MemoryPlan memory;
  const KeptPlan kept;

  const ir::Definitions& definitions() const { return analyses.definitions(); }
};

/// What a plan is made of; it must outlive the plan.
struct Kernel {
  Kernel(const ir::Analyses& analyses, const ir::SyncPoints& syncPoints, const Facts& facts)
      : analyses(analyses),
        syncPoints(syncPoints),
        facts(facts),
        shapes(analyses, facts.launch, &syncPoints, coarsenedBlocks(analyses.function(), syncPoints, facts)) {}
  const ir::Analyses& analyses;
  const ir::SyncPoints& syncPoints;
  const Facts facts;
  const ir::Shapes shapes;
};

/// `times`, if not null, learns how long each part takes.
Plan makePlan(const Kernel& kernel, PassTimes* times = nullptr);

/// What the plan's code is made from.
CodeInputs codeInputsOf(const Plan& plan);

}  // namespace ordito::simt
