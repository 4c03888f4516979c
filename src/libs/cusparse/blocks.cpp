// Matrices of square blocks (BSR): products with vectors and dense matrices, and conversions to CSR and back.
#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {
namespace {

/// The pattern is of blocks, `size` rows and columns each, by rows or by columns inside.
template <class T>
struct Blocks {
  Pattern pattern;
  int size;
  cusparseDirection_t direction;
  T* values;

  T& at(int block, int i, int j) const {
    const bool byRows = direction == CUSPARSE_DIRECTION_ROW;
    return values[static_cast<int64_t>(block) * size * size + (byRows ? i * size + j : j * size + i)];
  }
  bool isRight() const {
    return pattern.rows >= 0 && size > 0 && (pattern.rows == 0 || pattern.offsets) &&
           (direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN);
  }
};

/// A part of a row of the product; factor(k): the k-th element of what is multiplied.
template <class T, class Factor>
T rowTimes(const Blocks<T>& a, int row, const Factor& factor) {
  T sum{};
  const int i = row % a.size;
  for (int block = a.pattern.begin(row / a.size); block < a.pattern.end(row / a.size); ++block)
    for (int j = 0; j < a.size; ++j) sum += multiply(a.at(block, i, j), factor(a.pattern.column(block) * a.size + j));
  return sum;
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
    const int64_t work = static_cast<int64_t>(a.pattern.count()) * a.size * a.size;
    eachRow(static_cast<int64_t>(a.pattern.rows) * a.size, work, [&](int64_t i) {
      const T sum = rowTimes(a, static_cast<int>(i), [&](int k) { return x[k]; });
      y[i] = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, y[i]));
    });
  });
}

template <class T>
cusparseStatus_t timesMatrix(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int n,
                             const T* alpha, const cusparseMatDescr* descriptor, const Blocks<T>& a, const T* b,
                             int ldb, const T* beta, T* c, int ldc) {
  ORDITO_GENERAL(descriptor);
  ORDITO_CHECK(a.isRight() && n >= 0 && alpha && beta && isOperation(opA) && isOperation(opB) && ldb > 0 &&
               ldc >= std::max(1, a.pattern.rows * a.size) && (n == 0 || a.pattern.rows == 0 || c));
  ORDITO_SUPPORTED(!isTurned(opA) && opB != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
  const Scalar one(handle, alpha, kTypeOf<T>), other(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse bsrmm", [=] {
    const T first = one.as<T>(), second = other.as<T>();
    const int64_t down = isTurned(opB) ? ldb : 1, right = isTurned(opB) ? 1 : ldb;
    const int64_t work = static_cast<int64_t>(a.pattern.count()) * a.size * a.size * n;
    eachRow(static_cast<int64_t>(a.pattern.rows) * a.size, work, [&](int64_t i) {
      for (int j = 0; j < n; ++j) {
        const T sum = rowTimes(a, static_cast<int>(i), [&](int k) { return b[k * down + j * right]; });
        T& to = c[i + static_cast<int64_t>(j) * ldc];
        to = multiply(first, sum) + (second == T(0) ? T(0) : multiply(second, to));
      }
    });
  });
}

/// Every element of a block becomes an entry, also a 0.
template <class T>
void expand(const Blocks<const T>& a, int base, T* values, int* offsets, int* indices) {
  int at = 0;
  for (int row = 0; row < a.pattern.rows * a.size; ++row) {
    offsets[row] = at + base;
    const int line = row / a.size;
    for (int block = a.pattern.begin(line); block < a.pattern.end(line); ++block)
      for (int j = 0; j < a.size; ++j, ++at) {
        values[at] = a.at(block, row % a.size, j);
        indices[at] = a.pattern.column(block) * a.size + j + base;
      }
  }
  offsets[a.pattern.rows * a.size] = at + base;
}

