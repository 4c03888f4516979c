// The virtual GPU and its attributes.
#pragma once

#include <optional>

#include "cuda.h"
#include "machine/gpu.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {

class Context;

struct Device {
  explicit Device(const machine::GpuDescription& description);

  const machine::GpuDescription& gpu;
  machine::DeviceMemory memory;
  Context* primary = nullptr;  // never null after device(): made with the device
};

/// The only device, number 0. The first call chooses the GPU (ORDITO_GPU).
Device& device();
inline constexpr int kDeviceCount = 1;

/// What cuDeviceGetAttribute answers; nothing for an unknown attribute.
std::optional<int> deviceAttribute(const machine::GpuDescription& gpu, CUdevice_attribute attribute);

// Limits that launches are checked against. They are those of every GPU since compute capability 3.0, whichever GPU is
// shown: choosing an older one must not make programs fail.
inline constexpr unsigned kMaxThreadsPerBlock = 1024;
inline constexpr unsigned kMaxBlock[3] = {1024, 1024, 64};
inline constexpr unsigned kMaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr unsigned kDefaultShared = 48 * 1024;

/// The most shared memory that a kernel can opt in to.
unsigned maxOptInShared(const machine::GpuDescription& gpu);

}  // namespace ordito::driver
