// cuBLAS level 2: a matrix and vectors, by OpenBLAS's routines. What is symmetric of complex numbers, for which BLAS
// has no routines, is computed here.
#include <algorithm>
#include <vector>

#include "libs/cublas/handle.hpp"
#include "libs/cublas/plain_gemv.hpp"
#include "libs/cublas/vectors.hpp"

namespace ordito::cublas {
namespace {

/// y = 0 for a beta of 0: then y is not read, whatever is in it. True if a y of zeros is all that there is.
template <class T>
T startWith(T beta, T* y, int64_t n, int64_t incy) {
  if (beta != T(0)) return beta;
  const Vector<T> to(y, n, incy);
  for (int64_t i = 0; i < n; ++i) to[i] = T(0);
  return T(1);
}

template <class T>
struct MatrixVector {
  cublasHandle_t handle;
  const T *alpha, *a;
  int64_t lda;
  const T* x;
  int64_t incx;
  const T* beta;
  T* y;
  int64_t incy;

  bool isComplete() const { return alpha && beta && a && x && y && incx != 0 && incy != 0; }
  /// Do the factors leave y as it is? Then a GPU asks neither for it nor for A and x, but in symv and hemv.
  bool leavesResult() const {
    return incx != 0 && incy != 0 && isHosts(handle, alpha, T(0)) && isHosts(handle, beta, T(1));
  }
};

/// A vector's elements one behind the other, with room behind them: OpenBLAS's kernels for complex numbers read past
/// the end of x, where device memory may end.
template <class T>
class Padded {
 public:
  Padded(const T* x, int64_t n, int64_t incx) : elements_(static_cast<size_t>(n + kRoom)) {
    const Vector<const T> from(x, n, incx);
    for (int64_t i = 0; i < n; ++i) elements_[static_cast<size_t>(i)] = from[i];
  }
  T* data() { return elements_.data(); }
  void copyTo(T* x, int64_t n, int64_t incx) const {
    const Vector<T> to(x, n, incx);
    for (int64_t i = 0; i < n; ++i) to[i] = elements_[static_cast<size_t>(i)];
  }

