// Calls of cuSPARSE that later versions left out, against dense sums in double.
#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

/// A result that was counted first.
template <class T>
struct Counted {
  explicit Counted(int m, int n)
      : rows(m), columns(n), base(random(0, 1)), descr(base), offsets(static_cast<size_t>(m) + 1) {}
  void allocate() {
    indices.assign(static_cast<size_t>(total), -7),
        values.assign(static_cast<size_t>(total), narrow<T>(Wide(NAN, NAN)));
    ASSERT_EQ(offsets.front(), base);
    ASSERT_EQ(offsets.back() - base, total);
  }
  /// Every element near its reference, columns of a row in order.
  template <class Reference>
  void expect(double terms, const Reference& reference) const {
    std::vector<Wide> dense(static_cast<size_t>(rows * columns));
    for (int i = 0; i < rows; ++i)
      for (int k = offsets[static_cast<size_t>(i)] - base; k < offsets[static_cast<size_t>(i) + 1] - base; ++k) {
        const int j = indices[static_cast<size_t>(k)] - base;
        if (k > offsets[static_cast<size_t>(i)] - base) ASSERT_LT(indices[static_cast<size_t>(k) - 1] - base, j);
        dense[i * columns + j] = widen(values[static_cast<size_t>(k)]);
      }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        ASSERT_LE(std::abs(dense[static_cast<size_t>(i * columns + j)] - reference(i, j)), 4 * tolerance<T>(terms));
  }

  int rows, columns, base;
  Descr descr;
  std::vector<int> offsets, indices;
  std::vector<T> values;
  int total = -1;
};

#define ARRAYS(x) (x).descr, (x).count(), (x).values.data(), (x).offsets.data(), (x).indices.data()
#define PATTERN(x) (x).descr, (x).count(), (x).offsets.data(), (x).indices.data()

TYPED_TEST(SparseTyped, ProductsCountedFirst) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(1, 20), n = random(1, 20), k = random(1, 20);
    const auto opA = this->operation(), opB = this->operation();
    const Csr<T> a(opA == kPlain ? m : k, opA == kPlain ? k : m), b(opB == kPlain ? k : n, opB == kPlain ? n : k);
    Counted<T> c(m, n);
    ASSERT_EQ(cusparseXcsrgemmNnz(this->sparse, opA, opB, m, n, k, PATTERN(a), PATTERN(b), c.descr, c.offsets.data(),
                                  &c.total),
              kGood);
    c.allocate();
    ASSERT_EQ(PICK(T, csrgemm)(this->sparse, opA, opB, m, n, k, ARRAYS(a), ARRAYS(b), c.descr, c.values.data(),
                               c.offsets.data(), c.indices.data()),
              kGood);
    this->wait();
    c.expect(k, [&](int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < k; ++l) sum += a.get(opA, i, l) * b.get(opB, l, j);
      return sum;
    });
  }
}

