// cuSPARSE's calls with a type in their name, by random matrices against dense sums in double: factorizations, sums,
// triangular systems, blocks, and the calls of CUDA 10 and before.
#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

TYPED_TEST(SparseTyped, IncompleteLuIsExactInItsPattern) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int n = random(1, 40);
    Csr<T> a(n, n, true);
    csrilu02Info_t info = nullptr;
    int size = 0, position = 7;
    ASSERT_EQ(cusparseCreateCsrilu02Info(&info), kGood);
    ASSERT_EQ(PICK(T, csrilu02_bufferSize)(this->sparse, n, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                           a.indices.data(), info, &size),
              kGood);
    EXPECT_GT(size, 0);
    ASSERT_EQ(PICK(T, csrilu02_analysis)(this->sparse, n, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                         a.indices.data(), info, kPolicy, nullptr),
              kGood);
    ASSERT_EQ(PICK(T, csrilu02)(this->sparse, n, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                a.indices.data(), info, kPolicy, nullptr),
              kGood);
    EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->sparse, info, &position), kGood);
    EXPECT_EQ(position, -1);
    expectFactorsLu(a, a.denseValues(), [&](int i, int j) { return a.get(i, j); }, tolerance<T>(40) * 10);
    cusparseDestroyCsrilu02Info(info);
  }
}

TYPED_TEST(SparseTyped, IncompleteCholeskyIsExactInItsPattern) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int n = random(1, 40);
    Csr<T> a(n, n, true);
    a.each([&](int i, int j, size_t k) {
      // The upper triangle is another matrix's, which nobody may touch.
      if (i == j) a.values[k] = narrow<T>(20.0);
    });
    const auto before = a.denseValues();
    csric02Info_t info = nullptr;
    int position = 7;
    ASSERT_EQ(cusparseCreateCsric02Info(&info), kGood);
    ASSERT_EQ(PICK(T, csric02_analysis)(this->sparse, n, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                        a.indices.data(), info, kPolicy, nullptr),
              kGood);
    ASSERT_EQ(PICK(T, csric02)(this->sparse, n, a.count(), a.descr, a.values.data(), a.offsets.data(), a.indices.data(),
                               info, kPolicy, nullptr),
              kGood);
    EXPECT_EQ(cusparseXcsric02_zeroPivot(this->sparse, info, &position), kGood);
    EXPECT_EQ(position, -1);
    expectFactorsCholesky(a, a.denseValues(), before, tolerance<T>(40) * 10);
    cusparseDestroyCsric02Info(info);
  }
}

TYPED_TEST(SparseTyped, PivotsOfZeroAreToldAndBoosted) {
  using T = TypeParam;
  // ( 0 1 ) from 1, in which the first pivot is 0; and without its entry.
  // ( 1 2 )
  std::vector<T> values = {narrow<T>(0.0), narrow<T>(1.0), narrow<T>(1.0), narrow<T>(2.0)};
  const std::vector<int> offsets = {1, 3, 5}, indices = {1, 2, 1, 2}, lacking = {1, 2, 4};
  const Descr descr(1);
  csrilu02Info_t info = nullptr;
  int position = 7;
  ASSERT_EQ(cusparseCreateCsrilu02Info(&info), kGood);
  const auto analyse = [&](const std::vector<int>& rows, int count, int from) {
    return PICK(T, csrilu02_analysis)(this->sparse, 2, count, descr, values.data() + from, rows.data(),
                                      indices.data() + from, info, kPolicy, nullptr);
  };
  EXPECT_EQ(analyse(lacking, 3, 1), kGood);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->sparse, info, &position), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 1);
  EXPECT_EQ(analyse(offsets, 4, 0), kGood);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->sparse, info, &position), kGood);
  EXPECT_EQ(position, -1);
  const auto factorize = [&](std::vector<T>& into) {
    return PICK(T, csrilu02)(this->sparse, 2, 4, descr, into.data(), offsets.data(), indices.data(), info, kPolicy,
                             nullptr);
  };
  std::vector<T> copy = values;
  EXPECT_EQ(factorize(copy), kGood);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->sparse, info, &position), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 1);
  double tolerance = 0.5;
  T boost = narrow<T>(4.0);
  EXPECT_EQ(analyse(offsets, 4, 0), kGood);
  EXPECT_EQ(PICK(T, csrilu02_numericBoost)(this->sparse, info, 1, &tolerance, &boost), kGood);
  EXPECT_EQ(factorize(values), kGood);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->sparse, info, &position), kGood);
  EXPECT_EQ(widen(values[0]), 4.0);
  EXPECT_EQ(widen(values[3]), 1.75);
  cusparseDestroyCsrilu02Info(info);
}

