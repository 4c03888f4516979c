// Calls that went with CUDA 11, by random matrices: solutions put back into their systems, incomplete factors
// multiplied in their pattern, matrices that go to the library's own format and back.
#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

TYPED_TEST(SparseTyped, TrianglesWithOneAnalysis) {
  using T = TypeParam;
  for (int round = 0; round < 20; ++round) {
    const int m = random(0, 30);
    Csr<T> a(m, m, true);
    const auto op = this->operation();
    const bool isUpper = random(0, 1), isUnit = random(0, 1);
    ASSERT_EQ(cusparseSetMatFillMode(a.descr, isUpper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER), kGood);
    ASSERT_EQ(cusparseSetMatDiagType(a.descr, isUnit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT), kGood);
    ASSERT_EQ(cusparseSetMatType(a.descr, CUSPARSE_MATRIX_TYPE_TRIANGULAR), kGood);
    cusparseSolveAnalysisInfo_t info = nullptr;
    ASSERT_EQ(cusparseCreateSolveAnalysisInfo(&info), kGood);
    std::vector<T> f(static_cast<size_t>(m)), x(f.size());
    for (T& value : f) value = narrow<T>(randomWide(kComplex<T>));
    const T alpha = narrow<T>(randomWide(kComplex<T>));
    const auto solve = [&] {
      return PICK(T, csrsv_solve)(this->sparse, op, m, &alpha, a.descr, a.values.data(), a.offsets.data(),
                                  a.indices.data(), info, f.data(), x.data());
    };
    EXPECT_EQ(solve(), CUSPARSE_STATUS_INVALID_VALUE);  // not analysed
    ASSERT_EQ(PICK(T, csrsv_analysis)(this->sparse, op, m, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                      a.indices.data(), info),
              kGood);
    ASSERT_EQ(solve(), kGood);
    cuStreamSynchronize(nullptr);
    const auto isInside = [&](int i, int j) {
      return op == kPlain ? (isUpper ? j >= i : j <= i) : isUpper ? j <= i : j >= i;
    };
    double largest = 1;
    for (const T& value : x) largest = std::max(largest, std::abs(widen(value)));
    for (int i = 0; i < m; ++i) {
      Wide sum = 0;
      for (int j = 0; j < m; ++j)
        if (isInside(i, j)) sum += (isUnit && i == j ? Wide(1) : a.get(op, i, j)) * widen(x[static_cast<size_t>(j)]);
      ASSERT_LE(std::abs(sum - widen(alpha) * widen(f[static_cast<size_t>(i)])), 1e-4 * largest) << i;
    }
    cusparseDestroySolveAnalysisInfo(info);
  }
}

TYPED_TEST(SparseTyped, FactorsWithOneAnalysis) {
  using T = TypeParam;
  const int m = 25;
  Csr<T> a(m, m, true);
  const std::vector<Wide> before = a.denseValues();
  cusparseSolveAnalysisInfo_t info = nullptr;
  ASSERT_EQ(cusparseCreateSolveAnalysisInfo(&info), kGood);
  ASSERT_EQ(PICK(T, csrsv_analysis)(this->sparse, kPlain, m, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                    a.indices.data(), info),
            kGood);
  const auto factor = [&](cusparseOperation_t op) {
    return PICK(T, csrilu0)(this->sparse, op, m, a.descr, a.values.data(), a.offsets.data(), a.indices.data(), info);
  };
  EXPECT_EQ(factor(CUSPARSE_OPERATION_TRANSPOSE), CUSPARSE_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(factor(kPlain), kGood);
  cuStreamSynchronize(nullptr);
  expectFactorsLu(a, a.denseValues(), [&](int i, int j) { return before[a.place(i, j)]; }, 1e-3);
  cusparseDestroySolveAnalysisInfo(info);
}

TYPED_TEST(SparseTyped, MatricesInTheLibrarysOwnFormat) {
  using T = TypeParam;
  for (int round = 0; round < 20; ++round) {
    const int m = random(0, 40), n = random(0, 40);
    Csr<T> a(m, n);
    cusparseHybMat_t hybrid = nullptr;
    ASSERT_EQ(cusparseCreateHybMat(&hybrid), kGood);
    std::vector<T> x(static_cast<size_t>(n)), y(static_cast<size_t>(m)), values(a.values.size());
    std::vector<int> offsets(a.offsets.size()), indices(a.indices.size());
    for (T& value : x) value = narrow<T>(randomWide(kComplex<T>));
    for (T& value : y) value = narrow<T>(randomWide(kComplex<T>));
    const T alpha = narrow<T>(randomWide(kComplex<T>)), beta = narrow<T>(round % 2 ? Wide(0) : randomWide(kComplex<T>));
    if (round % 2) y.assign(y.size(), narrow<T>(Wide(std::nan(""), 0)));
    const std::vector<T> before = y;
    const auto multiply = [&](cusparseOperation_t op) {
      return PICK(T, hybmv)(this->sparse, op, &alpha, a.descr, hybrid, x.data(), &beta, y.data());
    };
    EXPECT_EQ(multiply(kPlain), CUSPARSE_STATUS_INVALID_VALUE);  // nothing is in it
    ASSERT_EQ(PICK(T, csr2hyb)(this->sparse, m, n, a.descr, a.values.data(), a.offsets.data(), a.indices.data(), hybrid,
                               0, CUSPARSE_HYB_PARTITION_AUTO),
              kGood);
    ASSERT_EQ(multiply(kPlain), kGood);
    EXPECT_EQ(multiply(CUSPARSE_OPERATION_TRANSPOSE), CUSPARSE_STATUS_NOT_SUPPORTED);
    ASSERT_EQ(PICK(T, hyb2csr)(this->sparse, a.descr, hybrid, values.data(), offsets.data(), indices.data()), kGood);
    ASSERT_EQ(cusparseDestroyHybMat(hybrid), kGood);  // the tasks have their own hold on it
    cuStreamSynchronize(nullptr);
    EXPECT_EQ(offsets, a.offsets);
    EXPECT_EQ(indices, a.indices);
    for (size_t k = 0; k < values.size(); ++k) ASSERT_EQ(widen(values[k]), widen(a.values[k]));
    for (int i = 0; i < m; ++i) {
      Wide sum = 0;
      for (int j = 0; j < n; ++j) sum += a.get(i, j) * widen(x[static_cast<size_t>(j)]);
      const Wide old = round % 2 ? Wide(0) : widen(beta) * widen(before[static_cast<size_t>(i)]);
      ASSERT_LE(std::abs(widen(y[static_cast<size_t>(i)]) - widen(alpha) * sum - old), 1e-4);
    }
  }
}

}  // namespace
}  // namespace ordito::cublas::test
