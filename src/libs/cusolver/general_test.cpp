// cuSOLVER: eigenvalues of any matrix, the largest singular values, and the expert interface of the refining solvers,
// put back into their equations.
#include "cusolverDn.h"
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = CUSOLVER_STATUS_INVALID_VALUE;

template <class T>
struct Kind {
  static constexpr cudaDataType kType = CUDA_R_32F, kComplex = CUDA_C_32F, kReal = CUDA_R_32F;
  static constexpr auto kPrecision = CUSOLVER_R_32F, kLow = CUSOLVER_R_16F;
};
template <>
struct Kind<double> {
  static constexpr cudaDataType kType = CUDA_R_64F, kComplex = CUDA_C_64F, kReal = CUDA_R_64F;
  static constexpr auto kPrecision = CUSOLVER_R_64F, kLow = CUSOLVER_R_TF32;
};
template <>
struct Kind<cuComplex> {
  static constexpr cudaDataType kType = CUDA_C_32F, kComplex = CUDA_C_32F, kReal = CUDA_R_32F;
  static constexpr auto kPrecision = CUSOLVER_C_32F, kLow = CUSOLVER_C_16BF;
};
template <>
struct Kind<cuDoubleComplex> {
  static constexpr cudaDataType kType = CUDA_C_64F, kComplex = CUDA_C_64F, kReal = CUDA_R_64F;
  static constexpr auto kPrecision = CUSOLVER_C_64F, kLow = CUSOLVER_C_32F;
};

template <class T>
struct General : ArrayTests {
  using Real = typename RealOf<T>::Type;
  void SetUp() override {
    if (cusolverDnCreate(&handle) != kGood) GTEST_SKIP() << "no OpenBLAS (libopenblas0-pthread)";
  }
  void TearDown() override {
    if (handle) EXPECT_EQ(cusolverDnDestroy(handle), kGood);
  }
  void expectInfo(cusolverStatus_t status) {
    ASSERT_EQ(status, kGood);
    wait();
    EXPECT_EQ(info, 0);
  }

  cusolverDnHandle_t handle = nullptr;
  int info = -99;
};
TYPED_TEST_SUITE(General, Types);

TYPED_TEST(General, EigenvaluesAndTheirVectors) {
  using T = TypeParam;
  using K = Kind<T>;
  using Complex = std::conditional_t<sizeof(typename RealOf<T>::Type) == 4, cuComplex, cuDoubleComplex>;
  for (int round = 0; round < 20; ++round) {
    const int n = random(1, 30);
    Array<T> a(n, n, n + random(0, 3)), vectors(n, n, n + random(0, 3)), parts(1, 2 * n, 1);
    const Array<Complex> w(1, n, 1);
    const auto before = a.values();
    const bool areComplex = kComplex<T> || round % 2;
    void* const values = areComplex ? static_cast<void*>(w.data()) : parts.data();
    const auto typeW = areComplex ? K::kComplex : K::kType;
    size_t device = 0, host = 7;
    ASSERT_EQ(cusolverDnXgeev_bufferSize(this->handle, nullptr, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n,
                                         K::kType, a.data(), a.leading(), typeW, values, K::kType, nullptr, 1, K::kType,
                                         vectors.data(), vectors.leading(), K::kType, &device, &host),
              kGood);
    EXPECT_EQ(host, 0U);
    this->expectInfo(cusolverDnXgeev(this->handle, nullptr, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n,
                                     K::kType, a.data(), a.leading(), typeW, values, K::kType, nullptr, 1, K::kType,
                                     vectors.data(), vectors.leading(), K::kType, nullptr, 0, nullptr, 0, &this->info));
    EXPECT_TRUE(vectors.isIntactBetween());
    auto eigenvalue = [&](int j) {
      return areComplex ? w.get(0, j) : Wide(parts.get(0, j).real(), parts.get(0, n + j).real());
    };
    // Of a pair the first column is the real part, the second the imaginary one.
    auto vector = [&](int i, int j) {
      const double imaginary = kComplex<T> ? 0 : eigenvalue(j).imag();
      if (imaginary > 0) return Wide(vectors.get(i, j).real(), vectors.get(i, j + 1).real());
      return imaginary < 0 ? Wide(vectors.get(i, j - 1).real(), -vectors.get(i, j).real()) : vectors.get(i, j);
    };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        Wide sum = -eigenvalue(j) * vector(i, j);
        for (int k = 0; k < n; ++k) sum += before[i + k * n] * vector(k, j);
        ASSERT_LE(std::abs(sum), 20 * tolerance<T>(n));
      }
  }
}

