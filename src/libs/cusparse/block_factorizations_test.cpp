// Matrices of blocks: incomplete factors multiplied in their pattern, solutions put back into their systems, products
// under a mask; rows that come in order and go back; colours of graphs.
#include <cstring>
#include <set>

#include "libs/cusparse/test_sparse.hpp"

namespace ordito::cublas::test {
namespace {

constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

/// A random matrix of square blocks, whose diagonal has blocks with great numbers on their own diagonals.
template <class T>
struct Bsr {
  explicit Bsr(int lines)
      : rows(lines),
        size(random(1, 4)),
        base(random(0, 1)),
        descr(base),
        direction(random(0, 1) ? kByRows : kByColumns) {
    offsets.push_back(base);
    for (int line = 0; line < rows; ++line) {
      for (int column = 0; column < rows; ++column) {
        if (column != line && random(0, 2)) continue;
        indices.push_back(column + base);
        for (int cell = 0; cell < size * size; ++cell) {
          const bool isGreat = column == line && cell % (size + 1) == 0;
          values.push_back(narrow<T>(isGreat ? Wide(20 * size) : randomWide(kComplex<T>)));
        }
      }
      offsets.push_back(static_cast<int>(indices.size()) + base);
    }
  }
  int count() const { return static_cast<int>(indices.size()); }
  int side() const { return rows * size; }
  size_t place(int i, int j) const {
    return static_cast<size_t>(i) * static_cast<size_t>(side()) + static_cast<size_t>(j);
  }
  /// body(i, j, k) for each element.
  template <class Body>
  void each(const Body& body) const {
    for (int line = 0; line < rows; ++line)
      for (int block = offsets[static_cast<size_t>(line)] - base; block < offsets[static_cast<size_t>(line) + 1] - base;
           ++block)
        for (int cell = 0; cell < size * size; ++cell) {
          const int slow = cell / size, quick = cell % size;
          body(line * size + (direction == kByRows ? slow : quick),
               (indices[static_cast<size_t>(block)] - base) * size + (direction == kByRows ? quick : slow),
               static_cast<size_t>(block) * static_cast<size_t>(size * size) + static_cast<size_t>(cell));
        }
  }
  std::vector<Wide> dense() const {
    std::vector<Wide> cells(static_cast<size_t>(side()) * static_cast<size_t>(side()));
    each([&](int i, int j, size_t k) { cells[place(i, j)] = widen(values[k]); });
    return cells;
  }

  static constexpr auto kByRows = CUSPARSE_DIRECTION_ROW, kByColumns = CUSPARSE_DIRECTION_COLUMN;
  int rows, size, base;
  Descr descr;
  cusparseDirection_t direction;
  std::vector<int> offsets, indices;
  std::vector<T> values;
};

#define BLOCKS(a) (a).values.data(), (a).offsets.data(), (a).indices.data(), (a).size

TYPED_TEST(SparseTyped, IncompleteLuOfBlocksIsExactInItsPattern) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    Bsr<T> a(random(0, 10));
    const auto before = a.dense();
    bsrilu02Info_t info = nullptr;
    int size = 0, position = 7;
    ASSERT_EQ(cusparseCreateBsrilu02Info(&info), kGood);
    ASSERT_EQ(
        PICK(T, bsrilu02_bufferSize)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, &size),
        kGood);
    EXPECT_GT(size, 0);
    ASSERT_EQ(PICK(T, bsrilu02_analysis)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info,
                                         kPolicy, nullptr),
              kGood);
    ASSERT_EQ(
        PICK(T, bsrilu02)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, kPolicy, nullptr),
        kGood);
    EXPECT_EQ(cusparseXbsrilu02_zeroPivot(this->sparse, info, &position), kGood);
    EXPECT_EQ(position, -1);
    expectFactorsLu(a, a.dense(), [&](int i, int j) { return before[a.place(i, j)]; }, tolerance<T>(40) * 50);
    cusparseDestroyBsrilu02Info(info);
  }
}

