// cuBLAS level 2 in the storages that level 3 does not have: bands, packed triangles, updates by vectors.
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {
namespace {

BY_TYPE(gbmv)
BY_TYPE(tbmv)
BY_TYPE(tbsv)
BY_TYPE(tpmv)
BY_TYPE(tpsv)
BY_TYPE(symv)
BY_TYPE(syr)
BY_TYPE(syr2)
BY_TYPE(tpttr)
BY_TYPE(trttp)
BY_COMPLEX_TYPE(hemv)
BY_COMPLEX_TYPE(hbmv)
BY_COMPLEX_TYPE(hpmv)
BY_COMPLEX_TYPE(her)
BY_COMPLEX_TYPE(her2)
BY_COMPLEX_TYPE(hpr)
BY_COMPLEX_TYPE(hpr2)
BY_COMPLEX_TYPE(geru)
BY_COMPLEX_TYPE(gerc)

// Symmetric for real numbers, Hermitian for complex ones.
#define BY_SYMMETRY(name, real, complex)          \
  template <class T, class... A>                  \
  cublasStatus_t name(A... a) {                   \
    if constexpr (std::is_same_v<T, float>)       \
      return cublasS##real(a...);                 \
    else if constexpr (std::is_same_v<T, double>) \
      return cublasD##real(a...);                 \
    else                                          \
      return complex<T>(a...);                    \
  }
BY_SYMMETRY(fullTimes, symv, hemv)
BY_SYMMETRY(bandTimes, sbmv, hbmv)
BY_SYMMETRY(packedTimes, spmv, hpmv)
BY_SYMMETRY(rank1, syr, her)
BY_SYMMETRY(packedRank1, spr, hpr)
BY_SYMMETRY(rank2, syr2, her2)
BY_SYMMETRY(packedRank2, spr2, hpr2)
BY_SYMMETRY(outer, ger, geru)
BY_SYMMETRY(outerConjugate, ger, gerc)

/// A triangle, packed: element (i, j) of it, or where it would be.
struct Packed {
  cublasFillMode_t fill;
  int n;
  bool has(int i, int j) const { return fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j; }
  int size() const { return n * (n + 1) / 2; }
  int place(int i, int j) const {
    return fill == CUBLAS_FILL_MODE_LOWER ? i + j * n - j * (j + 1) / 2 : i + j * (j + 1) / 2;
  }
};

template <class T>
struct Level2 : Typed<T> {};
TYPED_TEST_SUITE(Level2, Types);

TYPED_TEST(Level2, HermitianTimesVector) {
  using T = TypeParam;
  for (int round = 0; round < 3 * kRounds; ++round) {
    const int n = random(1, 70), k = random(0, n - 1), kind = round % 3;
    const Packed triangle{randomFill(), n};
    auto full = matrix<T>(n, n);
    for (int i = 0; i < n; ++i) full.at(i, i) = narrow<T>(full.get(i, i).real());
    auto band = Array<T>(k + 1, n, k + 1 + random(0, 2)), packed = Array<T>(1, triangle.size(), 1);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        if (!triangle.has(i, j)) continue;
        packed.at(0, triangle.place(i, j)) = full.at(i, j);
        if (std::abs(i - j) <= k)
          band.at(triangle.fill == CUBLAS_FILL_MODE_LOWER ? i - j : k + i - j, j) = full.at(i, j);
      }
    auto entry = [&](int i, int j) {
      if (kind == 1 && std::abs(i - j) > k) return Wide(0);
      return triangle.has(i, j) ? full.get(i, j) : std::conj(full.get(j, i));
    };
    const int incx = random(1, 2), incy = random(1, 2);
    const Array<T> x(1, n, incx);
    Array<T> y(1, n, incy);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) y.fill(NAN);
    const auto before = y.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    const auto status = kind == 0   ? fullTimes<T>(this->handle, triangle.fill, n, &one, full.data(), full.leading(),
                                                   x.data(), incx, &other, y.data(), incy)
                        : kind == 1 ? bandTimes<T>(this->handle, triangle.fill, n, k, &one, band.data(), band.leading(),
                                                   x.data(), incx, &other, y.data(), incy)
                                    : packedTimes<T>(this->handle, triangle.fill, n, &one, packed.data(), x.data(),
                                                     incx, &other, y.data(), incy);
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        y, before, n,
        [&](int, int i) {
          Wide sum = 0;
          for (int j = 0; j < n; ++j) sum += entry(i, j) * x.get(0, j);
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(i)]);
        },
        always);
  }
}

TYPED_TEST(Level2, BandTimesVector) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const int m = random(1, 70), n = random(1, 70), kl = random(0, m - 1), ku = random(0, n - 1);
    const auto op = randomOperation();
    const auto a = Array<T>(kl + ku + 1, n, kl + ku + 1 + random(0, 2));
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    const Array<T> x(1, columns, 1);
    Array<T> y(1, rows, 2);
    const Wide alpha = this->randomScalar(), beta = this->randomScalar();
    if (beta == 0.0) y.fill(NAN);
    const auto before = y.values();
    const T one = narrow<T>(alpha), other = narrow<T>(beta);
    ASSERT_EQ(gbmv<T>(this->handle, op, m, n, kl, ku, &one, a.data(), a.leading(), x.data(), 1, &other, y.data(), 2),
              CUBLAS_STATUS_SUCCESS);
    auto entry = [&](int i, int j) { return i - j > kl || j - i > ku ? Wide(0) : a.get(ku + i - j, j); };
    this->template expectNear<T>(
        y, before, columns,
        [&](int, int i) {
          Wide sum = 0;
          for (int j = 0; j < columns; ++j) {
            const Wide v = op == CUBLAS_OP_N ? entry(i, j) : entry(j, i);
            sum += (op == CUBLAS_OP_C ? std::conj(v) : v) * x.get(0, j);
          }
          return alpha * sum + (beta == 0.0 ? Wide(0) : beta * before[static_cast<size_t>(i)]);
        },
        always);
  }
}

TYPED_TEST(Level2, UpdatesByVectors) {
  using T = TypeParam;
  using Real = typename RealOf<T>::Type;
  for (int round = 0; round < 4 * kRounds; ++round) {
    const int n = random(1, 60), m = random(1, 60), kind = round % 4;
    const bool conjugate = random(0, 1);
    const int incx = random(1, 2) * (random(0, 1) ? 1 : -1);
    const Packed triangle{randomFill(), n};
    const int rows = kind == 0 ? m : n;
    const Array<T> x(1, rows, std::abs(incx)), y(1, n, 1);
    auto a = matrix<T>(rows, n);
    if (kind > 0)
      for (int i = 0; i < n; ++i) a.at(i, i) = narrow<T>(a.get(i, i).real());
    Array<T> packed(1, triangle.size(), 1);
    ASSERT_EQ(kind == 0 ? CUBLAS_STATUS_SUCCESS
                        : trttp<T>(this->handle, triangle.fill, n, a.data(), a.leading(), packed.data()),
              CUBLAS_STATUS_SUCCESS);
    const auto before = a.values();
    Wide alpha = randomWide(kComplex<T>);
    if (kind == 1) alpha = alpha.real();
    const T one = narrow<T>(alpha);
    const Real real = static_cast<Real>(alpha.real());
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS, packedStatus = status;
    if (kind == 0)
      status = conjugate
                   ? outerConjugate<T>(this->handle, m, n, &one, x.data(), incx, y.data(), 1, a.data(), a.leading())
                   : outer<T>(this->handle, m, n, &one, x.data(), incx, y.data(), 1, a.data(), a.leading());
    if (kind == 1) {
      status = rank1<T>(this->handle, triangle.fill, n, &real, x.data(), incx, a.data(), a.leading());
      packedStatus = packedRank1<T>(this->handle, triangle.fill, n, &real, x.data(), incx, packed.data());
    }
    if (kind == 2) {
      status = rank2<T>(this->handle, triangle.fill, n, &one, x.data(), incx, y.data(), 1, a.data(), a.leading());
      packedStatus = packedRank2<T>(this->handle, triangle.fill, n, &one, x.data(), incx, y.data(), 1, packed.data());
    }
    if (kind == 3)
      status = syr2<T>(this->handle, triangle.fill, n, &one, x.data(), incx, y.data(), 1, a.data(), a.leading());
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(packedStatus, CUBLAS_STATUS_SUCCESS);
    auto xAt = [&](int i) { return x.get(0, incx > 0 ? i : rows - 1 - i); };
    auto yAt = [&](int i) { return y.get(0, i); };
    auto reference = [&](int i, int j) {
      const Wide start = before[static_cast<size_t>(i) + static_cast<size_t>(j) * static_cast<size_t>(rows)];
      if (kind == 0) return start + alpha * xAt(i) * (conjugate ? std::conj(yAt(j)) : yAt(j));
      if (kind == 1) return start + alpha * xAt(i) * std::conj(xAt(j));
      if (kind == 2) return start + alpha * xAt(i) * std::conj(yAt(j)) + std::conj(alpha) * yAt(i) * std::conj(xAt(j));
      return start + alpha * (xAt(i) * yAt(j) + yAt(i) * xAt(j));
    };
    this->template expectNear<T>(a, before, 3, reference,
                                 [&](int i, int j) { return kind == 0 || triangle.has(i, j); });
    if (kind == 1 || kind == 2)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
          if (triangle.has(i, j))
            ASSERT_LE(std::abs(packed.get(0, triangle.place(i, j)) - reference(i, j)), tolerance<T>(3));
  }
}

TYPED_TEST(Level2, BandedAndPackedTriangles) {
  using T = TypeParam;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const int n = random(1, 70), k = random(0, n - 1);
    const bool banded = round % 2, unit = random(0, 1);
    const Packed triangle{randomFill(), n};
    const bool lower = triangle.fill == CUBLAS_FILL_MODE_LOWER;
    const auto op = randomOperation();
    const auto diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const Array<T> band(k + 1, n, k + 1 + random(0, 2)), packed(1, triangle.size(), 1);
    auto stored = [&](int i, int j) -> T& {
      return banded ? band.at(lower ? i - j : k + i - j, j) : packed.at(0, triangle.place(i, j));
    };
    auto exists = [&](int i, int j) { return triangle.has(i, j) && (!banded || std::abs(i - j) <= k); };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        if (exists(i, j))
          stored(i, j) =
              narrow<T>(i == j ? 2.0 + widen(stored(i, j)) / 2.0 : widen(stored(i, j)) / static_cast<double>(n));
    auto entry = [&](int i, int j) {
      if (i == j && unit) return Wide(1);
      const Wide v = op == CUBLAS_OP_N ? (exists(i, j) ? widen(stored(i, j)) : 0)
                     : exists(j, i)    ? widen(stored(j, i))
                                       : 0;
      return op == CUBLAS_OP_C ? std::conj(v) : v;
    };
    Array<T> x(1, n, 2);
    const auto start = x.values();
    ASSERT_EQ(banded ? tbmv<T>(this->handle, triangle.fill, op, diag, n, k, band.data(), band.leading(), x.data(), 2)
                     : tpmv<T>(this->handle, triangle.fill, op, diag, n, packed.data(), x.data(), 2),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(
        x, start, n,
        [&](int, int i) {
          Wide sum = 0;
          for (int j = 0; j < n; ++j) sum += entry(i, j) * start[static_cast<size_t>(j)];
          return sum;
        },
        always);
    ASSERT_EQ(banded ? tbsv<T>(this->handle, triangle.fill, op, diag, n, k, band.data(), band.leading(), x.data(), 2)
                     : tpsv<T>(this->handle, triangle.fill, op, diag, n, packed.data(), x.data(), 2),
              CUBLAS_STATUS_SUCCESS);
    this->template expectNear<T>(x, start, 8 * n, [&](int, int i) { return start[static_cast<size_t>(i)]; }, always);
    // A packed triangle, unpacked and packed again.
    const auto square = matrix<T>(n, n);
    Array<T> again(1, triangle.size(), 1);
    ASSERT_EQ(tpttr<T>(this->handle, triangle.fill, n, packed.data(), square.data(), square.leading()),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(trttp<T>(this->handle, triangle.fill, n, square.data(), square.leading(), again.data()),
              CUBLAS_STATUS_SUCCESS);
    this->wait();
    EXPECT_EQ(again.values(), packed.values());
  }
}

}  // namespace
}  // namespace ordito::cublas::test
