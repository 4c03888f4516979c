// cuSOLVER with random matrices of all types, sizes 0 to 40 and leading dimensions with room between: what was solved
// is put back into its equation, and the difference must be rounding. Bad arguments, singular matrices, a capture.
#include "cusolverDn.h"
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = CUSOLVER_STATUS_INVALID_VALUE;

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<cuComplex> = CUDA_C_32F;
template <>
constexpr cudaDataType kType<cuDoubleComplex> = CUDA_C_64F;

// The calls of one type by plain names.
#define NAMES(L, T, R, org, orm, sy)                                    \
  template <>                                                           \
  struct Calls<T> {                                                     \
    using Real = R;                                                     \
    static constexpr auto potrf = cusolverDn##L##potrf;                 \
    static constexpr auto potrs = cusolverDn##L##potrs;                 \
    static constexpr auto potri = cusolverDn##L##potri;                 \
    static constexpr auto getrf = cusolverDn##L##getrf;                 \
    static constexpr auto getrs = cusolverDn##L##getrs;                 \
    static constexpr auto sytrf = cusolverDn##L##sytrf;                 \
    static constexpr auto gesv = cusolverDn##L##L##gesv;                \
    static constexpr auto gels = cusolverDn##L##L##gels;                \
    static constexpr auto geqrf = cusolverDn##L##geqrf;                 \
    static constexpr auto orgqr = cusolverDn##L##org##qr;               \
    static constexpr auto ormqr = cusolverDn##L##orm##qr;               \
    static constexpr auto syevd = cusolverDn##L##sy##evd;               \
    static constexpr auto syevdx = cusolverDn##L##sy##evdx;             \
    static constexpr auto sygvd = cusolverDn##L##sy##gvd;               \
    static constexpr auto syevj = cusolverDn##L##sy##evj;               \
    static constexpr auto syevjBatched = cusolverDn##L##sy##evjBatched; \
    static constexpr auto gesvd = cusolverDn##L##gesvd;                 \
    static constexpr auto gesvdj = cusolverDn##L##gesvdj;               \
    static constexpr auto sytri = cusolverDn##L##sytri;                 \
    static constexpr auto lauum = cusolverDn##L##lauum;                 \
    static constexpr auto laswp = cusolverDn##L##laswp;                 \
    static constexpr auto potrfBatched = cusolverDn##L##potrfBatched;   \
    static constexpr auto potrsBatched = cusolverDn##L##potrsBatched;   \
    static constexpr auto gebrd = cusolverDn##L##gebrd;                 \
    static constexpr auto orgbr = cusolverDn##L##org##br;               \
    static constexpr auto sytrd = cusolverDn##L##sy##trd;               \
    static constexpr auto orgtr = cusolverDn##L##org##tr;               \
    static constexpr auto ormtr = cusolverDn##L##orm##tr;               \
    static constexpr auto sygvdx = cusolverDn##L##sy##gvdx;             \
    static constexpr auto gesvda = cusolverDn##L##gesvdaStridedBatched; \
  };
template <class T>
struct Calls;
NAMES(S, float, float, org, orm, sy)
NAMES(D, double, double, org, orm, sy)
NAMES(C, cuComplex, float, ung, unm, he)
NAMES(Z, cuDoubleComplex, double, ung, unm, he)

using Matrix = std::function<Wide(int, int)>;

template <class T>
Matrix of(const Array<T>& a) {
  return [&a](int i, int j) { return a.get(i, j); };
}
Matrix adjoint(const Matrix& a) {
  return [a](int i, int j) { return std::conj(a(j, i)); };
}
/// What an array holds now.
template <class T>
Matrix kept(const Array<T>& a) {
  auto values = std::make_shared<std::vector<Wide>>(a.values());
  const size_t rows = static_cast<size_t>(a.rows());
  return [values, rows](int i, int j) { return (*values)[static_cast<size_t>(i) + static_cast<size_t>(j) * rows]; };
}

