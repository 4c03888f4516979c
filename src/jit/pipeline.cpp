// See pipeline.hpp.
#include "jit/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "ir/liveness.hpp"
#include "ir/passes.hpp"
#include "ir/print.hpp"
#include "ir/shape.hpp"
#include "ir/single_group.hpp"
#include "jit/jam.hpp"
#include "jit/shadows.hpp"

namespace ordito::jit {
namespace {

/// The kernel for blocks whose warps run as one group; nothing where that makes no difference. Counters count barriers.
std::optional<Analysed> withoutBarriers(const Analysed& kernel, unsigned jam) {
  if (kernel.launch.warps() != jam || kernel.counters) return std::nullopt;
  // The end of a region is where counts from copies of shared memory are added up.
  const auto shadowed = shadowedRegions(kernel.function, kernel.stops, kernel.layout, ir::readValues(kernel.function));
  if (std::any_of(shadowed.begin(), shadowed.end(), [](char s) { return s != 0; })) return std::nullopt;
  auto function = ir::withoutPlainBarriers(kernel.function, kernel.stops);
  if (!function) return std::nullopt;
  ir::Stops stops = ir::findStops(*function, kernel.launch);
  if (stops.parks()) return std::nullopt;  // a loop that waits for other blocks, and was cut by a barrier so far
  return Analysed{std::move(*function), std::move(stops), kernel.launch, kernel.layout, false};
}

unsigned jamFor(const Analysed& kernel, unsigned asked, const Target& target) {
  if (kernel.stops.parks()) return 1;
  if (!asked) return chooseJam(kernel.function, kernel.launch, target);
  return kernel.launch.warps() % asked == 0 ? asked : 1;
}

}  // namespace

size_t threadsOf(const machine::Dim3& block) { return (block.count() + kLanes - 1) / kLanes * kLanes; }

Expected<Analysed> analyse(const ptx::Module& module, const ptx::Function& kernel,
                           const machine::Specialisation& specialisation, bool dump) {
  ir::LaunchShape launch;
  launch.block = {specialisation.block.x, specialisation.block.y, specialisation.block.z};
  // Lanes that are out of step have to meet before they can work together, and may be so in more places then.
  std::set<uint32_t> warpStops;
  auto function = ir::buildCfg(module, kernel);
  if (!function) return tl::unexpected(function.error());
  const auto finish = [&] {
    ir::buildSsa(*function);
    if (!specialisation.counters)
      ir::runPass(*ir::findPass("if-convert"), *function, launch);  // counters count the branches
  };
  finish();
  ir::Stops stops = ir::findStops(*function, launch);
  while (ir::addWarpStops(*function, stops, warpStops)) {
    function = ir::buildCfg(module, kernel, warpStops);
    finish();
    stops = ir::findStops(*function, launch);
  }
  if (auto ok = ir::verify(*function); !ok) return fail("internal error: {}", ok.error().message);
  if (dump) fmt::print(stderr, "{}", ir::print(*function));
  return Analysed{std::move(*function), std::move(stops), launch, machine::layoutKernel(module, kernel),
                  specialisation.counters};
}

size_t instructionCount(const ir::Function& f) {
  size_t count = 0;
  for (const ir::Block& block : f.blocks) count += block.code.size() + 1;
  return count;
}
Expected<Emission> emit(const Analysed& analysed, unsigned asked, const Target& target, std::string symbol,
                        Effort effort) {
  const unsigned jam = effort == Effort::Full ? jamFor(analysed, asked, target) : 1;
  const auto joined = withoutBarriers(analysed, jam);
  const Analysed& kernel = joined ? *joined : analysed;
  ir::LaunchShape launch = kernel.launch;
  Emission made;
  made.code = std::make_unique<llvm::Module>(kernel.function.kernel->name, *made.context);
  made.symbol = std::move(symbol);
  made.threads = threadsOf({launch.block[0], launch.block[1], launch.block[2]});
  auto shapesFor = [&](unsigned warps) {
    launch.jam = warps;
    return ir::Shapes(kernel.function, launch, &kernel.stops);
  };
  auto emitterFor = [&](const ir::Shapes& shapes) {
    return Emitter(*made.code, kernel.function, kernel.stops, shapes, kernel.layout, target, kernel.counters,
                   effort == Effort::Quick);
  };
  const std::string apart = made.symbol + "_apart";
  try {
    const ir::Shapes shapes = shapesFor(jam);
    Emitter together = emitterFor(shapes);
    if (jam > 1 && !joined && kernel.stops.points.size() == 1 && !kernel.stops.parks() && !kernel.counters)
      together.partWarps(apart);
    made.emitted = together.emit(made.symbol);
    if (together.hasParted()) {
      const ir::Shapes single = shapesFor(1);
      const EmittedKernel needs = emitterFor(single).emitApart(apart, jam);
      made.emitted.scratchBytes = std::max(made.emitted.scratchBytes, needs.scratchBytes);
      made.emitted.localBytes = std::max(made.emitted.localBytes, needs.localBytes);
    }
  } catch (const Refusal& refusal) {
    return tl::unexpected(Error{refusal.message, kNotSupported});
  }
  return made;
}

}  // namespace ordito::jit
