// Sums of sparse matrices, C = alpha A + beta B in CSR: how many entries each row has, and then the entries, from the
// left. A column that A or B has an entry for has one in C, also where the numbers cancel; of the generic sum, SpGEAM,
// only if the matrix's factor is not 0.
#include "libs/cusparse/typed.hpp"

struct cusparseSpGEAMDescr {};

namespace ordito::cusparse {
namespace {

/// visit(place, column) for each entry of a row.
template <class Visit>
void eachOf(const Pattern& matrix, int64_t row, const Visit& visit) {
  const int line = static_cast<int>(row);
  for (int k = matrix.begin(line); k < matrix.end(line); ++k) visit(k, matrix.column(k));
}
template <class T, class Visit>
void eachOf(const Rows<T>& matrix, int64_t row, const Visit& visit) {
  for (int64_t k = matrix.begin(row); k < matrix.end(row); ++k) visit(k, matrix.index(k));
}

/// The columns of one row of the sum, sorted.
template <class Matrix>
void columnsOf(const Matrix& a, const Matrix& b, int64_t row, std::vector<int64_t>& columns) {
  columns.clear();
  for (const Matrix* matrix : {&a, &b})
    eachOf(*matrix, row, [&](int64_t, int64_t column) { columns.push_back(column); });
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// A factor and the values of what it multiplies.
template <class Matrix, class T>
struct Term {
  const Matrix& matrix;
  const T* values;
  T factor;
};

/// Adds a row to the sums of columns.
template <class Matrix, class T>
void addRow(const Term<Matrix, T>& term, int64_t row, std::vector<T>& sums) {
  eachOf(term.matrix, row, [&](int64_t k, int64_t column) {
    sums[static_cast<size_t>(column)] += multiply(term.factor, term.values[k]);
  });
}

/// put(row, number in the row, column, value) for each entry of the sum.
template <class Matrix, class T, class Put>
void add(int64_t rows, int64_t width, const Term<Matrix, T>& a, const Term<Matrix, T>& b, const Put& put) {
  std::vector<T> sums(static_cast<size_t>(width));
  std::vector<int64_t> columns;
  for (int64_t row = 0; row < rows; ++row) {
    columnsOf(a.matrix, b.matrix, row, columns);
    addRow(a, row, sums);
    addRow(b, row, sums);
    for (size_t i = 0; i < columns.size(); ++i)
      put(row, static_cast<int64_t>(i), columns[i], std::exchange(sums[static_cast<size_t>(columns[i])], T(0)));
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
  return submit(handle, "cusparse csrgeam2", [=] {
    add(a.rows, n, Term<Pattern, T>{a, valuesA, first.as<T>()}, Term<Pattern, T>{b, valuesB, second.as<T>()},
        [&](int64_t row, int64_t i, int64_t column, T value) {
          const int64_t k = offsets[row] - base + i;
          indices[k] = static_cast<int>(column) + base;
          values[k] = value;
        });
  });
}

/// op(A), or a matrix of its size without entries where the factor is 0.
template <class T>
Rows<T> rowsUnlessZero(const cusparseSpMatDescr& a, cusparseOperation_t op, T factor) {
  if (factor != T(0)) return rowsOf<T>(a, op);
  Rows<T> empty;
  empty.rows = isTurned(op) ? a.columns : a.rows;
  empty.offsets.assign(static_cast<size_t>(empty.rows) + 1, 0);
  return empty;
}

/// What the calls of the generic sum refuse alike.
cusparseStatus_t checkGeneric(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                              const void* alpha, cusparseConstSpMatDescr_t a, const void* beta,
                              cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c, cudaDataType compute,
                              cusparseSpGEAMAlg_t algorithm, const cusparseSpGEAMDescr* descriptor) {
  ORDITO_CHECK(handle && a && b && c && alpha && beta && descriptor && isOperation(opA) && isOperation(opB));
  ORDITO_CHECK(algorithm == CUSPARSE_SPGEAM_ALG_DEFAULT);
  const auto fits = [&](const cusparseSpMatDescr& matrix, cusparseOperation_t op) {
    return (isTurned(op) ? matrix.columns : matrix.rows) == c->rows &&
           (isTurned(op) ? matrix.rows : matrix.columns) == c->columns;
  };
  ORDITO_CHECK(fits(*a, opA) && fits(*b, opB));
  ORDITO_SUPPORTED(isCompute(compute) && c->format == CUSPARSE_FORMAT_CSR);
  return CUSPARSE_STATUS_SUCCESS;
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
                           std::vector<int64_t> columns;
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

cusparseStatus_t cusparseSpGEAM_createDescr(cusparseSpGEAMDescr_t* descriptor) { return makeDescriptor(descriptor); }
cusparseStatus_t cusparseSpGEAM_destroyDescr(cusparseSpGEAMDescr_t descriptor) { return destroyDescriptor(descriptor); }
cusparseStatus_t cusparseSpGEAM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                           const void* alpha, cusparseSpMatDescr_t a, const void* beta,
                                           cusparseSpMatDescr_t b, cusparseSpMatDescr_t c, cudaDataType compute,
                                           cusparseSpGEAMAlg_t algorithm, cusparseSpGEAMDescr_t descriptor,
                                           size_t* size) {
  if (const auto bad = checkGeneric(handle, opA, opB, alpha, a, beta, b, c, compute, algorithm, descriptor)) return bad;
  return tellBufferSize(size);
}
/// Writes C's offsets, and tells how many entries there will be.
cusparseStatus_t cusparseSpGEAM_nnz(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                    const void* alpha, cusparseSpMatDescr_t a, const void* beta, cusparseSpMatDescr_t b,
                                    cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEAMAlg_t algorithm,
                                    cusparseSpGEAMDescr_t descriptor, void*) {
  if (const auto bad = checkGeneric(handle, opA, opB, alpha, a, beta, b, c, compute, algorithm, descriptor)) return bad;
  ORDITO_CHECK(c->offsets);
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submitAndAwait(handle, "cusparseSpGEAM_nnz", [=] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      const Rows<T> left = rowsUnlessZero(*a, opA, one.as<T>()), right = rowsUnlessZero(*b, opB, other.as<T>());
      std::vector<int64_t> columns;
      c->count = 0;
      storeIndex(c->offsets, c->offsetType, 0, c->base);
      for (int64_t row = 0; row < c->rows; ++row) {
        columnsOf(left, right, row, columns);
        c->count += static_cast<int64_t>(columns.size());
        storeIndex(c->offsets, c->offsetType, row + 1, c->count + c->base);
      }
    });
  });
}
/// Into the places that C's offsets say.
cusparseStatus_t cusparseSpGEAM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                const void* alpha, cusparseSpMatDescr_t a, const void* beta, cusparseSpMatDescr_t b,
                                cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEAMAlg_t algorithm,
                                cusparseSpGEAMDescr_t descriptor, void*) {
  if (const auto bad = checkGeneric(handle, opA, opB, alpha, a, beta, b, c, compute, algorithm, descriptor)) return bad;
  ORDITO_CHECK(c->offsets && (c->count == 0 || (c->indices && c->values)));
  const Scalar one(handle, alpha, compute), other(handle, beta, compute);
  return submit(handle, "cusparseSpGEAM", [=, a = *a, b = *b, c = *c] {
    withCompute(compute, [&](auto zero) {
      using T = decltype(zero);
      const T factors[] = {one.as<T>(), other.as<T>()};
      const Rows<T> left = rowsUnlessZero(a, opA, factors[0]), right = rowsUnlessZero(b, opB, factors[1]);
      const Indices offsets(c.offsets, c.offsetType, c.base);
      add(c.rows, c.columns, Term<Rows<T>, T>{left, left.values.data(), factors[0]},
          Term<Rows<T>, T>{right, right.values.data(), factors[1]},
          [&](int64_t row, int64_t i, int64_t column, T value) {
            const int64_t k = offsets[row] + i;
            if (k >= c.count) return;
            storeIndex(c.indices, c.indexType, k, column + c.base);
            store(c.values, c.type, k, value);
          });
    });
  });
}

}  // extern "C"
}  // namespace ordito::cusparse
