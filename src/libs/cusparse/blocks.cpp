// Matrices of square blocks (BSR): products with vectors and dense matrices, and conversions to CSR and back.
#include "libs/cusparse/blocks.hpp"

namespace ordito::cusparse {
namespace {

/// Row i of the blocks from `first` to `end`, times factor(k): the k-th element of what is multiplied.
template <class T, class Factor>
T rowTimes(const Blocks<T>& a, int i, int first, int end, const Factor& factor) {
  T sum{};
  for (int block = first; block < end; ++block)
    for (int j = 0; j < a.across; ++j)
      sum += multiply(a.at(block, i, j), factor(a.pattern.column(block) * a.across + j));
  return sum;
}
template <class T, class Factor>
T rowTimes(const Blocks<T>& a, int row, const Factor& factor) {
  const int line = row / a.down;
  return rowTimes(a, row % a.down, a.pattern.begin(line), a.pattern.end(line), factor);
}

template <class T>
cusparseStatus_t timesVector(cusparseHandle_t handle, cusparseOperation_t op, const T* alpha,
                             const cusparseMatDescr* descriptor, const Blocks<T>& a, const T* x, const T* beta, T* y) {
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(a.isRight() && alpha && beta && isOperation(op) && (a.pattern.rows == 0 || y));
  ORDITO_SUPPORTED(!isTurned(op));
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse bsrmv", [=] {
    const T first = one.as<T>(), second = other.as<T>();
    const int64_t work = static_cast<int64_t>(a.pattern.count()) * a.cells();
    eachRow(static_cast<int64_t>(a.pattern.rows) * a.down, work, [&](int64_t i) {
      const T sum = rowTimes(a, static_cast<int>(i), [&](int k) { return x[k]; });
      y[i] = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, y[i]));
    });
  });
}

/// Only the rows of blocks that `mask` lists are computed, from blocks up to `ends` rather than to the next row's
/// first.
template <class T>
cusparseStatus_t timesVectorMasked(cusparseHandle_t handle, cusparseOperation_t op, int size, const int* mask,
                                   const T* alpha, const cusparseMatDescr* descriptor, const Blocks<T>& a,
                                   const int* ends, const T* x, const T* beta, T* y) {
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(a.isRight() && size >= 0 && size <= a.pattern.rows && alpha && beta && isOperation(op) &&
               (size == 0 || (mask && ends && x && y)));
  ORDITO_SUPPORTED(!isTurned(op));
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse bsrxmv", [=] {
    const T first = one.as<T>(), second = other.as<T>();
    eachRow(static_cast<int64_t>(size) * a.down, static_cast<int64_t>(size) * a.cells(), [&](int64_t place) {
      const int line = mask[place / a.down] - a.pattern.base, i = static_cast<int>(place % a.down);
      const T sum = rowTimes(a, i, a.pattern.begin(line), ends[line] - a.pattern.base, [&](int k) { return x[k]; });
      T& to = y[static_cast<int64_t>(line) * a.down + i];
      to = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, to));
    });
  });
}

template <class T>
cusparseStatus_t timesMatrix(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int n,
                             const T* alpha, const cusparseMatDescr* descriptor, const Blocks<T>& a, const T* b,
                             int ldb, const T* beta, T* c, int ldc) {
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(a.isRight() && n >= 0 && alpha && beta && isOperation(opA) && isOperation(opB) && ldb > 0 &&
               ldc >= std::max(1, a.pattern.rows * a.down) && (n == 0 || a.pattern.rows == 0 || c));
  ORDITO_SUPPORTED(!isTurned(opA) && opB != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse bsrmm", [=] {
    const T first = one.as<T>(), second = other.as<T>();
    const int64_t down = isTurned(opB) ? ldb : 1, right = isTurned(opB) ? 1 : ldb;
    const int64_t work = static_cast<int64_t>(a.pattern.count()) * a.cells() * n;
    eachRow(static_cast<int64_t>(a.pattern.rows) * a.down, work, [&](int64_t i) {
      for (int j = 0; j < n; ++j) {
        const T sum = rowTimes(a, static_cast<int>(i), [&](int k) { return b[k * down + j * right]; });
        T& to = c[i + static_cast<int64_t>(j) * ldc];
        to = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, to));
      }
    });
  });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcsr2bsrNnz(cusparseHandle_t handle, cusparseDirection_t, int m, int n,
                                     const cusparseMatDescr_t a, const int* offsets, const int* indices, int size,
                                     const cusparseMatDescr_t c, int* toOffsets, int* total) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && size > 0 && toOffsets && total && (m == 0 || offsets));
  ORDITO_GENERAL(a);
  ORDITO_GENERAL(c);
  return submitForNumber(handle, "cusparse csr2bsrNnz",
                         [=, pattern = Pattern{m, a->base, offsets, indices}, base = static_cast<int>(c->base)] {
                           *total = countBlocks(pattern, size, size, base, toOffsets);
                         });
}

