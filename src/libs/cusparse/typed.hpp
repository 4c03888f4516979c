// What the calls share that have a type in their name and a matrix as three arrays (CSR) and a cusparseMatDescr_t.
#pragma once

#include "libs/cublas/inner.hpp"
#include "libs/cusparse/rows.hpp"

namespace ordito::cusparse {

using cublas::in;
using cublas::Inner;
using cublas::kTypeOf;

#define ORDITO_FOR_TYPES(X) X(S, float) X(D, double) X(C, cuComplex) X(Z, cuDoubleComplex)

/// Where the entries of a CSR matrix are; with indices from 0.
struct Pattern {
  int rows = 0, base = 0;
  const int *offsets = nullptr, *indices = nullptr;

  int begin(int row) const { return offsets[row] - base; }
  int end(int row) const { return offsets[row + 1] - base; }
  int column(int k) const { return indices[k] - base; }
  int count() const { return rows > 0 ? end(rows - 1) - begin(0) : 0; }
};

/// A CSR matrix for the calls of the generic interface.
template <class T>
cusparseSpMatDescr csrOf(int rows, int columns, int count, const T* values, const int* offsets, const int* indices,
                         const cusparseMatDescr& descriptor) {
  cusparseSpMatDescr a{};
  a.format = CUSPARSE_FORMAT_CSR;
  a.rows = rows, a.columns = columns, a.count = count;
  a.offsets = const_cast<int*>(offsets), a.indices = const_cast<int*>(indices), a.values = const_cast<T*>(values);
  a.offsetType = a.indexType = CUSPARSE_INDEX_32I;
  a.base = descriptor.base, a.type = kTypeOf<Inner<T>>;
  a.fill = descriptor.fill, a.diagonal = descriptor.diagonal;
  return a;
}

/// A dense matrix by columns.
template <class T>
cusparseDnMatDescr denseOf(int64_t rows, int64_t columns, int64_t leading, const T* values) {
  return {rows, columns, leading, const_cast<T*>(values), kTypeOf<Inner<T>>, CUSPARSE_ORDER_COL};
}

/// Writes a number for the program: at once if it is the host's.
template <class Task>
cusparseStatus_t submitForNumber(cusparseHandle_t handle, const char* name, Task task) {
  return handle->pointerMode == CUSPARSE_POINTER_MODE_HOST ? submitAndAwait(handle, name, std::move(task))
                                                           : submit(handle, name, std::move(task));
}

/// No call here needs a buffer of the program's.
inline cusparseStatus_t tellBufferSize(int* size) {
  ORDITO_CHECK(size);
  *size = 256;
  return CUSPARSE_STATUS_SUCCESS;
}

/// The calls that make and end what a program keeps of a factorization or solution.
#define ORDITO_INFO(Name, name)                                     \
  cusparseStatus_t cusparseCreate##Name##Info(name##Info_t* info) { \
    return makeDescriptor(reinterpret_cast<name##Info**>(info));    \
  }                                                                 \
  cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info) { \
    return destroyDescriptor(static_cast<name##Info*>(info));       \
  }

/// Symmetric and triangular matrices are for other calls.
#define ORDITO_GENERAL(descriptor) \
  ORDITO_CHECK(descriptor);        \
  if ((descriptor)->type != CUSPARSE_MATRIX_TYPE_GENERAL) return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED

}  // namespace ordito::cusparse
