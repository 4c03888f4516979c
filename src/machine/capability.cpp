// See capability.hpp.
#include "machine/capability.hpp"

#include <algorithm>
#include <iterator>

namespace ordito::machine {
namespace {

constexpr Capability kCapabilities[] = {
    {1, 3, "Tesla", 0, 8, 1, 2, 1, 0},       {2, 0, "Fermi", 0, 32, 16, 4, 2, 4},
    {3, 5, "Kepler", 0, 192, 64, 32, 4, 16}, {6, 0, "Pascal", 128, 64, 32, 16, 2, 4},
    {6, 1, "Pascal", 2, 128, 4, 32, 4, 8},   {7, 0, "Volta", 128, 64, 32, 16, 4, 4},
    {7, 5, "Turing", 128, 64, 2, 16, 4, 4},  {8, 0, "Ampere", 256, 64, 32, 16, 4, 4},
    {8, 6, "Ampere", 256, 128, 2, 16, 4, 4}, {9, 0, "Hopper", 256, 128, 64, 16, 4, 4},
};

struct Since {
  const char* feature;
  uint32_t capability;  // times 10
};

constexpr Since kFeatures[] = {
    {"managed memory", 30},
    {"dynamic parallelism", 35},
    {"half precision arithmetic", 53},
    {"lanes with program counters of their own", 70},
    {"tensor cores", 70},
    {"warp matrix functions of mixed precision", 70},
    {"asynchronous copies to shared memory", 80},
    {"barriers split into arrive and wait", 80},
    {"control of what stays in L2", 80},
    {"clusters of blocks", 90},
};

}  // namespace

std::vector<std::pair<std::string, bool>> Capability::features() const {
  std::vector<std::pair<std::string, bool>> all;
  for (const Since& since : kFeatures) all.emplace_back(since.feature, major * 10 + minor >= since.capability);
  return all;
}

const Capability* findCapability(uint32_t major, uint32_t minor) {
  const auto* found = std::ranges::find_if(
      kCapabilities, [&](const Capability& known) { return known.major == major && known.minor == minor; });
  return found == std::end(kCapabilities) ? nullptr : found;
}

}  // namespace ordito::machine
