// Calls of CUDA 10 and before that programs still have, by those of the generic interface: products of a CSR matrix,
// conversions, and the product of a dense matrix and a sparse vector.
#include <limits>

#include "libs/cusparse/entries.hpp"
#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {
namespace {

template <class T>
cusparseStatus_t timesVector(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, int count, const T* alpha,
                             const cusparseMatDescr* descriptor, const T* values, const int* offsets,
                             const int* indices, const T* x, const T* beta, T* y) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && count >= 0 && isOperation(op));
  ORDITO_GENERAL(descriptor);
  cusparseSpMatDescr a = csrOf(m, n, count, values, offsets, indices, *descriptor);
  cusparseDnVecDescr from{isTurned(op) ? m : n, const_cast<T*>(x), a.type}, to{isTurned(op) ? n : m, y, a.type};
  return cusparseSpMV(handle, op, alpha, &a, &from, beta, &to, a.type, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
}

/// op(A) is m x k or k x m as stored; n is the number of columns of the result.
template <class T>
cusparseStatus_t timesMatrix(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m, int n,
                             int k, int count, const T* alpha, const cusparseMatDescr* descriptor, const T* values,
                             const int* offsets, const int* indices, const T* b, int ldb, const T* beta, T* c,
                             int ldc) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && k >= 0 && count >= 0 && isOperation(opA) && isOperation(opB));
  ORDITO_GENERAL(descriptor);
  cusparseSpMatDescr a = csrOf(m, k, count, values, offsets, indices, *descriptor);
  const int inner = isTurned(opA) ? m : k, rows = isTurned(opA) ? k : m;
  cusparseDnMatDescr from = isTurned(opB) ? denseOf(n, inner, ldb, b) : denseOf(inner, n, ldb, b);
  cusparseDnMatDescr to = denseOf(rows, n, ldc, c);
  ORDITO_CHECK(ldb >= std::max<int64_t>(1, from.rows) && ldc >= std::max(1, rows));
  return cusparseSpMM(handle, opA, opB, alpha, &a, &from, beta, &to, a.type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr);
}

template <class T>
cusparseStatus_t toDense(cusparseHandle_t handle, cusparseFormat_t format, int m, int n,
                         const cusparseMatDescr* descriptor, const T* values, const int* offsets, const int* indices,
                         T* to, int leading) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && leading >= std::max(1, m));
  ORDITO_GENERAL(descriptor);
  cusparseSpMatDescr a = csrOf(m, n, 0, values, offsets, indices, *descriptor);
  a.format = format;
  cusparseDnMatDescr dense = denseOf(m, n, leading, to);
  return bringToDense(handle, a, dense);
}

/// The program has allocated by the counts of nnz().
template <class T>
cusparseStatus_t fromDense(cusparseHandle_t handle, cusparseFormat_t format, int m, int n,
                           const cusparseMatDescr* descriptor, const T* from, int leading, T* values, int* offsets,
                           int* indices) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && leading >= std::max(1, m) && offsets && (m == 0 || n == 0 || from));
  ORDITO_GENERAL(descriptor);
  cusparseSpMatDescr a = csrOf(m, n, std::numeric_limits<int>::max(), values, offsets, indices, *descriptor);
  a.format = format;
  return submit(handle, "cusparse dense2csr", [a, dense = denseOf(m, n, leading, from)] {
    countEntries<Inner<T>>(dense, a);
    copyEntries<Inner<T>>(dense, a);
  });
}

/// How many elements of each row or column are not 0, and how many of all.
template <class T>
cusparseStatus_t count(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,
                       const cusparseMatDescr* descriptor, const T* a, int leading, int* counts, int* total) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && leading >= std::max(1, m) && total && (m == 0 || n == 0 || (a && counts)));
  ORDITO_CHECK(direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN);
  ORDITO_GENERAL(descriptor);
  return submitForNumber(handle, "cusparse nnz", [=] {
    const bool byRows = direction == CUSPARSE_DIRECTION_ROW;
    std::fill_n(counts, byRows ? m : n, 0);
    int sum = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        const int one = a[i + static_cast<int64_t>(j) * leading] == T(0) ? 0 : 1;
        counts[byRows ? i : j] += one, sum += one;
      }
    *total = sum;
  });
}

/// y = alpha op(A) x + beta y with a sparse x.
template <class T>
cusparseStatus_t timesSparse(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, const T* alpha, const T* a,
                             int leading, int count, const T* x, const int* indices, const T* beta, T* y, int base) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && count >= 0 && leading >= std::max(1, m) && isOperation(op) && alpha && beta);
  ORDITO_CHECK((count == 0 || (a && x && indices)) && y && base >= 0 && base <= 1);
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse gemvi", [=] {
    const T first = one.as<T>(), second = other.as<T>();
    const bool turned = isTurned(op), conjugate = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    for (int i = 0; i < (turned ? n : m); ++i) {
      T sum{};
      for (int k = 0; k < count; ++k) {
        const int j = indices[k] - base;
        const T value = turned ? a[j + static_cast<int64_t>(i) * leading] : a[i + static_cast<int64_t>(j) * leading];
        sum += multiply(conjugate ? cublas::conjugateIf<true>(value) : value, x[k]);
      }
      y[i] = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, y[i]));
    }
  });
}

}  // namespace

