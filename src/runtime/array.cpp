// Allocation of CUDA arrays and the copies that touch them, and cudaMemcpy3D in all its forms. See array.hpp.
#include "runtime/array.hpp"

#include <algorithm>
#include <memory>

#include "runtime/context.hpp"
#include "runtime/copy.hpp"

using namespace ordito::runtime;

namespace {

/// What an array is made from, in the driver's terms.
cudaError_t describe(const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags,
                     CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  if (format == nullptr || extent.width == 0) return cudaErrorInvalidValue;
  descriptor = {extent.width, extent.height, extent.depth, CU_AD_FORMAT_FLOAT, 1, flags};
  return toDriver(*format, descriptor.Format, descriptor.NumChannels);
}

cudaError_t makeArray(cudaArray_t* result, const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags) {
  if (result == nullptr) return finish(cudaErrorInvalidValue);
  *result = nullptr;
  return call([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    if (const cudaError_t wrong = describe(format, extent, flags, descriptor); wrong != cudaSuccess) return wrong;
    CUarray made = nullptr;
    const CUresult got = cuArray3DCreate(&made, &descriptor);
    *result = static_cast<cudaArray_t>(made);
    return toRuntime(got);
  });
}

/// A rectangle of an array in bytes and rows; false if it leaves the array.
bool contains(const cudaArray& array, size_t x, size_t y, size_t width, size_t height) {
  return x <= array.rowBytes() && width <= array.rowBytes() - x && y <= array.rows() && height <= array.rows() - y;
}

CUdeviceptr at(const cudaArray& array, size_t x, size_t y) { return array.memory + y * array.pitch + x; }

cudaError_t rowsToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t fromPitch, size_t width,
                        size_t height, cudaMemcpyKind kind, const Order& order) {
  return call([&]() -> cudaError_t {
    if (to == nullptr) return cudaErrorInvalidResourceHandle;
    if (width > to->rowBytes()) return cudaErrorInvalidPitchValue;
    if (width > fromPitch || !contains(*to, x, y, width, height)) return cudaErrorInvalidValue;
    if (const cudaError_t wrong = checkToDevice(from, kind); wrong != cudaSuccess) return wrong;
    return toRuntime(copyRows(at(*to, x, y), to->pitch, address(from), fromPitch, width, height, order));
  });
}

cudaError_t rowsFromArray(void* to, size_t toPitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                          size_t height, cudaMemcpyKind kind, const Order& order) {
  return call([&]() -> cudaError_t {
    if (from == nullptr) return cudaErrorInvalidResourceHandle;
    if (width > from->rowBytes()) return cudaErrorInvalidPitchValue;
    if (width > toPitch || !contains(*from, x, y, width, height)) return cudaErrorInvalidValue;
    if (const cudaError_t wrong = checkFromDevice(to, kind); wrong != cudaSuccess) return wrong;
    return toRuntime(copyRows(address(to), toPitch, at(*from, x, y), from->pitch, width, height, order));
  });
}

/// Calls `row(offset in the run, x, y, bytes)` for each piece of a run of bytes that goes on from row to row of an
/// array.
template <class Row>
cudaError_t eachRow(const cudaArray& array, size_t x, size_t y, size_t bytes, Row&& row) {
  if (y >= array.rows() || x > array.rowBytes() || bytes > (array.rows() - y) * array.rowBytes() - x)
    return cudaErrorInvalidValue;
  for (size_t done = 0; done < bytes; x = 0, ++y) {
    const size_t piece = std::min(bytes - done, array.rowBytes() - x);
    if (const CUresult copied = row(done, x, y, piece); copied != CUDA_SUCCESS) return toRuntime(copied);
    done += piece;
  }
  return cudaSuccess;
}

cudaError_t runToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                       const Order& order) {
  return call([&]() -> cudaError_t {
    if (to == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t wrong = checkToDevice(from, kind); wrong != cudaSuccess) return wrong;
    return eachRow(*to, x, y, bytes, [&](size_t offset, size_t column, size_t row, size_t piece) {
      return copyLinear(at(*to, column, row), address(from) + offset, piece, order);
    });
  });
}

cudaError_t runFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                         const Order& order) {
  return call([&]() -> cudaError_t {
    if (from == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t wrong = checkFromDevice(to, kind); wrong != cudaSuccess) return wrong;
    return eachRow(*from, x, y, bytes, [&](size_t offset, size_t column, size_t row, size_t piece) {
      return copyLinear(address(to) + offset, at(*from, column, row), piece, order);
    });
  });
}

