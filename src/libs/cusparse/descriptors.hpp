// The state behind cuSPARSE's handles and descriptors, and how a call becomes a task in the handle's stream.
//
// A task gets copies of the descriptors: a program may change or destroy them before it runs.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include "cusparse.h"
#include "libs/cublas/elements.hpp"
#include "libs/cusparse/matrix_description.hpp"
#include "libs/stream_task.hpp"

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointerMode = CUSPARSE_POINTER_MODE_HOST;
};

struct cusparseSpVecDescr {
  int64_t size, count;
  void *indices, *values;
  cusparseIndexType_t indexType;
  cusparseIndexBase_t base;
  cudaDataType type;
};

struct cusparseDnVecDescr {
  int64_t size;
  void* values;
  cudaDataType type;
};

/// `offsets` are of rows (CSR) or columns (CSC), `indices` the other ones; COO has its rows in `offsets`. Of blocked
/// ELLPACK `count` is the number of columns that a row stores, `indices` are columns of blocks. Of blocks by rows (BSR)
/// `count` is that of the blocks, `offsets` and `indices` are of rows and columns of blocks. Sliced ELLPACK has in
/// `offsets` where each slice of `blockSize` rows begins.
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, columns, count;
  void *offsets, *indices, *values;
  cusparseIndexType_t offsetType, indexType;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  int batches = 1;
  int64_t offsetStep = 0, entryStep = 0, blockSize = 0;  // rows of a block
  int64_t blockColumns = 0, valueStep = 0, stored = 0;   // `stored`: values of a sliced ELLPACK matrix, with padding
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;            // in a block

  bool hasEntrySteps() const { return format != CUSPARSE_FORMAT_BSR; }
};

struct cusparseDnMatDescr {
  int64_t rows, columns, leading;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches = 1;
  int64_t step = 0;
};

namespace ordito::cusparse {

using cublas::ComplexDouble;
using cublas::ComplexFloat;
using cublas::converted;
using cublas::kIsComplex;
using cublas::Real;
using cublas::sizeOf;
using cublas::withElement;

/// What cannot be launched is said to have failed: a stream that is gone, a task that met a fault.
inline cusparseStatus_t statusOf(CUresult result) {
  return result == CUDA_SUCCESS ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

/// The profiler and faults call the task `name`.
template <class Task>
cusparseStatus_t submit(cusparseHandle_t handle, const char* name, Task task) {
  return statusOf(libs::enqueue(handle->stream, name, std::function<void()>(std::move(task))));
}

/// For results that the host needs when the call returns.
template <class Task>
cusparseStatus_t submitAndAwait(cusparseHandle_t handle, const char* name, Task task) {
  const cusparseStatus_t status = submit(handle, name, std::move(task));
  return status == CUSPARSE_STATUS_SUCCESS ? statusOf(libs::await(handle->stream)) : status;
}

inline bool isOperation(cusparseOperation_t op) {
  return op >= CUSPARSE_OPERATION_NON_TRANSPOSE && op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}
inline bool isAction(cusparseAction_t action) {
  return action == CUSPARSE_ACTION_SYMBOLIC || action == CUSPARSE_ACTION_NUMERIC;
}
inline bool isBase(cusparseIndexBase_t base) {
  return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}
inline bool isIndex(cusparseIndexType_t type) { return type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I; }

/// The element `i` of an array of a type that is known at run time.
template <class To>
To load(const void* array, cudaDataType type, int64_t i) {
  To value{};
  withElement(type, [&](auto element) { value = converted<To>(static_cast<const decltype(element)*>(array)[i]); });
  return value;
}
template <class From>
void store(void* array, cudaDataType type, int64_t i, From value) {
  withElement(type, [&](auto element) {
    using E = decltype(element);
    E& to = static_cast<E*>(array)[i];
    if constexpr (cublas::kHasBits<E>)
      cublas::narrow(converted<float>(value), to);
    else if constexpr (std::is_same_v<E, int32_t>)
      cublas::narrow(converted<double>(value), to);
    else
      to = converted<E>(value);
  });
}

/// A scalar argument: copied at the call if it is the host's, read in the task if it is the device's.
class Scalar {
 public:
  Scalar(cusparseHandle_t handle, const void* place, cudaDataType type) : type_(type) {
    if (handle->pointerMode == CUSPARSE_POINTER_MODE_DEVICE)
      place_ = place;
    else
      std::memcpy(value_.data(), place, sizeOf(type));
  }
  template <class T>
  T as() const {
    return load<T>(place_ ? place_ : value_.data(), type_, 0);
  }
  bool isZero() const { return as<ComplexDouble>() == ComplexDouble(0); }

 private:
  cudaDataType type_;
  const void* place_ = nullptr;
  std::array<std::byte, 16> value_{};
};

/// Calls with a value of the type in which sums are made; false if the library has none such. Sums of bytes are exact
/// in double.
template <class Body>
bool withCompute(cudaDataType type, const Body& body) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_R_32F: return body(float{}), true;
    case CUDA_R_32I:
    case CUDA_R_64F: return body(double{}), true;
    case CUDA_C_32F: return body(ComplexFloat{}), true;
    case CUDA_C_64F: return body(ComplexDouble{}), true;
    default: return false;
  }
}
inline bool isCompute(cudaDataType type) {
  return withCompute(type, [](auto) {});
}

/// The first line of the calls with a type in their name and of conversions. Those of the generic interface, which take
/// descriptors, have no status of its own for a handle that is not there.
#define ORDITO_HANDLE(handle) \
  if (!(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED
#define ORDITO_CHECK(condition) \
  if (!(condition)) return CUSPARSE_STATUS_INVALID_VALUE
#define ORDITO_SUPPORTED(condition) \
  if (!(condition)) return CUSPARSE_STATUS_NOT_SUPPORTED

/// Of the kinds that hold a plan or settings, and nothing when they are made.
template <class Descriptor>
cusparseStatus_t makeDescriptor(Descriptor** place) {
  ORDITO_CHECK(place);
  *place = new Descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
template <class Descriptor>
cusparseStatus_t destroyDescriptor(const Descriptor* descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

/// No call here needs a buffer of the program's, but some programs take a size of 0 for a failure.
inline cusparseStatus_t tellBufferSize(size_t* size) {
  ORDITO_CHECK(size);
  *size = 256;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace ordito::cusparse