TYPED_TEST(General, TheLargestSingularValues) {
  using T = TypeParam;
  using K = Kind<T>;
  for (int round = 0; round < 10; ++round) {
    const int rank = random(1, 5), m = rank + random(2, 20), n = rank + random(2, 20);
    // A product of that rank.
    const Array<T> left(m, rank, m), right(rank, n, rank), a(m, n, m), u(m, rank, m), v(n, rank, n);
    const Array<typename RealOf<T>::Type> s(1, rank, 1);
    auto product = [&](int i, int j) {
      Wide sum = 0;
      for (int k = 0; k < rank; ++k) sum += left.get(i, k) * right.get(k, j);
      return sum;
    };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) a.at(i, j) = narrow<T>(product(i, j));
    this->expectInfo(cusolverDnXgesvdr(this->handle, nullptr, 'S', 'S', m, n, rank, 2, 3, K::kType, a.data(), m,
                                       K::kReal, s.data(), K::kType, u.data(), m, K::kType, v.data(), n, K::kType,
                                       nullptr, 0, nullptr, 0, &this->info));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        Wide sum = -product(i, j);
        for (int k = 0; k < rank; ++k) sum += u.get(i, k) * s.get(0, k) * std::conj(v.get(j, k));
        ASSERT_LE(std::abs(sum), 20 * tolerance<T>(m + n));
      }
    EXPECT_EQ(cusolverDnXgesvdr(this->handle, nullptr, 'S', 'S', m, n, std::min(m, n), 1, 3, K::kType, a.data(), m,
                                K::kReal, s.data(), K::kType, u.data(), m, K::kType, v.data(), n, K::kType, nullptr, 0,
                                nullptr, 0, &this->info),
              kInvalid);
  }
}

TYPED_TEST(General, PairsOfMatricesByJacobisCalls) {
  using T = TypeParam;
  syevjInfo_t jacobi = nullptr;
  ASSERT_EQ(cusolverDnCreateSyevjInfo(&jacobi), kGood);
  for (int round = 0; round < 18; ++round) {
    const int n = random(1, 20);
    const auto kind = static_cast<cusolverEigType_t>(1 + round % 3);
    const auto uplo = round % 2 ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    Array<T> a(n, n, n), b(n, n, n);
    const Array<typename RealOf<T>::Type> w(1, n, 1);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= j; ++i) {
        a.at(i, j) = narrow<T>(i == j ? Wide(a.get(i, j).real()) : a.get(i, j));
        a.at(j, i) = narrow<T>(std::conj(a.get(i, j)));
        b.at(i, j) = narrow<T>(i == j ? Wide(2.0 * n + 1) : b.get(i, j));
        b.at(j, i) = narrow<T>(std::conj(b.get(i, j)));
      }
    const auto wholeA = a.values(), wholeB = b.values();
    auto call = [&](auto... arguments) {
      if constexpr (std::is_same_v<T, float>)
        return cusolverDnSsygvj(arguments...);
      else if constexpr (std::is_same_v<T, double>)
        return cusolverDnDsygvj(arguments...);
      else if constexpr (std::is_same_v<T, cuComplex>)
        return cusolverDnChegvj(arguments...);
      else
        return cusolverDnZhegvj(arguments...);
    };
    this->expectInfo(call(this->handle, kind, CUSOLVER_EIG_MODE_VECTOR, uplo, n, a.data(), n, b.data(), n, w.data(),
                          static_cast<T*>(nullptr), 0, &this->info, jacobi));
    auto times = [&](const std::vector<Wide>& matrix, const auto& vector, int i) {
      Wide sum = 0;
      for (int k = 0; k < n; ++k) sum += matrix[i + k * n] * vector(k);
      return sum;
    };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const auto x = [&](int k) { return a.get(k, j); };
        const auto ax = [&](int k) { return times(wholeA, x, k); };
        const auto bx = [&](int k) { return times(wholeB, x, k); };
        const Wide left = kind == CUSOLVER_EIG_TYPE_1   ? ax(i)
                          : kind == CUSOLVER_EIG_TYPE_2 ? times(wholeA, bx, i)
                                                        : times(wholeB, ax, i);
        const Wide right = w.get(0, j) * (kind == CUSOLVER_EIG_TYPE_1 ? bx(i) : x(i));
        ASSERT_LE(std::abs(left - right), 400 * n * tolerance<T>(n));
      }
    double residual = -1;
    ASSERT_EQ(cusolverDnXsyevjGetResidual(this->handle, jacobi, &residual), kGood);
    EXPECT_GE(residual, 0);
    EXPECT_LE(residual, 400 * n * tolerance<T>(n));
  }
  EXPECT_EQ(cusolverDnDestroySyevjInfo(jacobi), kGood);
}

