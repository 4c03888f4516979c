// cuDNN: handles, versions, descriptors of tensors.
#include <cstdio>
#include <cstring>

#include "driver/extensions.hpp"
#include "libs/cudnn/call.hpp"
#include "libs/handle_table.hpp"
#include "libs/version_part.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

namespace ordito::libs::cudnn {

cudnnStatus_t refuse(const char* what) {
  char text[256];
  std::snprintf(text, sizeof text, "cuDNN: %s is not supported", what);
  orditoTellOnce(what, text);
  return notSupported();
}

size_t sizeOf(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64: return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return 2;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN:
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2: return 1;
    case CUDNN_DATA_INT8x32: return 32;
    default: return 4;
  }
}

cudnnStatus_t checkType(const Shape& shape) {
  CUDNN_CHECK(shape.rank > 0);
  switch (shape.type) {
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return CUDNN_STATUS_SUCCESS;
    default: return refuse("a tensor of integers or of numbers of 8 bits");
  }
}

Shape Shape::asVolumes() const {
  Shape volumes = *this;
  if (rank != 4) return volumes;
  volumes.rank = 5;
  volumes.size = {size[0], size[1], 1, size[2], size[3]};
  volumes.step = {step[0], step[1], 0, step[2], step[3]};
  return volumes;
}

void Shape::pack(bool isNhwc) {
  int next = 1;
  const auto take = [&](int i) {
    step[static_cast<size_t>(i)] = next;
    next *= size[static_cast<size_t>(i)];
  };
  if (isNhwc) take(1);
  for (int i = rank - 1; i > (isNhwc ? 1 : 0); --i) take(i);
  take(0);
}

}  // namespace ordito::libs::cudnn

namespace {

/// Sizes that make sense, packed.
cudnnStatus_t setSizes(Shape& shape, cudnnDataType_t type, cudnnTensorFormat_t format, int rank, const int* sizes) {
  CUDNN_CHECK(sizes && rank > 0 && type >= CUDNN_DATA_FLOAT && type <= CUDNN_DATA_FP8_E5M2);
  CUDNN_CHECK(format >= CUDNN_TENSOR_NCHW && format <= CUDNN_TENSOR_NCHW_VECT_C);
  if (rank > CUDNN_DIM_MAX) return notSupported();
  if (format == CUDNN_TENSOR_NCHW_VECT_C) return refuse("the layout NCHW_VECT_C");
  Shape fresh;
  fresh.type = type;
  fresh.rank = rank;
  for (int i = 0; i < rank; ++i) {
    CUDNN_CHECK(sizes[i] > 0);
    fresh.size[static_cast<size_t>(i)] = sizes[i];
  }
  fresh.pack(format == CUDNN_TENSOR_NHWC && rank > 2);
  shape = fresh;
  return CUDNN_STATUS_SUCCESS;
}

/// From the first element to the last.
size_t extent(const Shape& shape) {
  int64_t last = 0;
  for (size_t i = 0; i < static_cast<size_t>(shape.rank); ++i) last += int64_t{shape.size[i] - 1} * shape.step[i];
  return shape.rank ? static_cast<size_t>(last + 1) * sizeOf(shape.type) : 0;
}

}  // namespace

// --- the library

namespace {

// There is no such release: it is not older than the one that a program was built for, which is what programs ask.
constexpr int kMajor = 9, kMinor = 99, kPatch = 0;

}  // namespace

size_t cudnnGetVersion() { return kVersion == 8 ? 8907 : kMajor * 10000 + kMinor * 100 + kPatch; }
size_t cudnnGetMaxDeviceVersion() { return 1210; }
size_t cudnnGetCudartVersion() { return kVersion == 8 ? 12030 : 13000; }

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  const bool isTold =
      kVersion == 8 ? tellVersionPart(type, 8, 9, 7, value) : tellVersionPart(type, kMajor, kMinor, kPatch, value);
  return isTold ? CUDNN_STATUS_SUCCESS : badParameter();
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return "CUDNN_STATUS_SUCCESS";
  if (status == badParameter()) return "CUDNN_STATUS_BAD_PARAM";
  if (status == notSupported()) return "CUDNN_STATUS_NOT_SUPPORTED";
  if (status == notInitialized()) return "CUDNN_STATUS_NOT_INITIALIZED";
  if (status == executionFailed()) return "CUDNN_STATUS_EXECUTION_FAILED";
  return "CUDNN_UNKNOWN_STATUS";
}

void cudnnGetLastErrorString(char* text, size_t size) {
  if (text && size > 0) text[0] = 0;
}

