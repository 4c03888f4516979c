// How the occupancy of a multiprocessor changes with one of the three things that a kernel asks for, while the other
// two stay: the curves of NVIDIA's occupancy calculator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/occupancy.hpp"

namespace ordito::cli {

struct OccupancyPoint {
  uint32_t value = 0;
  machine::Occupancy occupancy;
};

struct OccupancyCurve {
  std::string key;    // "block", "registers", "shared"
  std::string title;  // what varies, for people
  uint32_t now = 0;   // the value that was asked for
  std::vector<OccupancyPoint> points;
};

/// The curve that `key` names: block sizes of whole warps, registers in steps of what is allocated, shared memory in
/// steps of 1 KiB, each up to the GPU's limit. Nothing for another key.
std::optional<OccupancyCurve> occupancyCurve(const machine::GpuDescription& gpu, const machine::KernelResources& kernel,
                                             std::string_view key);

/// All three.
std::vector<OccupancyCurve> occupancyCurves(const machine::GpuDescription& gpu, const machine::KernelResources& kernel);

/// What binds, or why there is no block at all.
std::string limitOf(const machine::GpuDescription& gpu, const machine::KernelResources& kernel);

/// The three curves of one GPU as panels of an SVG picture, with the kernel's own place marked.
std::string plotOccupancy(const machine::GpuDescription& gpu, const machine::KernelResources& kernel);

}  // namespace ordito::cli