TYPED_TEST(SparseTyped, IncompleteCholeskyOfBlocksIsExactInItsPattern) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    Bsr<T> a(random(0, 10));
    const auto before = a.dense();
    bsric02Info_t info = nullptr;
    int size = 0, position = 7;
    ASSERT_EQ(cusparseCreateBsric02Info(&info), kGood);
    ASSERT_EQ(
        PICK(T, bsric02_bufferSize)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, &size),
        kGood);
    ASSERT_EQ(PICK(T, bsric02_analysis)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, kPolicy,
                                        nullptr),
              kGood);
    ASSERT_EQ(
        PICK(T, bsric02)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, kPolicy, nullptr),
        kGood);
    EXPECT_EQ(cusparseXbsric02_zeroPivot(this->sparse, info, &position), kGood);
    EXPECT_EQ(position, -1);
    expectFactorsCholesky(a, a.dense(), before, tolerance<T>(40) * 50);
    cusparseDestroyBsric02Info(info);
  }
}

TYPED_TEST(SparseTyped, PivotsOfZeroAreToldByRowsOfBlocksAndBoosted) {
  using T = TypeParam;
  Bsr<T> a(5);
  bsrilu02Info_t info = nullptr;
  int position = 7;
  ASSERT_EQ(cusparseCreateBsrilu02Info(&info), kGood);
  const auto analyse = [&] {
    return PICK(T, bsrilu02_analysis)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, kPolicy,
                                      nullptr);
  };
  const auto factorize = [&] {
    return PICK(T, bsrilu02)(this->sparse, a.direction, a.rows, a.count(), a.descr, BLOCKS(a), info, kPolicy, nullptr);
  };
  a.each([&](int i, int, size_t k) {
    if (i == 3 * a.size) a.values[k] = narrow<T>(0.0);
  });
  ASSERT_EQ(analyse(), kGood);
  EXPECT_EQ(cusparseXbsrilu02_zeroPivot(this->sparse, info, &position), kGood);
  const auto values = a.values;
  ASSERT_EQ(factorize(), kGood);
  EXPECT_EQ(cusparseXbsrilu02_zeroPivot(this->sparse, info, &position), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 3 + a.base);
  double least = 1e-3;
  T boost = narrow<T>(5.0);
  ASSERT_EQ(PICK(T, bsrilu02_numericBoost)(this->sparse, info, 1, &least, &boost), kGood);
  a.values = values;
  ASSERT_EQ(analyse(), kGood);
  ASSERT_EQ(factorize(), kGood);
  EXPECT_EQ(cusparseXbsrilu02_zeroPivot(this->sparse, info, &position), kGood);
  EXPECT_EQ(a.dense()[a.place(3 * a.size, 3 * a.size)], Wide(5));
  // A block of the diagonal that is not there.
  a.indices[static_cast<size_t>(a.offsets[1] - a.base)] = a.base;
  for (size_t block = static_cast<size_t>(a.offsets[1] - a.base); block < static_cast<size_t>(a.offsets[2] - a.base);
       ++block)
    if (a.indices[block] == 1 + a.base) a.indices[block] = 4 + a.base;
  ASSERT_EQ(analyse(), kGood);
  EXPECT_EQ(cusparseXbsrilu02_zeroPivot(this->sparse, info, &position), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 1 + a.base);
  cusparseDestroyBsrilu02Info(info);
}

/// op of the triangle of a matrix that a solution reads.
template <class T>
Wide triangle(const Bsr<T>& a, const std::vector<Wide>& cells, cusparseOperation_t op, bool isLower, bool isUnit, int i,
              int j) {
  if (op != kPlain) std::swap(i, j);
  const Wide v = i == j && isUnit ? Wide(1) : (isLower ? j <= i : j >= i) ? cells[a.place(i, j)] : Wide(0);
  return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(v) : v;
}