template <class T>
class Solver : public testing::Test {
 protected:
  using Real = typename Calls<T>::Real;
  void SetUp() override { ASSERT_EQ(cusolverDnCreate(&h_), kGood); }
  void TearDown() override { EXPECT_EQ(cusolverDnDestroy(h_), kGood); }

  /// The call has come to its end, with this answer.
  void expectInfo(cusolverStatus_t status, int expected = 0) {
    ASSERT_EQ(status, kGood);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(info_, expected);
    info_ = -99;
  }
  /// The call has refused its argument of this number; the handle has none.
  void expectRefused(cusolverStatus_t status, int argument) {
    EXPECT_EQ(status, kInvalid);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(info_, -argument);
    info_ = -99;
  }
  /// a b = c, for `rows` rows and `columns` columns.
  void expectProduct(const Matrix& a, const Matrix& b, const Matrix& c, int rows, int inner, int columns,
                     const char* what) {
    double worst = 0, largest = 1;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        Wide sum = 0;
        double terms = 0;
        for (int k = 0; k < inner; ++k) sum += a(i, k) * b(k, j), terms += std::abs(a(i, k) * b(k, j));
        worst = std::max(worst, std::abs(sum - c(i, j))), largest = std::max(largest, terms);
      }
    EXPECT_LE(worst, 8 * largest * tolerance<T>(inner + 8)) << what << " " << rows << "x" << inner << "x" << columns;
  }
  static Matrix identity() {
    return [](int i, int j) { return Wide(i == j); };
  }
  /// Symmetric or Hermitian; positive definite with a heavy diagonal.
  static void makeSymmetric(Array<T>& a, double diagonal) {
    for (int j = 0; j < a.columns(); ++j)
      for (int i = 0; i <= j; ++i) {
        const Wide v = i == j ? Wide(a.get(i, j).real() + diagonal) : a.get(i, j);
        a.at(i, j) = narrow<T>(v), a.at(j, i) = narrow<T>(std::conj(v));
      }
  }
  static int size() { return random(0, 9) == 0 ? 0 : random(1, 40); }
  static int leading(int rows) { return std::max(1, rows + random(0, 3)); }
  static cublasFillMode_t fill() { return random(0, 1) ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER; }

  cusolverDnHandle_t h_ = nullptr;
  int info_ = -99;
};
using Types = testing::Types<float, double, cuComplex, cuDoubleComplex>;
TYPED_TEST_SUITE(Solver, Types);

constexpr int kRounds = 25;

TYPED_TEST(Solver, Cholesky) {
  using T = TypeParam;
  using Call = Calls<T>;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), columns = random(0, 5);
    Array<T> a(n, n, this->leading(n)), b(n, columns, this->leading(n));
    this->makeSymmetric(a, 2.0 * n + 1);
    const Matrix whole = kept(a), right = kept(b);
    const auto uplo = this->fill();
    this->expectInfo(Call::potrf(this->h_, uplo, n, a.data(), a.leading(), nullptr, 0, &this->info_));
    this->expectInfo(
        Call::potrs(this->h_, uplo, n, columns, a.data(), a.leading(), b.data(), b.leading(), &this->info_));
    this->expectProduct(whole, of(b), right, n, n, columns, "potrs");
    this->expectInfo(Call::potri(this->h_, uplo, n, a.data(), a.leading(), nullptr, 0, &this->info_));
    const bool isUpper = uplo == CUBLAS_FILL_MODE_UPPER;
    const Matrix inverse = [&](int i, int j) {
      return (i <= j) == isUpper || i == j ? a.get(i, j) : std::conj(a.get(j, i));
    };
    this->expectProduct(whole, inverse, this->identity(), n, n, n, "potri");
    EXPECT_TRUE(a.isIntactBetween() && b.isIntactBetween());
  }
}