/// The columns of blocks that a row of blocks has entries in, sorted.
void blockColumns(const Pattern& a, int size, int line, std::vector<int>& columns) {
  columns.clear();
  for (int row = line * size; row < std::min(a.rows, (line + 1) * size); ++row)
    for (int k = a.begin(row); k < a.end(row); ++k) columns.push_back(a.column(k) / size);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Into blocks whose offsets the count has left; rows behind the last are 0.
template <class T>
void gather(const Pattern& a, const T* from, const Blocks<T>& to, int base, int* indices) {
  std::vector<int> columns;
  for (int line = 0; line < to.pattern.rows; ++line) {
    blockColumns(a, to.size, line, columns);
    const int first = to.pattern.begin(line);
    for (size_t i = 0; i < columns.size(); ++i) indices[static_cast<size_t>(first) + i] = columns[i] + base;
    const auto cells = static_cast<int64_t>(columns.size()) * to.size * to.size;
    std::fill_n(to.values + static_cast<int64_t>(first) * to.size * to.size, cells, T(0));
    for (int row = line * to.size; row < std::min(a.rows, (line + 1) * to.size); ++row)
      for (int k = a.begin(row); k < a.end(row); ++k) {
        const auto found = std::lower_bound(columns.begin(), columns.end(), a.column(k) / to.size);
        to.at(first + static_cast<int>(found - columns.begin()), row % to.size, a.column(k) % to.size) = from[k];
      }
  }
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
                           std::vector<int> columns;
                           const int lines = (m + size - 1) / size;
                           toOffsets[0] = base;
                           for (int line = 0; line < lines; ++line) {
                             blockColumns(pattern, size, line, columns);
                             toOffsets[line + 1] = toOffsets[line] + static_cast<int>(columns.size());
                           }
                           *total = toOffsets[lines] - base;
                         });
}

#define DEFINE(L, T)                                                                                                   \
  cusparseStatus_t cusparse##L##bsrmv(cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t op,  \
                                      int rows, int, int, const T* alpha, const cusparseMatDescr_t descriptor,         \
                                      const T* values, const int* offsets, const int* indices, int size, const T* x,   \
                                      const T* beta, T* y) {                                                           \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(descriptor);                                                                                          \
    const Blocks<Inner<T>> a{{rows, descriptor->base, offsets, indices}, size, direction, in(const_cast<T*>(values))}; \
    return timesVector(handle, op, in(alpha), descriptor, a, in(x), in(beta), in(y));                                  \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsrmm(cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t opA, \
                                      cusparseOperation_t opB, int rows, int n, int, int, const T* alpha,              \
                                      const cusparseMatDescr_t descriptor, const T* values, const int* offsets,        \
                                      const int* indices, const int size, const T* b, const int ldb, const T* beta,    \
                                      T* c, int ldc) {                                                                 \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_CHECK(descriptor);                                                                                          \
    const Blocks<Inner<T>> a{{rows, descriptor->base, offsets, indices}, size, direction, in(const_cast<T*>(values))}; \
    return timesMatrix(handle, opA, opB, n, in(alpha), descriptor, a, in(b), ldb, in(beta), in(c), ldc);               \
  }                                                                                                                    \
  cusparseStatus_t cusparse##L##bsr2csr(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int,         \
                                        const cusparseMatDescr_t descriptor, const T* values, const int* offsets,      \
                                        const int* indices, int size, const cusparseMatDescr_t result, T* toValues,    \
                                        int* toOffsets, int* toIndices) {                                              \
    ORDITO_HANDLE(handle);                                                                                             \
    ORDITO_GENERAL(descriptor);                                                                                        \
    ORDITO_GENERAL(result);                                                                                            \
    const Blocks<const Inner<T>> a{{rows, descriptor->base, offsets, indices}, size, direction, in(values)};           \
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
    const Blocks<Inner<T>> to{{(m + size - 1) / size, base, toOffsets, toIndices}, size, direction, in(toValues)};     \
    return submit(handle, "cusparse csr2bsr", [=, a = Pattern{m, descriptor->base, offsets, indices}] {                \
      gather(a, in(values), to, base, toIndices);                                                                      \
    });                                                                                                                \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusparse
