// Which caches a GPU has, by its generation.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/occupancy.hpp"

namespace ordito::caches {

struct Layout {
  uint64_t l1Bytes = 0;        // of each multiprocessor
  uint64_t readOnlyBytes = 0;  // of a cache of its own for read-only loads; 0: they go through L1, if there is one
  uint64_t constantBytes = 0;  // of each multiprocessor
  uint64_t l2Bytes = 0;
  bool globalLoadsInL1 = false;
  bool l1FillsLines = false;   // a miss brings 128 bytes, not 32
  bool storesDropL1 = false;   // a store makes the sector in L1 invalid; else it is updated there
  bool readOnlyLoads = false;  // there are loads of the read-only path (ld.global.nc)
};

/// `shared`: what all resident blocks of the kernel take of the memory that L1 shares with them. `l1` is "on" or "off"
/// to say whether global loads go through L1 (nvcc's -dlcm=ca and cg), or empty for what the GPU does.
Layout layoutOf(const machine::GpuDescription& gpu, uint64_t shared, std::string_view l1 = "");

}  // namespace ordito::caches