TYPED_TEST(Solver, LuWithAndWithoutPivots) {
  using T = TypeParam;
  using Call = Calls<T>;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), columns = random(0, 5);
    const bool pivots = random(0, 1);
    Array<T> a(n, n, this->leading(n)), b(n, columns, this->leading(n));
    for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i) + (pivots ? 3.0 : 2.0 * n + 1));
    const Matrix whole = kept(a), right = kept(b);
    std::vector<int> rows(static_cast<size_t>(n) + 1);
    int* const places = pivots ? rows.data() : nullptr;
    const auto op = static_cast<cublasOperation_t>(random(0, 2));
    this->expectInfo(Call::getrf(this->h_, n, n, a.data(), a.leading(), nullptr, places, &this->info_));
    this->expectInfo(
        Call::getrs(this->h_, op, n, columns, a.data(), a.leading(), places, b.data(), b.leading(), &this->info_));
    const Matrix transposed = [&](int i, int j) { return whole(j, i); };
    const Matrix factor = op == CUBLAS_OP_N ? whole : op == CUBLAS_OP_T ? transposed : adjoint(whole);
    this->expectProduct(factor, of(b), right, n, n, columns, "getrs");
  }
}

TYPED_TEST(Solver, FactorsOfSymmetricMatrices) {
  using T = TypeParam;
  using Call = Calls<T>;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), columns = random(0, 5);
    Array<T> a(n, n, this->leading(n)), b(n, columns, this->leading(n));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= j; ++i) a.at(j, i) = a.at(i, j);  // symmetric, also where numbers are complex
    const Matrix whole = kept(a), right = kept(b);
    const auto uplo = this->fill();
    std::vector<int> rows(static_cast<size_t>(n) + 1);
    this->expectInfo(Call::sytrf(this->h_, uplo, n, a.data(), a.leading(), rows.data(), nullptr, 0, &this->info_));
    const std::vector<int64_t> pivots(rows.begin(), rows.end());
    this->expectInfo(cusolverDnXsytrs(this->h_, uplo, n, columns, kType<T>, a.data(), a.leading(), pivots.data(),
                                      kType<T>, b.data(), b.leading(), nullptr, 0, nullptr, 0, &this->info_));
    // The matrix may be badly conditioned: what counts is how large the solution is.
    const Matrix solution = of(b);
    this->expectProduct(whole, solution, right, n, n, columns, "sytrs");
  }
}

TYPED_TEST(Solver, CallsWithRefinement) {
  using T = TypeParam;
  using Call = Calls<T>;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), columns = random(0, 5), m = n + random(0, 9);
    Array<T> a(n, n, this->leading(n)), b(n, columns, this->leading(n)), x(n, columns, this->leading(n));
    for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i) + 3.0);
    int iterations = -1;
    this->expectInfo(Call::gesv(this->h_, n, columns, a.data(), a.leading(), nullptr, b.data(), b.leading(), x.data(),
                                x.leading(), nullptr, 0, &iterations, &this->info_));
    this->expectProduct(of(a), of(x), of(b), n, n, columns, "gesv");
    EXPECT_EQ(iterations, 0);
    Array<T> tall(m, n, this->leading(m)), sides(m, columns, this->leading(m));
    for (int i = 0; i < n; ++i) tall.at(i, i) = narrow<T>(tall.get(i, i) + 3.0);
    this->expectInfo(Call::gels(this->h_, m, n, columns, tall.data(), tall.leading(), sides.data(), sides.leading(),
                                x.data(), x.leading(), nullptr, 0, &iterations, &this->info_));
    // What is left stands upright on the columns of A.
    const Matrix rest = [&](int i, int j) {
      Wide sum = -sides.get(i, j);
      for (int k = 0; k < n; ++k) sum += tall.get(i, k) * x.get(k, j);
      return sum;
    };
    this->expectProduct(adjoint(of(tall)), rest, [](int, int) { return Wide(0); }, n, m, columns, "gels");
  }
}