/// One side of a three-dimensional copy: a pointer or an array, and where in it the copy begins.
struct Side {
  const cudaArray* array;
  const cudaPitchedPtr* pointer;
  cudaPos position;
  /// With an array on either side widths and x positions count elements, otherwise bytes; `unit` is the bytes of one.
  CUdeviceptr base() const { return array != nullptr ? array->memory : address(pointer->ptr); }
  size_t pitch() const { return array != nullptr ? array->pitch : pointer->pitch; }
  size_t sliceRows() const { return array != nullptr ? array->rows() : pointer->ysize; }
  size_t positionBytes() const { return array != nullptr ? position.x * array->elementBytes() : position.x; }
  bool valid() const { return (array != nullptr) != (pointer->ptr != nullptr); }

  cudaError_t check(size_t width, const cudaExtent& extent) const {
    if (array != nullptr) {
      const bool inside = contains(*array, positionBytes(), position.y, width, extent.height) &&
                          position.z <= array->slices() && extent.depth <= array->slices() - position.z;
      return inside ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (positionBytes() + width > pointer->pitch) return cudaErrorInvalidValue;
    return extent.depth > 1 && position.y + extent.height > pointer->ysize ? cudaErrorInvalidPitchValue : cudaSuccess;
  }
};

cudaError_t boxBetween(const Side& to, const Side& from, const cudaExtent& extent, CUDA_MEMCPY3D& box) {
  const cudaArray* const array = to.array != nullptr ? to.array : from.array;
  const size_t width = extent.width * (array != nullptr ? array->elementBytes() : 1);
  if (const cudaError_t wrong = to.check(width, extent); wrong != cudaSuccess) return wrong;
  if (const cudaError_t wrong = from.check(width, extent); wrong != cudaSuccess) return wrong;
  box = {};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  box.srcDevice = from.base();
  box.srcPitch = from.pitch();
  box.srcHeight = from.sliceRows();
  box.srcXInBytes = from.positionBytes();
  box.srcY = from.position.y;
  box.srcZ = from.position.z;
  box.dstDevice = to.base();
  box.dstPitch = to.pitch();
  box.dstHeight = to.sliceRows();
  box.dstXInBytes = to.positionBytes();
  box.dstY = to.position.y;
  box.dstZ = to.position.z;
  box.WidthInBytes = width;
  box.Height = extent.height;
  box.Depth = extent.depth;
  return cudaSuccess;
}

/// An array is device memory whatever the kind says; pointers are checked against it.
cudaError_t checkKind(const cudaMemcpy3DParms& copy) {
  if (copy.srcArray != nullptr && copy.dstArray != nullptr)
    return copy.kind == cudaMemcpyDeviceToDevice || copy.kind == cudaMemcpyDefault ? cudaSuccess
                                                                                   : cudaErrorInvalidMemcpyDirection;
  if (copy.dstArray != nullptr) return checkToDevice(copy.srcPtr.ptr, copy.kind);
  if (copy.srcArray != nullptr) return checkFromDevice(copy.dstPtr.ptr, copy.kind);
  return checkDirection(copy.dstPtr.ptr, copy.srcPtr.ptr, copy.kind);
}

cudaError_t copy3D(const cudaMemcpy3DParms* copy, const Order& order) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    if (copy->extent.width == 0 || copy->extent.height == 0 || copy->extent.depth == 0) return cudaSuccess;
    CUDA_MEMCPY3D box;
    if (const cudaError_t wrong = boxOf(*copy, box); wrong != cudaSuccess) return wrong;
    return toRuntime(copyBox(box, order));
  });
}

// All devices share one address space, so which device a pointer belongs to does not matter.
cudaError_t copy3DPeer(const cudaMemcpy3DPeerParms* copy, const Order& order) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  if (copy->srcDevice < 0 || copy->srcDevice >= deviceCount() || copy->dstDevice < 0 ||
      copy->dstDevice >= deviceCount())
    return finish(cudaErrorInvalidDevice);
  const cudaMemcpy3DParms plain{copy->srcArray, copy->srcPos, copy->srcPtr, copy->dstArray,
                                copy->dstPos,   copy->dstPtr, copy->extent, cudaMemcpyDeviceToDevice};
  return copy3D(&plain, order);
}

struct Format {
  CUarray_format driver;
  cudaChannelFormatKind kind;
  int bits;
};
constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
};

}  // namespace

