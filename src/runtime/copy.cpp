// cudaMemcpy and its linear, pitched, peer and symbol forms. See copy.hpp.
//
// Device pointers are ordinary addresses, so every copy goes to the driver as a copy between unified addresses; the
// kind that the program gives is only checked.
#include "runtime/copy.hpp"

#include "runtime/context.hpp"
#include "runtime/registry.hpp"

namespace ordito::runtime {
namespace {

bool isKind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }
bool readsDevice(cudaMemcpyKind kind) { return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice; }
bool writesDevice(cudaMemcpyKind kind) { return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice; }

/// Where the kind says "device", the pointer must be one that a device can use. Where it says "host", any pointer is
/// taken, as on a GPU.
bool fits(const void* pointer, bool device) {
  constexpr int kDeviceSide = 2;
  return !device || (orditoPointerSides(pointer) & kDeviceSide) != 0;
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const Order& order) {
  return call([&]() -> cudaError_t {
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t wrong = checkDirection(to, from, kind); wrong != cudaSuccess) return wrong;
    return toRuntime(copyLinear(address(to), address(from), bytes, order));
  });
}

cudaError_t copyPitched(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                        cudaMemcpyKind kind, const Order& order) {
  return call([&]() -> cudaError_t {
    if (width == 0 || height == 0) return cudaSuccess;
    // No pitch is used where there is one row: programs of NVIDIA's own pass smaller ones then.
    if (height > 1 && (width > toPitch || width > fromPitch)) return cudaErrorInvalidPitchValue;
    if (const cudaError_t wrong = checkDirection(to, from, kind); wrong != cudaSuccess) return wrong;
    if (height == 1) return toRuntime(copyLinear(address(to), address(from), width, order));
    return toRuntime(copyRows(address(to), toPitch, address(from), fromPitch, width, height, order));
  });
}

cudaError_t copyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                         const Order& order) {
  return call([&]() -> cudaError_t {
    CUdeviceptr to = 0;
    if (const cudaError_t found = partOfSymbol(symbol, offset, bytes, &to); found != cudaSuccess) return found;
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t wrong = checkToDevice(from, kind); wrong != cudaSuccess) return wrong;
    return toRuntime(copyLinear(to, address(from), bytes, order));
  });
}

cudaError_t copyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                           const Order& order) {
  return call([&]() -> cudaError_t {
    CUdeviceptr from = 0;
    if (const cudaError_t found = partOfSymbol(symbol, offset, bytes, &from); found != cudaSuccess) return found;
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t wrong = checkFromDevice(to, kind); wrong != cudaSuccess) return wrong;
    return toRuntime(copyLinear(address(to), from, bytes, order));
  });
}

}  // namespace

cudaError_t partOfSymbol(const void* symbol, size_t offset, size_t bytes, CUdeviceptr* part) {
  size_t size = 0;
  if (const cudaError_t found = Registry::instance().variable(symbol, part, &size); found != cudaSuccess) return found;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  *part += offset;
  return cudaSuccess;
}

cudaError_t checkDirection(const void* to, const void* from, cudaMemcpyKind kind) {
  if (!isKind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  return fits(to, writesDevice(kind)) && fits(from, readsDevice(kind)) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t checkToDevice(const void* from, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (from == nullptr) return cudaErrorInvalidValue;
  return fits(from, readsDevice(kind)) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t checkFromDevice(void* to, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (to == nullptr) return cudaErrorInvalidValue;
  return fits(to, writesDevice(kind)) ? cudaSuccess : cudaErrorInvalidValue;
}

CUresult copyLinear(CUdeviceptr to, CUdeviceptr from, size_t bytes, const Order& order) {
  return order.asynchronous ? cuMemcpyAsync(to, from, bytes, order.stream) : cuMemcpy(to, from, bytes);
}

CUresult copyRows(CUdeviceptr to, size_t toPitch, CUdeviceptr from, size_t fromPitch, size_t width, size_t height,
                  const Order& order) {
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  rows.srcDevice = from;
  rows.srcPitch = fromPitch;
  rows.dstDevice = to;
  rows.dstPitch = toPitch;
  rows.WidthInBytes = width;
  rows.Height = height;
  return order.asynchronous ? cuMemcpy2DAsync(&rows, order.stream) : cuMemcpy2DUnaligned(&rows);
}

CUresult copyBox(const CUDA_MEMCPY3D& box, const Order& order) {
  return order.asynchronous ? cuMemcpy3DAsync(&box, order.stream) : cuMemcpy3D(&box);
}

}  // namespace ordito::runtime

using namespace ordito::runtime;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind, {});
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(to, from, bytes, kind, {true, stream});
}

cudaError_t cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copyPitched(to, toPitch, from, fromPitch, width, height, kind, {});
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copyPitched(to, toPitch, from, fromPitch, width, height, kind, {true, stream});
}

cudaError_t cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice, size_t bytes) {
  return call([&] {
    CUcontext toContext = nullptr, fromContext = nullptr;
    if (const CUresult got = primaryContext(toDevice, &toContext); got != CUDA_SUCCESS) return got;
    if (const CUresult got = primaryContext(fromDevice, &fromContext); got != CUDA_SUCCESS) return got;
    return cuMemcpyPeer(address(to), toContext, address(from), fromContext, bytes);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice, size_t bytes,
                                cudaStream_t stream) {
  return call([&] {
    CUcontext toContext = nullptr, fromContext = nullptr;
    if (const CUresult got = primaryContext(toDevice, &toContext); got != CUDA_SUCCESS) return got;
    if (const CUresult got = primaryContext(fromDevice, &fromContext); got != CUDA_SUCCESS) return got;
    return cuMemcpyPeerAsync(address(to), toContext, address(from), fromContext, bytes, stream);
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return copyToSymbol(symbol, from, bytes, offset, kind, {});
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copyToSymbol(symbol, from, bytes, offset, kind, {true, stream});
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return copyFromSymbol(to, symbol, bytes, offset, kind, {});
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copyFromSymbol(to, symbol, bytes, offset, kind, {true, stream});
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    size_t bytes = 0;
    return Registry::instance().variable(symbol, address(pointer), &bytes);
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    CUdeviceptr pointer = 0;
    return Registry::instance().variable(symbol, &pointer, bytes);
  });
}

}  // extern "C"
