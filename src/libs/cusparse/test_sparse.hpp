// What the tests of cuSPARSE share: random sparse matrices of all types and formats, each with its dense twin.
#pragma once

#include "cusparse.h"
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {

template <class T>
inline constexpr cudaDataType kType = CUDA_R_32F;
template <>
inline constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kType<cuComplex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kType<cuDoubleComplex> = CUDA_C_64F;

inline constexpr auto kGood = CUSPARSE_STATUS_SUCCESS;
inline constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// The same matrix dense and in one of the sparse formats.
template <class T, class I = int32_t>
struct Sparse {
  int rows, columns;
  std::vector<Wide> dense;
  std::vector<I> offsets, indices;
  std::vector<T> values;
  std::vector<std::tuple<int, int, Wide>> stored;
  cusparseSpMatDescr_t descriptor = nullptr;

  Wide get(int i, int j) const {
    return dense[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(rows)];
  }
  Wide get(cusparseOperation_t op, int i, int j) const {
    const Wide v = op == kPlain ? get(i, j) : get(j, i);
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(v) : v;
  }

  /// body(row, column, value) for each entry, in any order.
  template <class Body>
  void eachStored(const Body& body) const {
    for (const auto& [row, column, value] : stored) body(row, column, value);
  }

  Sparse(int m, int n, int format, bool hasDiagonal = false)
      : rows(m), columns(n), dense(static_cast<size_t>(m) * static_cast<size_t>(n)) {
    const int base = random(0, 1);
    const bool byColumns = format == CUSPARSE_FORMAT_CSC;
    offsets.push_back(static_cast<I>(base));
    std::vector<I> lines;
    for (int line = 0; line < (byColumns ? n : m); ++line) {
      for (int at = 0; at < (byColumns ? m : n); ++at) {
        if (random(0, 3) && !(hasDiagonal && at == line)) continue;
        Wide v = randomWide(kComplex<T>);
        if (hasDiagonal && at == line) v += 8;
        dense[static_cast<size_t>(byColumns ? at : line) +
              static_cast<size_t>(byColumns ? line : at) * static_cast<size_t>(m)] = v;
        indices.push_back(static_cast<I>(at + base)), values.push_back(narrow<T>(v));
        lines.push_back(static_cast<I>(line + base));
        stored.emplace_back(byColumns ? at : line, byColumns ? line : at, widen(values.back()));
      }
      offsets.push_back(static_cast<I>(indices.size()) + static_cast<I>(base));
    }
    const auto indexType = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    const auto indexBase = static_cast<cusparseIndexBase_t>(base);
    const int64_t count = static_cast<int64_t>(values.size());
    if (format == CUSPARSE_FORMAT_COO) {
      offsets = lines;
      EXPECT_EQ(cusparseCreateCoo(&descriptor, m, n, count, offsets.data(), indices.data(), values.data(), indexType,
                                  indexBase, kType<T>),
                kGood);
    } else {
      EXPECT_EQ(
          (byColumns ? cusparseCreateCsc : cusparseCreateCsr)(&descriptor, m, n, count, offsets.data(), indices.data(),
                                                              values.data(), indexType, indexType, indexBase, kType<T>),
          kGood);
    }
  }
  ~Sparse() { cusparseDestroySpMat(descriptor); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
};

template <class T>
cusparseDnMatDescr_t describe(const Array<T>& a, bool byRows = false) {
  cusparseDnMatDescr_t descriptor = nullptr;
  EXPECT_EQ(cusparseCreateDnMat(&descriptor, byRows ? a.columns() : a.rows(), byRows ? a.rows() : a.columns(),
                                a.leading(), a.data(), kType<T>, byRows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
            kGood);
  return descriptor;
}

template <class T>
struct SparseTyped : Typed<T, ArrayTests> {
  void SetUp() override { ASSERT_EQ(cusparseCreate(&sparse), kGood); }
  void TearDown() override { cusparseDestroy(sparse); }
  static int format() { return random(CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO); }
  static cusparseOperation_t operation() { return static_cast<cusparseOperation_t>(random(0, 2)); }
  cusparseHandle_t sparse = nullptr;
  char room = 0;  // no call needs a buffer, but some want one
};
TYPED_TEST_SUITE(SparseTyped, Types);

// The functions by type: PICK(T, nnz) is cusparseSnnz, cusparseDnnz, ...
#define PICK(T, name)                                \
  [] {                                               \
    if constexpr (std::is_same_v<T, float>)          \
      return cusparseS##name;                        \
    else if constexpr (std::is_same_v<T, double>)    \
      return cusparseD##name;                        \
    else if constexpr (std::is_same_v<T, cuComplex>) \
      return cusparseC##name;                        \
    else                                             \
      return cusparseZ##name;                        \
  }()

/// What a cusparseMatDescr_t says of a matrix.
struct Descr {
  explicit Descr(int base) {
    EXPECT_EQ(cusparseCreateMatDescr(&value), kGood);
    EXPECT_EQ(cusparseSetMatIndexBase(value, static_cast<cusparseIndexBase_t>(base)), kGood);
  }
  ~Descr() { cusparseDestroyMatDescr(value); }
  Descr(const Descr&) = delete;
  Descr& operator=(const Descr&) = delete;
  operator cusparseMatDescr_t() const { return value; }
  cusparseMatDescr_t value = nullptr;
};

/// A CSR matrix with its description.
template <class T>
struct Csr : Sparse<T> {
  Csr(int m, int n, bool hasDiagonal = false) : Sparse<T>(m, n, CUSPARSE_FORMAT_CSR, hasDiagonal), descr(base()) {}
  int base() const { return this->offsets[0]; }
  int count() const { return static_cast<int>(this->values.size()); }
  /// body(i, j, k) for each entry.
  template <class Body>
  void each(const Body& body) const {
    for (int i = 0; i < this->rows; ++i)
      for (int k = this->offsets[static_cast<size_t>(i)] - base();
           k < this->offsets[static_cast<size_t>(i) + 1] - base(); ++k)
        body(i, this->indices[static_cast<size_t>(k)] - base(), static_cast<size_t>(k));
  }
  std::vector<Wide> denseValues() const {
    std::vector<Wide> cells(static_cast<size_t>(this->rows) * static_cast<size_t>(this->columns));
    each([&](int i, int j, size_t k) { cells[place(i, j)] = widen(this->values[k]); });
    return cells;
  }
  size_t place(int i, int j) const {
    return static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(this->rows);
  }
  Descr descr;
};

/// In the pattern of `a`, the factors in `cells` are those of what `before(i, j)` gives: L U, where L has ones on its
/// diagonal.
template <class Matrix, class Before>
void expectFactorsLu(const Matrix& a, const std::vector<Wide>& cells, const Before& before, double most) {
  a.each([&](int i, int j, size_t) {
    Wide sum = i <= j ? cells[a.place(i, j)] : 0;
    for (int k = 0; k < std::min(i, j + 1); ++k) sum += cells[a.place(i, k)] * cells[a.place(k, j)];
    ASSERT_LE(std::abs(sum - before(i, j)), most) << i << "," << j;
  });
}

/// L L^H, and the upper triangle, which is another matrix's, is as it was.
template <class Matrix>
void expectFactorsCholesky(const Matrix& a, const std::vector<Wide>& cells, const std::vector<Wide>& before,
                           double most) {
  a.each([&](int i, int j, size_t) {
    if (j > i) {
      ASSERT_EQ(cells[a.place(i, j)], before[a.place(i, j)]);
      return;
    }
    Wide sum = 0;
    for (int k = 0; k <= j; ++k) sum += cells[a.place(i, k)] * std::conj(cells[a.place(j, k)]);
    ASSERT_LE(std::abs(sum - before[a.place(i, j)]), most) << i << "," << j;
  });
}

}  // namespace ordito::cublas::test
