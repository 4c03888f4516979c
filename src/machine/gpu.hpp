// GPU descriptions: what a program is told about the GPU that it runs on, and the limits that occupancy is computed
// from.
//
// One JSON file each in machine/gpus/, compiled in. Choosing a description never changes what a kernel computes.
// ORDITO_GPU names one, forgivingly ("rtx3090", "RTX 3090", "GeForce RTX 3090"), or is the path of a JSON file of the
// user's own. Several with commas between them are as many devices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ordito::machine {

struct GpuDescription {
  std::string id;  // file name without .json
  std::string name;
  std::vector<std::string> aliases;
  std::string architecture;
  uint32_t computeMajor = 0, computeMinor = 0;
  uint64_t memoryBytes = 0;
  uint32_t multiprocessors = 0, coresPerMultiprocessor = 0;
  uint32_t clockKhz = 0, memoryClockKhz = 0, memoryBusBits = 0;
  uint32_t l2Bytes = 0;
  double memoryBandwidthGbPerS = 0, peakFloatTflops = 0;
  uint32_t singleToDoubleRatio = 0;
  uint32_t sharedPerBlock = 0, sharedPerBlockOptin = 0, sharedPerMultiprocessor = 0, sharedReservedPerBlock = 0;
  uint32_t registersPerBlock = 0, registersPerMultiprocessor = 0, maxRegistersPerThread = 0;
  uint32_t threadsPerBlock = 0, threadsPerMultiprocessor = 0, blocksPerMultiprocessor = 0;
  uint32_t registerAllocationUnit = 0, warpAllocationGranularity = 0, sharedAllocationUnit = 0;
  bool registerAllocationPerBlock = false;
  uint32_t copyEngines = 0, hardwareQueues = 0, residentGrids = 0;
  bool ecc = false, watchdog = false;

  uint32_t computeCapability() const { return computeMajor * 10 + computeMinor; }
};

/// All descriptions that come with Ordito, the default first.
const std::vector<GpuDescription>& knownGpus();

/// The description that `name` means. The error lists the known ones.
Expected<GpuDescription> findGpu(std::string_view name);

/// An error that lists the known ones if ORDITO_GPU names another: then there is no device.
Expected<void> checkSelectedGpus();

/// The GPUs that `names` lists, with commas between them. The error is that of the first that is none.
Expected<std::vector<GpuDescription>> findGpus(std::string_view names);

/// What ORDITO_GPU asks for, an RTX 3090 when it is unset or wrong. There is always one.
const std::vector<GpuDescription>& selectedGpus();

Expected<GpuDescription> parseGpu(std::string_view json, std::string id);

}  // namespace ordito::machine
