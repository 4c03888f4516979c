// Which symbol a plain driver API name stands for: the version of CUDA 12, and the per-thread variant under
// -default-stream per-thread. Included by cuda.h.
#ifndef ORDITO_DRIVER_VERSIONS_H
#define ORDITO_DRIVER_VERSIONS_H

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define ORDITO_PTDS(name) name##_ptds
#define ORDITO_PTSZ(name) name##_ptsz
#else
#define ORDITO_PTDS(name) name
#define ORDITO_PTSZ(name) name
#endif

#define cuGetProcAddress cuGetProcAddress_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
// CUDA 13 gave this one a fourth argument; both forms are taken.
#define ORDITO_FIFTH(a, b, c, d, e, ...) e
#define cuCtxCreate(...) ORDITO_FIFTH(__VA_ARGS__, cuCtxCreate_v4, cuCtxCreate_v2, 0)(__VA_ARGS__)
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuLinkAddFile cuLinkAddFile_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuStreamBeginCapture ORDITO_PTSZ(cuStreamBeginCapture_v2)
#define cuStreamGetCaptureInfo ORDITO_PTSZ(cuStreamGetCaptureInfo_v2)
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuMemcpyHtoD ORDITO_PTDS(cuMemcpyHtoD_v2)
#define cuMemcpyDtoH ORDITO_PTDS(cuMemcpyDtoH_v2)
#define cuMemcpyDtoD ORDITO_PTDS(cuMemcpyDtoD_v2)
#define cuMemcpy2D ORDITO_PTDS(cuMemcpy2D_v2)
#define cuMemcpy2DUnaligned ORDITO_PTDS(cuMemcpy2DUnaligned_v2)
#define cuMemcpy3D ORDITO_PTDS(cuMemcpy3D_v2)
#define cuMemsetD8 ORDITO_PTDS(cuMemsetD8_v2)
#define cuMemsetD16 ORDITO_PTDS(cuMemsetD16_v2)
#define cuMemsetD32 ORDITO_PTDS(cuMemsetD32_v2)
#define cuMemsetD2D8 ORDITO_PTDS(cuMemsetD2D8_v2)
#define cuMemsetD2D16 ORDITO_PTDS(cuMemsetD2D16_v2)
#define cuMemsetD2D32 ORDITO_PTDS(cuMemsetD2D32_v2)
#define cuMemcpyHtoDAsync ORDITO_PTSZ(cuMemcpyHtoDAsync_v2)
#define cuMemcpyDtoHAsync ORDITO_PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyDtoDAsync ORDITO_PTSZ(cuMemcpyDtoDAsync_v2)
#define cuMemcpy2DAsync ORDITO_PTSZ(cuMemcpy2DAsync_v2)
#define cuMemcpy3DAsync ORDITO_PTSZ(cuMemcpy3DAsync_v2)
#define cuStreamWriteValue32 ORDITO_PTSZ(cuStreamWriteValue32_v2)
#define cuStreamWriteValue64 ORDITO_PTSZ(cuStreamWriteValue64_v2)
#define cuStreamWaitValue32 ORDITO_PTSZ(cuStreamWaitValue32_v2)
#define cuStreamWaitValue64 ORDITO_PTSZ(cuStreamWaitValue64_v2)

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define cuMemcpy cuMemcpy_ptds
#define cuMemcpyPeer cuMemcpyPeer_ptds
#define cuMemcpy3DPeer cuMemcpy3DPeer_ptds
#define cuMemcpyAsync cuMemcpyAsync_ptsz
#define cuMemcpyPeerAsync cuMemcpyPeerAsync_ptsz
#define cuMemcpy3DPeerAsync cuMemcpy3DPeerAsync_ptsz
#define cuMemsetD8Async cuMemsetD8Async_ptsz
#define cuMemsetD16Async cuMemsetD16Async_ptsz
#define cuMemsetD32Async cuMemsetD32Async_ptsz
#define cuMemsetD2D8Async cuMemsetD2D8Async_ptsz
#define cuMemsetD2D16Async cuMemsetD2D16Async_ptsz
#define cuMemsetD2D32Async cuMemsetD2D32Async_ptsz
#define cuMemPrefetchAsync cuMemPrefetchAsync_ptsz
#define cuMemAllocAsync cuMemAllocAsync_ptsz
#define cuMemFreeAsync cuMemFreeAsync_ptsz
#define cuStreamEndCapture cuStreamEndCapture_ptsz
#define cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_ptsz
#define cuGraphLaunch cuGraphLaunch_ptsz
#define cuGraphUpload cuGraphUpload_ptsz
#define cuGraphInstantiateWithParams cuGraphInstantiateWithParams_ptsz
#define cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz
#define cuStreamGetPriority cuStreamGetPriority_ptsz
#define cuStreamGetFlags cuStreamGetFlags_ptsz
#define cuStreamGetId cuStreamGetId_ptsz
#define cuStreamGetCtx cuStreamGetCtx_ptsz
#define cuStreamWaitEvent cuStreamWaitEvent_ptsz
#define cuStreamAddCallback cuStreamAddCallback_ptsz
#define cuStreamQuery cuStreamQuery_ptsz
#define cuStreamSynchronize cuStreamSynchronize_ptsz
#define cuStreamAttachMemAsync cuStreamAttachMemAsync_ptsz
#define cuStreamIsCapturing cuStreamIsCapturing_ptsz
#define cuLaunchHostFunc cuLaunchHostFunc_ptsz
#define cuEventRecord cuEventRecord_ptsz
#define cuEventRecordWithFlags cuEventRecordWithFlags_ptsz
#define cuLaunchKernel cuLaunchKernel_ptsz
#define cuLaunchKernelEx cuLaunchKernelEx_ptsz
#define cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz
#endif

#endif