TYPED_TEST(SparseTyped, TriangularSystemsOfBlocks) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    Bsr<T> a(random(1, 8));
    const auto cells = a.dense();
    const auto op = this->operation();
    const bool isLower = random(0, 1) == 1, isUnit = random(0, 3) == 0, isTurned = random(0, 1) == 1;
    if (isUnit)
      for (T& value : a.values) value = narrow<T>(widen(value) * 0.02);
    const auto used = isUnit ? a.dense() : cells;
    cusparseSetMatFillMode(a.descr, isLower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER);
    cusparseSetMatDiagType(a.descr, isUnit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT);
    const int m = a.side(), n = random(1, 5);
    const T alpha = narrow<T>(2.0);
    Array<T> f(m, 1, m), x(m, 1, m);
    bsrsv2Info_t vectors = nullptr;
    bsrsm2Info_t matrices = nullptr;
    int size = 0, position = 7;
    ASSERT_EQ(cusparseCreateBsrsv2Info(&vectors), kGood);
    ASSERT_EQ(cusparseCreateBsrsm2Info(&matrices), kGood);
    ASSERT_EQ(PICK(T, bsrsv2_bufferSize)(this->sparse, a.direction, op, a.rows, a.count(), a.descr, BLOCKS(a), vectors,
                                         &size),
              kGood);
    ASSERT_EQ(PICK(T, bsrsv2_analysis)(this->sparse, a.direction, op, a.rows, a.count(), a.descr, BLOCKS(a), vectors,
                                       kPolicy, nullptr),
              kGood);
    ASSERT_EQ(PICK(T, bsrsv2_solve)(this->sparse, a.direction, op, a.rows, a.count(), &alpha, a.descr, BLOCKS(a),
                                    vectors, f.data(), x.data(), kPolicy, nullptr),
              kGood);
    EXPECT_EQ(cusparseXbsrsv2_zeroPivot(this->sparse, vectors, &position), kGood);
    const auto expectSolved = [&](const auto& solution, const auto& right) {
      for (int i = 0; i < m; ++i) {
        Wide sum = 0;
        for (int j = 0; j < m; ++j) sum += triangle(a, used, op, isLower, isUnit, i, j) * solution(j);
        ASSERT_LE(std::abs(sum - 2.0 * right(i)), tolerance<T>(m) * 50) << i;
      }
    };
    expectSolved([&](int i) { return x.get(i, 0); }, [&](int i) { return f.get(i, 0); });

    const auto opX = isTurned ? CUSPARSE_OPERATION_TRANSPOSE : kPlain;
    const int down = isTurned ? n : m, right = isTurned ? m : n;
    Array<T> b(down, right, down + 1), y(down, right, down + 2);
    ASSERT_EQ(PICK(T, bsrsm2_bufferSize)(this->sparse, a.direction, op, opX, a.rows, n, a.count(), a.descr, BLOCKS(a),
                                         matrices, &size),
              kGood);
    ASSERT_EQ(PICK(T, bsrsm2_analysis)(this->sparse, a.direction, op, opX, a.rows, n, a.count(), a.descr, BLOCKS(a),
                                       matrices, kPolicy, nullptr),
              kGood);
    ASSERT_EQ(
        PICK(T, bsrsm2_solve)(this->sparse, a.direction, op, opX, a.rows, n, a.count(), &alpha, a.descr, BLOCKS(a),
                              matrices, b.data(), b.leading(), y.data(), y.leading(), kPolicy, nullptr),
        kGood);
    EXPECT_EQ(cusparseXbsrsm2_zeroPivot(this->sparse, matrices, &position), kGood);
    for (int j = 0; j < n; ++j)
      expectSolved([&](int i) { return isTurned ? y.get(j, i) : y.get(i, j); },
                   [&](int i) { return isTurned ? b.get(j, i) : b.get(i, j); });
    cusparseDestroyBsrsv2Info(vectors);
    cusparseDestroyBsrsm2Info(matrices);
  }
}

