// The variants of stream calls for programs built with -default-stream per-thread: the null stream means the calling
// thread's own.
#include "driver/api.hpp"

namespace {

CUstream own(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

/// A synchronous call is its asynchronous form, waited for.
CUresult finish(CUresult submitted) {
  return submitted == CUDA_SUCCESS ? cuStreamSynchronize(CU_STREAM_PER_THREAD) : submitted;
}

}  // namespace

#define PER_THREAD(name, parameters, call) \
  extern "C" CUresult name parameters { return call; }

PER_THREAD(cuMemcpyHtoDAsync_v2_ptsz, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream),
           cuMemcpyHtoDAsync(to, from, bytes, own(stream)))
PER_THREAD(cuMemcpyDtoHAsync_v2_ptsz, (void* to, CUdeviceptr from, size_t bytes, CUstream stream),
           cuMemcpyDtoHAsync(to, from, bytes, own(stream)))
PER_THREAD(cuMemcpyDtoDAsync_v2_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
           cuMemcpyDtoDAsync(to, from, bytes, own(stream)))
PER_THREAD(cuMemcpyHtoAAsync_v2_ptsz, (CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream),
           cuMemcpyHtoAAsync(to, offset, from, bytes, own(stream)))
PER_THREAD(cuMemcpyAtoHAsync_v2_ptsz, (void* to, CUarray from, size_t offset, size_t bytes, CUstream stream),
           cuMemcpyAtoHAsync(to, from, offset, bytes, own(stream)))
PER_THREAD(cuMemcpy2DAsync_v2_ptsz, (const CUDA_MEMCPY2D* copy, CUstream stream), cuMemcpy2DAsync(copy, own(stream)))
PER_THREAD(cuMemcpy3DAsync_v2_ptsz, (const CUDA_MEMCPY3D* copy, CUstream stream), cuMemcpy3DAsync(copy, own(stream)))
PER_THREAD(cuStreamWriteValue32_v2_ptsz, (CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned int flags),
           cuStreamWriteValue32(own(stream), to, value, flags))
PER_THREAD(cuStreamWriteValue64_v2_ptsz, (CUstream stream, CUdeviceptr to, cuuint64_t value, unsigned int flags),
           cuStreamWriteValue64(own(stream), to, value, flags))
PER_THREAD(cuStreamWaitValue32_v2_ptsz, (CUstream stream, CUdeviceptr from, cuuint32_t value, unsigned int flags),
           cuStreamWaitValue32(own(stream), from, value, flags))
PER_THREAD(cuStreamWaitValue64_v2_ptsz, (CUstream stream, CUdeviceptr from, cuuint64_t value, unsigned int flags),
           cuStreamWaitValue64(own(stream), from, value, flags))
PER_THREAD(cuMemcpyAsync_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
           cuMemcpyAsync(to, from, bytes, own(stream)))
PER_THREAD(cuMemcpyPeerAsync_ptsz,
           (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t bytes,
            CUstream stream),
           cuMemcpyPeerAsync(to, toContext, from, fromContext, bytes, own(stream)))
PER_THREAD(cuMemcpy3DPeerAsync_ptsz, (const CUDA_MEMCPY3D_PEER* copy, CUstream stream),
           cuMemcpy3DPeerAsync(copy, own(stream)))
PER_THREAD(cuMemsetD8Async_ptsz, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
           cuMemsetD8Async(to, value, count, own(stream)))
PER_THREAD(cuMemsetD16Async_ptsz, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),
           cuMemsetD16Async(to, value, count, own(stream)))
PER_THREAD(cuMemsetD32Async_ptsz, (CUdeviceptr to, unsigned int value, size_t count, CUstream stream),
           cuMemsetD32Async(to, value, count, own(stream)))
PER_THREAD(cuMemsetD2D8Async_ptsz,
           (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream),
           cuMemsetD2D8Async(to, pitch, value, width, height, own(stream)))
PER_THREAD(cuMemsetD2D16Async_ptsz,
           (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream),
           cuMemsetD2D16Async(to, pitch, value, width, height, own(stream)))
PER_THREAD(cuMemsetD2D32Async_ptsz,
           (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream),
           cuMemsetD2D32Async(to, pitch, value, width, height, own(stream)))
PER_THREAD(cuMemPrefetchAsync_ptsz, (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream),
           cuMemPrefetchAsync(pointer, bytes, device, own(stream)))
PER_THREAD(cuMemAllocAsync_ptsz, (CUdeviceptr * pointer, size_t bytes, CUstream stream),
           cuMemAllocAsync(pointer, bytes, own(stream)))
PER_THREAD(cuMemFreeAsync_ptsz, (CUdeviceptr pointer, CUstream stream), cuMemFreeAsync(pointer, own(stream)))
PER_THREAD(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * pointer, size_t bytes, CUmemoryPool pool, CUstream stream),
           cuMemAllocFromPoolAsync(pointer, bytes, pool, own(stream)))