namespace {

/// Those that are: a handle is destroyed once.
auto& handles() {
  static auto* all = new HandleTable<cudnnHandle_t, cudnnContext>;  // never destroyed: so late do programs end handles
  return *all;
}

}  // namespace

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  CUDNN_CHECK(handle);
  *handle = nullptr;
  if (!hasContext()) return notInitialized();
  *handle = handles().add(std::make_shared<cudnnContext>());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  const auto known = handles().find(handle);
  CUDNN_CHECK(known && handles().remove(handle));
  await(known->stream);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  CUDNN_CHECK(handle);
  handle->stream = reinterpret_cast<CUstream>(stream);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  CUDNN_CHECK(handle && stream);
  *stream = reinterpret_cast<cudaStream_t>(handle->stream);
  return CUDNN_STATUS_SUCCESS;
}

CUDNN_DESCRIPTOR(Tensor)
CUDNN_DESCRIPTOR(Filter)
CUDNN_DESCRIPTOR(Convolution)
CUDNN_DESCRIPTOR(Pooling)
CUDNN_DESCRIPTOR(Activation)
CUDNN_DESCRIPTOR(LRN)
CUDNN_DESCRIPTOR(OpTensor)
CUDNN_DESCRIPTOR(ReduceTensor)
CUDNN_DESCRIPTOR(Dropout)

// --- tensors

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format, cudnnDataType_t type,
                                         int n, int c, int h, int w) {
  CUDNN_CHECK(d);
  const int sizes[] = {n, c, h, w};
  return setSizes(*d, type, format, 4, sizes);
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t d, cudnnDataType_t type, int n, int c, int h, int w,
                                           int nStep, int cStep, int hStep, int wStep) {
  const int sizes[] = {n, c, h, w}, steps[] = {nStep, cStep, hStep, wStep};
  return cudnnSetTensorNdDescriptor(d, type, 4, sizes, steps);
}

cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t d, cudnnDataType_t* type, int* n, int* c, int* h,
                                         int* w, int* nStep, int* cStep, int* hStep, int* wStep) {
  CUDNN_CHECK(d && d->rank == 4 && type && n && c && h && w && nStep && cStep && hStep && wStep);
  *type = d->type;
  *n = d->size[0], *c = d->size[1], *h = d->size[2], *w = d->size[3];
  *nStep = d->step[0], *cStep = d->step[1], *hStep = d->step[2], *wStep = d->step[3];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank, const int* sizes,
                                         const int* steps) {
  CUDNN_CHECK(d && steps);
  CUDNN_TRY(setSizes(*d, type, CUDNN_TENSOR_NCHW, rank, sizes));
  for (int i = 0; i < rank; ++i) {
    CUDNN_CHECK(steps[i] > 0);
    d->step[static_cast<size_t>(i)] = steps[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format, cudnnDataType_t type,
                                           int rank, const int* sizes) {
  CUDNN_CHECK(d);
  return setSizes(*d, type, format, rank, sizes);
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t d, int wanted, cudnnDataType_t* type, int* rank,
                                         int* sizes, int* steps) {
  CUDNN_CHECK(d && type && rank && sizes && steps && wanted >= 0);
  *type = d->type;
  *rank = d->rank;
  for (int i = 0; i < wanted && i < d->rank; ++i)
    sizes[i] = d->size[static_cast<size_t>(i)], steps[i] = d->step[static_cast<size_t>(i)];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t d, size_t* bytes) {
  CUDNN_CHECK(d && bytes);
  *bytes = extent(*d);
  return CUDNN_STATUS_SUCCESS;
}

// --- filters

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type, cudnnTensorFormat_t format,
                                         int k, int c, int h, int w) {
  const int sizes[] = {k, c, h, w};
  return cudnnSetFilterNdDescriptor(d, type, format, 4, sizes);
}

cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t d, cudnnDataType_t* type,
                                         cudnnTensorFormat_t* format, int* k, int* c, int* h, int* w) {
  CUDNN_CHECK(d && d->rank == 4 && type && format && k && c && h && w);
  *type = d->type;
  *format = d->format;
  *k = d->size[0], *c = d->size[1], *h = d->size[2], *w = d->size[3];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type, cudnnTensorFormat_t format,
                                         int rank, const int* sizes) {
  CUDNN_CHECK(d);
  CUDNN_TRY(setSizes(*d, type, format, rank, sizes));
  d->format = format;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t d, int wanted, cudnnDataType_t* type,
                                         cudnnTensorFormat_t* format, int* rank, int* sizes) {
  CUDNN_CHECK(d && type && format && rank && sizes && wanted >= 0);
  *type = d->type;
  *format = d->format;
  *rank = d->rank;
  for (int i = 0; i < wanted && i < d->rank; ++i) sizes[i] = d->size[static_cast<size_t>(i)];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t d, size_t* bytes) {
  CUDNN_CHECK(d && bytes);
  *bytes = extent(*d);
  return CUDNN_STATUS_SUCCESS;
}