 private:
  static constexpr int64_t kRoom = 32;
  std::vector<T> elements_;
};

/// The step in a Padded.
constexpr int kOne = 1;

/// y = alpha op(A) x + beta y. Not by OpenBLAS, whose cgemv reads past the end of x, where device memory may end.
template <class T>
void gemvParts(cublasOperation_t op, int64_t m, int64_t n, T alpha, const MatrixVector<T>& v, T beta) {
  const int64_t rows = op == CUBLAS_OP_N ? m : n, terms = op == CUBLAS_OP_N ? n : m;
  const Vector<T> y(v.y, rows, v.incy);
  auto store = [&](int64_t i, T total) {
    y[i] = (beta == T(0) ? T(0) : multiply(beta, y[i])) + multiply(alpha, total);
  };
  if (alpha == T(0)) {  // whatever A and x have
    for (int64_t i = 0; i < rows; ++i) store(i, T(0));
    return;
  }
  const Vector<const T> elements(v.x, terms, v.incx);
  std::vector<T> gathered(v.incx == 1 ? 0 : static_cast<size_t>(terms));
  for (size_t i = 0; i < gathered.size(); ++i) gathered[i] = elements[static_cast<int64_t>(i)];
  const T* x = v.incx == 1 ? v.x : gathered.data();
  const std::vector<T> sums =
      op == CUBLAS_OP_N ? productOfRows(m, n, v.a, v.lda, x) : productOfColumns(op == CUBLAS_OP_C, m, n, v.a, v.lda, x);
  for (int64_t i = 0; i < rows; ++i) store(i, sums[static_cast<size_t>(i)]);
}

template <class T>
cublasStatus_t gemv(cublasOperation_t op, int64_t m, int64_t n, MatrixVector<T> v) {
  ORDITO_HANDLE(v.handle);
  ORDITO_CHECK(isOperation(op) && m >= 0 && n >= 0 && v.lda >= std::max<int64_t>(1, m) && areCountable(m, n, v.lda));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(v.incx != 0 && v.incy != 0);
  if (const auto answer = answerAtOnce(v.handle, true, v.alpha, v.a && v.x, v.beta, v.y)) return *answer;
  const Scalar<T> alpha(v.handle, v.alpha), beta(v.handle, v.beta);
  return submit(v.handle, "cublas gemv", [=] { gemvParts(op, m, n, alpha.get(), v, beta.get()); });
}

template <class T>
cublasStatus_t gbmv(cublasOperation_t op, int64_t m, int64_t n, int64_t kl, int64_t ku, MatrixVector<T> v) {
  ORDITO_HANDLE(v.handle);
  ORDITO_CHECK(isOperation(op) && m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && v.lda >= kl + ku + 1);
  ORDITO_CHECK(areCountable(m, n, v.lda));
  if (m == 0 || n == 0 || v.leavesResult()) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(v.isComplete());
  const Scalar<T> alpha(v.handle, v.alpha), beta(v.handle, v.beta);
  return submit(v.handle, "cublas gbmv", [=] {
    const int mm = asInt(m), nn = asInt(n), l = asInt(kl), u = asInt(ku), lda = asInt(v.lda);
    const int incy = asInt(v.incy);
    const T a = alpha.get(), b = startWith(beta.get(), v.y, op == CUBLAS_OP_N ? m : n, v.incy);
    Padded<T> x(v.x, op == CUBLAS_OP_N ? n : m, v.incx);
    openBlas<T>().gbmv(letter(op), &mm, &nn, &l, &u, &a, v.a, &lda, x.data(), &kOne, &b, v.y, &incy);
  });
}

enum class Storage { Full, Band, Packed };

/// y = alpha totals + beta y
template <class T>
void combine(const Vector<T>& y, T alpha, const std::vector<T>& totals, T beta) {
  int64_t i = 0;
  for (const T& total : totals) {
    y[i] = multiply(beta, y[i]) + multiply(alpha, total);
    ++i;
  }
}

/// y = alpha A x + beta y with a symmetric or Hermitian A. For the former of complex numbers BLAS has no routine, and
/// OpenBLAS's others read past the end of A.
template <bool Hermitian, class T>
void triangleTimes(cublasFillMode_t fill, int64_t n, T alpha, const MatrixVector<T>& v, T beta) {
  const Vector<const T> x(v.x, n, v.incx);
  const Vector<T> y(v.y, n, v.incy);
  std::vector<T> totals(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    const T* column = v.a + j * v.lda;
    const int64_t first = fill == CUBLAS_FILL_MODE_LOWER ? j + 1 : 0, last = fill == CUBLAS_FILL_MODE_LOWER ? n : j;
    const T factor = x[j], middle = Hermitian ? T(std::real(column[j])) : column[j];
    T total = multiply(middle, factor);
    for (int64_t i = first; i < last; ++i) {
      totals[static_cast<size_t>(i)] += multiply(factor, column[i]);
      total += multiply(conjugateIf<Hermitian>(column[i]), x[i]);
    }
    totals[static_cast<size_t>(j)] += total;
  }
  combine(y, alpha, totals, beta);
}

template <class T>
cublasStatus_t symmetric(cublasFillMode_t fill, int64_t n, MatrixVector<T> v) {
  ORDITO_HANDLE(v.handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && v.lda >= n);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(v.isComplete());
  const Scalar<T> alpha(v.handle, v.alpha), beta(v.handle, v.beta);
  return submit(v.handle, "cublas symv",
                [=] { triangleTimes<false>(fill, n, alpha.get(), v, startWith(beta.get(), v.y, n, v.incy)); });
}

/// The same with a Hermitian A whose bands or triangle are packed. For an alpha of 0 OpenBLAS does not read A; a GPU
/// does, and answers with its NaNs.
template <Storage Kind, class T>
void partTimes(cublasFillMode_t fill, int64_t n, int64_t k, T alpha, const MatrixVector<T>& v, T beta) {
  const Routines<T>& blas = openBlas<T>();
  Padded<T> x(v.x, n, v.incx);
  const int nn = asInt(n), kk = asInt(k), lda = asInt(v.lda);
  const auto times = [&](const T& a, const T& b, T* y, int incy) {
    if constexpr (Kind == Storage::Band)
      blas.hbmv(letter(fill), &nn, &kk, &a, v.a, &lda, x.data(), &kOne, &b, y, &incy);
    else
      blas.hpmv(letter(fill), &nn, &a, v.a, x.data(), &kOne, &b, y, &incy);
  };
  if (alpha != T(0)) return times(alpha, beta, v.y, asInt(v.incy));
  std::vector<T> totals(static_cast<size_t>(n));
  times(T(1), T(1), totals.data(), kOne);
  const Vector<T> y(v.y, n, v.incy);
  combine(y, alpha, totals, beta);
}

/// y = alpha A x + beta y with a Hermitian A, which is symmetric if T is real.
template <Storage Kind, class T>
cublasStatus_t hermitian(cublasFillMode_t fill, int64_t n, int64_t k, MatrixVector<T> v) {
  ORDITO_HANDLE(v.handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && k >= 0 && areCountable(n, v.lda));
  // As recorded on a GPU: of all of these, a real symv without elements needs no distance.
  const int64_t least = Kind == Storage::Band ? k + 1 : kIsComplex<T> ? std::max<int64_t>(1, n) : n;
  ORDITO_CHECK(Kind == Storage::Packed || v.lda >= least);
  if (n == 0 || (Kind != Storage::Full && v.leavesResult())) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(v.isComplete());
  const Scalar<T> alpha(v.handle, v.alpha), beta(v.handle, v.beta);
  return submit(v.handle, "cublas symv or hemv", [=] {
    const T a = alpha.get(), b = startWith(beta.get(), v.y, n, v.incy);
    if constexpr (Kind == Storage::Full)
      triangleTimes<kIsComplex<T>>(fill, n, a, v, b);
    else
      partTimes<Kind>(fill, n, k, a, v, b);
  });
}

template <bool Conjugate, class T>
cublasStatus_t ger(cublasHandle_t handle, int64_t m, int64_t n, const T* alpha, const T* x, int64_t incx, const T* y,
                   int64_t incy, T* a, int64_t lda) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && n >= 0 && incx != 0 && incy != 0 && lda >= std::max<int64_t>(1, m));
  ORDITO_CHECK(areCountable(m, n, lda));
  if (m == 0 || n == 0 || isHosts(handle, alpha, T(0))) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && x && y && a);
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas ger", [=] {
    const int mm = asInt(m), nn = asInt(n), ix = asInt(incx), iy = asInt(incy), l = asInt(lda);
    const T s = scale.get();
    (Conjugate ? openBlas<T>().gerc : openBlas<T>().ger)(&mm, &nn, &s, x, &ix, y, &iy, a, &l);
  });
}

