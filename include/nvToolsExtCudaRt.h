// NVTX: names for devices, streams and events of the runtime. See nvToolsExt.h.
#ifndef NVTOOLSEXT_CUDART_H_
#define NVTOOLSEXT_CUDART_H_
#pragma GCC system_header

#include "driver_types.h"
#include "nvToolsExt.h"

#define NVTX_RESOURCE_CLASS_CUDART 5
typedef enum nvtxResourceCUDARTType_t {
  NVTX_RESOURCE_TYPE_CUDART_DEVICE = NVTX_RESOURCE_MAKE_TYPE(CUDART, 0),
  NVTX_RESOURCE_TYPE_CUDART_STREAM = NVTX_RESOURCE_MAKE_TYPE(CUDART, 1),
  NVTX_RESOURCE_TYPE_CUDART_EVENT = NVTX_RESOURCE_MAKE_TYPE(CUDART, 2)
} nvtxResourceCUDARTType_t;

NVTX_ORDITO_TELL(nvtxNameCudaDeviceA, 4, 1, (int device, const char* name), (device, name))
NVTX_ORDITO_TELL(nvtxNameCudaDeviceW, 4, 2, (int device, const wchar_t* name), (device, name))
NVTX_ORDITO_TELL(nvtxNameCudaStreamA, 4, 3, (cudaStream_t stream, const char* name), (stream, name))
NVTX_ORDITO_TELL(nvtxNameCudaStreamW, 4, 4, (cudaStream_t stream, const wchar_t* name), (stream, name))
NVTX_ORDITO_TELL(nvtxNameCudaEventA, 4, 5, (cudaEvent_t event, const char* name), (event, name))
NVTX_ORDITO_TELL(nvtxNameCudaEventW, 4, 6, (cudaEvent_t event, const wchar_t* name), (event, name))

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif
