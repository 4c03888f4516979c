// Attributes come from the GPU description; texture and surface limits, which hardly ever change, from a table by
// generation (CUDA C++ guide, "Technical Specifications per Compute Capability"). What Ordito itself can or cannot do
// is answered as it is, whatever the GPU.
#include "driver/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "driver/context.hpp"
#include "driver/visible_devices.hpp"

namespace ordito::driver {

namespace {

using machine::GpuDescription;
using Attributes = std::map<int, int>;

void addLimits(const GpuDescription& g, Attributes& a) {
  a[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = static_cast<int>(g.threadsPerBlock);
  a[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = static_cast<int>(g.threadsPerBlock);
  a[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = static_cast<int>(g.threadsPerBlock);
  a[CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64;
  a[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = g.computeMajor >= 3 ? 2147483647 : 65535;
  a[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535;
  a[CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = g.computeMajor >= 2 ? 65535 : 1;
  a[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = static_cast<int>(g.sharedPerBlock);
  a[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = static_cast<int>(g.sharedPerBlockOptin);
  a[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = static_cast<int>(g.sharedPerMultiprocessor);
  a[CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK] = static_cast<int>(g.sharedReservedPerBlock);
  a[CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = 65536;
  a[CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32;
  a[CU_DEVICE_ATTRIBUTE_MAX_PITCH] = 2147483647;
  a[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = static_cast<int>(g.registersPerBlock);
  a[CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = static_cast<int>(g.registersPerMultiprocessor);
  a[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = static_cast<int>(g.threadsPerMultiprocessor);
  a[CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR] = static_cast<int>(g.blocksPerMultiprocessor);
}

void addHardware(const GpuDescription& g, Attributes& a) {
  a[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = static_cast<int>(g.computeMajor);
  a[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = static_cast<int>(g.computeMinor);
  a[CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = static_cast<int>(g.clockKhz);
  a[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = static_cast<int>(g.memoryClockKhz);
  a[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = static_cast<int>(g.memoryBusBits);
  a[CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = static_cast<int>(g.l2Bytes);
  a[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = static_cast<int>(g.multiprocessors);
  a[CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = static_cast<int>(g.copyEngines);
  a[CU_DEVICE_ATTRIBUTE_GPU_OVERLAP] = g.copyEngines > 0;
  a[CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS] = g.residentGrids > 1;
  a[CU_DEVICE_ATTRIBUTE_ECC_ENABLED] = g.ecc;
  a[CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT] = g.watchdog;
  a[CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO] = static_cast<int>(g.singleToDoubleRatio);
  a[CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED] = g.computeMajor >= 2;
  a[CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED] = g.computeMajor >= 2;
  a[CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID] = 0;
  a[CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID] = 0;
  a[CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 512;
  a[CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT] = 32;
  a[CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT] = 512;
  a[CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED] = g.computeMajor >= 6;
  a[CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED] = g.computeCapability() >= 35;
  a[CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT] = g.computeMajor >= 9 ? 4 : 1;
}

/// What holds for Ordito itself: all memory is the host's.
void addAbilities(Attributes& a) {
  for (int attribute :
       {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
        CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
        CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
        CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
        CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED})
    a[attribute] = 1;
}

struct TextureLimit {
  CUdevice_attribute attribute;
  int before5, from5;  // compute capability
};

constexpr TextureLimit kTextureLimits[] = {
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 65536, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 134217728, 268435456},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 65536, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 65000, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000, 65000},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 1048544, 2097120},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048, 2048},
    {CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER, 1, 1},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 4096, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 4096, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 4096, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 2048, 8192},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 2048, 8192},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 16384, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046, 2046},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 65536, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 65536, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 65536, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 32768, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 65536, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 65536, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 32768, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 2048, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046, 2046},
};

Attributes allAttributes(const Device& device) {
  const GpuDescription& gpu = device.gpu;
  Attributes a;
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i) a[i] = 0;  // known, and "no"
  addLimits(gpu, a);
  addHardware(gpu, a);
  addAbilities(a);
  for (const TextureLimit& limit : kTextureLimits)
    a[limit.attribute] = gpu.computeMajor < 5 ? limit.before5 : limit.from5;
  a[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = static_cast<int>(kFirstBus + device.slot);
  a[CU_DEVICE_ATTRIBUTE_NUMA_ID] = -1;
  return a;
}

}  // namespace

Device::Device(int number, size_t place, const GpuDescription& description)
    : ordinal(number),
      slot(place),
      gpu(description),
      memory(number, description.memoryBytes),
      attributes_(allAttributes(*this)) {}

std::optional<int> Device::attribute(CUdevice_attribute attribute) const {
  const auto found = attributes_.find(attribute);
  return found == attributes_.end() ? std::nullopt : std::optional(found->second);
}

/// Stable for a GPU description, and recognisably ours.
static CUuuid uuidOf(const GpuDescription& gpu, size_t slot) {
  CUuuid uuid;
  std::memcpy(uuid.bytes, "ordito\0\0", 8);
  uuid.bytes[7] = static_cast<char>(slot);
  const uint64_t hash = std::hash<std::string>{}(gpu.id);
  std::memcpy(uuid.bytes + 8, &hash, 8);
  return uuid;
}

CUuuid Device::uuid() const { return uuidOf(gpu, slot); }

/// As nvidia-smi prints it.
static std::string textOf(const CUuuid& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i)
    text += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        static_cast<unsigned char>(uuid.bytes[i]));
  return text;
}

const std::vector<Device*>& devices() {
  static const auto* all = [] {
    const std::vector<GpuDescription>& gpus = machine::selectedGpus();
    std::vector<std::string> uuids;
    for (const GpuDescription& gpu : gpus) uuids.push_back(textOf(uuidOf(gpu, uuids.size())));
    const char* const wanted = std::getenv("CUDA_VISIBLE_DEVICES");
    auto* made = new std::vector<Device*>;
    for (const size_t slot : visibleDevices(wanted ? std::optional<std::string_view>(wanted) : std::nullopt, uuids)) {
      made->push_back(new Device(static_cast<int>(made->size()), slot, gpus[slot]));
      made->back()->primary = new Context(*made->back());
    }
    return made;
  }();
  return *all;
}

Device* findDevice(CUdevice ordinal) {
  const auto& all = devices();
  return ordinal >= 0 && static_cast<size_t>(ordinal) < all.size() ? all[static_cast<size_t>(ordinal)] : nullptr;
}

unsigned maxOptInShared(const GpuDescription& gpu) { return std::max(gpu.sharedPerBlockOptin, kDefaultShared); }

}  // namespace ordito::driver
