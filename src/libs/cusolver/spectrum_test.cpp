// Eigenvalues, singular values and the forms on the way to them, with random matrices of all types: vectors and values
// are put back into their equation.
#include "libs/cusolver/dense_fixture.hpp"

namespace ordito::cublas::test {
namespace {

constexpr int kRounds = 25;

template <class T>
class Spectrum : public Solver<T> {};
TYPED_TEST_SUITE(Spectrum, Types);

TYPED_TEST(Spectrum, Eigenvalues) {
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

TYPED_TEST(Spectrum, EigenvaluesOfPairsAndOfBatches) {
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

TYPED_TEST(Spectrum, SingularValues) {
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

TYPED_TEST(Spectrum, BidiagonalAndTridiagonalForm) {
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

}  // namespace
}  // namespace ordito::cublas::test
