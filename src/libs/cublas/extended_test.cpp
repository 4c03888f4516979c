// Calls of cuBLAS that take types as arguments, products in groups, and cuBLASXt, with random arguments against sums in
// double.
#include <memory>

#include "cublasXt.h"
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

template <class T>
constexpr cudaDataType kTypeOf = std::is_same_v<T, float>           ? CUDA_R_32F
                                 : std::is_same_v<T, double>        ? CUDA_R_64F
                                 : std::is_same_v<T, cuComplex>     ? CUDA_C_32F
                                 : std::is_same_v<T, __half>        ? CUDA_R_16F
                                 : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                                                                    : CUDA_C_64F;
/// The type that vectors of T are computed in, and the real type of results.
template <class T>
using Computed = std::conditional_t<kSmall<T>, float, T>;
template <class T>
using RealResult = std::conditional_t<kSmall<T>, T, typename RealOf<T>::Type>;

template <class T>
struct Extended : Tests {
  static constexpr cudaDataType kType = kTypeOf<T>, kExecution = kTypeOf<Computed<T>>;

  void SetUp() override {
    Tests::SetUp();
    n = random(0, 70), incx = random(1, 3) * (random(0, 1) ? 1 : -1), incy = random(1, 3);
  }
  /// Element i of a vector with the step incx.
  Wide at(const Array<T>& x, int i) const { return x.get(0, incx > 0 ? i : n - 1 - i); }

  int n = 0, incx = 1, incy = 1;
};
using ExtendedTypes = testing::Types<float, double, cuComplex, cuDoubleComplex, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(Extended, ExtendedTypes);

TYPED_TEST(Extended, SumsOfVectors) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    this->n = random(0, 70);
    const int n = this->n, incx = this->incx, incy = this->incy;
    const Array<T> x(1, n, std::abs(incx));
    Array<T> y(1, n, incy);
    const auto before = y.values();
    Wide dot = 0, conjugate = 0;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const Wide other = before[static_cast<size_t>(i)];
      dot += this->at(x, i) * other, conjugate += std::conj(this->at(x, i)) * other;
      sum += std::abs(other.real()) + std::abs(other.imag()), squares += std::norm(other);
    }
    const double close = tolerance<T>(n);
    T result{};
    RealResult<T> real{};
    constexpr auto kType = TestFixture::kType, kExecution = TestFixture::kExecution;
    constexpr auto kReal = kTypeOf<RealResult<T>>;
    ASSERT_EQ(cublasDotEx(this->handle, n, x.data(), kType, incx, y.data(), kType, incy, &result, kType, kExecution),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_LE(std::abs(widen(result) - dot), close);
    ASSERT_EQ(cublasDotcEx(this->handle, n, x.data(), kType, incx, y.data(), kType, incy, &result, kType, kExecution),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_LE(std::abs(widen(result) - conjugate), close);
    ASSERT_EQ(cublasNrm2Ex(this->handle, n, y.data(), kType, incy, &real, kReal, kExecution), CUBLAS_STATUS_SUCCESS);
    ASSERT_LE(std::abs(widen(real) - std::sqrt(squares)), close);
    ASSERT_EQ(cublasAsumEx(this->handle, n, y.data(), kType, incy, &real, kReal, kExecution), CUBLAS_STATUS_SUCCESS);
    ASSERT_LE(std::abs(widen(real) - sum), 2 * close);
    // Of the largest and the smallest the first, from 1.
    int largest = 0, smallest = 0;
    auto size = [&](int i) {
      const Wide v = before[static_cast<size_t>(i)];
      return std::abs(v.real()) + std::abs(v.imag());
    };
    for (int i = 1; i < n; ++i) {
      if (size(i) > size(largest)) largest = i;
      if (size(i) < size(smallest)) smallest = i;
    }
    int index = -1;
    ASSERT_EQ(cublasIamaxEx(this->handle, n, y.data(), kType, incy, &index), CUBLAS_STATUS_SUCCESS);
    ASSERT_NEAR(n > 0 ? size(index - 1) : index, n > 0 ? size(largest) : 0, 1e-6);
    ASSERT_EQ(cublasIaminEx(this->handle, n, y.data(), kType, incy, &index), CUBLAS_STATUS_SUCCESS);
    ASSERT_NEAR(n > 0 ? size(index - 1) : index, n > 0 ? size(smallest) : 0, 1e-6);
  }
}