/// A += alpha x x^H, full or packed; the symmetric one of complex numbers is in updateSymmetric.
template <Storage Kind, class T>
cublasStatus_t her(cublasHandle_t handle, cublasFillMode_t fill, int64_t n, const Real<T>* alpha, const T* x,
                   int64_t incx, T* a, int64_t lda) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && incx != 0 && areCountable(n, lda));
  ORDITO_CHECK(Kind == Storage::Packed || lda >= std::max<int64_t>(1, n));
  if (n == 0 || isHosts(handle, alpha, Real<T>(0))) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && x && a);
  const Scalar<Real<T>> scale(handle, alpha);
  return submit(handle, "cublas syr or her", [=] {
    const int nn = asInt(n), ix = asInt(incx), l = asInt(lda);
    const Real<T> s = scale.get();
    if constexpr (Kind == Storage::Full)
      openBlas<T>().her(letter(fill), &nn, &s, x, &ix, a, &l);
    else
      openBlas<T>().hpr(letter(fill), &nn, &s, x, &ix, a);
  });
}

template <Storage Kind, class T>
cublasStatus_t her2(cublasHandle_t handle, cublasFillMode_t fill, int64_t n, const T* alpha, const T* x, int64_t incx,
                    const T* y, int64_t incy, T* a, int64_t lda) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && incx != 0 && incy != 0 && areCountable(n, lda));
  ORDITO_CHECK(Kind == Storage::Packed || lda >= std::max<int64_t>(1, n));
  if (n == 0 || isHosts(handle, alpha, T(0))) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && x && y && a);
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas syr2 or her2", [=] {
    const int nn = asInt(n), ix = asInt(incx), iy = asInt(incy), l = asInt(lda);
    const T s = scale.get();
    if constexpr (Kind == Storage::Full)
      openBlas<T>().her2(letter(fill), &nn, &s, x, &ix, y, &iy, a, &l);
    else
      openBlas<T>().hpr2(letter(fill), &nn, &s, x, &ix, y, &iy, a);
  });
}