TYPED_TEST(Solver, OrthogonalFactors) {
  using T = TypeParam;
  using Call = Calls<T>;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), m = n + random(0, 9);
    Array<T> a(m, n, this->leading(m)), tau(std::max(n, 1), 1, std::max(n, 1)), c(m, n, this->leading(m));
    const Matrix whole = kept(a);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) c.at(i, j) = a.at(i, j);
    this->expectInfo(Call::geqrf(this->h_, m, n, a.data(), a.leading(), tau.data(), nullptr, 0, &this->info_));
    const Matrix factors = kept(a);
    const Matrix r = [&](int i, int j) { return i <= j ? factors(i, j) : Wide(0); };
    constexpr auto kAdjoint = kComplex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
    this->expectInfo(Call::ormqr(this->h_, CUBLAS_SIDE_LEFT, kAdjoint, m, n, n, a.data(), a.leading(), tau.data(),
                                 c.data(), c.leading(), nullptr, 0, &this->info_));
    this->expectProduct(this->identity(), of(c), r, n, m, n, "ormqr");
    this->expectInfo(Call::orgqr(this->h_, m, n, n, a.data(), a.leading(), tau.data(), nullptr, 0, &this->info_));
    this->expectProduct(of(a), r, whole, m, n, n, "QR");
    this->expectProduct(adjoint(of(a)), of(a), this->identity(), n, m, n, "orthogonal");
  }
}

TYPED_TEST(Solver, Eigenvalues) {
  using T = TypeParam;
  using Call = Calls<T>;
  using Real = typename Call::Real;
  syevjInfo_t jacobi = nullptr;
  ASSERT_EQ(cusolverDnCreateSyevjInfo(&jacobi), kGood);
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size();
    Array<T> a(n, n, this->leading(n));
    Array<Real> w(std::max(n, 1), 1, std::max(n, 1)), few(std::max(n, 1), 1, std::max(n, 1));
    this->makeSymmetric(a, 0);
    const Matrix whole = kept(a);
    const auto uplo = this->fill();
    constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
    double residual = -1;
    if (random(0, 1)) {
      this->expectInfo(
          Call::syevd(this->h_, kVectors, uplo, n, a.data(), a.leading(), w.data(), nullptr, 0, &this->info_));
    } else {
      this->expectInfo(
          Call::syevj(this->h_, kVectors, uplo, n, a.data(), a.leading(), w.data(), nullptr, 0, &this->info_, jacobi));
      EXPECT_EQ(cusolverDnXsyevjGetResidual(this->h_, jacobi, &residual), kGood);
      EXPECT_LE(residual, (n + 1) * 64 * tolerance<T>(n));
    }
    const Matrix scaled = [&](int i, int j) { return a.get(i, j) * w.get(j, 0); };
    this->expectProduct(whole, of(a), scaled, n, n, n, "A V = V W");
    this->expectProduct(adjoint(of(a)), of(a), this->identity(), n, n, n, "V is orthogonal");
    for (int k = 1; k < n; ++k) EXPECT_LE(w.at(k - 1, 0), w.at(k, 0));
    if (n == 0) continue;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) a.at(i, j) = narrow<T>(whole(i, j));
    const int first = random(1, n), last = random(first, n);
    int found = -1;
    this->expectInfo(Call::syevdx(this->h_, kVectors, CUSOLVER_EIG_RANGE_I, uplo, n, a.data(), a.leading(), 0, 0, first,
                                  last, &found, few.data(), nullptr, 0, &this->info_));
    ASSERT_EQ(found, last - first + 1);
    for (int k = 0; k < found; ++k) EXPECT_NEAR(few.at(k, 0), w.at(first - 1 + k, 0), (n + 1) * 16 * tolerance<T>(n));
    const Matrix part = [&](int i, int j) { return a.get(i, j) * few.get(j, 0); };
    this->expectProduct(whole, of(a), part, n, n, found, "a part of the vectors");
  }
  EXPECT_EQ(cusolverDnDestroySyevjInfo(jacobi), kGood);
}