TYPED_TEST(Extended, VectorsThatChange) {
  using T = TypeParam;
  constexpr auto kType = TestFixture::kType, kExecution = TestFixture::kExecution;
  for (int round = 0; round < kRounds; ++round) {
    this->n = random(0, 70);
    const int n = this->n, incx = this->incx, incy = this->incy;
    Array<T> x(1, n, std::abs(incx)), y(1, n, incy);
    std::vector<Wide> first, second = y.values();
    for (int i = 0; i < n; ++i) first.push_back(this->at(x, i));
    auto expect = [&](const Array<T>& array, int step, const std::vector<Wide>& wanted) {
      this->template expectNear<T>(
          array, {}, 3, [&](int, int i) { return wanted[static_cast<size_t>(step > 0 ? i : n - 1 - i)]; }, always);
    };
    const auto alpha = narrow<Computed<T>>(randomWide(kComplex<T>));
    ASSERT_EQ(
        cublasAxpyEx(this->handle, n, &alpha, kExecution, x.data(), kType, incx, y.data(), kType, incy, kExecution),
        CUBLAS_STATUS_SUCCESS);
    for (size_t i = 0; i < second.size(); ++i) second[i] += widen(alpha) * first[i];
    expect(y, incy, second);
    second = y.values();
    ASSERT_EQ(cublasScalEx(this->handle, n, &alpha, kExecution, y.data(), kType, incy, kExecution),
              CUBLAS_STATUS_SUCCESS);
    for (Wide& value : second) value *= widen(alpha);
    expect(y, incy, second);
    second = y.values();
    ASSERT_EQ(cublasSwapEx(this->handle, n, x.data(), kType, incx, y.data(), kType, incy), CUBLAS_STATUS_SUCCESS);
    std::swap(first, second);
    expect(x, incx, first);
    expect(y, incy, second);
    // A rotation by a cosine and a sine, of which the sine may be complex.
    const auto c = narrow<RealResult<T>>(0.75);
    const auto s = narrow<T>(Wide(0.5, kComplex<T> ? 0.25 : 0));
    ASSERT_EQ(cublasRotEx(this->handle, n, x.data(), kType, incx, y.data(), kType, incy, &c, &s, kType, kExecution),
              CUBLAS_STATUS_SUCCESS);
    for (size_t i = 0; i < first.size(); ++i) {
      const Wide one = first[i], other = second[i];
      first[i] = widen(c) * one + widen(s) * other, second[i] = widen(c) * other - std::conj(widen(s)) * one;
    }
    expect(x, incx, first);
    expect(y, incy, second);
    ASSERT_EQ(cublasCopyEx(this->handle, n, x.data(), kType, incx, y.data(), kType, incy), CUBLAS_STATUS_SUCCESS);
    expect(y, incy, first);
  }
}

TYPED_TEST(Extended, RotationsMakeZeros) {
  using T = TypeParam;
  constexpr auto kType = TestFixture::kType, kExecution = TestFixture::kExecution;
  for (int round = 0; round < kRounds; ++round) {
    T a = narrow<T>(randomWide(kComplex<T>)), b = narrow<T>(randomWide(kComplex<T>)), s{};
    const Wide x = widen(a), y = widen(b);
    RealResult<T> c{};
    ASSERT_EQ(cublasRotgEx(this->handle, &a, &b, kType, &c, &s, kType, kExecution), CUBLAS_STATUS_SUCCESS);
    ASSERT_LE(std::abs(widen(c) * x + widen(s) * y - widen(a)), 2 * tolerance<T>(2));
    ASSERT_LE(std::abs(widen(c) * y - std::conj(widen(s)) * x), 2 * tolerance<T>(2));
    if constexpr (!kComplex<T>) {
      T d1 = narrow<T>(0.5 + x.real() * x.real()), d2 = narrow<T>(0.75), x1 = narrow<T>(x), p[5] = {};
      const T y1 = narrow<T>(y);
      ASSERT_EQ(cublasRotmgEx(this->handle, &d1, kType, &d2, kType, &x1, kType, &y1, kType, p, kType, kExecution),
                CUBLAS_STATUS_SUCCESS);
      Array<T> left(1, 1, 1), right(1, 1, 1);
      left.at(0, 0) = narrow<T>(x), right.at(0, 0) = narrow<T>(y);
      ASSERT_EQ(cublasRotmEx(this->handle, 1, left.data(), kType, 1, right.data(), kType, 1, p, kType, kExecution),
                CUBLAS_STATUS_SUCCESS);
      this->wait();
      ASSERT_NEAR(right.get(0, 0).real(), 0, 4 * tolerance<T>(4));
      ASSERT_NEAR(left.get(0, 0).real(), widen(x1).real(), 4 * tolerance<T>(4));
    }
  }
}