/// A += alpha x x^T, or alpha (x y^T + y x^T) with two vectors.
template <bool AreTwo, class T>
cublasStatus_t updateSymmetric(cublasHandle_t handle, cublasFillMode_t fill, int64_t n, const T* alpha, const T* x,
                               int64_t incx, const T* y, int64_t incy, T* a, int64_t lda) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && incx != 0 && incy != 0 && lda >= std::max<int64_t>(1, n));
  if (n == 0 || isHosts(handle, alpha, T(0))) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && x && (y || !AreTwo) && a);
  const Scalar<T> scale(handle, alpha);
  return submit(handle, "cublas syr or syr2", [=] {
    const Vector<const T> u(x, n, incx), w(AreTwo ? y : x, n, incy);
    const T s = scale.get();
    for (int64_t j = 0; j < n; ++j) {
      const int64_t first = fill == CUBLAS_FILL_MODE_LOWER ? j : 0, last = fill == CUBLAS_FILL_MODE_LOWER ? n : j + 1;
      for (int64_t i = first; i < last; ++i) {
        const T product = multiply(u[i], w[j]);
        a[i + j * lda] += multiply(s, AreTwo ? product + multiply(w[i], u[j]) : product);
      }
    }
  });
}

/// x = op(A) x or op(A)^-1 x with a triangular A, in each kind of storage.
template <Storage Kind, class T>
cublasStatus_t triangular(bool solve, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t op,
                          cublasDiagType_t diag, int64_t n, int64_t k, const T* a, int64_t lda, T* x, int64_t incx) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isFill(fill) && isOperation(op) && isDiagonal(diag) && n >= 0 && k >= 0 && incx != 0);
  ORDITO_CHECK(Kind == Storage::Packed || lda >= (Kind == Storage::Full ? std::max<int64_t>(1, n) : k + 1));
  ORDITO_CHECK(areCountable(n, k, lda));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(a && x);
  return submit(handle, "cublas trmv or trsv", [=] {
    const int nn = asInt(n), kk = asInt(k), l = asInt(lda);
    Padded<T> values(x, n, incx);
    const Word u = letter(fill), t = letter(op), d = letter(diag);
    const Routines<T>& blas = openBlas<T>();
    if constexpr (Kind == Storage::Full)
      (solve ? blas.trsv : blas.trmv)(u, t, d, &nn, a, &l, values.data(), &kOne);
    else if constexpr (Kind == Storage::Band)
      (solve ? blas.tbsv : blas.tbmv)(u, t, d, &nn, &kk, a, &l, values.data(), &kOne);
    else
      (solve ? blas.tpsv : blas.tpmv)(u, t, d, &nn, a, values.data(), &kOne);
    values.copyTo(x, n, incx);
  });
}

}  // namespace