TYPED_TEST(SparseTyped, ProductsOfMaskedRowsOfBlocks) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const Bsr<T> a(random(1, 8));
    const int m = a.side();
    std::vector<int> mask, ends(a.offsets.begin() + 1, a.offsets.end());
    std::vector<bool> isListed(static_cast<size_t>(a.rows));
    for (int line = a.rows - 1; line >= 0; --line)
      if (random(0, 1)) mask.push_back(line + a.base), isListed[static_cast<size_t>(line)] = true;
    for (size_t line = 0; line < ends.size(); ++line)
      if (random(0, 2) == 0) ends[line] = random(a.offsets[line], ends[line]);
    std::vector<Wide> cells(static_cast<size_t>(m) * static_cast<size_t>(m));
    a.each([&](int i, int j, size_t k) {
      const auto block = static_cast<int>(k) / (a.size * a.size) + a.base;
      if (block < ends[static_cast<size_t>(i / a.size)]) cells[a.place(i, j)] = widen(a.values[k]);
    });
    const Array<T> x(m, 1, m);
    Array<T> y(m, 1, m);
    const auto before = y.values();
    const T alpha = narrow<T>(2.0), beta = narrow<T>(-1.0);
    ASSERT_EQ(PICK(T, bsrxmv)(this->sparse, a.direction, kPlain, static_cast<int>(mask.size()), a.rows, a.rows,
                              a.count(), &alpha, a.descr, a.values.data(), mask.data(), a.offsets.data(), ends.data(),
                              a.indices.data(), a.size, x.data(), &beta, y.data()),
              kGood);
    this->template expectNear<T>(
        y, before, 80 * m,  // the diagonal's numbers are great
        [&](int i, int) {
          Wide sum = 0;
          for (int j = 0; j < m; ++j) sum += cells[a.place(i, j)] * x.get(j, 0);
          const Wide old = before[static_cast<size_t>(i)];
          return isListed[static_cast<size_t>(i / a.size)] ? 2.0 * sum - old : old;
        },
        always);
  }
}

TYPED_TEST(SparseTyped, RowsComeInOrderAndGoBack) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(0, 20), n = random(1, 20);
    Csr<T> a(m, n);
    const auto values = a.values;
    const auto indices = a.indices;
    for (int row = 0; row < m; ++row)
      for (int k = a.offsets[static_cast<size_t>(row)] - a.base();
           k < a.offsets[static_cast<size_t>(row) + 1] - a.base(); ++k) {
        const auto other = static_cast<size_t>(random(a.offsets[static_cast<size_t>(row)] - a.base(), k));
        std::swap(a.values[static_cast<size_t>(k)], a.values[other]);
        std::swap(a.indices[static_cast<size_t>(k)], a.indices[other]);
      }
    const auto mixedValues = a.values;
    const auto mixedIndices = a.indices;
    csru2csrInfo_t info = nullptr;
    size_t size = 0;
    ASSERT_EQ(cusparseCreateCsru2csrInfo(&info), kGood);
    ASSERT_EQ(PICK(T, csru2csr_bufferSizeExt)(this->sparse, m, n, a.count(), a.values.data(), a.offsets.data(),
                                              a.indices.data(), info, &size),
              kGood);
    const auto call = [&](auto function) {
      EXPECT_EQ(function(this->sparse, m, n, a.count(), a.descr, a.values.data(), a.offsets.data(), a.indices.data(),
                         info, &size),
                kGood);
      this->wait();
    };
    const auto same = [](const auto& got, const auto& wanted) {
      return got.empty() || std::memcmp(got.data(), wanted.data(), got.size() * sizeof(got[0])) == 0;
    };
    call(PICK(T, csru2csr));
    EXPECT_TRUE(same(a.values, values) && a.indices == indices);
    call(PICK(T, csr2csru));
    EXPECT_TRUE(same(a.values, mixedValues) && a.indices == mixedIndices);
    cusparseDestroyCsru2csrInfo(info);
  }
}