TEST_F(Tests, TypesThatTheManualDoesNotCombineAreNotSupported) {
  const Array<float> x(1, 4, 1), y(1, 4, 1);
  const float alpha = 1;
  float result = 0;
  EXPECT_EQ(cublasAxpyEx(handle, 4, &alpha, CUDA_R_32F, x.data(), CUDA_R_32F, 1, y.data(), CUDA_R_64F, 1, CUDA_R_32F),
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cublasAxpyEx(handle, 4, &alpha, CUDA_R_16F, x.data(), CUDA_R_16F, 1, y.data(), CUDA_R_16F, 1, CUDA_R_16F),
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cublasNrm2Ex(handle, 4, x.data(), CUDA_R_8I, 1, &result, CUDA_R_32F, CUDA_R_32F),
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cublasDotEx(nullptr, 4, x.data(), CUDA_R_32F, 1, y.data(), CUDA_R_32F, 1, &result, CUDA_R_32F, CUDA_R_32F),
            CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasDotEx(handle, 4, x.data(), CUDA_R_32F, 1, y.data(), CUDA_R_32F, 1, nullptr, CUDA_R_32F, CUDA_R_32F),
            CUBLAS_STATUS_MAPPING_ERROR);
}

/// Rank updates of complex int8.
template <bool Hermitian>
void expectRankUpdate(Tests& test, int round) {
  const int n = random(1, 40), k = random(1, 40);
  const auto op = round % 2 ? CUBLAS_OP_N : Hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  const int rows = op == CUBLAS_OP_N ? n : k, columns = op == CUBLAS_OP_N ? k : n, lda = rows + random(0, 3);
  const auto fill = randomFill();
  struct Byte {
    int8_t real, imaginary;
  };
  std::vector<Byte> a(static_cast<size_t>(lda * columns));
  for (Byte& value : a) value = {static_cast<int8_t>(random(-128, 127)), static_cast<int8_t>(random(-128, 127))};
  auto c = matrix<cuComplex>(n, n);
  c.fill(NAN);
  const auto before = c.values();
  const cuComplex one = make_cuComplex(1, 0), zero = make_cuComplex(0, 0);
  const auto call = [&](auto first, auto second, const void* alpha, const void* beta) {
    using S = std::conditional_t<Hermitian, float, cuComplex>;
    return (round % 3 ? first : second)(test.handle, fill, op, n, k, static_cast<const S*>(alpha), a.data(), CUDA_C_8I,
                                        lda, static_cast<const S*>(beta), c.data(), CUDA_C_32F, c.leading());
  };
  if constexpr (Hermitian)
    ASSERT_EQ(call(cublasCherkEx, cublasCherk3mEx, &one, &zero), CUBLAS_STATUS_SUCCESS);
  else
    ASSERT_EQ(call(cublasCsyrkEx, cublasCsyrk3mEx, &one, &zero), CUBLAS_STATUS_SUCCESS);
  test.wait();
  auto at = [&](int i, int l) {
    const Byte& value = a[static_cast<size_t>(op == CUBLAS_OP_N ? i + l * lda : l + i * lda)];
    const Wide wide(value.real, value.imaginary);
    return op == CUBLAS_OP_C ? std::conj(wide) : wide;
  };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      if (fill == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) {
        ASSERT_TRUE(std::isnan(c.get(i, j).real()));
        continue;
      }
      Wide sum = 0;
      for (int l = 0; l < k; ++l) sum += at(i, l) * (Hermitian ? std::conj(at(j, l)) : at(j, l));
      ASSERT_LE(std::abs(c.get(i, j) - sum), 1e-6 * k * 2 * 128 * 128);
    }
}

TEST_F(Tests, RankUpdatesOfComplexBytes) {
  for (int round = 0; round < kRounds / 2; ++round) {
    expectRankUpdate<false>(*this, round);
    expectRankUpdate<true>(*this, round);
  }
}