TYPED_TEST(General, RefiningSolversOfTheExpertInterface) {
  using T = TypeParam;
  using K = Kind<T>;
  const int n = 20, columns = 2;
  Array<T> a(n, n, n);
  const Array<T> b(n, columns, n), x(n, columns, n);
  for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i) + 10.0);
  cusolverDnIRSParams_t params = nullptr;
  cusolverDnIRSInfos_t infos = nullptr;
  int iterations = 7, most = 0;
  size_t bytes = 0;
  ASSERT_EQ(cusolverDnIRSParamsCreate(&params), kGood);
  ASSERT_EQ(cusolverDnIRSInfosCreate(&infos), kGood);
  EXPECT_EQ(cusolverDnIRSXgesv_bufferSize(this->handle, params, n, columns, &bytes),
            CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC);
  ASSERT_EQ(cusolverDnIRSParamsSetSolverPrecisions(params, K::kPrecision, K::kLow), kGood);
  EXPECT_EQ(cusolverDnIRSXgesv_bufferSize(this->handle, params, n, columns, &bytes),
            CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE);
  ASSERT_EQ(cusolverDnIRSParamsSetRefinementSolver(params, CUSOLVER_IRS_REFINE_GMRES), kGood);
  ASSERT_EQ(cusolverDnIRSParamsSetMaxIters(params, 11), kGood);
  ASSERT_EQ(cusolverDnIRSXgesv_bufferSize(this->handle, params, n, columns, &bytes), kGood);
  EXPECT_GT(bytes, 0U);
  auto expectSolution = [&] {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i) {
        Wide sum = -b.get(i, j);
        for (int k = 0; k < n; ++k) sum += a.get(i, k) * x.get(k, j);
        ASSERT_LE(std::abs(sum), 20 * tolerance<T>(n));
      }
  };
  this->expectInfo(cusolverDnIRSXgesv(this->handle, params, infos, n, columns, a.data(), n, b.data(), n, x.data(), n,
                                      nullptr, bytes, &iterations, &this->info));
  EXPECT_EQ(iterations, 0);
  expectSolution();
  this->expectInfo(cusolverDnIRSXgels(this->handle, params, infos, n, n, columns, a.data(), n, b.data(), n, x.data(), n,
                                      nullptr, bytes, &iterations, &this->info));
  expectSolution();
  EXPECT_EQ(cusolverDnIRSInfosGetMaxIters(infos, &most), kGood);
  EXPECT_EQ(most, 11);
  EXPECT_EQ(cusolverDnIRSXgesv(this->handle, nullptr, infos, n, columns, a.data(), n, b.data(), n, x.data(), n, nullptr,
                               bytes, &iterations, &this->info),
            CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
  EXPECT_EQ(cusolverDnIRSInfosDestroy(infos), kGood);
  EXPECT_EQ(cusolverDnIRSParamsDestroy(params), kGood);
  EXPECT_EQ(cusolverDnIRSParamsDestroy(nullptr), CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
}

}  // namespace
}  // namespace ordito::cublas::test
