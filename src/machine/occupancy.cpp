// The four-limit formula. See occupancy.hpp.
#include "machine/occupancy.hpp"

#include <algorithm>

namespace ordito::machine {

namespace {

constexpr uint32_t kWarp = 32;

uint32_t roundUp(uint32_t value, uint32_t unit) { return unit ? (value + unit - 1) / unit * unit : value; }

uint32_t limitByRegisters(const GpuDescription& gpu, uint32_t registers, uint32_t warps) {
  if (registers > gpu.maxRegistersPerThread) return 0;
  if (registers == 0) return gpu.blocksPerMultiprocessor;
  if (gpu.registerAllocationPerBlock) {  // compute capability 1.x
    uint32_t perBlock =
        roundUp(roundUp(warps, gpu.warpAllocationGranularity) * registers * kWarp, gpu.registerAllocationUnit);
    return gpu.registersPerMultiprocessor / perBlock;
  }
  uint32_t perWarp = roundUp(registers * kWarp, gpu.registerAllocationUnit);
  // The register file is split over the schedulers, so warps fit in multiples of the granularity.
  uint32_t fit = gpu.registersPerMultiprocessor / perWarp;
  fit = fit / gpu.warpAllocationGranularity * gpu.warpAllocationGranularity;
  if (perWarp * warps > gpu.registersPerBlock) return 0;
  return fit / warps;
}

uint32_t limitByShared(const GpuDescription& gpu, uint32_t bytes) {
  uint32_t perBlock = roundUp(bytes + gpu.sharedReservedPerBlock, gpu.sharedAllocationUnit);
  if (bytes > std::max(gpu.sharedPerBlock, gpu.sharedPerBlockOptin)) return 0;
  if (perBlock == 0) return gpu.blocksPerMultiprocessor;
  return gpu.sharedPerMultiprocessor / perBlock;
}

}  // namespace

Occupancy occupancy(const GpuDescription& gpu, const KernelResources& kernel) {
  Occupancy o;
  if (kernel.threadsPerBlock == 0 || kernel.threadsPerBlock > gpu.threadsPerBlock) return o;
  o.warpsPerBlock = (kernel.threadsPerBlock + kWarp - 1) / kWarp;
  uint32_t mostWarps = gpu.threadsPerMultiprocessor / kWarp;
  o.byBlocks = gpu.blocksPerMultiprocessor;
  o.byWarps = std::min(mostWarps / o.warpsPerBlock, o.byBlocks);
  o.byRegisters = std::min(limitByRegisters(gpu, kernel.registersPerThread, o.warpsPerBlock), o.byBlocks);
  o.byShared = std::min(limitByShared(gpu, kernel.sharedPerBlock), o.byBlocks);
  o.blocks = std::min({o.byRegisters, o.byShared, o.byWarps, o.byBlocks});
  o.warps = o.blocks * o.warpsPerBlock;
  o.ratio = static_cast<double>(o.warps) / mostWarps;
  return o;
}

const char* Occupancy::limiter() const {
  if (blocks == byWarps && byWarps < byBlocks) return "warps";
  if (blocks == byRegisters && byRegisters < byBlocks) return "registers";
  if (blocks == byShared && byShared < byBlocks) return "shared memory";
  return "blocks";
}

}  // namespace ordito::machine