TEST_F(Tests, RankUpdatesOfComplexBytesWithoutAFactor) {
  auto c = matrix<cuComplex>(5, 5);
  const auto before = c.values();
  const float zero = 0, two = 2;
  ASSERT_EQ(cublasCherkEx(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 5, 3, &zero, nullptr, CUDA_C_8I, 5, &two,
                          c.data(), CUDA_C_32F, c.leading()),
            CUBLAS_STATUS_SUCCESS);
  wait();
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < j; ++i) EXPECT_EQ(c.get(i, j), 2.0 * before[static_cast<size_t>(i + 5 * j)]);
}

/// Pointers of the device's.
template <class T>
class PointerArray {
 public:
  explicit PointerArray(const std::vector<T*>& pointers) {
    EXPECT_EQ(cuMemAllocManaged(&memory_, (pointers.size() + 1) * sizeof(T*), CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    std::copy(pointers.begin(), pointers.end(), data());
  }
  ~PointerArray() { cuMemFree(memory_); }
  PointerArray(const PointerArray&) = delete;
  PointerArray& operator=(const PointerArray&) = delete;
  T** data() const { return reinterpret_cast<T**>(memory_); }

 private:
  CUdeviceptr memory_ = 0;
};

TEST_F(Tests, GroupsOfProducts) {
  for (int round = 0; round < kRounds / 4; ++round) {
    const int groups = random(0, 4);
    std::vector<cublasOperation_t> opA, opB;
    std::vector<int> m, n, k, lda, ldb, ldc, sizes;
    std::vector<double> alpha, beta;
    std::vector<std::unique_ptr<Array<double>>> as, bs, cs;
    std::vector<double*> a, b, c;
    std::vector<std::vector<Wide>> before;
    std::vector<size_t> groupOf;
    for (int g = 0; g < groups; ++g) {
      opA.push_back(randomOperation()), opB.push_back(randomOperation());
      m.push_back(random(0, 20)), n.push_back(random(0, 20)), k.push_back(random(0, 20)), sizes.push_back(random(0, 3));
      alpha.push_back(randomWide(false).real()), beta.push_back(random(0, 1) ? 0 : 0.5);
      const int rowsA = opA.back() == CUBLAS_OP_N ? m.back() : k.back();
      const int rowsB = opB.back() == CUBLAS_OP_N ? k.back() : n.back();
      lda.push_back(std::max(1, rowsA) + 1), ldb.push_back(std::max(1, rowsB)),
          ldc.push_back(std::max(1, m.back()) + 2);
      for (int i = 0; i < sizes.back(); ++i) {
        as.push_back(std::make_unique<Array<double>>(rowsA, m.back() + k.back() - rowsA, lda.back()));
        bs.push_back(std::make_unique<Array<double>>(rowsB, k.back() + n.back() - rowsB, ldb.back()));
        cs.push_back(std::make_unique<Array<double>>(m.back(), n.back(), ldc.back()));
        if (beta.back() == 0) cs.back()->fill(NAN);
        a.push_back(as.back()->data()), b.push_back(bs.back()->data()), c.push_back(cs.back()->data());
        before.push_back(cs.back()->values()), groupOf.push_back(static_cast<size_t>(g));
      }
    }
    const PointerArray<double> pa(a), pb(b), pc(c);
    if (round % 2)
      ASSERT_EQ(cublasDgemmGroupedBatched(handle, opA.data(), opB.data(), m.data(), n.data(), k.data(), alpha.data(),
                                          pa.data(), lda.data(), pb.data(), ldb.data(), beta.data(), pc.data(),
                                          ldc.data(), groups, sizes.data()),
                CUBLAS_STATUS_SUCCESS);
    else
      ASSERT_EQ(cublasGemmGroupedBatchedEx(handle, opA.data(), opB.data(), m.data(), n.data(), k.data(), alpha.data(),
                                           reinterpret_cast<void**>(pa.data()), CUDA_R_64F, lda.data(),
                                           reinterpret_cast<void**>(pb.data()), CUDA_R_64F, ldb.data(), beta.data(),
                                           reinterpret_cast<void**>(pc.data()), CUDA_R_64F, ldc.data(), groups,
                                           sizes.data(), CUBLAS_COMPUTE_64F),
                CUBLAS_STATUS_SUCCESS);
    const std::vector<double> kept = alpha;
    std::fill(alpha.begin(), alpha.end(), NAN);  // the host's arrays were copied at the call
    for (size_t i = 0; i < cs.size(); ++i) {
      const size_t g = groupOf[i];
      expectNear<double>(
          *cs[i], {}, k[g],
          [&](int row, int column) {
            Wide sum = 0;
            for (int l = 0; l < k[g]; ++l)
              sum += operated(*as[i], opA[g], row, l) * operated(*bs[i], opB[g], l, column);
            const size_t at = row + column * m[g];
            return kept[g] * sum + (beta[g] == 0 ? Wide(0) : beta[g] * before[i][at]);
          },
          always);
    }
  }
}

TEST_F(Tests, GroupsKeepTheScalarsOfTheirCall) {
  const Array<float> a(2, 2, 2), b(2, 2, 2), c(2, 2, 2), d(2, 2, 2);
  const PointerArray<float> pa({a.data(), a.data()}), pb({b.data(), b.data()}), pc({c.data(), d.data()});
  const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};
  const int two[] = {2, 2}, one[] = {1, 1};
  const float alpha[] = {1, -2}, beta[] = {0, 0};
  ASSERT_EQ(cublasSgemmGroupedBatched(handle, ops, ops, two, two, two, alpha, pa.data(), two, pb.data(), two, beta,
                                      pc.data(), two, 2, one),
            CUBLAS_STATUS_SUCCESS);
  auto product = [&](cublasOperation_t op, double scale) {
    return [&, op, scale](int i, int j) {
      return scale * (operated(a, op, i, 0) * operated(b, op, 0, j) + operated(a, op, i, 1) * operated(b, op, 1, j));
    };
  };
  expectNear<float>(c, {}, 4, product(CUBLAS_OP_N, 1), always);
  expectNear<float>(d, {}, 4, product(CUBLAS_OP_T, -2), always);
  ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSgemmGroupedBatched(handle, ops, ops, two, two, two, alpha, pa.data(), two, pb.data(), two, beta,
                                      pc.data(), two, 2, one),
            CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(Tests, MatricesOfHalvesTimesVectors) {
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(1, 40), n = random(1, 40), count = random(1, 3);
    const auto op = round % 2 ? CUBLAS_OP_N : CUBLAS_OP_T;
    const int rows = op == CUBLAS_OP_N ? m : n, columns = m + n - rows;
    const auto a = matrix<__half>(m, n * count);
    const Array<__half> x(columns, count, columns);
    const Array<float> y(rows, count, rows);
    const Array<__half> z(rows, count, rows);
    const auto before = y.values();
    const float alpha = 0.5f, beta = 2, zero = 0;
    ASSERT_EQ(cublasHSSgemvStridedBatched(handle, op, m, n, &alpha, a.data(), a.leading(),
                                          static_cast<long long>(a.leading()) * n, x.data(), 1, columns, &beta,
                                          y.data(), 1, rows, count),
              CUBLAS_STATUS_SUCCESS);
    std::vector<__half*> as, xs, zs;
    for (int i = 0; i < count; ++i) {
      as.push_back(a.data() + static_cast<ptrdiff_t>(i) * a.leading() * n);
      xs.push_back(x.data() + i * columns), zs.push_back(z.data() + i * rows);
    }
    const PointerArray<__half> pa(as), px(xs), pz(zs);
    ASSERT_EQ(cublasHSHgemvBatched(handle, op, m, n, &alpha, pa.data(), a.leading(), px.data(), 1, &zero, pz.data(), 1,
                                   count),
              CUBLAS_STATUS_SUCCESS);
    auto product = [&](int i, int which) {
      Wide sum = 0;
      for (int j = 0; j < columns; ++j)
        sum += (op == CUBLAS_OP_N ? a.get(i, which * n + j) : a.get(j, which * n + i)) * x.get(j, which);
      return 0.5 * sum;
    };
    expectNear<float>(
        y, before, columns, [&](int i, int j) { return product(i, j) + 2.0 * before[i + j * rows]; }, always);
    expectNear<__half>(z, {}, 10, product, always);
  }
}

struct XtTests : Tests {
  void SetUp() override {
    Tests::SetUp();
    if (!IsSkipped()) ASSERT_EQ(cublasXtCreate(&xt), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (xt) EXPECT_EQ(cublasXtDestroy(xt), CUBLAS_STATUS_SUCCESS);
    Tests::TearDown();
  }
  cublasXtHandle_t xt = nullptr;
};

TEST_F(XtTests, EachCallIsThatOfCublasAndIsDoneWhenItReturns) {
  const int m = 33, n = 21;
  const auto a = matrix<cuComplex>(m, m), b = matrix<cuComplex>(m, n);
  auto c = matrix<cuComplex>(m, n), d = matrix<cuComplex>(m, n);
  const cuComplex alpha = make_cuComplex(0.5f, 1), zero = make_cuComplex(0, 0);
  auto size = [](int value) { return static_cast<size_t>(value); };
  auto expectSame = [&] {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) ASSERT_EQ(c.get(i, j), d.get(i, j));
  };
  ASSERT_EQ(cublasXtCgemm(xt, CUBLAS_OP_C, CUBLAS_OP_N, size(m), size(n), size(m), &alpha, a.data(), size(a.leading()),
                          b.data(), size(b.leading()), &zero, c.data(), size(c.leading())),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasCgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, m, n, m, &alpha, a.data(), a.leading(), b.data(), b.leading(),
                        &zero, d.data(), d.leading()),
            CUBLAS_STATUS_SUCCESS);
  wait();
  expectSame();
  ASSERT_EQ(cublasXtChemm(xt, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, size(m), size(n), &alpha, a.data(),
                          size(a.leading()), b.data(), size(b.leading()), &zero, c.data(), size(c.leading())),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasChemm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, m, n, &alpha, a.data(), a.leading(), b.data(),
                        b.leading(), &zero, d.data(), d.leading()),
            CUBLAS_STATUS_SUCCESS);
  wait();
  expectSame();
  // A packed triangle is the matrix whose triangle it is.
  for (const auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    std::vector<cuComplex> packed;
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i)
        if (fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) packed.push_back(a.at(i, j));
    ASSERT_EQ(cublasXtCspmm(xt, CUBLAS_SIDE_LEFT, fill, size(m), size(n), &alpha, packed.data(), b.data(),
                            size(b.leading()), &zero, c.data(), size(c.leading())),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasCsymm(handle, CUBLAS_SIDE_LEFT, fill, m, n, &alpha, a.data(), a.leading(), b.data(), b.leading(),
                          &zero, d.data(), d.leading()),
              CUBLAS_STATUS_SUCCESS);
    wait();
    expectSame();
  }
}

