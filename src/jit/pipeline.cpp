// See pipeline.hpp.
#include "jit/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "ir/passes.hpp"
#include "ir/print.hpp"
#include "ir/single_batch.hpp"
#include "jit/emitter.hpp"
#include "rt/event_calls.hpp"
#include "rt/lane_scheduler.hpp"
#include "simt/coarsening.hpp"
#include "simt/plan.hpp"
#include "simt/thread_plan.hpp"

namespace ordito::jit {
namespace {

/// What the plan may assume of a kernel.
simt::Facts factsOf(const Analysed& kernel, const simt::CoarseningFactors& coarsening, const Target& target,
                    Effort effort) {
  simt::Facts facts;
  facts.launch = kernel.launch;
  facts.coarsening = coarsening;
  facts.processor = {.avx2 = target.avx2,
                     .avx512 = target.avx512,
                     .slowMaskedStores = target.slowMaskedStores,
                     .cacheWays = target.cacheWays};
  facts.counters = kernel.counters;
  facts.accesses = kernel.accesses;
  facts.trial = kernel.trial;
  facts.lines = kernel.lines;
  facts.baseline = effort == Effort::Baseline;
  facts.staticSharedBytes = kernel.layout.staticSharedBytes;
  facts.schedulerBytes = rt::LaneScheduler::bytes(kernel.launch.warps());
  facts.arrivalBytes = rt::Arrivals::bytes(kernel.launch.warps());
  return facts;
}

/// The kernel for blocks whose warps all advance together; nothing where that makes no difference. Listeners hear of
/// barriers.
std::optional<Analysed> withoutBarriers(const Analysed& kernel, const ir::Analyses& analyses,
                                        const simt::CoarseningFactors& coarsening, const Target& target) {
  if (!coarsening.areAll(kernel.launch.warps()) || kernel.counters || kernel.accesses) return std::nullopt;
  // The end of a region is where counts from copies of shared memory are added up.
  const simt::Facts facts = factsOf(kernel, coarsening, target, Effort::Optimised);
  if (simt::findPrivatisedCounters(kernel.function, kernel.syncPoints, analyses.definitions(), facts).any())
    return std::nullopt;
  auto function = ir::withoutPlainBarriers(kernel.function, kernel.syncPoints);
  if (!function) return std::nullopt;
  ir::SyncPoints syncPoints = ir::findSyncPoints(ir::Analyses(*function), kernel.launch);
  if (syncPoints.diverges())
    return std::nullopt;  // a loop that waits for other blocks, and was cut by a barrier so far
  return Analysed{std::move(*function), std::move(syncPoints), kernel.launch, kernel.layout};
}

simt::CoarseningFactors coarseningFor(const Analysed& kernel, const ir::Analyses& analyses,
                                      const std::vector<unsigned>& asked, const Target& target, Effort effort) {
  // What is told of a block is the same each time if its warps run one after the other.
  if (kernel.syncPoints.diverges() || kernel.accesses || effort == Effort::Baseline) return {};
  if (!asked.empty())
    return simt::CoarseningFactors::inTurn(asked, kernel.syncPoints.resumePoints.size(), kernel.launch.warps());
  return simt::factorsOf(simt::chooseCoarsening(analyses, kernel.syncPoints, factsOf(kernel, {}, target, effort)));
}

}  // namespace

size_t threadsOf(const machine::Dim3& block) { return (block.count() + kLanes - 1) / kLanes * kLanes; }

Expected<Analysed> analyse(const ptx::Module& module, const ptx::Function& kernel,
                           const machine::Specialisation& specialisation, bool dump) {
  ir::LaunchShape launch;
  launch.block = {specialisation.block.x, specialisation.block.y, specialisation.block.z};
  launch.isExact = specialisation.accesses;
  // Lanes that are diverged have to meet before they can work together, and may be so in more places then.
  std::set<uint32_t> warpSyncPoints;
  auto function = ir::buildCfg(module, kernel, warpSyncPoints, specialisation.counters, specialisation.accesses);
  if (!function) return tl::unexpected(function.error());
  const auto finish = [&] {
    ir::buildSsa(*function);
    if (specialisation.accesses) return;
    if (!specialisation.counters) ir::runPass(*ir::findPass("if-convert"), *function, launch);  // they count branches
    ir::runPass(*ir::findPass("specialise"), *function, launch);
  };
  finish();
  ir::SyncPoints syncPoints = ir::findSyncPoints(ir::Analyses(*function), launch);
  while (ir::addWarpSyncPoints(*function, syncPoints, warpSyncPoints)) {
    function = ir::buildCfg(module, kernel, warpSyncPoints, specialisation.counters, specialisation.accesses);
    finish();
    syncPoints = ir::findSyncPoints(ir::Analyses(*function), launch);
  }
  if (auto ok = ir::verify(*function); !ok) return fail("internal error: {}", ok.error().message);
  if (dump) fmt::print(stderr, "{}", ir::print(*function));
  return Analysed{std::move(*function),
                  std::move(syncPoints),
                  launch,
                  machine::layoutKernel(module, kernel),
                  specialisation.counters,
                  specialisation.accesses,
                  specialisation.trial,
                  specialisation.lines};
}

size_t instructionCount(const ir::Function& f) {
  size_t count = 0;
  for (const ir::Block& block : f.blocks) count += block.code.size() + 1;
  return count;
}

Expected<Emission> emit(const Analysed& analysed, const Wishes& wishes, const Target& target, std::string symbol,
                        Effort effort) {
  const ir::Analyses given(analysed.function);
  const simt::CoarseningFactors coarsening = coarseningFor(analysed, given, wishes.coarsening, target, effort);
  const auto joined = withoutBarriers(analysed, given, coarsening, target);
  const Analysed& kernel = joined ? *joined : analysed;
  const ir::Analyses analyses(kernel.function);
  Emission made;
  made.code = std::make_unique<llvm::Module>(kernel.function.kernel->name, *made.context);
  made.symbol = std::move(symbol);
  made.threads = threadsOf({kernel.launch.block[0], kernel.launch.block[1], kernel.launch.block[2]});
  auto kernelFor = [&](const simt::CoarseningFactors& factors) {
    simt::Facts facts = factsOf(kernel, factors, target, effort);
    facts.dropsBarriers = joined.has_value();
    facts.byThread = wishes.byThread;
    return simt::Kernel(analyses, kernel.syncPoints, facts);
  };
  auto emitStretches = [&](const simt::Plan& plan, const std::string& name) {
    const auto& stretches = plan.stretches.stretches;
    if (stretches.empty()) return;
    const simt::ThreadKernel thread(plan);
    const simt::Plan planOfThread = simt::makeThreadPlan(thread);
    for (uint32_t k = 0; k < stretches.size(); ++k) {
      KernelParts parts(*made.code, planOfThread, kernel.layout, target);
      parts.tools.context.result.sites = made.emitted.sites;
      parts.tools.context.result.counters = std::move(made.emitted.counters);
      Emitter(parts).emitStretch(nameOfStretch(name, stretches[k].first), k);
      made.emitted.sites = parts.tools.context.result.sites;
      made.emitted.counters = std::move(parts.tools.context.result.counters);
    }
  };
  try {
    const simt::Kernel coarsened = kernelFor(coarsening);
    const simt::Plan plan = simt::makePlan(coarsened);
    KernelParts parts(*made.code, plan, kernel.layout, target);
    made.emitted = Emitter(parts).emit(made.symbol);
    made.isClose = plan.stretches.hasCloseCall();
    emitStretches(plan, made.symbol);
    if (simt::runsApart(plan.code)) {
      const simt::Kernel single = kernelFor({});
      const simt::Plan planOfOne = simt::makePlan(single);
      KernelParts partsOfOne(*made.code, planOfOne, kernel.layout, target);
      const EmittedKernel needs = Emitter(partsOfOne).emitApart(nameOfApart(made.symbol), coarsening.at(0));
      emitStretches(planOfOne, nameOfApart(made.symbol));
      made.emitted.scratchBytes = std::max(made.emitted.scratchBytes, needs.scratchBytes);
      made.emitted.localBytes = std::max(made.emitted.localBytes, needs.localBytes);
    }
  } catch (const Refusal& refusal) {
    return tl::unexpected(Error{refusal.message, kNotSupported});
  }
  return made;
}

}  // namespace ordito::jit
