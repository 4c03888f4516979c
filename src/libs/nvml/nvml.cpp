// libnvidia-ml: what tools ask about the devices, answered from the driver API. What only a real card has (power,
// temperature, fans, links) is refused by name; see include/tables/nvml.table.
//
// A handle is the address of a device's entry here. The driver is asked again at each call: it holds the answers.
#include "nvml.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <string>

#include "cuda.h"

struct nvmlDevice_st {
  CUdevice ordinal;
};

namespace {

std::atomic<int> users{0};

/// The driver's devices, in its order. There are never more than it lets in at start.
std::array<nvmlDevice_st, 64>& devices() {
  static auto all = [] {
    std::array<nvmlDevice_st, 64> entries{};
    for (size_t i = 0; i < entries.size(); ++i) entries[i].ordinal = static_cast<CUdevice>(i);
    return entries;
  }();
  return all;
}

unsigned int count() {
  int devices = 0;
  return cuDeviceGetCount(&devices) == CUDA_SUCCESS ? static_cast<unsigned int>(devices) : 0;
}

/// What every call checks first: NVML is on, the handle is one of ours, the result has a place.
nvmlReturn_t check(nvmlDevice_t device, const void* result) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  const auto* first = devices().data();
  const bool known = device >= first && device < first + count();
  return known && result != nullptr ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t copy(const std::string& text, char* result, unsigned int length) {
  if (result == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (length <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(result, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

int attribute(nvmlDevice_t device, CUdevice_attribute which) {
  int value = 0;
  cuDeviceGetAttribute(&value, which, device->ordinal);
  return value;
}

/// "GPU-" and the sixteen bytes in hexadecimal, as nvidia-smi prints them.
std::string uuid(CUdevice device) {
  CUuuid bytes{};
  cuDeviceGetUuid(&bytes, device);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes.bytes[i]));
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::string busId(nvmlDevice_t device, int domainDigits) {
  char text[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
  std::snprintf(text, sizeof text, "%0*X:%02X:%02X.0", domainDigits,
                attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID), attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  return text;
}

/// Bytes of the device's memory: all and free. A context is needed to ask, so the primary one is borrowed.
nvmlReturn_t memory(nvmlDevice_t device, size_t& free, size_t& total) {
  CUcontext context = nullptr;
  if (cuDevicePrimaryCtxRetain(&context, device->ordinal) != CUDA_SUCCESS) return NVML_ERROR_UNKNOWN;
  cuCtxPushCurrent(context);
  const CUresult got = cuMemGetInfo(&free, &total);
  cuCtxPopCurrent(&context);
  cuDevicePrimaryCtxRelease(device->ordinal);
  return got == CUDA_SUCCESS ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

template <class Matches>
nvmlReturn_t find(nvmlDevice_t* device, Matches&& matches) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned int i = 0; i < count(); ++i) {
    if (!matches(&devices()[i])) continue;
    *device = &devices()[i];
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

const char* nameOf(nvmlReturn_t result) {
  switch (result) {
#define VALUE(name) \
  case name: return #name;
#include "refused/nvmlReturn_enum.def"
  }
  return "NVML_ERROR_UNKNOWN";
}

/// NVML_ERROR_NOT_FOUND reads "Not Found".
std::string readable(const std::string& name) {
  std::string text = name.substr(name.rfind("NVML_ERROR_", 0) == 0 ? std::strlen("NVML_ERROR_") : std::strlen("NVML_"));
  bool starts = true;
  for (char& letter : text) {
    if (letter == '_') letter = ' ';
    if (!starts) letter = static_cast<char>(std::tolower(letter));
    starts = letter == ' ';
  }
  return text;
}

}  // namespace

nvmlReturn_t nvmlInitWithFlags(unsigned int) {
  if (cuInit(0) != CUDA_SUCCESS) return NVML_ERROR_DRIVER_NOT_LOADED;
  ++users;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  --users;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  thread_local std::string text;
  text = readable(nameOf(result));
  return text.c_str();
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return cuDriverGetVersion(version) == CUDA_SUCCESS ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) { return nvmlSystemGetCudaDriverVersion(version); }

// The driver that came with CUDA 13.0.
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return users == 0 ? NVML_ERROR_UNINITIALIZED : copy("580.65.06", version, length);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return copy("13.580.65.06", version, length);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* devices) {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  if (devices == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *devices = count();
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  const nvmlReturn_t found = find(device, [&](nvmlDevice_t d) { return static_cast<unsigned>(d->ordinal) == index; });
  return found == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : found;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* wanted, nvmlDevice_t* device) {
  if (wanted == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return find(device, [&](nvmlDevice_t d) { return uuid(d->ordinal) == wanted; });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* wanted, nvmlDevice_t* device) {
  CUdevice ordinal = 0;
  if (wanted == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (cuDeviceGetByPCIBusId(&ordinal, wanted) != CUDA_SUCCESS) return NVML_ERROR_NOT_FOUND;
  return find(device, [&](nvmlDevice_t d) { return d->ordinal == ordinal; });
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  if (const nvmlReturn_t wrong = check(device, name); wrong != NVML_SUCCESS) return wrong;
  char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  cuDeviceGetName(text, sizeof text, device->ordinal);
  return copy(text, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned int length) {
  if (const nvmlReturn_t wrong = check(device, text); wrong != NVML_SUCCESS) return wrong;
  return copy(uuid(device->ordinal), text, length);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  if (const nvmlReturn_t wrong = check(device, index); wrong != NVML_SUCCESS) return wrong;
  *index = static_cast<unsigned int>(device->ordinal);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minor) {
  return nvmlDeviceGetIndex(device, minor);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  if (const nvmlReturn_t wrong = check(device, info); wrong != NVML_SUCCESS) return wrong;
  *info = {};
  info->domain = static_cast<unsigned int>(attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
  info->bus = static_cast<unsigned int>(attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID));
  info->device = static_cast<unsigned int>(attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  copy(busId(device, 8), info->busId, sizeof info->busId);
  return copy(busId(device, 4), info->busIdLegacy, sizeof info->busIdLegacy);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* info) {
  if (const nvmlReturn_t wrong = check(device, info); wrong != NVML_SUCCESS) return wrong;
  size_t free = 0;
  size_t total = 0;
  if (const nvmlReturn_t wrong = memory(device, free, total); wrong != NVML_SUCCESS) return wrong;
  *info = {.total = total, .free = free, .used = total - free};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* info) {
  if (const nvmlReturn_t wrong = check(device, info); wrong != NVML_SUCCESS) return wrong;
  if (info->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  nvmlMemory_t plain{};
  if (const nvmlReturn_t wrong = nvmlDeviceGetMemoryInfo(device, &plain); wrong != NVML_SUCCESS) return wrong;
  *info = {.version = info->version, .total = plain.total, .reserved = 0, .free = plain.free, .used = plain.used};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
  if (const nvmlReturn_t wrong = check(device, mode); wrong != NVML_SUCCESS) return wrong;
  *mode = static_cast<nvmlComputeMode_t>(attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  if (const nvmlReturn_t wrong = check(device, major); wrong != NVML_SUCCESS) return wrong;
  if (minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  *minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* architecture) {
  int major = 0;
  int minor = 0;
  if (const nvmlReturn_t wrong = check(device, architecture); wrong != NVML_SUCCESS) return wrong;
  nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
  switch (major) {
    case 3: *architecture = NVML_DEVICE_ARCH_KEPLER; break;
    case 5: *architecture = NVML_DEVICE_ARCH_MAXWELL; break;
    case 6: *architecture = NVML_DEVICE_ARCH_PASCAL; break;
    case 7: *architecture = minor == 5 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA; break;
    case 8: *architecture = minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE; break;
    case 9: *architecture = NVML_DEVICE_ARCH_HOPPER; break;
    case 10:
    case 12: *architecture = NVML_DEVICE_ARCH_BLACKWELL; break;
    default: *architecture = NVML_DEVICE_ARCH_UNKNOWN;
  }
  return NVML_SUCCESS;
}

/// The clocks that the model of the GPU states: it has one of the multiprocessors and one of the memory.
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* megahertz) {
  if (const nvmlReturn_t wrong = check(device, megahertz); wrong != NVML_SUCCESS) return wrong;
  if (type >= NVML_CLOCK_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
  if (type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
  const auto which = type == NVML_CLOCK_MEM ? CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE : CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
  *megahertz = static_cast<unsigned int>(attribute(device, which)) / 1000;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* megahertz) {
  return nvmlDeviceGetMaxClockInfo(device, type, megahertz);
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int* bits) {
  if (const nvmlReturn_t wrong = check(device, bits); wrong != NVML_SUCCESS) return wrong;
  *bits = static_cast<unsigned int>(attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* several) {
  if (const nvmlReturn_t wrong = check(device, several); wrong != NVML_SUCCESS) return wrong;
  *several = attribute(device, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD) != 0;
  return NVML_SUCCESS;
}

// The first forms of these calls, for programs that find functions by name.
#define FIRST_FORM(name, newer) \
  extern "C" __typeof__(newer) ordito_first_##name __asm__(#name) __attribute__((alias(#newer)));
FIRST_FORM(nvmlInit, nvmlInit_v2)
FIRST_FORM(nvmlDeviceGetCount, nvmlDeviceGetCount_v2)
FIRST_FORM(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2)
FIRST_FORM(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2)