TYPED_TEST(Solver, EigenvaluesOfPairsAndOfBatches) {
  using T = TypeParam;
  using Call = Calls<T>;
  using Real = typename Call::Real;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), count = 3;
    Array<T> a(n, n, this->leading(n)), b(n, n, this->leading(n));
    Array<Real> w(std::max(n, 1) * count, 1, std::max(n, 1) * count);
    this->makeSymmetric(a, 0), this->makeSymmetric(b, 2.0 * n + 1);
    const Matrix whole = kept(a), partner = kept(b);
    const auto uplo = this->fill();
    this->expectInfo(Call::sygvd(this->h_, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, uplo, n, a.data(),
                                 a.leading(), b.data(), b.leading(), w.data(), nullptr, 0, &this->info_));
    const Matrix right = [&](int i, int j) {
      Wide sum = 0;
      for (int k = 0; k < n; ++k) sum += partner(i, k) * a.get(k, j);
      return sum * w.get(j, 0);
    };
    this->expectProduct(whole, of(a), right, n, n, n, "A V = B V W");
    Array<T> many(n, n * count, std::max(n, 1));
    for (int k = 0; k < count; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) many.at(i, j + k * n) = narrow<T>(whole(i, j) * Wide(k + 1.0));
    syevjInfo_t jacobi = nullptr;
    ASSERT_EQ(cusolverDnCreateSyevjInfo(&jacobi), kGood);
    std::vector<int> infos(count, -1);
    ASSERT_EQ(Call::syevjBatched(this->h_, CUSOLVER_EIG_MODE_VECTOR, uplo, n, many.data(), std::max(n, 1), w.data(),
                                 nullptr, 0, infos.data(), jacobi, count),
              kGood);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    for (int k = 0; k < count; ++k) {
      EXPECT_EQ(infos[static_cast<size_t>(k)], 0);
      const Matrix vectors = [&](int i, int j) { return many.get(i, j + k * n); };
      const Matrix multiple = [&](int i, int j) { return whole(i, j) * Wide(k + 1.0); };
      const Matrix scaled = [&](int i, int j) { return vectors(i, j) * w.get(j + k * n, 0); };
      this->expectProduct(multiple, vectors, scaled, n, n, n, "batched");
    }
    double residual = 0;
    EXPECT_EQ(cusolverDnXsyevjGetResidual(this->h_, jacobi, &residual), CUSOLVER_STATUS_NOT_SUPPORTED);
    cusolverDnDestroySyevjInfo(jacobi);
  }
}

TYPED_TEST(Solver, SingularValues) {
  using T = TypeParam;
  using Call = Calls<T>;
  using Real = typename Call::Real;
  gesvdjInfo_t jacobi = nullptr;
  ASSERT_EQ(cusolverDnCreateGesvdjInfo(&jacobi), kGood);
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), m = n + random(0, 9), rank = n;
    Array<T> a(m, n, this->leading(m)), u(m, std::max(rank, 1), this->leading(m));
    Array<T> vt(n, n, this->leading(n)), v(n, std::max(rank, 1), this->leading(n));
    Array<Real> s(std::max(rank, 1), 1, std::max(rank, 1));
    const Matrix whole = kept(a);
    const Matrix scaled = [&](int i, int j) { return u.get(i, j) * s.get(j, 0); };
    const int way = random(0, 2);
    Matrix right = of(vt);
    if (way == 0) {
      this->expectInfo(Call::gesvd(this->h_, 'S', 'S', m, n, a.data(), a.leading(), s.data(), u.data(), u.leading(),
                                   vt.data(), vt.leading(), nullptr, 0, nullptr, &this->info_));
    } else if (way == 1) {
      this->expectInfo(Call::gesvdj(this->h_, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, a.data(), a.leading(), s.data(),
                                    u.data(), u.leading(), v.data(), v.leading(), nullptr, 0, &this->info_, jacobi));
      right = adjoint(of(v));
      double residual = -1;
      EXPECT_EQ(cusolverDnXgesvdjGetResidual(this->h_, jacobi, &residual), kGood);
      EXPECT_LE(residual, (m + 1) * 64 * tolerance<T>(m));
    } else {
      double norm = -1;
      this->expectInfo(Call::gesvda(this->h_, CUSOLVER_EIG_MODE_VECTOR, rank, m, n, a.data(), a.leading(), 0, s.data(),
                                    0, u.data(), u.leading(), 0, v.data(), v.leading(), 0, nullptr, 0, &this->info_,
                                    &norm, 1));
      right = adjoint(of(v));
      EXPECT_LE(norm, (m + 1) * 64 * tolerance<T>(m));
      EXPECT_GE(norm, 0);
    }
    this->expectProduct(scaled, right, whole, m, rank, n, "U S V");
    this->expectProduct(adjoint(of(u)), of(u), this->identity(), rank, m, rank, "U is orthogonal");
    for (int k = 1; k < rank; ++k) EXPECT_GE(s.at(k - 1, 0), s.at(k, 0));
  }
  EXPECT_EQ(cusolverDnDestroyGesvdjInfo(jacobi), kGood);
}