PER_THREAD(cuStreamGetPriority_ptsz, (CUstream stream, int* priority), cuStreamGetPriority(own(stream), priority))
PER_THREAD(cuStreamGetFlags_ptsz, (CUstream stream, unsigned int* flags), cuStreamGetFlags(own(stream), flags))
PER_THREAD(cuStreamGetId_ptsz, (CUstream stream, unsigned long long* id), cuStreamGetId(own(stream), id))
PER_THREAD(cuStreamGetCtx_ptsz, (CUstream stream, CUcontext* context), cuStreamGetCtx(own(stream), context))
PER_THREAD(cuStreamWaitEvent_ptsz, (CUstream stream, CUevent event, unsigned int flags),
           cuStreamWaitEvent(own(stream), event, flags))
PER_THREAD(cuStreamAddCallback_ptsz, (CUstream stream, CUstreamCallback callback, void* data, unsigned int flags),
           cuStreamAddCallback(own(stream), callback, data, flags))
PER_THREAD(cuStreamQuery_ptsz, (CUstream stream), cuStreamQuery(own(stream)))
PER_THREAD(cuStreamSynchronize_ptsz, (CUstream stream), cuStreamSynchronize(own(stream)))
PER_THREAD(cuStreamAttachMemAsync_ptsz, (CUstream stream, CUdeviceptr pointer, size_t bytes, unsigned int flags),
           cuStreamAttachMemAsync(own(stream), pointer, bytes, flags))
PER_THREAD(cuStreamIsCapturing_ptsz, (CUstream stream, CUstreamCaptureStatus* status),
           cuStreamIsCapturing(own(stream), status))
PER_THREAD(cuLaunchHostFunc_ptsz, (CUstream stream, CUhostFn function, void* data),
           cuLaunchHostFunc(own(stream), function, data))
PER_THREAD(cuEventRecord_ptsz, (CUevent event, CUstream stream), cuEventRecord(event, own(stream)))
PER_THREAD(cuEventRecordWithFlags_ptsz, (CUevent event, CUstream stream, unsigned int flags),
           cuEventRecordWithFlags(event, own(stream), flags))
PER_THREAD(cuLaunchKernel_ptsz,
           (CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
            unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, CUstream stream, void** parameters,
            void** extra),
           cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, own(stream), parameters,
                          extra))
PER_THREAD(cuLaunchCooperativeKernel_ptsz,
           (CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
            unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, CUstream stream, void** parameters),
           cuLaunchCooperativeKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, own(stream),
                                     parameters))

PER_THREAD(cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void* from, size_t bytes),
           finish(cuMemcpyHtoDAsync(to, from, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpyDtoH_v2_ptds, (void* to, CUdeviceptr from, size_t bytes),
           finish(cuMemcpyDtoHAsync(to, from, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpyDtoD_v2_ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
           finish(cuMemcpyDtoDAsync(to, from, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpyHtoA_v2_ptds, (CUarray to, size_t offset, const void* from, size_t bytes),
           finish(cuMemcpyHtoAAsync(to, offset, from, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpyAtoH_v2_ptds, (void* to, CUarray from, size_t offset, size_t bytes),
           finish(cuMemcpyAtoHAsync(to, from, offset, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpy2D_v2_ptds, (const CUDA_MEMCPY2D* copy), finish(cuMemcpy2DAsync(copy, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpy2DUnaligned_v2_ptds, (const CUDA_MEMCPY2D* copy),
           finish(cuMemcpy2DAsync(copy, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpy3D_v2_ptds, (const CUDA_MEMCPY3D* copy), finish(cuMemcpy3DAsync(copy, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char value, size_t count),
           finish(cuMemsetD8Async(to, value, count, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemsetD16_v2_ptds, (CUdeviceptr to, unsigned short value, size_t count),
           finish(cuMemsetD16Async(to, value, count, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemsetD32_v2_ptds, (CUdeviceptr to, unsigned int value, size_t count),
           finish(cuMemsetD32Async(to, value, count, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemsetD2D8_v2_ptds, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
           finish(cuMemsetD2D8Async(to, pitch, value, width, height, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemsetD2D16_v2_ptds, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
           finish(cuMemsetD2D16Async(to, pitch, value, width, height, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemsetD2D32_v2_ptds, (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height),
           finish(cuMemsetD2D32Async(to, pitch, value, width, height, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
           finish(cuMemcpyAsync(to, from, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpyPeer_ptds,
           (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t bytes),
           finish(cuMemcpyPeerAsync(to, toContext, from, fromContext, bytes, CU_STREAM_PER_THREAD)))
PER_THREAD(cuMemcpy3DPeer_ptds, (const CUDA_MEMCPY3D_PEER* copy),
           finish(cuMemcpy3DPeerAsync(copy, CU_STREAM_PER_THREAD)))

extern "C" CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                                          void** extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  CUlaunchConfig changed = *config;
  changed.hStream = own(config->hStream);
  return cuLaunchKernelEx(&changed, function, parameters, extra);
}