TYPED_TEST(SparseTyped, TriangularSystemsOfTheOlderInterface) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int n = random(1, 40);
    const Csr<T> a(n, n, true);
    const auto op = this->operation();
    const bool isUpper = random(0, 1) == 1, isUnit = random(0, 1) == 1;
    cusparseSetMatFillMode(a.descr, isUpper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER);
    cusparseSetMatDiagType(a.descr, isUnit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT);
    const Array<T> f(n, 1, n), x(n, 1, n);
    const Wide alpha = randomWide(kComplex<T>);
    const T one = narrow<T>(alpha);
    csrsv2Info_t info = nullptr;
    ASSERT_EQ(cusparseCreateCsrsv2Info(&info), kGood);
    ASSERT_EQ(PICK(T, csrsv2_analysis)(this->sparse, op, n, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                       a.indices.data(), info, kPolicy, nullptr),
              kGood);
    ASSERT_EQ(PICK(T, csrsv2_solve)(this->sparse, op, n, a.count(), &one, a.descr, a.values.data(), a.offsets.data(),
                                    a.indices.data(), info, f.data(), x.data(), kPolicy, nullptr),
              kGood);
    int position = 7;
    EXPECT_EQ(cusparseXcsrsv2_zeroPivot(this->sparse, info, &position), kGood);
    double largest = 1;
    for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(x.get(i, 0)));
    for (int i = 0; i < n; ++i) {
      Wide sum = -alpha * f.get(i, 0);
      for (int j = 0; j < n; ++j) {
        const int row = op == kPlain ? i : j, column = op == kPlain ? j : i;
        if (isUnit && i == j)
          sum += x.get(j, 0);
        else if (isUpper ? column >= row : column <= row)
          sum += a.get(op, i, j) * x.get(j, 0);
      }
      ASSERT_LE(std::abs(sum), tolerance<T>(n) * largest * 10) << i;
    }
    cusparseDestroyCsrsv2Info(info);
  }
}

TYPED_TEST(SparseTyped, SumsOfMatrices) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(0, 40), n = random(0, 40), base = random(0, 1);
    const Csr<T> a(m, n), b(m, n);
    const Descr descr(base);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    std::vector<int> offsets(static_cast<size_t>(m) + 1);
    int total = -1;
    ASSERT_EQ(
        cusparseXcsrgeam2Nnz(this->sparse, m, n, a.descr, a.count(), a.offsets.data(), a.indices.data(), b.descr,
                             b.count(), b.offsets.data(), b.indices.data(), descr, offsets.data(), &total, nullptr),
        kGood);
    ASSERT_EQ(total, offsets.back() - base);
    std::vector<int> indices(static_cast<size_t>(total) + 1, -5);
    std::vector<T> values(static_cast<size_t>(total) + 1);
    ASSERT_EQ(PICK(T, csrgeam2)(this->sparse, m, n, &one, a.descr, a.count(), a.values.data(), a.offsets.data(),
                                a.indices.data(), &other, b.descr, b.count(), b.values.data(), b.offsets.data(),
                                b.indices.data(), descr, values.data(), offsets.data(), indices.data(), nullptr),
              kGood);
    this->wait();
    std::vector<Wide> sums(static_cast<size_t>(m) * static_cast<size_t>(n));
    for (int i = 0; i < m; ++i)
      for (size_t k = static_cast<size_t>(offsets[static_cast<size_t>(i)] - base);
           k < static_cast<size_t>(offsets[static_cast<size_t>(i) + 1] - base); ++k)
        sums[a.place(i, indices[k] - base)] = widen(values[k]);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        ASSERT_LE(std::abs(sums[a.place(i, j)] - alpha * a.get(i, j) - beta * b.get(i, j)), tolerance<T>(2));
    EXPECT_EQ(indices.back(), -5);
  }
}