extern "C" {

#define DEFINE(L, T, suffix, Int)                                                                                    \
  cublasStatus_t cublas##L##gemv##suffix(cublasHandle_t h, cublasOperation_t op, Int m, Int n, const T* alpha,       \
                                         const T* A, Int lda, const T* x, Int incx, const T* beta, T* y, Int incy) { \
    return gemv<Inner<T>>(op, m, n, {h, in(alpha), in(A), lda, in(x), incx, in(beta), in(y), incy});                 \
  }                                                                                                                  \
  cublasStatus_t cublas##L##gbmv##suffix(cublasHandle_t h, cublasOperation_t op, Int m, Int n, Int kl, Int ku,       \
                                         const T* alpha, const T* A, Int lda, const T* x, Int incx, const T* beta,   \
                                         T* y, Int incy) {                                                           \
    return gbmv<Inner<T>>(op, m, n, kl, ku, {h, in(alpha), in(A), lda, in(x), incx, in(beta), in(y), incy});         \
  }
ORDITO_FOR_ALL_V2(DEFINE)
#undef DEFINE

// Multiplication and solving differ by a letter.
#define DEFINE_BOTH(L, T, suffix, Int, verb, solve)                                                               \
  cublasStatus_t cublas##L##tr##verb##suffix(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op,       \
                                             cublasDiagType_t diag, Int n, const T* A, Int lda, T* x, Int incx) { \
    return triangular<Storage::Full>(solve, h, fill, op, diag, n, 0, in(A), lda, in(x), incx);                    \
  }                                                                                                               \
  cublasStatus_t cublas##L##tb##verb##suffix(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op,       \
                                             cublasDiagType_t diag, Int n, Int k, const T* A, Int lda, T* x,      \
                                             Int incx) {                                                          \
    return triangular<Storage::Band>(solve, h, fill, op, diag, n, k, in(A), lda, in(x), incx);                    \
  }                                                                                                               \
  cublasStatus_t cublas##L##tp##verb##suffix(cublasHandle_t h, cublasFillMode_t fill, cublasOperation_t op,       \
                                             cublasDiagType_t diag, Int n, const T* A, T* x, Int incx) {          \
    return triangular<Storage::Packed>(solve, h, fill, op, diag, n, 0, in(A), 1, in(x), incx);                    \
  }
#define DEFINE(L, T, suffix, Int) DEFINE_BOTH(L, T, suffix, Int, mv, false) DEFINE_BOTH(L, T, suffix, Int, sv, true)
ORDITO_FOR_ALL_V2(DEFINE)
#undef DEFINE
#undef DEFINE_BOTH

// Symmetric for real numbers, Hermitian for complex ones: two letters, the same arguments.
#define DEFINE_HERMITIAN(L, T, suffix, Int, sy, sb, sp)                                                                \
  cublasStatus_t cublas##L##sy##mv##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* A, \
                                           Int lda, const T* x, Int incx, const T* beta, T* y, Int incy) {             \
    return hermitian<Storage::Full, Inner<T>>(fill, n, 0,                                                              \
                                              {h, in(alpha), in(A), lda, in(x), incx, in(beta), in(y), incy});         \
  }                                                                                                                    \
  cublasStatus_t cublas##L##sb##mv##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, Int k, const T* alpha,      \
                                           const T* A, Int lda, const T* x, Int incx, const T* beta, T* y, Int incy) { \
    return hermitian<Storage::Band, Inner<T>>(fill, n, k,                                                              \
                                              {h, in(alpha), in(A), lda, in(x), incx, in(beta), in(y), incy});         \
  }                                                                                                                    \
  cublasStatus_t cublas##L##sp##mv##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* A, \
                                           const T* x, Int incx, const T* beta, T* y, Int incy) {                      \
    return hermitian<Storage::Packed, Inner<T>>(fill, n, 0,                                                            \
                                                {h, in(alpha), in(A), 1, in(x), incx, in(beta), in(y), incy});         \
  }                                                                                                                    \
  cublasStatus_t cublas##L##sy##r##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const Real<Inner<T>>* alpha, \
                                          const T* x, Int incx, T* A, Int lda) {                                       \
    return her<Storage::Full>(h, fill, n, alpha, in(x), incx, in(A), lda);                                             \
  }                                                                                                                    \
  cublasStatus_t cublas##L##sp##r##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const Real<Inner<T>>* alpha, \
                                          const T* x, Int incx, T* A) {                                                \
    return her<Storage::Packed>(h, fill, n, alpha, in(x), incx, in(A), 1);                                             \
  }                                                                                                                    \
  cublasStatus_t cublas##L##sy##r2##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* x, \
                                           Int incx, const T* y, Int incy, T* A, Int lda) {                            \
    return her2<Storage::Full>(h, fill, n, in(alpha), in(x), incx, in(y), incy, in(A), lda);                           \
  }                                                                                                                    \
  cublasStatus_t cublas##L##sp##r2##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* x, \
                                           Int incx, const T* y, Int incy, T* A) {                                     \
    return her2<Storage::Packed>(h, fill, n, in(alpha), in(x), incx, in(y), incy, in(A), 1);                           \
  }
