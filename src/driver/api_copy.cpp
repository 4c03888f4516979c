// Driver API: copies and fills. A call without a stream works on the legacy default stream and waits.
#include <algorithm>

#include "driver/api.hpp"
#include "driver/array.hpp"
#include "driver/copy.hpp"

using namespace ordito::driver;

namespace {

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

CUresult run(const CopyRequest& request, CUstream handle, bool synchronous) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  return copy(*context, request, stream, synchronous);
}

template <class Descriptor>
CUresult runDescriptor(const Descriptor* descriptor, CUstream handle, bool synchronous) {
  if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
  ORDITO_CONTEXT(context);
  (void)context;
  CopyRequest request;
  if (CUresult bad = requestFrom(*descriptor, request)) return bad;
  return run(request, handle, synchronous);
}

/// All memory is in one address space, which tells whose it is: a copy between peers is a copy.
CUDA_MEMCPY3D withoutPeers(const CUDA_MEMCPY3D_PEER& peer) {
  static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER));
  CUDA_MEMCPY3D copy;
  __builtin_memcpy(&copy, &peer, sizeof copy);
  return copy;
}

/// Goes along `bytes` bytes of an array, `offset` from its beginning, from row to row: copyPiece(place in the array,
/// bytes done, bytes of this piece).
template <class CopyPiece>
CUresult alongRows(CUarray array, size_t offset, size_t bytes, const CopyPiece& copyPiece) {
  if (!isLive(array)) return CUDA_ERROR_INVALID_HANDLE;
  const size_t row = rowBytes(*array), whole = row * rows(*array) * slices(*array);
  if (offset > whole || bytes > whole - offset) return CUDA_ERROR_INVALID_VALUE;
  for (size_t done = 0; done < bytes;) {
    const size_t x = (offset + done) % row, piece = std::min(bytes - done, row - x);
    const CUdeviceptr place = array->memory + (offset + done) / row * array->pitch + x;
    if (CUresult bad = copyPiece(place, done, piece)) return bad;
    done += piece;
  }
  return CUDA_SUCCESS;
}

CUresult toArray(CUarray to, size_t offset, CUdeviceptr from, Side side, size_t bytes, CUstream stream,
                 bool synchronous) {
  return alongRows(to, offset, bytes, [&](CUdeviceptr place, size_t done, size_t piece) {
    return run(linearCopy(place, Side::Device, from + done, side, piece), stream, synchronous);
  });
}

CUresult fromArray(CUdeviceptr to, Side side, CUarray from, size_t offset, size_t bytes, CUstream stream,
                   bool synchronous) {
  return alongRows(from, offset, bytes, [&](CUdeviceptr place, size_t done, size_t piece) {
    return run(linearCopy(to + done, side, place, Side::Device, piece), stream, synchronous);
  });
}

CUresult fillLine(CUdeviceptr to, unsigned value, size_t count, unsigned elementBytes, CUstream handle,
                  bool synchronous) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (count > ~size_t{0} / elementBytes) return CUDA_ERROR_INVALID_VALUE;
  return fill(*context, {{to, 0, 0}, {count * elementBytes, 1, 1}, value, elementBytes}, stream, synchronous);
}

CUresult fillPlane(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, unsigned elementBytes,
                   CUstream handle, bool synchronous) {
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  if (width > ~size_t{0} / elementBytes) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && pitch < width * elementBytes) return CUDA_ERROR_INVALID_VALUE;
  return fill(*context, {{to, pitch, 0}, {width * elementBytes, height, 1}, value, elementBytes}, stream, synchronous);
}

}  // namespace

// --- copies

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return run(linearCopy(to, Side::Either, from, Side::Either, bytes), nullptr, true);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return run(linearCopy(to, Side::Device, from, Side::Device, bytes), nullptr, true);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return run(linearCopy(to, Side::Device, number(from), Side::Host, bytes), nullptr, true);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return run(linearCopy(number(to), Side::Host, from, Side::Device, bytes), nullptr, true);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return run(linearCopy(to, Side::Device, from, Side::Device, bytes), nullptr, true);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return run(linearCopy(to, Side::Either, from, Side::Either, bytes), stream, false);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return run(linearCopy(to, Side::Device, from, Side::Device, bytes), stream, false);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return run(linearCopy(to, Side::Device, number(from), Side::Host, bytes), stream, false);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return run(linearCopy(number(to), Side::Host, from, Side::Device, bytes), stream, false);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return run(linearCopy(to, Side::Device, from, Side::Device, bytes), stream, false);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return runDescriptor(copy, nullptr, true); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return runDescriptor(copy, nullptr, true); }
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) { return runDescriptor(copy, nullptr, true); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) { return runDescriptor(copy, stream, false); }
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) { return runDescriptor(copy, stream, false); }

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* peer) {
  if (!peer) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D copy = withoutPeers(*peer);
  return runDescriptor(&copy, nullptr, true);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* peer, CUstream stream) {
  if (!peer) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D copy = withoutPeers(*peer);
  return runDescriptor(&copy, stream, false);
}

CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return toArray(to, offset, from, Side::Device, bytes, nullptr, true);
}
CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void* from, size_t bytes) {
  return toArray(to, offset, number(from), Side::Host, bytes, nullptr, true);
}
CUresult cuMemcpyHtoAAsync(CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream) {
  return toArray(to, offset, number(from), Side::Host, bytes, stream, false);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return fromArray(to, Side::Device, from, offset, bytes, nullptr, true);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, size_t offset, size_t bytes) {
  return fromArray(number(to), Side::Host, from, offset, bytes, nullptr, true);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return fromArray(number(to), Side::Host, from, offset, bytes, stream, false);
}
CUresult cuMemcpyAtoA(CUarray to, size_t toOffset, CUarray from, size_t fromOffset, size_t bytes) {
  return alongRows(from, fromOffset, bytes, [&](CUdeviceptr place, size_t done, size_t piece) {
    return cuMemcpyDtoA(to, toOffset + done, place, piece);
  });
}

// --- fills

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return fillLine(to, value, count, 1, nullptr, true);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return fillLine(to, value, count, 2, nullptr, true);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count) {
  return fillLine(to, value, count, 4, nullptr, true);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fillLine(to, value, count, 1, stream, false);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fillLine(to, value, count, 2, stream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return fillLine(to, value, count, 4, stream, false);
}
CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fillPlane(to, pitch, value, width, height, 1, nullptr, true);
}
CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fillPlane(to, pitch, value, width, height, 2, nullptr, true);
}
CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return fillPlane(to, pitch, value, width, height, 4, nullptr, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return fillPlane(to, pitch, value, width, height, 1, stream, false);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return fillPlane(to, pitch, value, width, height, 2, stream, false);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                            CUstream stream) {
  return fillPlane(to, pitch, value, width, height, 4, stream, false);
}
