// Theoretical occupancy: how many blocks of a kernel one multiprocessor holds, and which of the four limits says so.
//
// The limits are those of NVIDIA's occupancy calculator: resident warps, resident blocks, registers (allocated per warp
// in units), shared memory (allocated per block in units). CUDA C++ guide, "Multiprocessor Level"; the table "Technical
// Specifications per Compute Capability".
#pragma once

#include <cstdint>

#include "machine/gpu.hpp"

namespace ordito::machine {

struct KernelResources {
  uint32_t threadsPerBlock = 0;
  uint32_t registersPerThread = 0;
  uint32_t sharedPerBlock = 0;  // static + dynamic bytes
};

struct Occupancy {
  // Blocks per multiprocessor that each limit allows.
  uint32_t byRegisters = 0, byShared = 0, byWarps = 0, byBlocks = 0;
  uint32_t warpsPerBlock = 0;
  uint32_t blocks = 0;  // the smallest of the four
  uint32_t warps = 0;   // resident
  double ratio = 0;     // of the multiprocessor's warps

  /// The limit that binds: "registers", "shared memory", "warps" or "blocks".
  const char* limiter() const;
};

Occupancy occupancy(const GpuDescription& gpu, const KernelResources& kernel);

/// The block size (a multiple of the warp) with the most resident threads; of equals the largest.
struct BestBlock {
  uint32_t blockSize = 0;
  uint32_t gridSize = 0;  // blocks that fill the whole GPU
};

/// `sharedFor(blockSize)` gives the shared bytes of a block of that size.
template <class SharedFor>
BestBlock bestBlockSize(const GpuDescription& gpu, uint32_t registersPerThread, uint32_t limit, SharedFor sharedFor) {
  BestBlock best;
  uint32_t most = 0;
  for (uint32_t size = limit / 32 * 32; size >= 32; size -= 32) {
    Occupancy o = occupancy(gpu, {size, registersPerThread, sharedFor(size)});
    if (o.blocks * size <= most) continue;
    most = o.blocks * size;
    best = {size, o.blocks * gpu.multiprocessors};
  }
  return best;
}

}  // namespace ordito::machine
