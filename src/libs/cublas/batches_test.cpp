// Many small problems at once, in arrays of pointers, and what else of cuBLAS has no reference in the other files:
// random sizes put back into their equations, or against sums in double.
#include <memory>

#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

BY_TYPE(trsmBatched)
BY_TYPE(matinvBatched)
BY_TYPE(geqrfBatched)
BY_TYPE(gelsBatched)
BY_TYPE(gemvBatched)
BY_TYPE(gemvStridedBatched)
BY_TYPE(copy)
BY_TYPE(swap)
BY_TYPE(rot)

/// Matrices one beside the other in memory, and the device's array of pointers to them.
template <class T>
struct Batch {
  Batch(int rows, int columns, int count) : n(columns), all(rows, columns * count, std::max(1, rows) + random(0, 4)) {
    EXPECT_EQ(cuMemAllocManaged(&memory, static_cast<size_t>(count + 1) * sizeof(T*), CU_MEM_ATTACH_GLOBAL),
              CUDA_SUCCESS);
    for (int i = 0; i < count; ++i) pointers()[i] = all.data() + static_cast<ptrdiff_t>(i) * n * all.leading();
  }
  ~Batch() { cuMemFree(memory); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  T** pointers() const { return reinterpret_cast<T**>(memory); }
  Wide get(int which, int i, int j) const { return all.get(i, which * n + j); }
  T& at(int which, int i, int j) const { return all.at(i, which * n + j); }
  int leading() const { return all.leading(); }

  int n;
  Array<T> all;
  CUdeviceptr memory = 0;
};

TYPED_TEST(Typed, TriangularSystems) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(0, 20), n = random(0, 20), count = random(0, 4);
    const auto side = static_cast<cublasSideMode_t>(random(0, 1));
    const auto fill = randomFill();
    const auto op = randomOperation();
    const auto diag = static_cast<cublasDiagType_t>(random(0, 1));
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    const Batch<T> a(order, order, count), b(m, n, count);
    for (int which = 0; which < count; ++which)
      for (int j = 0; j < order; ++j)
        for (int i = 0; i < order; ++i) {
          const bool isStored = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
          const bool isRead = isStored && !(i == j && diag == CUBLAS_DIAG_UNIT);
          const Wide v = i == j ? Wide(3) : a.get(which, i, j) / (order + 1.0);
          a.at(which, i, j) = narrow<T>(isRead ? v : Wide(NAN, NAN));
        }
    const auto before = b.all.values();
    const T alpha = narrow<T>(2.0);
    ASSERT_EQ(trsmBatched<T>(this->handle, side, fill, op, diag, m, n, &alpha, a.pointers(), a.leading(), b.pointers(),
                             b.leading(), count),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    auto element = [&](int which, int i, int j) {
      const int row = op == CUBLAS_OP_N ? i : j, column = op == CUBLAS_OP_N ? j : i;
      if (row == column && diag == CUBLAS_DIAG_UNIT) return Wide(1);
      if (fill == CUBLAS_FILL_MODE_LOWER ? row < column : row > column) return Wide(0);
      const Wide v = a.get(which, row, column);
      return op == CUBLAS_OP_C ? std::conj(v) : v;
    };
    for (int which = 0; which < count; ++which)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          Wide sum = -2.0 * before[i + (which * n + j) * m];
          for (int k = 0; k < order; ++k)
            sum += side == CUBLAS_SIDE_LEFT ? element(which, i, k) * b.get(which, k, j)
                                            : b.get(which, i, k) * element(which, k, j);
          ASSERT_LE(std::abs(sum), 10 * tolerance<T>(order));
        }
  }
}