TYPED_TEST(SparseTyped, ProductsOfTheOlderInterface) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(1, 40), k = random(1, 40), n = random(1, 20);
    const Csr<T> a(m, k);
    const auto op = this->operation(), opB = op == kPlain ? this->operation() : kPlain;
    const int rows = op == kPlain ? m : k, inner = op == kPlain ? k : m;
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const Array<T> b = opB == kPlain ? Array<T>(inner, n, inner + 2) : Array<T>(n, inner, n + 2);
    Array<T> c(rows, n, rows + 1), y(rows, 1, rows);
    if (beta == 0.0) c.fill(NAN), y.fill(NAN);
    const auto beforeC = c.values(), beforeY = y.values();
    const auto sum = [&](int i, int j, bool isVector) {
      Wide total = 0;
      for (int l = 0; l < inner; ++l) {
        const Wide v = isVector || opB == kPlain ? b.get(l, j) : b.get(j, l);
        total += a.get(op, i, l) * (!isVector && opB == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(v) : v);
      }
      return alpha * total;
    };
    if (opB == kPlain) {
      ASSERT_EQ(PICK(T, csrmv)(this->sparse, op, m, k, a.count(), &one, a.descr, a.values.data(), a.offsets.data(),
                               a.indices.data(), b.data(), &other, y.data()),
                kGood);
      this->template expectNear<T>(
          y, beforeY, inner,
          [&](int i, int) { return sum(i, 0, true) + (beta == 0.0 ? 0 : beta * beforeY[static_cast<size_t>(i)]); },
          always);
      ASSERT_EQ(PICK(T, csrmm)(this->sparse, op, m, n, k, a.count(), &one, a.descr, a.values.data(), a.offsets.data(),
                               a.indices.data(), b.data(), b.leading(), &other, c.data(), c.leading()),
                kGood);
    } else {
      ASSERT_EQ(
          PICK(T, csrmm2)(this->sparse, op, opB, m, n, k, a.count(), &one, a.descr, a.values.data(), a.offsets.data(),
                          a.indices.data(), b.data(), b.leading(), &other, c.data(), c.leading()),
          kGood);
    }
    this->template expectNear<T>(
        c, beforeC, inner,
        [&](int i, int j) {
          const size_t at = static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(rows);
          return sum(i, j, false) + (beta == 0.0 ? 0 : beta * beforeC[at]);
        },
        always);
  }
}