TYPED_TEST(Solver, BidiagonalAndTridiagonalForm) {
  using T = TypeParam;
  using Call = Calls<T>;
  using Real = typename Call::Real;
  for (int round = 0; round < kRounds; ++round) {
    const int n = 1 + this->size(), m = n + random(0, 9);
    Array<T> a(m, n, this->leading(m)), p(n, n, this->leading(n)), tauQ(n, 1, n), tauP(n, 1, n);
    Array<Real> d(n, 1, n), e(n, 1, n);
    const Matrix whole = kept(a);
    this->expectInfo(Call::gebrd(this->h_, m, n, a.data(), a.leading(), d.data(), e.data(), tauQ.data(), tauP.data(),
                                 nullptr, 0, &this->info_));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) p.at(i, j) = a.at(i, j);
    this->expectInfo(
        Call::orgbr(this->h_, CUBLAS_SIDE_LEFT, m, n, n, a.data(), a.leading(), tauQ.data(), nullptr, 0, &this->info_));
    this->expectInfo(Call::orgbr(this->h_, CUBLAS_SIDE_RIGHT, n, n, n, p.data(), p.leading(), tauP.data(), nullptr, 0,
                                 &this->info_));
    const Matrix scaled = [&](int i, int j) {
      return a.get(i, j) * d.get(j, 0) + (j > 0 ? a.get(i, j - 1) * e.get(j - 1, 0) : Wide(0));
    };
    this->expectProduct(scaled, of(p), whole, m, n, n, "Q B P");

    Array<T> s(n, n, this->leading(n)), q(n, n, this->leading(n));
    this->makeSymmetric(s, 0);
    const Matrix before = kept(s);
    const auto uplo = this->fill();
    this->expectInfo(Call::sytrd(this->h_, uplo, n, s.data(), s.leading(), d.data(), e.data(), tauQ.data(), nullptr, 0,
                                 &this->info_));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) q.at(i, j) = narrow<T>(Wide(i == j));
    this->expectInfo(Call::ormtr(this->h_, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, n, n, s.data(), s.leading(),
                                 tauQ.data(), q.data(), q.leading(), nullptr, 0, &this->info_));
    this->expectInfo(Call::orgtr(this->h_, uplo, n, s.data(), s.leading(), tauQ.data(), nullptr, 0, &this->info_));
    this->expectProduct(this->identity(), of(q), of(s), n, n, n, "ormtr is orgtr");
    const Matrix tridiagonal = [&](int i, int j) {
      Wide sum = s.get(i, j) * d.get(j, 0);
      if (j > 0) sum += s.get(i, j - 1) * e.get(j - 1, 0);
      if (j + 1 < n) sum += s.get(i, j + 1) * e.get(j, 0);
      return sum;
    };
    this->expectProduct(before, of(s), tridiagonal, n, n, n, "A Q = Q T");
  }
}

