// See occupancy_curves.hpp.
#include "cli/occupancy_curves.hpp"

#include <algorithm>

namespace ordito::cli {

namespace {

using machine::GpuDescription;
using machine::KernelResources;

struct Axis {
  const char *key, *title;
  uint32_t KernelResources::* varied;
  uint32_t first, step, last;
};

/// Registers are handed out to a warp in units, so each thread of it gets a multiple of unit / 32; a capability 1.x
/// rounds for the whole block.
uint32_t registerStep(const GpuDescription& gpu) {
  return gpu.registerAllocationPerBlock ? 1 : std::max(1u, gpu.registerAllocationUnit / 32);
}

std::vector<Axis> axesOf(const GpuDescription& gpu) {
  const uint32_t step = registerStep(gpu);
  return {{"block", "threads in a block", &KernelResources::threadsPerBlock, 32, 32, gpu.threadsPerBlock},
          {"registers", "registers of a thread", &KernelResources::registersPerThread, step, step,
           gpu.maxRegistersPerThread},
          {"shared", "shared memory of a block", &KernelResources::sharedPerBlock, 0, 1024,
           std::max(gpu.sharedPerBlock, gpu.sharedPerBlockOptin)}};
}

OccupancyCurve curveAlong(const Axis& axis, const GpuDescription& gpu, KernelResources kernel) {
  OccupancyCurve curve{axis.key, axis.title, kernel.*axis.varied, {}};
  for (uint32_t value = axis.first; value < axis.last + axis.step; value += axis.step) {
    kernel.*axis.varied = std::min(value, axis.last);
    curve.points.push_back({kernel.*axis.varied, machine::occupancy(gpu, kernel)});
  }
  return curve;
}

}  // namespace

std::optional<OccupancyCurve> occupancyCurve(const GpuDescription& gpu, const KernelResources& kernel,
                                             std::string_view key) {
  for (const Axis& axis : axesOf(gpu))
    if (axis.key == key) return curveAlong(axis, gpu, kernel);
  return std::nullopt;
}

std::vector<OccupancyCurve> occupancyCurves(const GpuDescription& gpu, const KernelResources& kernel) {
  std::vector<OccupancyCurve> curves;
  for (const Axis& axis : axesOf(gpu)) curves.push_back(curveAlong(axis, gpu, kernel));
  return curves;
}

std::string limitOf(const GpuDescription& gpu, const KernelResources& kernel) {
  const machine::Occupancy o = machine::occupancy(gpu, kernel);
  if (o.blocks > 0) return o.limiter();
  if (o.warpsPerBlock == 0) return "too many threads";
  if (o.byRegisters == 0) return "too many registers";
  return o.byShared == 0 ? "too much shared memory" : "too many threads";
}

}  // namespace ordito::cli
