// The layouts of CUDA 12 that programs built by NVIDIA's compiler bring with them. Compiled by plain_headers_test.sh;
// nothing to run.
#include <cuda_runtime_api.h>

#include <cstddef>

static_assert(sizeof(cudaDeviceProp) == 1032);
static_assert(offsetof(cudaDeviceProp, uuid) == 256 && offsetof(cudaDeviceProp, totalGlobalMem) == 288);
static_assert(offsetof(cudaDeviceProp, warpSize) == 308 && offsetof(cudaDeviceProp, maxThreadsPerBlock) == 320);
static_assert(offsetof(cudaDeviceProp, major) == 360 && offsetof(cudaDeviceProp, multiProcessorCount) == 388);
static_assert(offsetof(cudaDeviceProp, l2CacheSize) == 616 &&
              offsetof(cudaDeviceProp, maxThreadsPerMultiProcessor) == 624);
static_assert(offsetof(cudaDeviceProp, sharedMemPerBlockOptin) == 696 &&
              offsetof(cudaDeviceProp, clusterLaunch) == 772);
static_assert(sizeof(cudaFuncAttributes) == 144 && offsetof(cudaFuncAttributes, numRegs) == 28);
static_assert(sizeof(cudaPointerAttributes) == 24 && sizeof(cudaMemcpy3DParms) == 160 &&
              sizeof(cudaMemcpy3DPeerParms) == 168);
static_assert(sizeof(cudaLaunchConfig_t) == 56 && sizeof(cudaLaunchAttribute) == 72 &&
              sizeof(cudaLaunchAttributeValue) == 64);
static_assert(sizeof(cudaResourceDesc) == 64 && sizeof(cudaTextureDesc) == 72 && sizeof(cudaChannelFormatDesc) == 20);
static_assert(sizeof(cudaMemPoolProps) == 88 && sizeof(cudaMemLocation) == 8 && sizeof(cudaKernelNodeParams) == 56);
static_assert(sizeof(cudaExternalSemaphoreSignalParams) == 144 && sizeof(cudaExternalSemaphoreWaitParams) == 144);
static_assert(sizeof(dim3) == 12 && sizeof(cudaPitchedPtr) == 32 && sizeof(cudaExtent) == 24);

static_assert(cudaErrorInvalidValue == 1 && cudaErrorInvalidConfiguration == 9 && cudaErrorInvalidDeviceFunction == 98);
static_assert(cudaErrorNoKernelImageForDevice == 209 && cudaErrorIllegalAddress == 700 &&
              cudaErrorLaunchFailure == 719);
static_assert(cudaErrorCooperativeLaunchTooLarge == 720 && cudaErrorNotSupported == 801 && cudaErrorUnknown == 999);
static_assert(cudaDevAttrMultiProcessorCount == 16 && cudaDevAttrCooperativeMultiDeviceLaunch == 96 &&
              cudaMemcpyDefault == 4);
