// What the tests of cuSOLVER's sparse part share: a matrix that can be solved, and a handle with a description.
#pragma once
#include "cusolverSp.h"
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cusolver::test {

using cublas::test::kComplex;
using cublas::test::narrow;
using cublas::test::random;
using cublas::test::randomWide;
using cublas::test::tolerance;
using cublas::test::Wide;
using cublas::test::widen;

/// A matrix with its arrays; any memory of the process will do.
template <class T>
struct Matrix {
  int rows, columns, base;
  std::vector<int> begin{0}, column;
  std::vector<T> value;

  Matrix(int m, int n, int indexBase) : rows(m), columns(n), base(indexBase) { begin[0] = base; }
  void endRow() { begin.push_back(count() + base); }
  int count() const { return static_cast<int>(value.size()); }
  template <class Body>
  void each(const Body& body) const {
    for (int i = 0; i < rows; ++i)
      for (int k = begin[static_cast<size_t>(i)] - base; k < begin[i + 1] - base; ++k)
        body(i, column[static_cast<size_t>(k)] - base, widen(value[static_cast<size_t>(k)]));
  }
  std::vector<Wide> times(const std::vector<T>& x) const {
    std::vector<Wide> y(static_cast<size_t>(rows));
    each([&](int i, int j, Wide v) { y[static_cast<size_t>(i)] += v * widen(x[static_cast<size_t>(j)]); });
    return y;
  }
};

/// With a strong diagonal, so that it can be solved well; Hermitian if wished.
template <class T>
Matrix<T> solvable(int n, bool hermitian, int base) {
  std::vector<std::vector<Wide>> dense(static_cast<size_t>(n), std::vector<Wide>(static_cast<size_t>(n)));
  auto at = [&](int i, int j) -> Wide& { return dense[static_cast<size_t>(i)][static_cast<size_t>(j)]; };
  for (int k = 0; k < 2 * n; ++k) {
    const int i = random(0, n - 1), j = random(0, n - 1);
    if (i != j) at(i, j) = randomWide(kComplex<T>);
    if (hermitian) at(j, i) = std::conj(at(i, j));
  }
  for (int i = 0; i < n; ++i) {
    double sum = 1;
    for (int j = 0; j < n; ++j) sum += std::abs(at(i, j)) + std::abs(at(j, i));
    at(i, i) = sum;
  }
  Matrix<T> result(n, n, base);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      if (at(i, j) != 0.0) result.column.push_back(j + base), result.value.push_back(narrow<T>(at(i, j)));
    result.endRow();
  }
  return result;
}

template <class T>
std::vector<T> randomVector(int n) {
  std::vector<T> x(static_cast<size_t>(n));
  for (T& v : x) v = narrow<T>(randomWide(kComplex<T>));
  return x;
}

struct SparseBase : cublas::test::ArrayTests {
  void SetUp() override {
    ASSERT_EQ(cusolverSpCreate(&handle), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(cusparseCreateMatDescr(&description), CUSPARSE_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cusolverSpDestroy(handle), CUSOLVER_STATUS_SUCCESS);
    cusparseDestroyMatDescr(description);
  }
  template <class T>
  Matrix<T> make(int n, bool hermitian) {
    const int base = random(0, 1);
    cusparseSetMatIndexBase(description, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO);
    return solvable<T>(n, hermitian, base);
  }
  template <class T>
  void expectSolution(const Matrix<T>& a, const std::vector<T>& x, const std::vector<T>& b) {
    const auto product = a.times(x);
    for (size_t i = 0; i < b.size(); ++i) ASSERT_LE(std::abs(product[i] - widen(b[i])), 20 * tolerance<T>(a.rows));
  }

  cusolverSpHandle_t handle = nullptr;
  cusparseMatDescr_t description = nullptr;
};

}  // namespace ordito::cusolver::test
