// NPP: versions, the device, the chosen stream, memory.
#include <atomic>

#include "libs/npp/image.hpp"
#include "nppi_support_functions.h"
#include "npps_support_functions.h"

using namespace ordito::libs;

namespace {

std::atomic<cudaStream_t> chosen{nullptr};

int attribute(CUdevice_attribute which) {
  CUdevice device = 0;
  int value = 0;
  if (!hasContext() || cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
  return cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

void* allocate(size_t bytes) {
  CUdeviceptr pointer = 0;
  return hasContext() && cuMemAlloc(&pointer, bytes) == CUDA_SUCCESS ? reinterpret_cast<void*>(pointer) : nullptr;
}

void release(void* pointer) {
  if (pointer && hasContext()) cuMemFree(reinterpret_cast<CUdeviceptr>(pointer));
}

/// Rows begin at multiples of 512 bytes, as those of cudaMallocPitch.
void* allocateImage(int width, int height, size_t pixel, int* step) {
  if (width <= 0 || height <= 0 || !step) return nullptr;
  const size_t bytes = (static_cast<size_t>(width) * pixel + 511) / 512 * 512;
  *step = static_cast<int>(bytes);
  return allocate(bytes * static_cast<size_t>(height));
}

}  // namespace

const NppLibraryVersion* nppGetLibVersion() {
  static constexpr NppLibraryVersion kVersion{NPP_VERSION_MAJOR, NPP_VERSION_MINOR, NPP_VERSION_BUILD};
  return &kVersion;
}

int nppGetGpuNumSMs() { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }
int nppGetMaxThreadsPerBlock() { return attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK); }
int nppGetMaxThreadsPerSM() { return attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR); }

int nppGetGpuDeviceProperties(int* threads, int* blockThreads, int* multiprocessors) {
  if (!threads || !blockThreads || !multiprocessors) return -1;
  *threads = nppGetMaxThreadsPerSM();
  *blockThreads = nppGetMaxThreadsPerBlock();
  *multiprocessors = nppGetGpuNumSMs();
  return 0;
}

const char* nppGetGpuName() {
  thread_local char name[256];
  CUdevice device = 0;
  name[0] = 0;
  if (hasContext() && cuCtxGetDevice(&device) == CUDA_SUCCESS) cuDeviceGetName(name, sizeof name, device);
  return name;
}

cudaStream_t nppGetStream() { return chosen; }
unsigned int nppGetStreamNumSMs() { return static_cast<unsigned>(nppGetGpuNumSMs()); }
unsigned int nppGetStreamMaxThreadsPerSM() { return static_cast<unsigned>(nppGetMaxThreadsPerSM()); }

NppStatus nppSetStream(cudaStream_t stream) {
  chosen = stream;
  return NPP_SUCCESS;
}

NppStatus nppGetStreamContext(NppStreamContext* context) {
  if (!context) return NPP_NULL_POINTER_ERROR;
  CUdevice device = 0;
  if (!hasContext() || cuCtxGetDevice(&device) != CUDA_SUCCESS) return NPP_ERROR;
  *context = {};
  context->hStream = chosen;
  context->nCudaDeviceId = device;
  context->nMultiProcessorCount = nppGetGpuNumSMs();
  context->nMaxThreadsPerMultiProcessor = nppGetMaxThreadsPerSM();
  context->nMaxThreadsPerBlock = nppGetMaxThreadsPerBlock();
  context->nSharedMemPerBlock = static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  context->nCudaDevAttrComputeCapabilityMajor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  context->nCudaDevAttrComputeCapabilityMinor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  cuStreamGetFlags(reinterpret_cast<CUstream>(context->hStream), &context->nStreamFlags);
  return NPP_SUCCESS;
}

// --- memory

#define MALLOC_IMAGE(type, channels)                                                                  \
  Npp##type* nppiMalloc_##type##_C##channels(int width, int height, int* step) {                      \
    return static_cast<Npp##type*>(allocateImage(width, height, channels * sizeof(Npp##type), step)); \
  }
#define MALLOC_134(type) MALLOC_IMAGE(type, 1) MALLOC_IMAGE(type, 3) MALLOC_IMAGE(type, 4)
MALLOC_134(8u)
MALLOC_134(16u)
MALLOC_134(32s)
MALLOC_134(32f)
MALLOC_IMAGE(8u, 2)
MALLOC_IMAGE(16u, 2)
MALLOC_IMAGE(32f, 2)
MALLOC_IMAGE(16s, 1)
MALLOC_IMAGE(16s, 2)
MALLOC_IMAGE(16s, 4)
void nppiFree(void* pointer) { release(pointer); }

#define MALLOC_SIGNAL(type)                                                                                           \
  Npp##type* nppsMalloc_##type(int length) {                                                                          \
    return length > 0 ? static_cast<Npp##type*>(allocate(static_cast<size_t>(length) * sizeof(Npp##type))) : nullptr; \
  }
MALLOC_SIGNAL(8u)
MALLOC_SIGNAL(8s)
MALLOC_SIGNAL(16u)
MALLOC_SIGNAL(16s)
MALLOC_SIGNAL(32u)
MALLOC_SIGNAL(32s)
MALLOC_SIGNAL(64s)
MALLOC_SIGNAL(32f)
MALLOC_SIGNAL(64f)
void nppsFree(void* pointer) { release(pointer); }
