// What a tool asks the management library about the device, beside what the runtime says of it.
#include <nvml.h>

#include <cstring>
#include <string>

#include "expect.hpp"

static void agreesWithTheRuntime(nvmlDevice_t device) {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  EXPECT(nvmlDeviceGetName(device, name, sizeof name) == NVML_SUCCESS && std::strcmp(name, properties.name) == 0);
  int major = 0, minor = 0;
  EXPECT(nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == NVML_SUCCESS);
  EXPECT(major == properties.major && minor == properties.minor);
  nvmlPciInfo_t pci{};
  EXPECT(nvmlDeviceGetPciInfo(device, &pci) == NVML_SUCCESS && static_cast<int>(pci.bus) == properties.pciBusID);
  nvmlDevice_t same = nullptr;
  EXPECT(nvmlDeviceGetHandleByPciBusId(pci.busId, &same) == NVML_SUCCESS && same == device);
  char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
  EXPECT(nvmlDeviceGetUUID(device, uuid, sizeof uuid) == NVML_SUCCESS && std::string(uuid).size() == 40);
  EXPECT(nvmlDeviceGetHandleByUUID(uuid, &same) == NVML_SUCCESS && same == device);
}

static void countsMemory(nvmlDevice_t device) {
  nvmlMemory_t before{}, after{};
  EXPECT(nvmlDeviceGetMemoryInfo(device, &before) == NVML_SUCCESS && before.total == before.used + before.free);
  void* memory = nullptr;
  cudaMalloc(&memory, 64 << 20);
  EXPECT(nvmlDeviceGetMemoryInfo(device, &after) == NVML_SUCCESS && after.used >= before.used + (64 << 20));
  cudaFree(memory);
  nvmlMemory_v2_t versioned{};
  EXPECT(nvmlDeviceGetMemoryInfo_v2(device, &versioned) == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  versioned.version = nvmlMemory_v2;
  EXPECT(nvmlDeviceGetMemoryInfo_v2(device, &versioned) == NVML_SUCCESS && versioned.total == before.total);
}

static void refusesByName(nvmlDevice_t device) {
  unsigned int milliwatts = 0;
  EXPECT(nvmlDeviceGetPowerUsage(device, &milliwatts) == NVML_ERROR_NOT_SUPPORTED);
  EXPECT(std::string(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED)) == "Not Supported");
  EXPECT(nvmlDeviceGetName(device, nullptr, 10) == NVML_ERROR_INVALID_ARGUMENT);
  char little[2];
  EXPECT(nvmlDeviceGetName(device, little, sizeof little) == NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT(nvmlDeviceGetHandleByIndex(999, &device) == NVML_ERROR_INVALID_ARGUMENT);
}

int main() {
  unsigned int count = 0;
  EXPECT(nvmlDeviceGetCount(&count) == NVML_ERROR_UNINITIALIZED);
  EXPECT(nvmlInit() == NVML_SUCCESS);
  EXPECT(nvmlDeviceGetCount(&count) == NVML_SUCCESS && count >= 1);
  nvmlDevice_t device = nullptr;
  EXPECT(nvmlDeviceGetHandleByIndex(0, &device) == NVML_SUCCESS);
  agreesWithTheRuntime(device);
  countsMemory(device);
  refusesByName(device);
  EXPECT(nvmlShutdown() == NVML_SUCCESS && nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
  return finish();
}
