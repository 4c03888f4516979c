// See print.hpp.
#include "simt/print.hpp"

#include <fmt/format.h>

#include "simt/accesses.hpp"
#include "simt/coarsening.hpp"
#include "simt/code_passes.hpp"
#include "simt/thread_plan.hpp"
#include "simt/warp_order.hpp"

namespace ordito::simt {

std::string instructionName(const ir::Instruction& i) {
  return fmt::format("line {}: {}", i.line, i.info().form.mnemonic);
}

namespace {

/// The code as a pass leaves it.
template <size_t kPass>
std::string codeBehind(const Plan& p) {
  return print(makeCode(codeInputsOf(p), codePasses()[kPass].name), p.regions);
}

std::string threadCode(const Plan& whole) {
  if (whole.stretches.stretches.empty()) return "nothing\n";
  const ThreadKernel kernel(whole);
  const Plan plan = makeThreadPlan(kernel);
  return print(plan.code, plan.regions);
}

constexpr Part kParts[] = {
    {"cost", "the processor and the limits at which the plan decides",
     [](const Plan& p) { return printCost(p.facts.processor); }},
    {"coarsening", "how many warps advance together, and why",
     [](const Plan& p) { return print(chooseCoarsening(p.analyses, p.syncPoints, p.facts)); }},
    {"regions", "the code between resume points, and how threads come to it",
     [](const Plan& p) { return print(p.regions); }},
    {"early-exits", "where threads may be missing", [](const Plan& p) { return print(p.exits, p.regions); }},
    {"warp-order", "regions through which the last warp goes first",
     [](const Plan& p) { return print(findWarpOrder(p.function, p.regions, p.facts), p.regions); }},
    {"parting", "where the warps of a coarsened batch may start anew, one by one",
     [](const Plan& p) { return print(p.parting); }},
    {"liveness", "what lives across resume points and blocks",
     [](const Plan& p) { return print(p.kept.liveness, p.function, p.regions); }},
    {"known-bits", "low bits that are zero", [](const Plan& p) { return print(p.memory.knownBits, p.function); }},
    {"warp-distances", "how far values lie from warp to warp",
     [](const Plan& p) { return print(p.memory.distances, p.function); }},
    {"nan", "where f32 NaNs get the GPU's bits", [](const Plan& p) { return print(p.nans, p.function); }},
    {"versions", "divergent branches under which a second version is worth its code",
     [](const Plan& p) { return print(p.versions); }},
    {"masks", "blocks that run under masks, where no branch is assumed to agree",
     [](const Plan& p) { return printMasks(p.shapes, p.versions, p.regions); }},
    {"merged-loads", "loads of neighbouring words that become one",
     [](const Plan& p) { return print(p.memory.mergedLoads, p.function); }},
    {"prefetch", "loads whose next line is asked for",
     [](const Plan& p) { return print(p.memory.prefetches, p.function); }},
    {"non-temporal", "stores that may go round the caches",
     [](const Plan& p) { return print(p.memory.nonTemporal, p.function); }},
    {"private-slots", "private variables that need no memory",
     [](const Plan& p) { return print(p.memory.privateSlots, p.function); }},
    {"combined-atomics", "atomics that wait in a buffer, and who looks at it",
     [](const Plan& p) { return print(p.memory.combined, p.function); }},
    {"privatised-counters", "regions that count in copies of shared memory",
     [](const Plan& p) { return print(p.kept.counters, p.regions); }},
    {"rematerialise", "values that are made again behind resume points",
     [](const Plan& p) { return printRematerialised(p.kept.rematerialised, p.function); }},
    {"spill-slots", "where values lie across resume points",
     [](const Plan& p) { return print(p.kept.spills, p.function); }},
    {"access-plan", "how each access to memory is done",
     [](const Plan& p) { return print(p.memory.accesses, p.function); }},
    {"structures", "members of structures that whole warps load or store together",
     [](const Plan& p) { return print(p.memory.structures, p.function); }},
    {"by-thread", "what is run thread by thread, and why other loops are not",
     [](const Plan& p) { return print(p.stretches, p.function); }},
    {"thread-code", "SIMT code of that, for one thread", threadCode},
    {"build-code", "SIMT code: control flow with masks and versions, and all events", codeBehind<0>},
    {"drop-events", "the same without the events that nobody listens to", codeBehind<1>},
    {"dead-masks", "the same without masks that nobody reads: what is lowered to LLVM", codeBehind<2>},
};

}  // namespace

std::span<const Part> parts() { return kParts; }

const Part* findPart(std::string_view name) {
  for (const Part& part : kParts)
    if (part.name == name) return &part;
  return nullptr;
}

}  // namespace ordito::simt