TYPED_TEST(Typed, Inverses) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 4; ++round) {
    const int n = random(1, 32), count = random(1, 4);  // the manual's largest
    const Batch<T> a(n, n, count), inverse(n, n, count);
    std::vector<int> info(static_cast<size_t>(count), -1);
    for (int which = 0; which < count; ++which)
      for (int i = 0; i < n; ++i) a.at(which, i, i) = narrow<T>(a.get(which, i, i) + 4.0);
    ASSERT_EQ(matinvBatched<T>(this->handle, n, a.pointers(), a.leading(), inverse.pointers(), inverse.leading(),
                               info.data(), count),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    for (int which = 0; which < count; ++which) {
      ASSERT_EQ(info[static_cast<size_t>(which)], 0);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          Wide sum = i == j ? -1 : 0;
          for (int k = 0; k < n; ++k) sum += a.get(which, i, k) * inverse.get(which, k, j);
          ASSERT_LE(std::abs(sum), 100 * tolerance<T>(n));
        }
    }
    EXPECT_EQ(matinvBatched<T>(this->handle, 33, a.pointers(), 33, inverse.pointers(), 33, info.data(), count),
              CUBLAS_STATUS_INVALID_VALUE);
  }
}

TYPED_TEST(Typed, LeastSquaresOfMany) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 4; ++round) {
    const int n = random(1, 10), m = n + random(0, 15), columns = random(1, 3), count = random(1, 3);
    const Batch<T> a(m, n, count), c(m, columns, count), tau(n, 1, count), factors(m, n, count);
    const auto before = a.all.values(), right = c.all.values();
    auto element = [&](int which, int i, int j) { return before[i + (which * n + j) * m]; };
    for (int which = 0; which < count; ++which)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) factors.at(which, i, j) = narrow<T>(element(which, i, j));
    std::vector<int> each(static_cast<size_t>(count), -1);
    int info = -1;
    ASSERT_EQ(gelsBatched<T>(this->handle, CUBLAS_OP_N, m, n, columns, a.pointers(), a.leading(), c.pointers(),
                             c.leading(), &info, each.data(), count),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(geqrfBatched<T>(this->handle, m, n, factors.pointers(), factors.leading(), tau.pointers(), &info, count),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    ASSERT_EQ(info, 0);
    for (int which = 0; which < count; ++which) {
      ASSERT_EQ(each[static_cast<size_t>(which)], 0);
      for (int j = 0; j < columns; ++j) {
        // What is left is at a right angle to A's columns.
        for (int l = 0; l < n; ++l) {
          Wide sum = 0;
          for (int i = 0; i < m; ++i) {
            Wide rest = -right[i + (which * columns + j) * m];
            for (int k = 0; k < n; ++k) rest += element(which, i, k) * c.get(which, k, j);
            sum += std::conj(element(which, i, l)) * rest;
          }
          ASSERT_LE(std::abs(sum), 200 * tolerance<T>(m));
        }
      }
      // R^H R = A^H A.
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          Wide sum = 0;
          for (int k = 0; k < m; ++k) sum -= std::conj(element(which, k, i)) * element(which, k, j);
          for (int k = 0; k <= std::min(i, j); ++k)
            sum += std::conj(factors.get(which, k, i)) * factors.get(which, k, j);
          ASSERT_LE(std::abs(sum), 20 * tolerance<T>(m));
        }
    }
  }
}

/// As recorded on a GPU: which argument the info of gels tells, and that empty matrices need not be there.
TEST_F(Tests, FactorizationsOfNothingAndTheirInfos) {
  const Batch<float> a(3, 2, 1), c(3, 1, 1);
  int info = 7, each[1] = {7};
  const auto gels = [&](int m, int n, int columns, int lda, int ldc, int count) {
    return cublasSgelsBatched(handle, CUBLAS_OP_N, m, n, columns, a.pointers(), lda, c.pointers(), ldc, &info, each,
                              count);
  };
  const int wrong[][7] = {{-1, 2, 1, 3, 3, 1, -1}, {3, 2, -1, 3, 3, 1, -2}, {3, -1, 1, 3, 3, 1, -3},
                          {3, 2, 1, 2, 3, 1, -5},  {3, 2, 1, 3, 2, 1, -7},  {3, 2, 1, 3, 3, -1, -8}};
  for (const auto& w : wrong) {
    EXPECT_EQ(gels(w[0], w[1], w[2], w[3], w[4], w[5]), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(info, w[6]);
  }
  EXPECT_EQ(gels(2, 3, 1, 3, 3, 1), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gels(2, 3, 1, 3, 3, 0), CUBLAS_STATUS_SUCCESS);  // none of them
  EXPECT_EQ(cublasSgelsBatched(handle, CUBLAS_OP_N, 0, 2, 1, nullptr, 3, nullptr, 3, &info, each, 1),
            CUBLAS_STATUS_SUCCESS);
  wait();
  EXPECT_EQ(info, 0);
  EXPECT_EQ(each[0], 7);  // nothing is written
  EXPECT_EQ(cublasSgeqrfBatched(handle, 0, 2, nullptr, 3, nullptr, &(info = 7), 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(cublasSgetrsBatched(handle, CUBLAS_OP_N, 0, 1, nullptr, 3, nullptr, nullptr, 3, &(info = 7), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info, 0);
  EXPECT_EQ(cublasSgetrfBatched(handle, 0, nullptr, 3, nullptr, &(info = 7), 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSgetriBatched(handle, 0, nullptr, 3, nullptr, nullptr, 3, each, 1), CUBLAS_STATUS_SUCCESS);
  wait();
  EXPECT_EQ(info, 0);
  EXPECT_EQ(cublasSmatinvBatched(handle, 0, nullptr, 3, nullptr, 3, &(info = 7), 1), CUBLAS_STATUS_SUCCESS);
  wait();
  EXPECT_EQ(info, 0);
}

TYPED_TEST(Typed, ManyMatricesTimesVectors) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 2; ++round) {
    const int m = random(0, 30), n = random(0, 30), count = random(0, 4);
    const auto op = randomOperation();
    const int rows = op == CUBLAS_OP_N ? m : n, columns = m + n - rows;
    const Batch<T> a(m, n, count), x(columns, 1, count), y(rows, 1, count), z(rows, 1, count);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const auto before = y.all.values();
    for (int which = 0; which < count; ++which)
      for (int i = 0; i < rows; ++i) z.at(which, i, 0) = y.at(which, i, 0);
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const int lda = std::max(a.leading(), 1);
    ASSERT_EQ(gemvBatched<T>(this->handle, op, m, n, &one, a.pointers(), lda, x.pointers(), 1, &other, y.pointers(), 1,
                             count),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(gemvStridedBatched<T>(this->handle, op, m, n, &one, a.all.data(), lda, static_cast<long long>(lda) * n,
                                    x.all.data(), 1, x.leading(), &other, z.all.data(), 1, z.leading(), count),
              CUBLAS_STATUS_SUCCESS);
    if (m == 0 || n == 0) continue;
    auto reference = [&](int i, int which) {
      Wide sum = 0;
      for (int k = 0; k < columns; ++k) {
        const Wide v = op == CUBLAS_OP_N ? a.get(which, i, k) : a.get(which, k, i);
        sum += (op == CUBLAS_OP_C ? std::conj(v) : v) * x.get(which, k, 0);
      }
      return alpha * sum + beta * before[i + which * rows];
    };
    this->template expectNear<T>(y.all, {}, columns, reference, always);
    this->template expectNear<T>(z.all, {}, columns, reference, always);
  }
}

TYPED_TEST(Typed, VectorsThatMove) {
  using T = TypeParam;
  for (int round = 0; round < kRounds; ++round) {
    const int n = random(0, 70), incx = random(1, 3), incy = random(1, 3) * (random(0, 1) ? 1 : -1);
    const Array<T> x(1, n, incx), y(1, n, std::abs(incy));
    const auto first = x.values(), second = y.values();
    auto other = [&](int i) { return incy > 0 ? i : n - 1 - i; };
    ASSERT_EQ(swap<T>(this->handle, n, x.data(), incx, y.data(), incy), CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(x, {}, 0, [&](int, int i) { return second[static_cast<size_t>(other(i))]; }, always);
    this->template expectNear<T>(y, {}, 0, [&](int, int i) { return first[static_cast<size_t>(other(i))]; }, always);
    ASSERT_EQ(copy<T>(this->handle, n, x.data(), incx, y.data(), incy), CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(y, {}, 0, [&](int, int i) { return second[static_cast<size_t>(i)]; }, always);
    using Real = typename RealOf<T>::Type;
    const Real c = static_cast<Real>(0.6);
    const T s = narrow<T>(Wide(0.8, 0));
    // Both are the same vector now: (c + s) v and (c - s) v.
    ASSERT_EQ(rot<T>(this->handle, n, x.data(), incx, y.data(), incy, &c, &s), CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        x, {}, 2, [&](int, int i) { return 1.4 * second[static_cast<size_t>(other(i))]; }, always);
  }
}

TEST_F(Tests, SmallTypesInBatches) {
  for (int round = 0; round < kRounds / 2; ++round) {
    const bool isLarge = round == 0;  // each alone would be shared between threads
    const int m = isLarge ? 80 : random(1, 30), n = isLarge ? 80 : random(1, 30), k = isLarge ? 100 : random(1, 30);
    const int count = isLarge ? 40 : random(1, 4);
    const Batch<__half> a(m, k, count), b(k, n, count), c(m, n, count), d(m, n, count);
    const float one = 1, zero = 0;
    auto bytes = [](const Batch<__half>& batch) { return reinterpret_cast<void**>(batch.pointers()); };
    auto stride = [](const Batch<__half>& batch) { return static_cast<long long>(batch.leading()) * batch.n; };
    ASSERT_EQ(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, bytes(a), CUDA_R_16F, a.leading(),
                                  bytes(b), CUDA_R_16F, b.leading(), &zero, bytes(c), CUDA_R_16F, c.leading(), count,
                                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.all.data(), CUDA_R_16F,
                                         a.leading(), stride(a), b.all.data(), CUDA_R_16F, b.leading(), stride(b),
                                         &zero, d.all.data(), CUDA_R_16F, d.leading(), stride(d), count,
                                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              CUBLAS_STATUS_SUCCESS);
    auto reference = [&](int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < k; ++l) sum += a.get(j / n, i, l) * b.all.get(l, j);
      return sum;
    };
    expectNear<__half>(c.all, {}, k, reference, always);
    expectNear<__half>(d.all, {}, k, reference, always);
  }
}

TEST_F(Tests, ProductsOfComplexNumbersByThreeProducts) {
  const int m = 20, n = 15, k = 25;
  const Array<cuComplex> a(m, k, m), b(k, n, k), c(m, n, m);
  const cuComplex one = make_cuComplex(1, 0), zero = make_cuComplex(0, 0);
  auto reference = [&](int i, int j) {
    Wide sum = 0;
    for (int l = 0; l < k; ++l) sum += a.get(i, l) * b.get(l, j);
    return sum;
  };
  ASSERT_EQ(
      cublasCgemm3m(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data(), m, b.data(), k, &zero, c.data(), m),
      CUBLAS_STATUS_SUCCESS);
  expectNear<cuComplex>(c, {}, k, reference, always);
  ASSERT_EQ(cublasCgemm3mEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data(), CUDA_C_32F, m, b.data(),
                            CUDA_C_32F, k, &zero, c.data(), CUDA_C_32F, m),
            CUBLAS_STATUS_SUCCESS);
  expectNear<cuComplex>(c, {}, k, reference, always);
}

}  // namespace
}  // namespace ordito::cublas::test
