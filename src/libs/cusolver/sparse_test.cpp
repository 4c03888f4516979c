// cuSOLVER's sparse part: random matrices of all four types put back into their equations, by each method, in each
// order and base, on the host and in a stream; what is singular, what has too few independent columns; orders; factors
// step by step.
#include <algorithm>
#include <numeric>

#include "cusolverSp_LOWLEVEL_PREVIEW.h"
#include "libs/cusolver/sparse_arrays.hpp"

namespace ordito::cusolver::test {
namespace {

// The functions by type.
#define SPARSE_CALL_BY_TYPE(name)                    \
  template <class T, class... A>                     \
  cusolverStatus_t name(A... a) {                    \
    if constexpr (std::is_same_v<T, float>)          \
      return cusolverSpS##name(a...);                \
    else if constexpr (std::is_same_v<T, double>)    \
      return cusolverSpD##name(a...);                \
    else if constexpr (std::is_same_v<T, cuComplex>) \
      return cusolverSpC##name(a...);                \
    else                                             \
      return cusolverSpZ##name(a...);                \
  }
SPARSE_CALL_BY_TYPE(csrlsvluHost)
SPARSE_CALL_BY_TYPE(csrlsvqrHost)
SPARSE_CALL_BY_TYPE(csrlsvqr)
SPARSE_CALL_BY_TYPE(csrlsvcholHost)
SPARSE_CALL_BY_TYPE(csrlsvchol)
SPARSE_CALL_BY_TYPE(csrlsqvqrHost)
SPARSE_CALL_BY_TYPE(csreigvsi)
SPARSE_CALL_BY_TYPE(csreigvsiHost)
SPARSE_CALL_BY_TYPE(csrzfdHost)
SPARSE_CALL_BY_TYPE(csrluBufferInfoHost)
SPARSE_CALL_BY_TYPE(csrluFactorHost)
SPARSE_CALL_BY_TYPE(csrluZeroPivotHost)
SPARSE_CALL_BY_TYPE(csrluSolveHost)
SPARSE_CALL_BY_TYPE(csrluExtractHost)
SPARSE_CALL_BY_TYPE(csrqrSetup)
SPARSE_CALL_BY_TYPE(csrqrFactor)
SPARSE_CALL_BY_TYPE(csrqrZeroPivot)
SPARSE_CALL_BY_TYPE(csrqrSolve)
SPARSE_CALL_BY_TYPE(csrqrSetupHost)
SPARSE_CALL_BY_TYPE(csrqrFactorHost)
SPARSE_CALL_BY_TYPE(csrqrSolveHost)
SPARSE_CALL_BY_TYPE(csrcholFactor)
SPARSE_CALL_BY_TYPE(csrcholSolve)
SPARSE_CALL_BY_TYPE(csrcholZeroPivot)
SPARSE_CALL_BY_TYPE(csrcholDiag)
SPARSE_CALL_BY_TYPE(csrcholFactorHost)
SPARSE_CALL_BY_TYPE(csrcholSolveHost)
SPARSE_CALL_BY_TYPE(csrqrsvBatched)
SPARSE_CALL_BY_TYPE(csrqrBufferInfoBatched)
#undef SPARSE_CALL_BY_TYPE

template <class T>
struct Sparse : SparseBase {
  using Real = typename cublas::test::RealOf<T>::Type;
};
TYPED_TEST_SUITE(Sparse, cublas::test::Types);

TYPED_TEST(Sparse, SystemsAreSolvedByEachMethodInEachOrder) {
  using T = TypeParam;
  using Real = typename TestFixture::Real;
  for (int round = 0; round < 80; ++round) {
    const int n = random(1, 60), reorder = round % 4;
    const bool isHermitian = round % 5 >= 3;
    const Matrix<T> a = this->template make<T>(n, isHermitian);
    const auto b = randomVector<T>(n);
    std::vector<T> x(static_cast<size_t>(n));
    int singularity = 7;
    auto solve = [&](auto function) {
      return function(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(), a.column.data(),
                      b.data(), static_cast<Real>(1e-6), reorder, x.data(), &singularity);
    };
    auto call = [&](auto... arguments) {
      switch (round % 5) {
        case 0: return csrlsvluHost<T>(arguments...);
        case 1: return csrlsvqrHost<T>(arguments...);
        case 2: return csrlsvqr<T>(arguments...);
        case 3: return csrlsvcholHost<T>(arguments...);
        default: return csrlsvchol<T>(arguments...);
      }
    };
    ASSERT_EQ(solve(call), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(singularity, -1);
    this->expectSolution(a, x, b);
  }
}

TYPED_TEST(Sparse, ASingularMatrixIsTold) {
  using T = TypeParam;
  using Real = typename TestFixture::Real;
  Matrix<T> a = this->template make<T>(12, true);
  for (int k = 0; k < a.count(); ++k)  // nothing is in row and column 5
    if (a.column[static_cast<size_t>(k)] - a.base == 5 || (k >= a.begin[5] - a.base && k < a.begin[6] - a.base))
      a.value[static_cast<size_t>(k)] = T{};
  const auto b = randomVector<T>(12);
  std::vector<T> x(12);
  for (int method = 0; method < 3; ++method) {
    int singularity = -1;
    auto call = [&](auto... arguments) {
      return method == 0   ? csrlsvluHost<T>(arguments...)
             : method == 1 ? csrlsvqrHost<T>(arguments...)
                           : csrlsvcholHost<T>(arguments...);
    };
    ASSERT_EQ(call(this->handle, 12, a.count(), this->description, a.value.data(), a.begin.data(), a.column.data(),
                   b.data(), static_cast<Real>(1e-6), 0, x.data(), &singularity),
              CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(singularity, 5);
  }
}

TYPED_TEST(Sparse, LeastSquaresLeaveNothingThatAColumnCouldTake) {
  using T = TypeParam;
  using Real = typename TestFixture::Real;
  for (int round = 0; round < 20; ++round) {
    const int n = random(1, 12), m = n + random(0, 20);
    const bool isDeficient = round % 2 && n > 2;
    Matrix<T> a(m, n, 0);
    cusparseSetMatIndexBase(this->description, CUSPARSE_INDEX_BASE_ZERO);
    for (int i = 0; i < m; ++i) {
      const Wide first = randomWide(kComplex<T>);
      for (int j = 0; j < n; ++j) {
        const Wide other = i == j ? Wide(3) : randomWide(kComplex<T>);
        if (j > 0 && i != j && random(0, 2)) {
          if (!(isDeficient && j == n - 1)) continue;
        }
        a.column.push_back(j);
        a.value.push_back(narrow<T>(j == 0 || (isDeficient && j == n - 1) ? first : other));
      }
      a.endRow();
    }
    const auto b = randomVector<T>(m);
    std::vector<T> x(static_cast<size_t>(n));
    std::vector<int> order(static_cast<size_t>(n));
    int rank = -1;
    Real residual = -1;
    ASSERT_EQ(
        csrlsqvqrHost<T>(this->handle, m, n, a.count(), this->description, a.value.data(), a.begin.data(),
                         a.column.data(), b.data(), static_cast<Real>(1e-4), &rank, x.data(), order.data(), &residual),
        CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(rank, isDeficient ? n - 1 : n);
    auto rest = a.times(x);
    double squares = 0;
    for (size_t i = 0; i < rest.size(); ++i) rest[i] -= widen(b[i]), squares += std::norm(rest[i]);
    EXPECT_NEAR(std::sqrt(squares), static_cast<double>(residual), 100 * tolerance<T>(m));
    std::vector<Wide> gradient(static_cast<size_t>(n));
    a.each(
        [&](int i, int j, Wide v) { gradient[static_cast<size_t>(j)] += std::conj(v) * rest[static_cast<size_t>(i)]; });
    for (const Wide& g : gradient) ASSERT_LE(std::abs(g), 100 * tolerance<T>(m));
    std::ranges::sort(order);
    for (int j = 0; j < n; ++j) ASSERT_EQ(order[static_cast<size_t>(j)], j);
  }
}

TYPED_TEST(Sparse, TheNextEigenvalueAndItsVector) {
  using T = TypeParam;
  using Real = typename TestFixture::Real;
  const int n = 30;
  const Matrix<T> a = this->template make<T>(n, true);
  const auto x0 = randomVector<T>(n);
  std::vector<T> x(static_cast<size_t>(n));
  T found{};
  for (const bool isHost : {true, false}) {
    const auto call = [&](auto... arguments) {
      return isHost ? csreigvsiHost<T>(arguments...) : csreigvsi<T>(arguments...);
    };
    ASSERT_EQ(call(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(), a.column.data(),
                   narrow<T>(2.0), x0.data(), 2000, static_cast<Real>(1e-5), &found, x.data()),
              CUSOLVER_STATUS_SUCCESS);
    this->wait();
    const auto product = a.times(x);
    for (int i = 0; i < n; ++i)
      ASSERT_LE(std::abs(product[static_cast<size_t>(i)] - widen(found) * widen(x[static_cast<size_t>(i)])), 1e-3);
  }
}

TYPED_TEST(Sparse, FactorsStepByStep) {
  using T = TypeParam;
  using Real = typename TestFixture::Real;
  for (int round = 0; round < 20; ++round) {
    const int n = random(1, 50);
    const Matrix<T> a = this->template make<T>(n, true);
    const auto b = randomVector<T>(n);
    std::vector<T> x(static_cast<size_t>(n));
    size_t internal = 0, workspace = 0;
    int position = 7;
    // LU, and its factors as they are given away.
    csrluInfoHost_t lu = nullptr;
    ASSERT_EQ(cusolverSpCreateCsrluInfoHost(&lu), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrluFactorHost<T>(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(),
                                 a.column.data(), lu, static_cast<Real>(1), nullptr),
              CUSOLVER_STATUS_INVALID_VALUE);
    ASSERT_EQ(cusolverSpXcsrluAnalysisHost(this->handle, n, a.count(), this->description, a.begin.data(),
                                           a.column.data(), lu),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrluBufferInfoHost<T>(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(),
                                     a.column.data(), lu, &internal, &workspace),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrluFactorHost<T>(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(),
                                 a.column.data(), lu, static_cast<Real>(1), nullptr),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrluZeroPivotHost<T>(this->handle, lu, static_cast<Real>(1e-6), &position), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(position, -1);
    ASSERT_EQ(csrluSolveHost<T>(this->handle, n, b.data(), x.data(), lu, nullptr), CUSOLVER_STATUS_SUCCESS);
    this->expectSolution(a, x, b);
    int countL = 0, countU = 0;
    ASSERT_EQ(cusolverSpXcsrluNnzHost(this->handle, &countL, &countU, lu), CUSOLVER_STATUS_SUCCESS);
    Matrix<T> l(n, n, a.base), u(n, n, a.base);
    l.begin.resize(static_cast<size_t>(n) + 1), u.begin.resize(static_cast<size_t>(n) + 1);
    l.column.resize(static_cast<size_t>(countL)), l.value.resize(static_cast<size_t>(countL));
    u.column.resize(static_cast<size_t>(countU)), u.value.resize(static_cast<size_t>(countU));
    std::vector<int> p(static_cast<size_t>(n)), q(static_cast<size_t>(n));
    ASSERT_EQ(csrluExtractHost<T>(this->handle, p.data(), q.data(), this->description, l.value.data(), l.begin.data(),
                                  l.column.data(), this->description, u.value.data(), u.begin.data(), u.column.data(),
                                  lu, nullptr),
              CUSOLVER_STATUS_SUCCESS);
    std::vector<T> permuted(static_cast<size_t>(n));
    for (int j = 0; j < n; ++j) permuted[static_cast<size_t>(j)] = x[static_cast<size_t>(q[static_cast<size_t>(j)])];
    std::vector<T> inner;
    for (const Wide& v : u.times(permuted)) inner.push_back(narrow<T>(v));
    const auto product = l.times(inner);
    for (int i = 0; i < n; ++i)
      ASSERT_LE(std::abs(product[static_cast<size_t>(i)] - widen(b[static_cast<size_t>(p[static_cast<size_t>(i)])])),
                20 * tolerance<T>(n));
    EXPECT_EQ(cusolverSpDestroyCsrluInfoHost(lu), CUSOLVER_STATUS_SUCCESS);

    csrcholInfo_t cholesky = nullptr;
    ASSERT_EQ(cusolverSpCreateCsrcholInfo(&cholesky), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(cusolverSpXcsrcholAnalysis(this->handle, n, a.count(), this->description, a.begin.data(), a.column.data(),
                                         cholesky),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrcholFactor<T>(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(),
                               a.column.data(), cholesky, nullptr),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrcholZeroPivot<T>(this->handle, cholesky, static_cast<Real>(1e-6), &position), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(position, -1);
    std::vector<Real> diagonal(static_cast<size_t>(n));
    ASSERT_EQ(csrcholDiag<T>(this->handle, cholesky, diagonal.data()), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrcholSolve<T>(this->handle, n, b.data(), x.data(), cholesky, nullptr), CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(cusolverSpDestroyCsrcholInfo(cholesky), CUSOLVER_STATUS_SUCCESS);  // the task has what it needs
    this->wait();
    this->expectSolution(a, x, b);
    for (const Real d : diagonal) ASSERT_GT(d, 0);

    csrqrInfo_t qr = nullptr;
    ASSERT_EQ(cusolverSpCreateCsrqrInfo(&qr), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(
        cusolverSpXcsrqrAnalysis(this->handle, n, n, a.count(), this->description, a.begin.data(), a.column.data(), qr),
        CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrqrSetup<T>(this->handle, n, n, a.count(), this->description, a.value.data(), a.begin.data(),
                            a.column.data(), T{}, qr),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrqrFactor<T>(this->handle, n, n, a.count(), static_cast<const T*>(nullptr), static_cast<T*>(nullptr),
                             qr, nullptr),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrqrZeroPivot<T>(this->handle, qr, static_cast<Real>(1e-6), &position), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(position, -1);
    ASSERT_EQ(csrqrSolve<T>(this->handle, n, n, b.data(), x.data(), qr, nullptr), CUSOLVER_STATUS_SUCCESS);
    this->wait();
    this->expectSolution(a, x, b);
    // Two matrices of the pattern at once.
    std::vector<T> values = a.value, rights = b, solutions(static_cast<size_t>(2 * n));
    for (const T& v : a.value) values.push_back(narrow<T>(2.0 * widen(v)));
    rights.insert(rights.end(), b.begin(), b.end());
    ASSERT_EQ(cusolverSpXcsrqrAnalysisBatched(this->handle, n, n, a.count(), this->description, a.begin.data(),
                                              a.column.data(), qr),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrqrBufferInfoBatched<T>(this->handle, n, n, a.count(), this->description, values.data(), a.begin.data(),
                                        a.column.data(), 2, qr, &internal, &workspace),
              CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(csrqrsvBatched<T>(this->handle, n, n, a.count(), this->description, values.data(), a.begin.data(),
                                a.column.data(), rights.data(), solutions.data(), 2, qr, nullptr),
              CUSOLVER_STATUS_SUCCESS);
    this->wait();
    this->expectSolution(a, {solutions.begin(), solutions.begin() + n}, b);
    for (int i = 0; i < n; ++i)
      ASSERT_LE(std::abs(widen(solutions[static_cast<size_t>(i)]) - 2.0 * widen(solutions[static_cast<size_t>(n + i)])),
                20 * tolerance<T>(n));
    EXPECT_EQ(cusolverSpDestroyCsrqrInfo(qr), CUSOLVER_STATUS_SUCCESS);
  }
}

TYPED_TEST(Sparse, RowsFindADiagonal) {
  using T = TypeParam;
  const int n = 20;
  Matrix<T> a(n, n, 0);
  std::vector<int> shuffled(n), order(n, -1);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::ranges::shuffle(shuffled, cublas::test::generator());
  cusparseSetMatIndexBase(this->description, CUSPARSE_INDEX_BASE_ZERO);
  for (int i = 0; i < n; ++i) {
    for (const int j : {random(0, n - 1), shuffled[static_cast<size_t>(i)]})
      a.column.push_back(j), a.value.push_back(narrow<T>(1.0));
    a.endRow();
  }
  int count = 0;
  ASSERT_EQ(csrzfdHost<T>(this->handle, n, a.count(), this->description, a.value.data(), a.begin.data(),
                          a.column.data(), order.data(), &count),
            CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(count, n);
  std::vector<char> isOnDiagonal(n);
  a.each([&](int i, int j, Wide) { isOnDiagonal[static_cast<size_t>(j)] |= order[static_cast<size_t>(j)] == i; });
  EXPECT_EQ(std::ranges::count(isOnDiagonal, 1), n);
}

struct SparsePattern : SparseBase {};

TEST_F(SparsePattern, OrdersAreOrdersAndSaveEntries) {
  // A grid, whose factors in its own order are bands.
  const int side = 20, n = side * side;
  Matrix<double> a(n, n, 1);
  cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ONE);
  for (int i = 0; i < n; ++i) {
    const int x = i % side, y = i / side;
    auto add = [&](bool isThere, int j) {
      if (isThere) a.column.push_back(j + 1), a.value.push_back(i == j ? 4 : -1);
    };
    add(y > 0, i - side), add(x > 0, i - 1), add(true, i), add(x + 1 < side, i + 1), add(y + 1 < side, i + side);
    a.endRow();
  }
  auto entriesOfL = [&](const std::vector<int>& order) {
    std::vector<int> begin = a.begin, column = a.column, map(a.column.size());
    std::iota(map.begin(), map.end(), 0);
    EXPECT_EQ(cusolverSpXcsrpermHost(handle, n, n, a.count(), description, begin.data(), column.data(), order.data(),
                                     order.data(), map.data(), nullptr),
              CUSOLVER_STATUS_SUCCESS);
    std::vector<char> there(static_cast<size_t>(n) * static_cast<size_t>(n));
    auto at = [&](int i, int j) -> char& {
      return there[static_cast<size_t>(i) * static_cast<size_t>(n) + static_cast<size_t>(j)];
    };
    for (int i = 0; i < n; ++i)
      for (int k = begin[static_cast<size_t>(i)] - 1; k < begin[i + 1] - 1; ++k) {
        const int j = column[static_cast<size_t>(k)] - 1;
        at(i, j) = 1;
        EXPECT_EQ(a.value[static_cast<size_t>(map[static_cast<size_t>(k)])], i == j ? 4 : -1);
      }
    int count = 0;
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) {
        if (!at(i, j)) continue;
        ++count;
        for (int k = j + 1; k <= i; ++k) at(i, k) |= at(k, j);
      }
    return count;
  };
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const int natural = entriesOfL(order);
  auto expectOrder = [&](auto function, double share, auto... more) {
    ASSERT_EQ(function(handle, n, a.count(), description, a.begin.data(), a.column.data(), more..., order.data()),
              CUSOLVER_STATUS_SUCCESS);
    std::vector<int> sorted = order;
    std::ranges::sort(sorted);
    for (int i = 0; i < n; ++i) ASSERT_EQ(sorted[static_cast<size_t>(i)], i);
    EXPECT_LT(entriesOfL(order), share * natural);
  };
  expectOrder(cusolverSpXcsrsymrcmHost, 1.01);
  expectOrder(cusolverSpXcsrsymamdHost, 0.7);
  expectOrder(cusolverSpXcsrsymmdqHost, 0.7);
  expectOrder(cusolverSpXcsrmetisndHost, 0.75, static_cast<const int64_t*>(nullptr));
  int isSymmetric = -1;
  ASSERT_EQ(cusolverSpXcsrissymHost(handle, n, a.count(), description, a.begin.data(), a.begin.data() + 1,
                                    a.column.data(), &isSymmetric),
            CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(isSymmetric, 1);
  std::swap(a.column[1], a.column[2]);
  a.column[0] = n;
  ASSERT_EQ(cusolverSpXcsrissymHost(handle, n, a.count(), description, a.begin.data(), a.begin.data() + 1,
                                    a.column.data(), &isSymmetric),
            CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(isSymmetric, 0);
}

TEST_F(SparsePattern, EigenvaluesAreCountedInABox) {
  // Blocks (a b; -b a) have a + bi and a - bi.
  Matrix<double> a(4, 4, 0);
  cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ZERO);
  for (int i = 0; i < 4; ++i) {
    const int first = i / 2 * 2;
    a.column.insert(a.column.end(), {first, first + 1});
    a.value.insert(a.value.end(), {i % 2 ? -2.0 : i + 1.0, i % 2 ? i : 2.0});
    a.endRow();
  }
  int count = -1;
  const auto call = [&](double left, double low, double right, double high) {
    return cusolverSpDcsreigsHost(handle, 4, a.count(), description, a.value.data(), a.begin.data(), a.column.data(),
                                  make_cuDoubleComplex(left, low), make_cuDoubleComplex(right, high), &count);
  };
  if (call(0, 0, 10, 10) == CUSOLVER_STATUS_NOT_INITIALIZED) GTEST_SKIP() << "no OpenBLAS (libopenblas0-pthread)";
  EXPECT_EQ(count, 2);
  EXPECT_EQ(call(2.5, -10, 3.5, 10), CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(call(-10, -10, 10, 10), CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(count, 4);
}

TEST_F(SparsePattern, BadArgumentsAreRefused) {
  const Matrix<double> a = make<double>(5, false);
  std::vector<double> b(5), x(5);
  int singularity = 0;
  auto call = [&](cusolverSpHandle_t h, int n, cusparseMatDescr_t d, const double* right, int reorder) {
    return cusolverSpDcsrlsvqr(h, n, a.count(), d, a.value.data(), a.begin.data(), a.column.data(), right, 0, reorder,
                               x.data(), &singularity);
  };
  EXPECT_EQ(call(nullptr, 5, description, b.data(), 0), CUSOLVER_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(call(handle, -1, description, b.data(), 0), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(handle, 5, nullptr, b.data(), 0), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(handle, 5, description, nullptr, 0), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(handle, 5, description, b.data(), 4), CUSOLVER_STATUS_INVALID_VALUE);
  cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_SYMMETRIC);
  EXPECT_EQ(call(handle, 5, description, b.data(), 0), CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  EXPECT_EQ(cusolverSpCreate(nullptr), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(cusolverSpDestroy(nullptr), CUSOLVER_STATUS_NOT_INITIALIZED);
}

}  // namespace
}  // namespace ordito::cusolver::test
