// The sizes are those of the CUDA C++ guide's chapter on compute capabilities and of the tuning guides. From Volta on
// L1 and shared memory are one memory, of which L1 has what the resident blocks do not take (the hardware rounds that
// to one of several splits). On Pascal and Maxwell L1 is that of textures.
#include "caches/layout.hpp"

#include <algorithm>

namespace ordito::caches {

namespace {

constexpr uint64_t kKiB = 1024;

/// L1 and shared memory together, of a multiprocessor; 0 where they are two.
uint64_t unifiedBytes(uint32_t capability) {
  switch (capability) {
    case 20:
    case 21:
    case 30:
    case 35: return 64 * kKiB;
    case 37: return 128 * kKiB;
    case 70:
    case 72: return 128 * kKiB;
    case 75: return 96 * kKiB;
    case 80:
    case 87: return 192 * kKiB;
    case 86:
    case 89: return 128 * kKiB;
    default: return capability >= 90 ? 256 * kKiB : 0;
  }
}

uint64_t firstLevelBytes(const machine::GpuDescription& gpu, uint64_t shared) {
  const uint64_t unified = unifiedBytes(gpu.computeCapability());
  if (unified == 0) return gpu.computeMajor < 2 ? 0 : gpu.computeCapability() == 60 ? 24 * kKiB : 48 * kKiB;
  if (gpu.computeMajor < 7) return 16 * kKiB;  // the split that a program gets if it asks for none
  return unified - std::min(shared, unified);
}

}  // namespace

Layout layoutOf(const machine::GpuDescription& gpu, uint64_t shared, std::string_view l1) {
  const uint32_t capability = gpu.computeCapability();
  Layout layout;
  layout.l1Bytes = firstLevelBytes(gpu, shared);
  layout.readOnlyBytes = capability >= 35 && capability < 50 ? 48 * kKiB : 0;
  layout.constantBytes = gpu.computeMajor < 2 ? 8 * kKiB : 2 * kKiB;
  layout.l2Bytes = gpu.l2Bytes;
  // Kepler and Maxwell keep only local memory in L1 unless asked; so do the small Pascals.
  const bool byDefault = gpu.computeMajor == 2 || capability == 60 || gpu.computeMajor >= 7;
  layout.globalLoadsInL1 = layout.l1Bytes > 0 && (l1.empty() ? byDefault : l1 == "on");
  layout.l1FillsLines = gpu.computeMajor < 5;
  layout.storesDropL1 = gpu.computeMajor < 7;
  layout.readOnlyLoads = capability >= 35;
  return layout;
}

}  // namespace ordito::caches
