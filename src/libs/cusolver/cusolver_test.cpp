// cuSOLVER with random matrices of all types: what was solved is put back into its equation, and the difference must be
// rounding. Bad arguments, singular matrices, a capture.
#include "libs/cusolver/dense_fixture.hpp"

namespace ordito::cublas::test {
namespace {

constexpr int kRounds = 25;

TYPED_TEST_SUITE(Solver, Types);

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

TEST(SolverRoom, OfOrthogonalFactorsAsksForNoLeadingDimension) {
  cusolverDnHandle_t handle = nullptr;
  int size = -1;
  ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(cusolverDnSgeqrf_bufferSize(handle, 5, 3, nullptr, 3, &size), CUSOLVER_STATUS_SUCCESS);
  EXPECT_GE(size, 0);
  EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
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