TYPED_TEST(SparseTyped, NeighboursHaveDifferentColors) {
  using T = TypeParam;
  using R = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, cuComplex>, float, double>;
  cusparseColorInfo_t info = nullptr;
  ASSERT_EQ(cusparseCreateColorInfo(&info), kGood);
  for (int round = 0; round < kRounds; ++round) {
    const int m = random(0, 30);
    const Csr<T> a(m, m);
    const R fraction = round % 2 ? R(1) : R(0.5);
    int count = -1;
    std::vector<int> colors(static_cast<size_t>(m)), order(static_cast<size_t>(m));
    ASSERT_EQ(PICK(T, csrcolor)(this->sparse, m, a.count(), a.descr, a.values.data(), a.offsets.data(),
                                a.indices.data(), &fraction, &count, colors.data(), order.data(), info),
              kGood);
    const std::set<int> used(colors.begin(), colors.end()), nodes(order.begin(), order.end());
    EXPECT_EQ(static_cast<int>(used.size()), count);
    EXPECT_EQ(nodes.size(), order.size());
    if (m) EXPECT_TRUE(*used.begin() == 0 && *used.rbegin() == count - 1);
    a.each([&](int i, int j, size_t) {
      if (i != j) ASSERT_NE(colors[static_cast<size_t>(i)], colors[static_cast<size_t>(j)]) << i << "," << j;
    });
    for (size_t i = 1; i < order.size(); ++i)
      ASSERT_LE(colors[static_cast<size_t>(order[i - 1])], colors[static_cast<size_t>(order[i])]);
    if (round % 2 == 0) ASSERT_GE(count, m / 2);  // the other half has a color each
  }
  cusparseDestroyColorInfo(info);
}

TYPED_TEST(SparseTyped, BadArgumentsOfBlocks) {
  using T = TypeParam;
  Bsr<T> a(3);
  const T one = narrow<T>(1.0);
  Array<T> x(a.side(), 1, a.side());
  bsrsv2Info_t info = nullptr;
  csru2csrInfo_t rows = nullptr;
  ASSERT_EQ(cusparseCreateBsrsv2Info(&info), kGood);
  ASSERT_EQ(cusparseCreateCsru2csrInfo(&rows), kGood);
  const auto solve = [&](cusparseHandle_t handle, int m, int size, cusparseMatDescr_t descr, bsrsv2Info_t plan) {
    return PICK(T, bsrsv2_solve)(handle, a.direction, kPlain, m, a.count(), &one, descr, a.values.data(),
                                 a.offsets.data(), a.indices.data(), size, plan, x.data(), x.data(), kPolicy, nullptr);
  };
  EXPECT_EQ(solve(nullptr, 3, a.size, a.descr, info), CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(solve(this->sparse, -1, a.size, a.descr, info), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(this->sparse, 3, 0, a.descr, info), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(this->sparse, 3, a.size, nullptr, info), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(solve(this->sparse, 3, a.size, a.descr, nullptr), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(PICK(T, csr2csru)(this->sparse, 3, 3, a.count(), a.descr, a.values.data(), a.offsets.data(),
                              a.indices.data(), rows, &rows),
            CUSPARSE_STATUS_INVALID_VALUE);  // nothing was brought in order before
  cusparseSetMatType(a.descr, CUSPARSE_MATRIX_TYPE_TRIANGULAR);
  EXPECT_EQ(solve(this->sparse, 3, a.size, a.descr, info), CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  cusparseDestroyBsrsv2Info(info);
  cusparseDestroyCsru2csrInfo(rows);
}

}  // namespace
}  // namespace ordito::cublas::test