TYPED_TEST(SparseTyped, ConversionsOfTheOlderInterface) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(1, 40), n = random(1, 40);
    const Csr<T> a(m, n);
    const Array<T> dense(m, n, m + 3), again(m, n, m + 1);
    ASSERT_EQ(PICK(T, csr2dense)(this->sparse, m, n, a.descr, a.values.data(), a.offsets.data(), a.indices.data(),
                                 dense.data(), dense.leading()),
              kGood);
    this->wait();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) ASSERT_EQ(dense.get(i, j), widen(narrow<T>(a.get(i, j))));
    // Counts, then both formats from the dense one.
    const bool byRows = random(0, 1) == 1;
    std::vector<int> counts(static_cast<size_t>(std::max(m, n)));
    int total = -1;
    ASSERT_EQ(PICK(T, nnz)(this->sparse, byRows ? CUSPARSE_DIRECTION_ROW : CUSPARSE_DIRECTION_COLUMN, m, n, a.descr,
                           dense.data(), dense.leading(), counts.data(), &total),
              kGood);
    ASSERT_EQ(total, a.count());
    std::vector<int> offsets(static_cast<size_t>(std::max(m, n)) + 1), indices(static_cast<size_t>(total));
    std::vector<T> values(static_cast<size_t>(total));
    if (byRows) {
      ASSERT_EQ(PICK(T, dense2csr)(this->sparse, m, n, a.descr, dense.data(), dense.leading(), counts.data(),
                                   values.data(), offsets.data(), indices.data()),
                kGood);
      this->wait();
      offsets.resize(static_cast<size_t>(m) + 1);
      EXPECT_EQ(offsets, a.offsets);
      EXPECT_EQ(indices, a.indices);
    } else {
      ASSERT_EQ(PICK(T, dense2csc)(this->sparse, m, n, a.descr, dense.data(), dense.leading(), counts.data(),
                                   values.data(), indices.data(), offsets.data()),
                kGood);
      std::vector<int> turnedOffsets(static_cast<size_t>(n) + 1), turnedIndices(static_cast<size_t>(total));
      std::vector<T> turned(static_cast<size_t>(total));
      ASSERT_EQ(PICK(T, csr2csc)(this->sparse, m, n, total, a.values.data(), a.offsets.data(), a.indices.data(),
                                 turned.data(), turnedIndices.data(), turnedOffsets.data(), CUSPARSE_ACTION_NUMERIC,
                                 static_cast<cusparseIndexBase_t>(a.base())),
                kGood);
      ASSERT_EQ(PICK(T, csc2dense)(this->sparse, m, n, a.descr, values.data(), indices.data(), offsets.data(),
                                   again.data(), again.leading()),
                kGood);
      this->wait();
      offsets.resize(static_cast<size_t>(n) + 1);
      EXPECT_EQ(offsets, turnedOffsets);
      EXPECT_EQ(indices, turnedIndices);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) ASSERT_EQ(again.get(i, j), dense.get(i, j));
    }
  }
}

TYPED_TEST(SparseTyped, DenseMatricesTimesSparseVectors) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(1, 40), n = random(1, 40);
    const auto op = this->operation();
    const int rows = op == kPlain ? m : n, inner = op == kPlain ? n : m;
    const Array<T> a(m, n, m + 2);
    const Csr<T> x(1, inner);
    Array<T> y(rows, 1, rows);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    if (beta == 0.0) y.fill(NAN);
    const auto before = y.values();
    ASSERT_EQ(PICK(T, gemvi)(this->sparse, op, m, n, &one, a.data(), a.leading(), x.count(), x.values.data(),
                             x.indices.data(), &other, y.data(), static_cast<cusparseIndexBase_t>(x.base()), nullptr),
              kGood);
    this->template expectNear<T>(
        y, before, inner,
        [&](int i, int) {
          Wide sum = 0;
          for (int l = 0; l < inner; ++l) {
            const Wide v = op == kPlain ? a.get(i, l) : a.get(l, i);
            sum += (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(v) : v) * x.get(0, l);
          }
          return alpha * sum + (beta == 0.0 ? 0 : beta * before[static_cast<size_t>(i)]);
        },
        always);
  }
}