TYPED_TEST(SparseTyped, ProductsAndSumsCountedFirst) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(1, 20), n = random(1, 20), k = random(1, 20);
    const bool hasProduct = round % 3 != 0, hasOther = round % 3 != 1;
    const Csr<T> a(m, k), b(k, n), d(m, n), other(m, n);
    Counted<T> c(m, n);
    csrgemm2Info_t info = nullptr;
    ASSERT_EQ(cusparseCreateCsrgemm2Info(&info), kGood);
    const T alpha = narrow<T>(2.0), beta = narrow<T>(-3.0);
    const T *one = hasProduct ? &alpha : nullptr, *two = hasOther ? &beta : nullptr;
    size_t size = 0;
    ASSERT_EQ(PICK(T, csrgemm2_bufferSizeExt)(this->sparse, m, n, k, one, PATTERN(a), PATTERN(b), two, PATTERN(d), info,
                                              &size),
              kGood);
    const int* const none = nullptr;
    ASSERT_EQ(cusparseXcsrgemm2Nnz(this->sparse, m, n, k, a.descr, a.count(), hasProduct ? a.offsets.data() : none,
                                   a.indices.data(), b.descr, b.count(), hasProduct ? b.offsets.data() : none,
                                   b.indices.data(), d.descr, d.count(), hasOther ? d.offsets.data() : none,
                                   d.indices.data(), c.descr, c.offsets.data(), &c.total, info, nullptr),
              kGood);
    c.allocate();
    ASSERT_EQ(PICK(T, csrgemm2)(this->sparse, m, n, k, one, ARRAYS(a), ARRAYS(b), two, ARRAYS(d), c.descr,
                                c.values.data(), c.offsets.data(), c.indices.data(), info, nullptr),
              kGood);
    this->wait();
    c.expect(k, [&](int i, int j) {
      Wide sum = hasOther ? -3.0 * d.get(i, j) : 0;
      for (int l = 0; hasProduct && l < k; ++l) sum += 2.0 * a.get(i, l) * b.get(l, j);
      return sum;
    });
    EXPECT_EQ(cusparseDestroyCsrgemm2Info(info), kGood);
    // A sum of two matrices.
    Counted<T> s(m, n);
    ASSERT_EQ(cusparseXcsrgeamNnz(this->sparse, m, n, PATTERN(d), PATTERN(other), s.descr, s.offsets.data(), &s.total),
              kGood);
    s.allocate();
    ASSERT_EQ(PICK(T, csrgeam)(this->sparse, m, n, &alpha, ARRAYS(d), &beta, ARRAYS(other), s.descr, s.values.data(),
                               s.offsets.data(), s.indices.data()),
              kGood);
    this->wait();
    s.expect(2, [&](int i, int j) { return 2.0 * d.get(i, j) - 3.0 * other.get(i, j); });
  }
}

TYPED_TEST(SparseTyped, TriangularSystemsInPlace) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int n = random(1, 20), columns = random(1, 5);
    const Csr<T> a(n, n, true);
    const auto fill = random(0, 1) ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseSetMatFillMode(a.descr, fill);
    const auto op = this->operation();
    const auto opB = random(0, 1) ? kPlain : CUSPARSE_OPERATION_TRANSPOSE;
    const auto b = opB == kPlain ? matrix<T>(n, columns) : matrix<T>(columns, n);
    const auto before = b.values();
    csrsm2Info_t info = nullptr;
    ASSERT_EQ(cusparseCreateCsrsm2Info(&info), kGood);
    const T alpha = narrow<T>(2.0);
    size_t size = 0;
    const auto policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
    const T* const values = a.values.data();
    ASSERT_EQ(
        PICK(T, csrsm2_bufferSizeExt)(this->sparse, 0, op, opB, n, columns, a.count(), &alpha, a.descr, values,
                                      a.offsets.data(), a.indices.data(), b.data(), b.leading(), info, policy, &size),
        kGood);
    ASSERT_EQ(
        PICK(T, csrsm2_analysis)(this->sparse, 0, op, opB, n, columns, a.count(), &alpha, a.descr, values,
                                 a.offsets.data(), a.indices.data(), b.data(), b.leading(), info, policy, nullptr),
        kGood);
    int position = 7;
    ASSERT_EQ(cusparseXcsrsm2_zeroPivot(this->sparse, info, &position), kGood);
    ASSERT_EQ(position, -1);
    ASSERT_EQ(PICK(T, csrsm2_solve)(this->sparse, 0, op, opB, n, columns, a.count(), &alpha, a.descr, values,
                                    a.offsets.data(), a.indices.data(), b.data(), b.leading(), info, policy, nullptr),
              kGood);
    this->wait();
    EXPECT_TRUE(b.isIntactBetween());
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i) {
        auto element = [&](int row) { return opB == kPlain ? b.get(row, j) : b.get(j, row); };
        Wide sum = -2.0 * before[static_cast<size_t>(opB == kPlain ? i + j * n : j + i * columns)];
        for (int k = 0; k < n; ++k) {
          const int row = op == kPlain ? i : k, column = op == kPlain ? k : i;
          if (fill == CUSPARSE_FILL_MODE_LOWER ? row >= column : row <= column) sum += a.get(op, i, k) * element(k);
        }
        ASSERT_LE(std::abs(sum), 100 * tolerance<T>(n));
      }
    EXPECT_EQ(cusparseDestroyCsrsm2Info(info), kGood);
  }
}