TYPED_TEST(Solver, InversesBatchesAndParts) {
  using T = TypeParam;
  using Call = Calls<T>;
  using Real = typename Call::Real;
  for (int round = 0; round < kRounds; ++round) {
    const int n = 1 + this->size();
    const auto uplo = this->fill();
    const bool isUpper = uplo == CUBLAS_FILL_MODE_UPPER;
    Array<T> a(n, n, this->leading(n)), b(n, n, this->leading(n)), x(n, 1, n), y(n, 1, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= j; ++i) a.at(j, i) = a.at(i, j) = narrow<T>(a.get(i, j) + Wide(i == j ? 2.0 * n + 1 : 0));
    const Matrix symmetric = kept(a);
    std::vector<int> rows(static_cast<size_t>(n));
    this->expectInfo(Call::sytrf(this->h_, uplo, n, a.data(), a.leading(), rows.data(), nullptr, 0, &this->info_));
    this->expectInfo(Call::sytri(this->h_, uplo, n, a.data(), a.leading(), rows.data(), nullptr, 0, &this->info_));
    const Matrix inverse = [&](int i, int j) { return (i <= j) == isUpper || i == j ? a.get(i, j) : a.get(j, i); };
    this->expectProduct(symmetric, inverse, this->identity(), n, n, n, "sytri");

    this->makeSymmetric(b, 2.0 * n + 1);
    const Matrix definite = kept(b), right = kept(x);
    T* matrices[] = {b.data()};
    T* sides[] = {x.data()};
    this->expectInfo(Call::potrfBatched(this->h_, uplo, n, matrices, b.leading(), &this->info_, 1));
    this->expectInfo(Call::potrsBatched(this->h_, uplo, n, 1, matrices, b.leading(), sides, n, &this->info_, 1));
    this->expectProduct(definite, of(x), right, n, n, 1, "potrsBatched");
    this->expectInfo(Call::lauum(this->h_, uplo, n, b.data(), b.leading(), nullptr, 0, &this->info_));
    // U U^H and L^H L of Cholesky's factors have the trace of U^H U and L L^H.
    double trace = 0, expected = 0;
    for (int i = 0; i < n; ++i) trace += b.get(i, i).real(), expected += definite(i, i).real();
    EXPECT_NEAR(trace, expected, expected * 64 * tolerance<T>(n));

    const Matrix order = kept(y);
    const int pivots[] = {n};
    ASSERT_EQ(Call::laswp(this->h_, 1, y.data(), n, 1, 1, pivots, 1), kGood);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(y.get(0, 0), order(n - 1, 0));
    EXPECT_EQ(y.get(n - 1, 0), order(0, 0));

    Array<T> first(n, n, this->leading(n)), second(n, n, this->leading(n));
    Array<Real> w(n, 1, n);
    this->makeSymmetric(first, 0), this->makeSymmetric(second, 2.0 * n + 1);
    const Matrix one = kept(first), two = kept(second);
    int found = -1;
    this->expectInfo(Call::sygvdx(this->h_, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_V, uplo,
                                  n, first.data(), first.leading(), second.data(), second.leading(), -100, 0, 0, 0,
                                  &found, w.data(), nullptr, 0, &this->info_));
    for (int k = 0; k < found; ++k) EXPECT_LE(w.at(k, 0), 0);
    const Matrix scaled = [&](int i, int j) {
      Wide sum = 0;
      for (int k = 0; k < n; ++k) sum += two(i, k) * first.get(k, j);
      return sum * w.get(j, 0);
    };
    this->expectProduct(one, of(first), scaled, n, n, found, "the negative ones");
  }
}