TEST_F(XtTests, SettingsAreCheckedAndKept) {
  int value = 0, devices[] = {0, 99};
  EXPECT_EQ(cublasXtMaxBoards(&value), CUBLAS_STATUS_SUCCESS);
  EXPECT_GE(value, 1);
  EXPECT_EQ(cublasXtDeviceSelect(xt, 1, devices), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasXtDeviceSelect(xt, 2, devices), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasXtSetBlockDim(xt, 256), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasXtGetBlockDim(xt, &value), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(value, 256);
  EXPECT_EQ(cublasXtSetBlockDim(xt, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasXtSetCpuRatio(xt, CUBLASXT_GEMM, CUBLASXT_FLOAT, 0.25f), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasXtSetCpuRatio(xt, CUBLASXT_GEMM, CUBLASXT_FLOAT, 2), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasXtCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasXtDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(Tests, EmulationIsNeverUsedAndSaysSo) {
  const Array<double> a(2, 2, 2);
  Array<double> c(2, 2, 2);
  const double one = 1, zero = 0;
  int bits = 7;
  cudaEmulationMantissaControl control = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  EXPECT_EQ(cublasSetMathMode(handle, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER), CUBLAS_STATUS_SUCCESS);
  cudaEmulationStrategy strategy = CUDA_EMULATION_STRATEGY_DEFAULT;
  EXPECT_EQ(cublasSetEmulationStrategy(handle, CUDA_EMULATION_STRATEGY_PERFORMANT), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetEmulationStrategy(handle, &strategy), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(strategy, CUDA_EMULATION_STRATEGY_PERFORMANT);
  EXPECT_EQ(cublasSetFixedPointEmulationMantissaControl(handle, CUDA_EMULATION_MANTISSA_CONTROL_FIXED),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetFixedPointEmulationMantissaControl(handle, &control), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(control, CUDA_EMULATION_MANTISSA_CONTROL_FIXED);
  EXPECT_EQ(cublasSetFixedPointEmulationMaxMantissaBitCount(handle, -1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSetFixedPointEmulationMantissaBitCountPointer(handle, &bits), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.data(), 2, a.data(), 2, &zero, c.data(), 2),
            CUBLAS_STATUS_SUCCESS);
  wait();
  EXPECT_EQ(bits, -1);
}

}  // namespace
}  // namespace ordito::cublas::test