#define DEFINE(L, T, suffix, Int)                                                                             \
  DEFINE_HERMITIAN(L, T, suffix, Int, sy, sb, sp)                                                             \
  cublasStatus_t cublas##L##ger##suffix(cublasHandle_t h, Int m, Int n, const T* alpha, const T* x, Int incx, \
                                        const T* y, Int incy, T* A, Int lda) {                                \
    return ger<false>(h, m, n, alpha, x, incx, y, incy, A, lda);                                              \
  }
ORDITO_FOR_REAL_V2(DEFINE)
#undef DEFINE
#define DEFINE(L, T, suffix, Int)                                                                                    \
  DEFINE_HERMITIAN(L, T, suffix, Int, he, hb, hp)                                                                    \
  cublasStatus_t cublas##L##geru##suffix(cublasHandle_t h, Int m, Int n, const T* alpha, const T* x, Int incx,       \
                                         const T* y, Int incy, T* A, Int lda) {                                      \
    return ger<false>(h, m, n, in(alpha), in(x), incx, in(y), incy, in(A), lda);                                     \
  }                                                                                                                  \
  cublasStatus_t cublas##L##gerc##suffix(cublasHandle_t h, Int m, Int n, const T* alpha, const T* x, Int incx,       \
                                         const T* y, Int incy, T* A, Int lda) {                                      \
    return ger<true>(h, m, n, in(alpha), in(x), incx, in(y), incy, in(A), lda);                                      \
  }                                                                                                                  \
  cublasStatus_t cublas##L##symv##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* A, \
                                         Int lda, const T* x, Int incx, const T* beta, T* y, Int incy) {             \
    return symmetric<Inner<T>>(fill, n, {h, in(alpha), in(A), lda, in(x), incx, in(beta), in(y), incy});             \
  }                                                                                                                  \
  cublasStatus_t cublas##L##syr##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* x,  \
                                        Int incx, T* A, Int lda) {                                                   \
    return updateSymmetric<false, Inner<T>>(h, fill, n, in(alpha), in(x), incx, nullptr, incx, in(A), lda);          \
  }                                                                                                                  \
  cublasStatus_t cublas##L##syr2##suffix(cublasHandle_t h, cublasFillMode_t fill, Int n, const T* alpha, const T* x, \
                                         Int incx, const T* y, Int incy, T* A, Int lda) {                            \
    return updateSymmetric<true, Inner<T>>(h, fill, n, in(alpha), in(x), incx, in(y), incy, in(A), lda);             \
  }
ORDITO_FOR_COMPLEX_V2(DEFINE)
#undef DEFINE
#undef DEFINE_HERMITIAN

}  // extern "C"
}  // namespace ordito::cublas