extern "C" {

#define CSR(T) const cusparseMatDescr_t descriptor, const T *values, const int *offsets, const int *indices
#define DEFINE_CONVERSIONS(L, T, format, FORMAT)                                                                    \
  cusparseStatus_t cusparse##L##format##2dense(cusparseHandle_t handle, int m, int n, CSR(T), T* to, int leading) { \
    return toDense(handle, FORMAT, m, n, descriptor, values, offsets, indices, to, leading);                        \
  }                                                                                                                 \
  cusparseStatus_t cusparse##L##dense2##format(cusparseHandle_t handle, int m, int n,                               \
                                               const cusparseMatDescr_t descriptor, const T* from, int leading,     \
                                               const int*, T* values, int* offsets, int* indices) {                 \
    return fromDense(handle, FORMAT, m, n, descriptor, from, leading, values, offsets, indices);                    \
  }
// The arrays of a CSC matrix stand in another order: the first is of rows.
#define DEFINE_CSC(L, T)                                                                                              \
  cusparseStatus_t cusparse##L##csc2dense(cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descriptor, \
                                          const T* values, const int* indices, const int* offsets, T* to,             \
                                          int leading) {                                                              \
    return toDense(handle, CUSPARSE_FORMAT_CSC, m, n, descriptor, values, offsets, indices, to, leading);             \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##dense2csc(cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descriptor, \
                                          const T* from, int leading, const int*, T* values, int* indices,            \
                                          int* offsets) {                                                             \
    return fromDense(handle, CUSPARSE_FORMAT_CSC, m, n, descriptor, from, leading, values, offsets, indices);         \
  }
#define DEFINE(L, T)                                                                                                   \
  DEFINE_CONVERSIONS(L, T, csr, CUSPARSE_FORMAT_CSR)                                                                   \
  DEFINE_CSC(L, T)                                                                                                     \
  cusparseStatus_t cusparse##L##csrmv(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, int count,        \
                                      const T* alpha, CSR(T), const T* x, const T* beta, T* y) {                       \
    return timesVector(handle, op, m, n, count, alpha, descriptor, values, offsets, indices, x, beta, y);              \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrmm(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, int k, int count, \
                                      const T* alpha, CSR(T), const T* b, int ldb, const T* beta, T* c, int ldc) {     \
    return timesMatrix(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, m, n, k, count, alpha, descriptor, values,        \
                       offsets, indices, b, ldb, beta, c, ldc);                                                        \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csrmm2(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,      \
                                       int m, int n, int k, int count, const T* alpha, CSR(T), const T* b, int ldb,    \
                                       const T* beta, T* c, int ldc) {                                                 \
    return timesMatrix(handle, opA, opB, m, n, k, count, alpha, descriptor, values, offsets, indices, b, ldb, beta, c, \
                       ldc);                                                                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csr2csc(cusparseHandle_t handle, int m, int n, int count, const T* values,             \
                                        const int* offsets, const int* indices, T* toValues, int* toIndices,           \
                                        int* toOffsets, cusparseAction_t action, cusparseIndexBase_t base) {           \
    return cusparseCsr2cscEx2(handle, m, n, count, values, offsets, indices, toValues, toOffsets, toIndices,           \
                              kTypeOf<Inner<T>>, action, base, CUSPARSE_CSR2CSC_ALG_DEFAULT, nullptr);                 \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,              \
                                    const cusparseMatDescr_t descriptor, const T* a, int leading, int* counts,         \
                                    int* total) {                                                                      \
    return count(handle, direction, m, n, descriptor, in(a), leading, counts, total);                                  \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gemvi_bufferSize(cusparseHandle_t handle, cusparseOperation_t, int, int, int,          \
                                                 int* size) {                                                          \
    ORDITO_HANDLE(handle);                                                                                             \
    return tellBufferSize(size);                                                                                       \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##gemvi(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, const T* alpha,   \
                                      const T* a, int leading, int count, const T* x, const int* indices,              \
                                      const T* beta, T* y, cusparseIndexBase_t base, void*) {                          \
    return timesSparse(handle, op, m, n, in(alpha), in(a), leading, count, in(x), indices, in(beta), in(y), base);     \
  }
ORDITO_FOR_TYPES(DEFINE)

}  // extern "C"
}  // namespace ordito::cusparse
