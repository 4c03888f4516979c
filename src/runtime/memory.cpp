// Allocation, pinned and registered host memory, managed memory, memset, and what a pointer is.
#include <algorithm>
#include <cstring>

#include "runtime/context.hpp"
#include "runtime/copy.hpp"

using namespace ordito::runtime;

namespace {

/// cudaMalloc* of nothing answers success and a null pointer.
template <class Allocate>
cudaError_t allocate(void** pointer, size_t bytes, Allocate&& allocate) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  return call([&]() -> CUresult {
    *pointer = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : allocate();
  });
}

/// The widest element for which a row would still be aligned; the driver only wants to know that it is 4, 8 or 16.
constexpr unsigned kPitchElement = 16;

/// Rows of a pitched block: width and height of one slice, and slices.
cudaError_t setBox(cudaPitchedPtr pointer, int value, cudaExtent extent, const Order& order) {
  return call([&]() -> cudaError_t {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    if (pointer.ptr == nullptr || extent.width > pointer.pitch) return cudaErrorInvalidValue;
    if (extent.depth > 1 && extent.height > pointer.ysize) return cudaErrorInvalidValue;
    const auto byte = static_cast<unsigned char>(value);
    for (size_t slice = 0; slice < extent.depth; ++slice) {
      const CUdeviceptr start = address(pointer.ptr) + slice * pointer.pitch * pointer.ysize;
      const CUresult set =
          order.asynchronous ? cuMemsetD2D8Async(start, pointer.pitch, byte, extent.width, extent.height, order.stream)
                             : cuMemsetD2D8(start, pointer.pitch, byte, extent.width, extent.height);
      if (set != CUDA_SUCCESS) return toRuntime(set);
    }
    return cudaSuccess;
  });
}

cudaMemoryType memoryType(CUdeviceptr pointer) {
  CUmemorytype type{};
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) != CUDA_SUCCESS)
    return cudaMemoryTypeUnregistered;
  unsigned managed = 0;
  if (cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer) == CUDA_SUCCESS && managed != 0)
    return cudaMemoryTypeManaged;
  return type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, [&] { return cuMemAlloc(address(pointer), bytes); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  return allocate(pointer, bytes, [&] { return cuMemAllocManaged(address(pointer), bytes, flags); });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault); }

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return allocate(pointer, bytes, [&] { return cuMemHostAlloc(pointer, bytes, flags); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return finish(cudaErrorInvalidValue);
  *pitch = 0;
  return allocate(pointer, std::min(width, height),
                  [&] { return cuMemAllocPitch(address(pointer), pitch, width, height, kPitchElement); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  const size_t slices = std::max<size_t>(extent.depth, 1);
  *pointer = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, std::max<size_t>(extent.height, 1) * slices);
}

cudaError_t cudaFree(void* pointer) {
  return call([&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFree(address(pointer)); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call([&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return call([&] { return cuMemHostRegister(pointer, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call([&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** devicePointer, void* hostPointer, unsigned int flags) {
  if (devicePointer == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuMemHostGetDevicePointer(address(devicePointer), hostPointer, flags); });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer) {
  if (flags == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuMemHostGetFlags(flags, pointer); });
}

cudaError_t cudaMemGetInfo(size_t* freeBytes, size_t* totalBytes) {
  if (freeBytes == nullptr || totalBytes == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] { return cuMemGetInfo(freeBytes, totalBytes); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  return call([&]() -> CUresult {
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, nullptr};
    attributes->type = memoryType(address(pointer));
    if (attributes->type == cudaMemoryTypeUnregistered) {
      attributes->hostPointer = const_cast<void*>(pointer);
      return CUDA_SUCCESS;
    }
    cuPointerGetAttribute(&attributes->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address(pointer));
    cuPointerGetAttribute(&attributes->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address(pointer));
    if (attributes->type != cudaMemoryTypeDevice)
      cuPointerGetAttribute(&attributes->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address(pointer));
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return call([&] {
    return bytes == 0 ? CUDA_SUCCESS : cuMemsetD8(address(pointer), static_cast<unsigned char>(value), bytes);
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return call([&] {
    return bytes == 0 ? CUDA_SUCCESS
                      : cuMemsetD8Async(address(pointer), static_cast<unsigned char>(value), bytes, stream);
  });
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return setBox({pointer, pitch, width, height}, value, {width, height, 1}, {});
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return setBox({pointer, pitch, width, height}, value, {width, height, 1}, {true, stream});
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return setBox(pointer, value, extent, {});
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  return setBox(pointer, value, extent, {true, stream});
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataBytes, cudaMemRangeAttribute attribute, const void* pointer,
                                     size_t bytes) {
  return call([&] {
    return cuMemRangeGetAttribute(data, dataBytes, static_cast<CUmem_range_attribute>(attribute), address(pointer),
                                  bytes);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* dataBytes, cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t bytes) {
  if (data == nullptr || dataBytes == nullptr || attributes == nullptr) return finish(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i)
    if (const cudaError_t got = cudaMemRangeGetAttribute(data[i], dataBytes[i], attributes[i], pointer, bytes);
        got != cudaSuccess)
      return got;
  return cudaSuccess;
}

}  // extern "C"