cudaError_t ordito::runtime::toDriver(const cudaChannelFormatDesc& format, CUarray_format& kind, unsigned& channels) {
  const int widths[] = {format.x, format.y, format.z, format.w};
  channels = 0;
  while (channels < 4 && widths[channels] != 0) ++channels;
  if (channels != 1 && channels != 2 && channels != 4) return cudaErrorInvalidChannelDescriptor;
  for (unsigned i = 0; i < channels; ++i)
    if (widths[i] != widths[0]) return cudaErrorInvalidChannelDescriptor;
  for (const Format& known : kFormats) {
    if (known.kind != format.f || known.bits != widths[0]) continue;
    kind = known.driver;
    return cudaSuccess;
  }
  return cudaErrorInvalidChannelDescriptor;
}

cudaChannelFormatDesc cudaArray::format() const {
  const auto known = std::find_if(std::begin(kFormats), std::end(kFormats),
                                  [&](const Format& f) { return f.driver == descriptor.Format; });
  const auto bits = [&](unsigned channel) { return channel < descriptor.NumChannels ? known->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), known->kind};
}

cudaError_t ordito::runtime::boxOf(const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D& box) {
  const Side to{copy.dstArray, &copy.dstPtr, copy.dstPos}, from{copy.srcArray, &copy.srcPtr, copy.srcPos};
  if (!to.valid() || !from.valid()) return cudaErrorInvalidValue;
  if (const cudaError_t wrong = checkKind(copy); wrong != cudaSuccess) return wrong;
  return boxBetween(to, from, copy.extent, box);
}

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned int flags) {
  return makeArray(array, format, {width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags) {
  return makeArray(array, format, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&] { return array == nullptr ? CUDA_SUCCESS : cuArrayDestroy(handle(array)); });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmap, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned int levels, unsigned int flags) {
  if (mipmap == nullptr) return finish(cudaErrorInvalidValue);
  *mipmap = nullptr;
  return call([&]() -> cudaError_t {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    if (const cudaError_t wrong = describe(format, extent, flags, descriptor); wrong != cudaSuccess) return wrong;
    return toRuntime(cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(mipmap), &descriptor, levels));
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t mipmap, unsigned int level) {
  if (array == nullptr) return finish(cudaErrorInvalidValue);
  return call([&] {
    CUarray found = nullptr;
    const CUresult got = cuMipmappedArrayGetLevel(&found, handle(const_cast<cudaMipmappedArray_t>(mipmap)), level);
    *array = static_cast<cudaArray_t>(found);
    return got;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return call([&] { return mipmap == nullptr ? CUDA_SUCCESS : cuMipmappedArrayDestroy(handle(mipmap)); });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (format == nullptr) return finish(cudaErrorInvalidValue);
  if (array == nullptr) return finish(cudaErrorInvalidResourceHandle);
  *format = array->format();
  return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  if (array == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (format != nullptr) *format = array->format();
  if (extent != nullptr) *extent = array->extent();
  if (flags != nullptr) *flags = array->descriptor.Flags;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t fromPitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return rowsToArray(to, x, y, from, fromPitch, width, height, kind, {});
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t fromPitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return rowsToArray(to, x, y, from, fromPitch, width, height, kind, {true, stream});
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t toPitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return rowsFromArray(to, toPitch, from, x, y, width, height, kind, {});
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t toPitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return rowsFromArray(to, toPitch, from, x, y, width, height, kind, {true, stream});
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t toX, size_t toY, cudaArray_const_t from, size_t fromX,
                                     size_t fromY, size_t width, size_t height, cudaMemcpyKind kind) {
  if (from == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (!contains(*from, fromX, fromY, width, height)) return finish(cudaErrorInvalidValue);
  const void* const start = reinterpret_cast<const void*>(at(*from, fromX, fromY));
  return rowsToArray(to, toX, toY, start, from->pitch, width, height, kind, {});
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return runToArray(to, x, y, from, bytes, kind, {});
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return runToArray(to, x, y, from, bytes, kind, {true, stream});
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return runFromArray(to, from, x, y, bytes, kind, {});
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return runFromArray(to, from, x, y, bytes, kind, {true, stream});
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) { return copy3D(parameters, {}); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy3D(parameters, {true, stream});
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) { return copy3DPeer(parameters, {}); }
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy3DPeer(parameters, {true, stream});
}

}  // extern "C"