TYPED_TEST(SparseTyped, ADenseMatrixTimesASparseOne) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(1, 20), n = random(1, 20), k = random(1, 20);
    // The sparse matrix by columns: its transpose by rows, with indices from 0.
    const Csr<T> turned(n, k);
    std::vector<int> offsets = turned.offsets, indices = turned.indices;
    for (int& i : offsets) i -= turned.base();
    for (int& i : indices) i -= turned.base();
    const auto a = matrix<T>(m, k);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) c.fill(NAN);
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(PICK(T, gemmi)(this->sparse, m, n, k, turned.count(), &one, a.data(), a.leading(), turned.values.data(),
                             offsets.data(), indices.data(), &other, c.data(), c.leading()),
              kGood);
    this->template expectNear<T>(
        c, before, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += a.get(i, l) * turned.get(j, l);
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[i + j * m]);
        },
        always);
  }
}

TYPED_TEST(SparseTyped, VectorsWithFewEntries) {
  using T = TypeParam;
  const int n = 30;
  std::vector<int> indices;
  for (int i = 0; i < n; ++i)
    if (random(0, 2) == 0) indices.push_back(i + 1);
  const int count = static_cast<int>(indices.size());
  const auto base = CUSPARSE_INDEX_BASE_ONE;
  Array<T> x(1, count, 1), y(1, n, 1);
  const auto few = x.values(), all = y.values();
  auto at = [&](int k) { return static_cast<size_t>(indices[static_cast<size_t>(k)] - 1); };
  T result{};
  ASSERT_EQ(PICK(T, doti)(this->sparse, count, x.data(), indices.data(), y.data(), &result, base), kGood);
  Wide sum = 0;
  for (int k = 0; k < count; ++k) sum += few[static_cast<size_t>(k)] * all[at(k)];
  EXPECT_LE(std::abs(widen(result) - sum), tolerance<T>(n));
  const T alpha = narrow<T>(2.0);
  ASSERT_EQ(PICK(T, axpyi)(this->sparse, count, &alpha, x.data(), indices.data(), y.data(), base), kGood);
  auto added = all;
  for (int k = 0; k < count; ++k) added[at(k)] += 2.0 * few[static_cast<size_t>(k)];
  this->template expectNear<T>(y, {}, 2, [&](int, int i) { return added[static_cast<size_t>(i)]; }, always);
  ASSERT_EQ(PICK(T, gthrz)(this->sparse, count, y.data(), x.data(), indices.data(), base), kGood);
  this->template expectNear<T>(x, {}, 2, [&](int, int k) { return added[at(k)]; }, always);
  for (int k = 0; k < count; ++k) EXPECT_EQ(y.get(0, static_cast<int>(at(k))), 0.0);
  ASSERT_EQ(PICK(T, sctr)(this->sparse, count, x.data(), indices.data(), y.data(), base), kGood);
  this->template expectNear<T>(y, {}, 2, [&](int, int i) { return added[static_cast<size_t>(i)]; }, always);
  x.fill(0);
  ASSERT_EQ(PICK(T, gthr)(this->sparse, count, y.data(), x.data(), indices.data(), base), kGood);
  this->template expectNear<T>(x, {}, 2, [&](int, int k) { return added[at(k)]; }, always);
}

}  // namespace
}  // namespace ordito::cublas::test