#define DEFINE(L, T)                                                                                                   \
  cusparseStatus_t cusparse##L##bsrmv(cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op,  \
                                      int rows, int, int, const T* alpha, const cusparseMatDescr_t descriptor,         \
                                      const T* values, const int* offsets, const int* indices, int size, const T* x,   \
                                      const T* beta, T* y) {                                                           \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(descriptor);                                                                                          \
    const Blocks<Inner<T>> a{                                                                                          \
        {rows, descriptor->base, offsets, indices}, size, size, direction, in(const_cast<T*>(values))};                \
    return timesVector(handle, op, in(alpha), descriptor, a, in(x), in(beta), in(y));                                  \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrxmv(                                                                                \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op, int size, int rows, int, int,    \
      const T* alpha, const cusparseMatDescr_t descriptor, const T* values, const int* mask, const int* offsets,       \
      const int* ends, const int* indices, int side, const T* x, const T* beta, T* y) {                                \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(descriptor);                                                                                          \
    const Blocks<Inner<T>> a{                                                                                          \
        {rows, descriptor->base, offsets, indices}, side, side, direction, in(const_cast<T*>(values))};                \
    return timesVectorMasked(handle, op, size, mask, in(alpha), descriptor, a, ends, in(x), in(beta), in(y));          \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrmm(cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t opA, \
                                      cusparseOperation_t opB, int rows, int n, int, int, const T* alpha,              \
                                      const cusparseMatDescr_t descriptor, const T* values, const int* offsets,        \
                                      const int* indices, const int size, const T* b, const int ldb, const T* beta,    \
                                      T* c, int ldc) {                                                                 \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(descriptor);                                                                                          \
    const Blocks<Inner<T>> a{                                                                                          \
        {rows, descriptor->base, offsets, indices}, size, size, direction, in(const_cast<T*>(values))};                \
    return timesMatrix(handle, opA, opB, n, in(alpha), descriptor, a, in(b), ldb, in(beta), in(c), ldc);               \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsr2csr(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int,         \
                                        const cusparseMatDescr_t descriptor, const T* values, const int* offsets,      \
                                        const int* indices, int size, const cusparseMatDescr_t result, T* toValues,    \
                                        int* toOffsets, int* toIndices) {                                              \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_GENERAL(descriptor);                                                                                        \
    ORDITO_GENERAL(result);                                                                                            \
    const Blocks<const Inner<T>> a{{rows, descriptor->base, offsets, indices}, size, size, direction, in(values)};     \
    ORDITO_CHECK(a.isRight() && toOffsets);                                                                            \
    return submit(handle, "cusparse bsr2csr", [=, base = static_cast<int>(result->base)] {                             \
      expand(a, base, in(toValues), toOffsets, toIndices);                                                             \
    });                                                                                                                \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##csr2bsr(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,          \
                                        const cusparseMatDescr_t descriptor, const T* values, const int* offsets,      \
                                        const int* indices, int size, const cusparseMatDescr_t result, T* toValues,    \
                                        int* toOffsets, int* toIndices) {                                              \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(m >= 0 && n >= 0 && size > 0 && toOffsets && (m == 0 || offsets));                                    \
    ORDITO_GENERAL(descriptor);                                                                                        \
    ORDITO_GENERAL(result);                                                                                            \
    const int base = result->base;                                                                                     \
    const Blocks<Inner<T>> to{                                                                                         \
        {(m + size - 1) / size, base, toOffsets, toIndices}, size, size, direction, in(toValues)};                     \
    return submit(handle, "cusparse csr2bsr", [=, a = Pattern{m, descriptor->base, offsets, indices}] {                \
      gather(a, in(values), to, base, toIndices);                                                                      \
    });                                                                                                                \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusparse
