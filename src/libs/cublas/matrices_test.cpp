// Every product, update and solution of cuBLAS with random arguments, sizes 0 to 70, steps and leading dimensions,
// against sums in double: results, what must not be read (NaN) and what must not be written.
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

BY_TYPE(gemm)
BY_TYPE(gemmStridedBatched)
BY_TYPE(gemmBatched)
BY_TYPE(gemv)
BY_TYPE(symm)
BY_TYPE(syrk)
BY_TYPE(syr2k)
BY_TYPE(syrkx)
BY_TYPE(trmm)
BY_TYPE(trsm)
BY_TYPE(trmv)
BY_TYPE(trsv)
BY_TYPE(geam)
BY_TYPE(dgmm)
BY_TYPE(axpy)
BY_TYPE(getrfBatched)
BY_TYPE(getriBatched)
BY_TYPE(getrsBatched)
BY_COMPLEX_TYPE(hemm)
BY_COMPLEX_TYPE(herk)
BY_COMPLEX_TYPE(her2k)
BY_COMPLEX_TYPE(herkx)

/// OpenBLAS has other kernels for large products than for small ones.
TYPED_TEST(Typed, LargeResultsAreNotReadWhereBetaIsZero) {
  using T = TypeParam;
  for (const int k : {1, 7, 150}) {
    const int m = 301, n = 203;
    const Array<T> a(m, k, m), b(k, n, k);
    Array<T> c(m, n, m + 3);
    c.fill(NAN);
    const auto before = c.values();  // the call only begins the product
    const T one = narrow<T>(1.0), zero = narrow<T>(0.0);
    ASSERT_EQ(gemm<T>(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data(), m, b.data(), k, &zero, c.data(),
                      c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, before, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += a.get(i, l) * b.get(l, j);
          return sum;
        },
        always);
  }
}

TYPED_TEST(Typed, Gemm) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const bool isLarge = round % 40 == 39;  // cut into tiles
    auto size = [&] { return isLarge ? random(100, 150) : random(0, 70); };
    const int m = size(), n = size(), k = size();
    const auto opA = randomOperation(), opB = randomOperation();
    const auto a = opA == CUBLAS_OP_N ? matrix<T>(m, k) : matrix<T>(k, m);
    const auto b = opB == CUBLAS_OP_N ? matrix<T>(k, n) : matrix<T>(n, k);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) c.fill(NAN);
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(gemm<T>(this->handle, opA, opB, m, n, k, &one, a.data(), a.leading(), b.data(), b.leading(), &other,
                      c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, before, k,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < k; ++l) sum += operated(a, opA, i, l) * operated(b, opB, l, j);
          return alpha * sum +
                 (beta == 0.0
                      ? Wide(0)
                      : beta * before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)]);
        },
        always);
  }
}

TYPED_TEST(Typed, ManyProducts) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 4; ++round) {
    const int m = random(1, 20), n = random(1, 20), k = random(0, 20), count = random(1, 6);
    // Matrix i is the columns from i * columns on.
    const auto a = matrix<T>(m, k * count), b = matrix<T>(k, n * count);
    auto c = matrix<T>(m, n * count), d = matrix<T>(m, n * count);
    c.fill(NAN), d.fill(NAN);
    const T one = narrow<T>(1.0), zero = narrow<T>(0.0);
    auto steps = [](const Array<T>& of, int columns) { return static_cast<long long>(of.leading()) * columns; };
    ASSERT_EQ(
        gemmStridedBatched<T>(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.data(), a.leading(), steps(a, k),
                              b.data(), b.leading(), steps(b, n), &zero, c.data(), c.leading(), steps(c, n), count),
        CUBLAS_STATUS_SUCCESS);
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, static_cast<size_t>(3 * count) * sizeof(T*), CU_MEM_ATTACH_GLOBAL),
              CUDA_SUCCESS);
    T** pointers = reinterpret_cast<T**>(memory);
    for (int i = 0; i < count; ++i) {
      pointers[i] = a.data() + i * steps(a, k);
      pointers[count + i] = b.data() + i * steps(b, n);
      pointers[2 * count + i] = d.data() + i * steps(d, n);
    }
    ASSERT_EQ(gemmBatched<T>(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, pointers, a.leading(),
                             pointers + count, b.leading(), &zero, pointers + 2 * count, d.leading(), count),
              CUBLAS_STATUS_SUCCESS);
    auto reference = [&](int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < k; ++l) sum += a.get(i, j / n * k + l) * b.get(l, j);
      return sum;
    };
    this->template expectNear<T>(c, {}, k, reference, always);
    this->template expectNear<T>(d, {}, k, reference, always);
    cuMemFree(memory);
  }
}

TYPED_TEST(Typed, Gemv) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const bool isLarge = round % 40 == 39;
    const int m = isLarge ? random(400, 500) : random(0, 70), n = isLarge ? random(300, 400) : random(0, 70);
    const auto op = randomOperation();
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    const auto a = matrix<T>(m, n);
    const int incx = random(1, 3) * (random(0, 1) ? 1 : -1), incy = random(1, 3) * (random(0, 1) ? 1 : -1);
    const Array<T> x(1, columns, std::abs(incx));
    Array<T> y(1, rows, std::abs(incy));
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) y.fill(NAN);
    const auto before = y.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(gemv<T>(this->handle, op, m, n, &one, a.data(), a.leading(), x.data(), incx, &other, y.data(), incy),
              CUBLAS_STATUS_SUCCESS);
    if (m == 0 || n == 0) continue;
    this->template expectNear<T>(
        y, before, columns,
        [&](int, int place) {
          const int i = incy > 0 ? place : rows - 1 - place;
          Wide sum = 0;
          for (int j = 0; j < columns; ++j) sum += operated(a, op, i, j) * x.get(0, incx > 0 ? j : columns - 1 - j);
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(place)]);
        },
        always);
  }
}

/// Element (i, j) of a matrix of which one triangle is stored.
template <class T>
Wide symmetric(const Array<T>& a, cublasFillMode_t fill, bool hermitian, int i, int j) {
  const bool isStored = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
  const Wide v = isStored ? a.get(i, j) : a.get(j, i);
  if (!hermitian) return v;
  return i == j ? Wide(v.real()) : isStored ? v : std::conj(v);
}

TYPED_TEST(Typed, SymmetricTimesMatrix) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const bool hermitian = kComplex<T> && round % 2;
    const int m = random(1, 70), n = random(1, 70);
    const bool left = random(0, 1);
    const auto fill = randomFill();
    const auto a = matrix<T>(left ? m : n, left ? m : n), b = matrix<T>(m, n);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) c.fill(NAN);
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if constexpr (kComplex<T>) {
      status = (hermitian ? hemm<T, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T*, T*, int, T*,
                                 int, const T*, T*, int>
                          : symm<T, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T*, T*, int, T*,
                                 int, const T*, T*, int>)(this->handle, side, fill, m, n, &one, a.data(), a.leading(),
                                                          b.data(), b.leading(), &other, c.data(), c.leading());
    } else {
      status = symm<T>(this->handle, side, fill, m, n, &one, a.data(), a.leading(), b.data(), b.leading(), &other,
                       c.data(), c.leading());
    }
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, before, left ? m : n,
        [&](int i, int j) {
          Wide sum = 0;
          for (int l = 0; l < (left ? m : n); ++l)
            sum += left ? symmetric(a, fill, hermitian, i, l) * b.get(l, j)
                        : b.get(i, l) * symmetric(a, fill, hermitian, l, j);
          return alpha * sum +
                 (beta == 0.0
                      ? Wide(0)
                      : beta * before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)]);
        },
        always);
  }
}

TYPED_TEST(Typed, RankUpdates) {
  using T = TypeParam;
  using Real = typename RealOf<T>::Type;
  for (int round = 0; round < 6 * kRounds; ++round) {
    const int kind = round % 3;  // one matrix, two, two whose product is symmetric
    const bool hermitian = kComplex<T> && random(0, 1), isLarge = round % 120 > 117;
    const int n = isLarge ? 150 : random(1, 70), k = isLarge ? 90 : random(0, 70);
    const auto turned = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T, op = random(0, 1) ? CUBLAS_OP_N : turned;
    const auto fill = randomFill();
    const auto a = op == CUBLAS_OP_N ? matrix<T>(n, k) : matrix<T>(k, n);
    const auto b = op == CUBLAS_OP_N ? matrix<T>(n, k) : matrix<T>(k, n);
    auto c = matrix<T>(n, n);
    Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (hermitian) beta = beta.real();
    if (hermitian && kind == 0) alpha = alpha.real();
    if (hermitian)
      for (int i = 0; i < n; ++i) c.at(i, i) = narrow<T>(c.get(i, i).real());
    const bool isLower = fill == CUBLAS_FILL_MODE_LOWER;
    auto isStored = [&](int i, int j) { return isLower ? i >= j : i <= j; };
    if (beta == 0.0)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
          if (isStored(i, j)) c.at(i, j) = narrow<T>({NAN, NAN});
    const auto before = c.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const Real realOne = static_cast<Real>(alpha.real()), realOther = static_cast<Real>(beta.real());
    const int lda = a.leading(), ldb = b.leading(), ldc = c.leading();
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if constexpr (kComplex<T>) {
      if (hermitian && kind == 0)
        status = herk<T>(this->handle, fill, op, n, k, &realOne, a.data(), lda, &realOther, c.data(), ldc);
      if (hermitian && kind == 1)
        status = her2k<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &realOther, c.data(), ldc);
      if (hermitian && kind == 2)
        status = herkx<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &realOther, c.data(), ldc);
    }
    if (!hermitian && kind == 0)
      status = syrk<T>(this->handle, fill, op, n, k, &one, a.data(), lda, &other, c.data(), ldc);
    if (!hermitian && kind == 1)
      status = syr2k<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &other, c.data(), ldc);
    if (!hermitian && kind == 2)
      status = syrkx<T>(this->handle, fill, op, n, k, &one, a.data(), lda, b.data(), ldb, &other, c.data(), ldc);
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    auto product = [&](const Array<T>& x, const Array<T>& y, int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < k; ++l) {
        const Wide right = operated(y, op, j, l);
        sum += operated(x, op, i, l) * (hermitian ? std::conj(right) : right);
      }
      return sum;
    };
    this->template expectNear<T>(
        c, before, 2 * k,
        [&](int i, int j) {
          Wide sum = kind == 0 ? alpha * product(a, a, i, j) : alpha * product(a, b, i, j);
          if (kind == 1) sum += (hermitian ? std::conj(alpha) : alpha) * product(b, a, i, j);
          if (hermitian && i == j) sum = sum.real();
          return sum + (beta == 0.0
                            ? Wide(0)
                            : beta * before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(n)]);
        },
        isStored);
  }
}

TYPED_TEST(Typed, Triangular) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const bool isLarge = round % 60 == 59;
    const int m = isLarge ? 120 : random(1, 50), n = isLarge ? 120 : random(1, 50);
    const bool left = random(0, 1), unit = random(0, 1);
    const int order = left ? m : n;
    const auto fill = randomFill();
    const auto op = randomOperation();
    const auto diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    auto a = matrix<T>(order, order);
    // Well conditioned, and what is not the triangle's must not be read.
    for (int j = 0; j < order; ++j)
      for (int i = 0; i < order; ++i) {
        const bool isStored = fill == CUBLAS_FILL_MODE_LOWER ? i > j : i < j;
        a.at(i, j) = narrow<T>(isStored          ? a.get(i, j) / static_cast<double>(order)
                               : i == j && !unit ? 2.0 + a.get(i, j) / 2.0
                                                 : Wide(NAN, NAN));
      }
    auto entry = [&](int i, int j) {
      if (i == j) return unit ? Wide(1) : op == CUBLAS_OP_C ? std::conj(a.get(i, i)) : a.get(i, i);
      const bool isStored = (fill == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N ? i > j : i < j);
      return isStored ? operated(a, op, i, j) : Wide(0);
    };
    const auto b = matrix<T>(m, n);
    auto c = matrix<T>(m, n);
    const Wide alpha = randomWide(kComplex<T>);
    const T one = narrow<T>(alpha);
    ASSERT_EQ(trmm<T>(this->handle, side, fill, op, diag, m, n, &one, a.data(), a.leading(), b.data(), b.leading(),
                      c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    auto reference = [&](const Array<T>& of, int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < order; ++l) sum += left ? entry(i, l) * of.get(l, j) : of.get(i, l) * entry(l, j);
      return sum;
    };
    this->template expectNear<T>(c, {}, order, [&](int i, int j) { return alpha * reference(b, i, j); }, always);
    // What solving gives, multiplied again, is what it was given.
    const auto given = c.values();
    ASSERT_EQ(trsm<T>(this->handle, side, fill, op, diag, m, n, &one, a.data(), a.leading(), c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        ASSERT_LE(std::abs(reference(c, i, j) -
                           alpha * given[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(m)]),
                  8 * tolerance<T>(order));
    const int step = random(1, 2) * (random(0, 1) ? 1 : -1);
    Array<T> x(1, order, std::abs(step));
    const auto start = x.values();
    ASSERT_EQ(trmv<T>(this->handle, fill, op, diag, order, a.data(), a.leading(), x.data(), step),
              CUBLAS_STATUS_SUCCESS);
    auto place = [&](int i) { return step > 0 ? i : order - 1 - i; };
    this->template expectNear<T>(
        x, start, order,
        [&](int, int at) {
          Wide sum = 0;
          for (int l = 0; l < order; ++l) sum += entry(place(at), l) * start[static_cast<size_t>(place(l))];
          return sum;
        },
        always);
    ASSERT_EQ(trsv<T>(this->handle, fill, op, diag, order, a.data(), a.leading(), x.data(), step),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        x, start, 8 * order, [&](int, int at) { return start[static_cast<size_t>(at)]; }, always);
  }
}

TYPED_TEST(Typed, SumsAndDiagonals) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const int m = random(1, 70), n = random(1, 70);
    const auto opA = randomOperation(), opB = randomOperation();
    const auto a = opA == CUBLAS_OP_N ? matrix<T>(m, n) : matrix<T>(n, m);
    const auto b = opB == CUBLAS_OP_N ? matrix<T>(m, n) : matrix<T>(n, m);
    auto c = matrix<T>(m, n);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(geam<T>(this->handle, opA, opB, m, n, &one, a.data(), a.leading(), &other, b.data(), b.leading(),
                      c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        c, {}, 2, [&](int i, int j) { return alpha * operated(a, opA, i, j) + beta * operated(b, opB, i, j); }, always);
    const bool left = random(0, 1);
    const auto d = matrix<T>(m, n);
    const Array<T> x(1, left ? m : n, 2);
    ASSERT_EQ(dgmm<T>(this->handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, m, n, d.data(), d.leading(), x.data(),
                      2, c.data(), c.leading()),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(c, {}, 1, [&](int i, int j) { return d.get(i, j) * x.get(0, left ? i : j); }, always);
  }
}

TYPED_TEST(Typed, FactorsInvertAndSolve) {
  using T = TypeParam;
  for (int round = 0; round < kRounds / 3; ++round) {
    const int n = random(1, 40), columns = random(1, 5);
    const bool pivots = random(0, 1);
    auto a = matrix<T>(n, n), b = matrix<T>(n, columns), inverse = matrix<T>(n, n);
    for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i) + 2.0 * n);
    const auto values = a.values(), right = b.values();
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    T** pointers = reinterpret_cast<T**>(memory);
    pointers[0] = a.data(), pointers[1] = inverse.data(), pointers[2] = b.data();
    int *info = reinterpret_cast<int*>(memory + 64), *exchanged = pivots ? info + 4 : nullptr, hostInfo = -7;
    ASSERT_EQ(getrfBatched<T>(this->handle, n, pointers, a.leading(), exchanged, info, 1), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(getriBatched<T>(this->handle, n, pointers, a.leading(), exchanged, pointers + 1, inverse.leading(),
                              info + 1, 1),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(getrsBatched<T>(this->handle, CUBLAS_OP_N, n, columns, pointers, a.leading(), exchanged, pointers + 2,
                              b.leading(), &hostInfo, 1),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    EXPECT_EQ(info[0], 0);
    EXPECT_EQ(info[1], 0);
    EXPECT_EQ(hostInfo, 0);
    auto times = [&](const Array<T>& with, int i, int j) {
      Wide sum = 0;
      for (int l = 0; l < n; ++l)
        sum += values[static_cast<size_t>(i) + static_cast<size_t>(l) * static_cast<size_t>(n)] * with.get(l, j);
      return sum;
    };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) ASSERT_LE(std::abs(times(inverse, i, j) - (i == j ? 1.0 : 0.0)), 4 * tolerance<T>(n));
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i)
        ASSERT_LE(
            std::abs(times(b, i, j) - right[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(n)]),
            8 * tolerance<T>(n));
    cuMemFree(memory);
  }
}

}  // namespace
}  // namespace ordito::cublas::test
