// cuSOLVER's refactorization: new values in the pattern of a matrix whose factors are known, one matrix or many, and
// what has no factors.
#include <cstdlib>
#include <utility>

#include "cusolverRf.h"
#include "cusolverSp_LOWLEVEL_PREVIEW.h"
#include "libs/cusolver/sparse_arrays.hpp"

namespace ordito::cusolver::test {
namespace {

/// The first factorization of a matrix, from LU on the host.
struct Refactor : SparseBase {
  void factor(const Matrix<double>& a) {
    csrluInfoHost_t lu = nullptr;
    const int n = a.rows;
    cusolverSpCreateCsrluInfoHost(&lu);
    ASSERT_EQ(cusolverSpXcsrluAnalysisHost(handle, n, a.count(), description, a.begin.data(), a.column.data(), lu),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(cusolverSpDcsrluFactorHost(handle, n, a.count(), description, a.value.data(), a.begin.data(),
                                         a.column.data(), lu, 1, nullptr),
              CUSOLVER_STATUS_SUCCESS);
    int countL = 0, countU = 0;
    cusolverSpXcsrluNnzHost(handle, &countL, &countU, lu);
    for (auto* factors : {&l, &u}) factors->begin.resize(static_cast<size_t>(n) + 1);
    l.column.resize(static_cast<size_t>(countL)), l.value.resize(static_cast<size_t>(countL));
    u.column.resize(static_cast<size_t>(countU)), u.value.resize(static_cast<size_t>(countU));
    p.resize(static_cast<size_t>(n)), q.resize(static_cast<size_t>(n));
    ASSERT_EQ(cusolverSpDcsrluExtractHost(handle, p.data(), q.data(), description, l.value.data(), l.begin.data(),
                                          l.column.data(), description, u.value.data(), u.begin.data(), u.column.data(),
                                          lu, nullptr),
              CUSOLVER_STATUS_SUCCESS);
    cusolverSpDestroyCsrluInfoHost(lu);
    ASSERT_EQ(cusolverRfCreate(&rf), CUSOLVER_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (rf) EXPECT_EQ(cusolverRfDestroy(rf), CUSOLVER_STATUS_SUCCESS);
    SparseBase::TearDown();
  }
  Matrix<double> makeFromZero(int n) {
    cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ZERO);
    return solvable<double>(n, false, 0);
  }

  Matrix<double> l{0, 0, 0}, u{0, 0, 0};
  std::vector<int> p, q;
  cusolverRfHandle_t rf = nullptr;
};

TEST_F(Refactor, NewValuesInTheOldPattern) {
  for (const auto diagonal : {CUSOLVERRF_UNIT_DIAGONAL_STORED_L, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U}) {
    const int n = 40;
    Matrix<double> a = makeFromZero(n);
    factor(a);
    ASSERT_EQ(cusolverRfSetMatrixFormat(rf, CUSOLVERRF_MATRIX_FORMAT_CSR, diagonal), CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(cusolverRfRefactor(rf), CUSOLVER_STATUS_NOT_INITIALIZED);
    ASSERT_EQ(cusolverRfSetupHost(n, a.count(), a.begin.data(), a.column.data(), a.value.data(), l.count(),
                                  l.begin.data(), l.column.data(), l.value.data(), u.count(), u.begin.data(),
                                  u.column.data(), u.value.data(), p.data(), q.data(), rf),
              CUSOLVER_STATUS_SUCCESS);
    for (int round = 0; round < 3; ++round) {
      for (double& v : a.value) v *= 1 + 0.1 * randomWide(false).real();
      ASSERT_EQ(
          cusolverRfResetValues(n, a.count(), a.begin.data(), a.column.data(), a.value.data(), p.data(), q.data(), rf),
          CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(cusolverRfAnalyze(rf), CUSOLVER_STATUS_SUCCESS);
      ASSERT_EQ(cusolverRfRefactor(rf), CUSOLVER_STATUS_SUCCESS);
      const auto b = randomVector<double>(n);
      std::vector<double> x = b, work(static_cast<size_t>(n));
      ASSERT_EQ(cusolverRfSolve(rf, p.data(), q.data(), 1, work.data(), n, x.data(), n), CUSOLVER_STATUS_SUCCESS);
      expectSolution(a, x, b);
    }
    // L U x = A x in their orders.
    Matrix<double> lower(n, n, 0), upper(n, n, 0);
    int counts[2] = {}, *begin[2] = {}, *column[2] = {};
    double* value[2] = {};
    ASSERT_EQ(cusolverRfExtractSplitFactorsHost(rf, &counts[0], &begin[0], &column[0], &value[0], &counts[1], &begin[1],
                                                &column[1], &value[1]),
              CUSOLVER_STATUS_SUCCESS);
    for (int i = 0; i < 2; ++i) {
      Matrix<double>& factors = i == 0 ? lower : upper;
      factors.begin.assign(begin[i], begin[i] + n + 1), factors.column.assign(column[i], column[i] + counts[i]);
      factors.value.assign(value[i], value[i] + counts[i]);
      std::free(begin[i]), std::free(column[i]), std::free(value[i]);
    }
    if (diagonal == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U) {
      Matrix<double> whole(n, n, 0);
      for (int i = 0; i < n; ++i) {
        whole.column.push_back(i), whole.value.push_back(1);
        for (int k = upper.begin[static_cast<size_t>(i)]; k < upper.begin[i + 1]; ++k)
          whole.column.push_back(upper.column[static_cast<size_t>(k)]),
              whole.value.push_back(upper.value[static_cast<size_t>(k)]);
        whole.endRow();
      }
      upper = whole;
    }
    const auto x = randomVector<double>(n);
    std::vector<double> ordered(static_cast<size_t>(n)), inner;
    for (int j = 0; j < n; ++j) ordered[static_cast<size_t>(j)] = x[static_cast<size_t>(q[static_cast<size_t>(j)])];
    for (const Wide& v : upper.times(ordered)) inner.push_back(v.real());
    const auto product = lower.times(inner), wanted = a.times(x);
    for (int i = 0; i < n; ++i)
      ASSERT_LE(std::abs(product[static_cast<size_t>(i)] - wanted[static_cast<size_t>(p[static_cast<size_t>(i)])]),
                1e-11);
    cusolverRfDestroy(std::exchange(rf, nullptr));
  }
}

TEST_F(Refactor, ManyMatricesAndAZeroPivot) {
  const int n = 15;
  Matrix<double> a = makeFromZero(n), other = a;
  for (double& v : other.value) v *= 3;
  factor(a);
  double* values[] = {a.value.data(), other.value.data()};
  ASSERT_EQ(cusolverRfBatchSetupHost(2, n, a.count(), a.begin.data(), a.column.data(), values, l.count(),
                                     l.begin.data(), l.column.data(), l.value.data(), u.count(), u.begin.data(),
                                     u.column.data(), u.value.data(), p.data(), q.data(), rf),
            CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(cusolverRfBatchAnalyze(rf), CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(cusolverRfBatchRefactor(rf), CUSOLVER_STATUS_SUCCESS);
  const auto b = randomVector<double>(n);
  std::vector<double> first = b, second = b;
  double* solutions[] = {first.data(), second.data()};
  ASSERT_EQ(cusolverRfBatchSolve(rf, p.data(), q.data(), 1, nullptr, n, solutions, n), CUSOLVER_STATUS_SUCCESS);
  expectSolution(a, first, b);
  expectSolution(other, second, b);
  std::ranges::fill(other.value, 0.0);
  ASSERT_EQ(
      cusolverRfBatchResetValues(2, n, a.count(), a.begin.data(), a.column.data(), values, p.data(), q.data(), rf),
      CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(cusolverRfBatchRefactor(rf), CUSOLVER_STATUS_SUCCESS);
  int positions[2] = {7, 7};
  EXPECT_EQ(cusolverRfBatchZeroPivot(rf, positions), CUSOLVER_STATUS_ZERO_PIVOT);
  EXPECT_EQ(positions[0], -1);
  EXPECT_EQ(positions[1], 0);
}

}  // namespace
}  // namespace ordito::cusolver::test