TYPED_TEST(Solver, TheGenericInterfaceDoesTheSame) {
  using T = TypeParam;
  using Real = typename Calls<T>::Real;
  constexpr cudaDataType kData = kType<T>, kReal = kType<Real>;
  for (int round = 0; round < kRounds; ++round) {
    const int n = this->size(), columns = random(0, 5);
    Array<T> a(n, n, this->leading(n)), b(n, columns, this->leading(n)), square(n, n, this->leading(n));
    for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i) + 3.0);
    this->makeSymmetric(square, 0);
    const Matrix whole = kept(a), right = kept(b), before = kept(square);
    size_t device = 99, host = 99;
    EXPECT_EQ(cusolverDnXgetrf_bufferSize(this->h_, nullptr, n, n, kData, a.data(), a.leading(), kData, &device, &host),
              kGood);
    std::vector<char> work(device + host);
    std::vector<int64_t> pivots(static_cast<size_t>(n) + 1);
    this->expectInfo(cusolverDnXgetrf(this->h_, nullptr, n, n, kData, a.data(), a.leading(), pivots.data(), kData,
                                      work.data(), device, nullptr, host, &this->info_));
    this->expectInfo(cusolverDnXgetrs(this->h_, nullptr, CUBLAS_OP_N, n, columns, kData, a.data(), a.leading(),
                                      pivots.data(), kData, b.data(), b.leading(), &this->info_));
    this->expectProduct(whole, of(b), right, n, n, columns, "Xgetrs");
    Array<Real> w(std::max(n, 1), 1, std::max(n, 1));
    this->expectInfo(cusolverDnXsyevd(this->h_, nullptr, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, kData,
                                      square.data(), square.leading(), kReal, w.data(), kData, work.data(), device,
                                      nullptr, host, &this->info_));
    const Matrix scaled = [&](int i, int j) { return square.get(i, j) * w.get(j, 0); };
    this->expectProduct(before, of(square), scaled, n, n, n, "Xsyevd");
    Array<T> wide(n, n + 2, this->leading(n)), u(n, n, this->leading(n)), v(n + 2, n + 2, this->leading(n + 2));
    const Matrix flat = kept(wide);
    double perturbed = -1;
    this->expectInfo(cusolverDnXgesvdp(this->h_, nullptr, CUSOLVER_EIG_MODE_VECTOR, 0, n, n + 2, kData, wide.data(),
                                       wide.leading(), kReal, w.data(), kData, u.data(), u.leading(), kData, v.data(),
                                       v.leading(), kData, work.data(), device, nullptr, host, &this->info_,
                                       &perturbed));
    EXPECT_EQ(perturbed, 0);
    const Matrix singular = [&](int i, int j) { return u.get(i, j) * w.get(j, 0); };
    this->expectProduct(singular, adjoint(of(v)), flat, n, n, n + 2, "Xgesvdp, fewer rows than columns");
  }
}

TYPED_TEST(Solver, SingularAndBadMatricesAreTold) {
  using T = TypeParam;
  using Call = Calls<T>;
  Array<T> a(3, 3, 3);
  a.fill(0);
  std::vector<int> rows(3);
  a.at(0, 0) = narrow<T>(1.0), a.at(2, 2) = narrow<T>(1.0);
  this->expectInfo(Call::potrf(this->h_, CUBLAS_FILL_MODE_LOWER, 3, a.data(), 3, nullptr, 0, &this->info_), 2);
  a.fill(0);
  a.at(0, 0) = narrow<T>(1.0), a.at(2, 2) = narrow<T>(1.0);
  this->expectInfo(Call::getrf(this->h_, 3, 3, a.data(), 3, nullptr, rows.data(), &this->info_), 2);
  EXPECT_EQ(Call::potrf(nullptr, CUBLAS_FILL_MODE_LOWER, 3, a.data(), 3, nullptr, 0, &this->info_),
            CUSOLVER_STATUS_NOT_INITIALIZED);
  this->expectRefused(Call::potrf(this->h_, CUBLAS_FILL_MODE_LOWER, -1, a.data(), 3, nullptr, 0, &this->info_), 2);
  this->expectRefused(Call::potrf(this->h_, CUBLAS_FILL_MODE_LOWER, 3, a.data(), 2, nullptr, 0, &this->info_), 4);
  EXPECT_EQ(Call::getrf(this->h_, 3, -3, a.data(), 3, nullptr, rows.data(), &this->info_), kInvalid);
  EXPECT_EQ(Call::gesvd(this->h_, 'A', 'A', 2, 3, a.data(), 3, nullptr, nullptr, 2, nullptr, 3, nullptr, 0, nullptr,
                        &this->info_),
            kInvalid)
      << "fewer rows than columns";
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS) << "info_ is written until then";
}

}  // namespace
}  // namespace ordito::cublas::test
