// The virtual GPUs of the process and their attributes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cuda.h"
#include "machine/gpu.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {

class Context;

inline constexpr unsigned kFirstBus = 1;  // of the first GPU, on the PCI bus that programs are told of

/// Each has memory and contexts of its own. The threads of the host that run kernels are everybody's.
struct Device {
  Device(int number, size_t place, const machine::GpuDescription& description);

  /// What cuDeviceGetAttribute answers; nothing for an unknown attribute.
  std::optional<int> attribute(CUdevice_attribute attribute) const;

  CUuuid uuid() const;

  const int ordinal;
  const size_t slot;  // among all GPUs, seen or not
  const machine::GpuDescription& gpu;
  machine::DeviceMemory memory;
  Context* primary = nullptr;  // never null after devices(): made with the device

 private:
  const std::map<int, int> attributes_;
};

/// Those that the process sees (visible_devices.hpp) of the GPUs that ORDITO_GPU lists, by ordinal. The first call
/// makes them.
const std::vector<Device*>& devices();

/// Null if there is none with this number.
Device* findDevice(CUdevice ordinal);

// Limits that launches are checked against. They are those of every GPU since compute capability 3.0, whichever GPU is
// shown: choosing an older one must not make programs fail.
inline constexpr unsigned kMaxThreadsPerBlock = 1024;
inline constexpr unsigned kMaxBlock[3] = {1024, 1024, 64};
inline constexpr unsigned kMaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr unsigned kDefaultShared = 48 * 1024;

/// The most shared memory that a kernel can opt in to.
unsigned maxOptInShared(const machine::GpuDescription& gpu);

}  // namespace ordito::driver
