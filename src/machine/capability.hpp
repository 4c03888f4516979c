// What a compute capability stands for: units of a multiprocessor, results in a clock, and what the hardware can do
// (CUDA C++ Programming Guide, "Compute Capabilities" and "Arithmetic Instructions"). It is told, and changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ordito::machine {

struct Capability {
  uint32_t major = 0, minor = 0;
  const char* family = "";
  // Results for each clock and multiprocessor: additions, products or fused ones; 0: there is no such instruction.
  uint32_t half = 0, single = 0, twice = 0;
  uint32_t special = 0;     // functions: reciprocals, roots, sines
  uint32_t schedulers = 0;  // of warps
  uint32_t textureUnits = 0;

  /// What hardware of this and later capabilities has, by name.
  std::vector<std::pair<std::string, bool>> features() const;
};

/// Those of the GPUs that come with Ordito; null for others.
const Capability* findCapability(uint32_t major, uint32_t minor);

}  // namespace ordito::machine