TYPED_TEST(SparseTyped, Blocks) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int size = random(1, 5), rows = random(1, 8), columns = random(1, 8), n = random(1, 10);
    const int m = rows * size, k = columns * size, base = random(0, 1);
    const Csr<T> a(m, k);
    const Descr descr(base);
    const auto direction = static_cast<cusparseDirection_t>(random(0, 1));
    std::vector<int> offsets(static_cast<size_t>(rows) + 1);
    int total = -1;
    ASSERT_EQ(cusparseXcsr2bsrNnz(this->sparse, direction, m, k, a.descr, a.offsets.data(), a.indices.data(), size,
                                  descr, offsets.data(), &total),
              kGood);
    ASSERT_EQ(total, offsets.back() - base);
    std::vector<int> indices(static_cast<size_t>(total));
    std::vector<T> values(static_cast<size_t>(total) * static_cast<size_t>(size) * static_cast<size_t>(size));
    ASSERT_EQ(PICK(T, csr2bsr)(this->sparse, direction, m, k, a.descr, a.values.data(), a.offsets.data(),
                               a.indices.data(), size, descr, values.data(), offsets.data(), indices.data()),
              kGood);
    const bool isTurned = random(0, 1) == 1;
    const Array<T> x(k, 1, k), b = isTurned ? Array<T>(n, k, n) : Array<T>(k, n, k);
    Array<T> y(m, 1, m), c(m, n, m + 1);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    if (beta == 0.0) y.fill(NAN), c.fill(NAN);
    const auto beforeY = y.values(), beforeC = c.values();
    const auto rest = [&](Wide before) { return beta == 0.0 ? 0 : beta * before; };
    ASSERT_EQ(PICK(T, bsrmv)(this->sparse, direction, kPlain, rows, columns, total, &one, descr, values.data(),
                             offsets.data(), indices.data(), size, x.data(), &other, y.data()),
              kGood);
    this->template expectNear<T>(
        y, beforeY, k,
        [&](int i, int) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += a.get(i, l) * x.get(l, 0);
          return alpha * sum + rest(beforeY[static_cast<size_t>(i)]);
        },
        always);
    ASSERT_EQ(PICK(T, bsrmm)(this->sparse, direction, kPlain, isTurned ? CUSPARSE_OPERATION_TRANSPOSE : kPlain, rows, n,
                             columns, total, &one, descr, values.data(), offsets.data(), indices.data(), size, b.data(),
                             b.leading(), &other, c.data(), c.leading()),
              kGood);
    this->template expectNear<T>(
        c, beforeC, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += a.get(i, l) * (isTurned ? b.get(j, l) : b.get(l, j));
          return alpha * sum + rest(beforeC[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)]);
        },
        always);
    // And back, with the blocks' zeros.
    std::vector<int> wideOffsets(static_cast<size_t>(m) + 1), wideIndices(values.size());
    std::vector<T> wide(values.size());
    ASSERT_EQ(PICK(T, bsr2csr)(this->sparse, direction, rows, columns, descr, values.data(), offsets.data(),
                               indices.data(), size, a.descr, wide.data(), wideOffsets.data(), wideIndices.data()),
              kGood);
    this->wait();
    ASSERT_EQ(wideOffsets.back() - a.base(), total * size * size);
    for (int i = 0; i < m; ++i)
      for (size_t at = static_cast<size_t>(wideOffsets[static_cast<size_t>(i)] - a.base());
           at < static_cast<size_t>(wideOffsets[static_cast<size_t>(i) + 1] - a.base()); ++at)
        ASSERT_EQ(widen(wide[at]), widen(narrow<T>(a.get(i, wideIndices[at] - a.base()))));
  }
}

TYPED_TEST(SparseTyped, BadArgumentsOfTypedCalls) {
  using T = TypeParam;
  const Csr<T> a(4, 4, true);
  const T one = narrow<T>(1.0);
  Array<T> x(4, 1, 4);
  const auto multiply = [&](cusparseHandle_t handle, int m, cusparseMatDescr_t descr) {
    return PICK(T, csrmv)(handle, kPlain, m, 4, a.count(), &one, descr, a.values.data(), a.offsets.data(),
                          a.indices.data(), x.data(), &one, x.data());
  };
  EXPECT_EQ(multiply(nullptr, 4, a.descr), CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(multiply(this->sparse, -1, a.descr), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(multiply(this->sparse, 4, nullptr), CUSPARSE_STATUS_INVALID_VALUE);
  cusparseSetMatType(a.descr, CUSPARSE_MATRIX_TYPE_SYMMETRIC);
  EXPECT_EQ(multiply(this->sparse, 4, a.descr), CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  int position = 0;
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->sparse, nullptr, &position), CUSPARSE_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace ordito::cublas::test
