// NVTX: names for devices, contexts, streams and events of the driver. See nvToolsExt.h.
#ifndef NVTOOLSEXT_CUDA_H_
#define NVTOOLSEXT_CUDA_H_
#pragma GCC system_header

#include "cuda.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDA 4
typedef enum nvtxResourceCUDAType_t {
  NVTX_RESOURCE_TYPE_CUDA_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDA, 1),
  NVTX_RESOURCE_TYPE_CUDA_CONTEXT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 2),
  NVTX_RESOURCE_TYPE_CUDA_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDA, 3),
  NVTX_RESOURCE_TYPE_CUDA_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDA, 4)
} nvtxResourceCUDAType_t;

NVTX_ORDITO_TELL(nvtxNameCuDeviceA, 2, 1, (CUdevice device, const char* name), (device, name))
NVTX_ORDITO_TELL(nvtxNameCuDeviceW, 2, 2, (CUdevice device, const wchar_t* name), (device, name))
NVTX_ORDITO_TELL(nvtxNameCuContextA, 2, 3, (CUcontext context, const char* name), (context, name))
NVTX_ORDITO_TELL(nvtxNameCuContextW, 2, 4, (CUcontext context, const wchar_t* name), (context, name))
NVTX_ORDITO_TELL(nvtxNameCuStreamA, 2, 5, (CUstream stream, const char* name), (stream, name))
NVTX_ORDITO_TELL(nvtxNameCuStreamW, 2, 6, (CUstream stream, const wchar_t* name), (stream, name))
NVTX_ORDITO_TELL(nvtxNameCuEventA, 2, 7, (CUevent event, const char* name), (event, name))
NVTX_ORDITO_TELL(nvtxNameCuEventW, 2, 8, (CUevent event, const wchar_t* name), (event, name))

#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif
