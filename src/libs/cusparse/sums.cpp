// Sums of sparse matrices, C = alpha A + beta B in CSR: how many entries each row has, and then the entries, from the
// left. A column that A or B has an entry for has one in C, also where the numbers cancel.
#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {
namespace {

/// The columns of one row of the sum, sorted.
void columnsOf(const Pattern& a, const Pattern& b, int row, std::vector<int>& columns) {
  columns.clear();
  for (const Pattern* matrix : {&a, &b})
    for (int k = matrix->begin(row); k < matrix->end(row); ++k) columns.push_back(matrix->column(k));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Adds a row to the sums of columns.
template <class T>
void addRow(const Pattern& matrix, const T* values, int row, T factor, std::vector<T>& sums) {
  for (int k = matrix.begin(row); k < matrix.end(row); ++k)
    sums[static_cast<size_t>(matrix.column(k))] += multiply(factor, values[k]);
}

template <class T>
void add(const Pattern& a, const T* valuesA, T alpha, const Pattern& b, const T* valuesB, T beta, int width,
         const int* offsets, int base, T* values, int* indices) {
  std::vector<T> sums(static_cast<size_t>(width));
  std::vector<int> columns;
  for (int row = 0; row < a.rows; ++row) {
    columnsOf(a, b, row, columns);
    addRow(a, valuesA, row, alpha, sums);
    addRow(b, valuesB, row, beta, sums);
    int k = offsets[row] - base;
    for (const int column : columns) {
      indices[k] = column + base;
      values[k++] = std::exchange(sums[static_cast<size_t>(column)], T(0));
    }
  }
}

/// Offsets count entries from their base, which a descriptor has.
cusparseStatus_t check(cusparseHandle_t handle, int m, int n, const cusparseMatDescr* a, const cusparseMatDescr* b,
                       const cusparseMatDescr* c) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0);
  for (const cusparseMatDescr* descriptor : {a, b, c}) {
    ORDITO_GENERAL(descriptor);
  }
  return CUSPARSE_STATUS_SUCCESS;
}

template <class T>
cusparseStatus_t sumOf(cusparseHandle_t handle, int n, const T* alpha, const Pattern& a, const T* valuesA,
                       const T* beta, const Pattern& b, const T* valuesB, int base, T* values, const int* offsets,
                       int* indices) {
  ORDITO_CHECK(alpha && beta && (a.rows == 0 || (a.offsets && b.offsets && offsets)));
  const Scalar first(handle, alpha, kTypeOf<T>), second(handle, beta, kTypeOf<T>);
  return submit(handle, "cusparse csrgeam2",
                [=] { add(a, valuesA, first.as<T>(), b, valuesB, second.as<T>(), n, offsets, base, values, indices); });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t a, int,
                                      const int* offsetsA, const int* indicesA, const cusparseMatDescr_t b, int,
                                      const int* offsetsB, const int* indicesB, const cusparseMatDescr_t c,
                                      int* offsetsC, int* total, void*) {
  if (const cusparseStatus_t status = check(handle, m, n, a, b, c)) return status;
  ORDITO_CHECK(offsetsC && total && (m == 0 || (offsetsA && offsetsB)));
  return submitForNumber(handle, "cusparse csrgeam2Nnz",
                         [=, left = Pattern{m, a->base, offsetsA, indicesA},
                          right = Pattern{m, b->base, offsetsB, indicesB}, base = static_cast<int>(c->base)] {
                           std::vector<int> columns;
                           offsetsC[0] = base;
                           for (int row = 0; row < m; ++row) {
                             columnsOf(left, right, row, columns);
                             offsetsC[row + 1] = offsetsC[row] + static_cast<int>(columns.size());
                           }
                           *total = offsetsC[m] - base;
                         });
}

#define DEFINE(L, T)                                                                                                  \
  cusparseStatus_t cusparse##L##csrgeam2_bufferSizeExt(                                                               \
      cusparseHandle_t handle, int m, int n, const T*, const cusparseMatDescr_t a, int, const T*, const int*,         \
      const int*, const T*, const cusparseMatDescr_t b, int, const T*, const int*, const int*,                        \
      const cusparseMatDescr_t c, const T*, const int*, const int*, size_t* size) {                                   \
    if (const cusparseStatus_t status = check(handle, m, n, a, b, c)) return status;                                  \
    return tellBufferSize(size);                                                                                      \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrgeam2(                                                                             \
      cusparseHandle_t handle, int m, int n, const T* alpha, const cusparseMatDescr_t a, int, const T* valuesA,       \
      const int* offsetsA, const int* indicesA, const T* beta, const cusparseMatDescr_t b, int, const T* valuesB,     \
      const int* offsetsB, const int* indicesB, const cusparseMatDescr_t c, T* valuesC, int* offsetsC, int* indicesC, \
      void*) {                                                                                                        \
    if (const cusparseStatus_t status = check(handle, m, n, a, b, c)) return status;                                  \
    return sumOf(handle, n, in(alpha), {m, a->base, offsetsA, indicesA}, in(valuesA), in(beta),                       \
                 {m, b->base, offsetsB, indicesB}, in(valuesB), c->base, in(valuesC), offsetsC, indicesC);            \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusparse
