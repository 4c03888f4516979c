// What tests of dense matrices share: the calls of each type by plain names, random matrices of sizes 0 to 40 with room
// between their columns, and the difference of a product from what it should be.
#pragma once

#include "cusolverDn.h"
#include "libs/cublas/test_arrays.hpp"

namespace ordito::cublas::test {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = CUSOLVER_STATUS_INVALID_VALUE;

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
inline constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kType<cuComplex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kType<cuDoubleComplex> = CUDA_C_64F;

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
inline Matrix adjoint(const Matrix& a) {
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

}  // namespace ordito::cublas::test
