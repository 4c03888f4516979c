// Eigenvalues of symmetric and Hermitian matrices, and of pairs of them. LAPACK's divide and conquer stands for the
// Jacobi methods too.
#include <cmath>
#include <limits>

#include "libs/cusolver/dense.hpp"

namespace ordito::cusolver {
namespace {

template <class T>
int solve(const Symmetric<T>& s) {
  int answer = 0;
  Roomy a(s.n, s.n, s.a, s.lda);
  withWorks<T>([&](T* work, int size, Real<T>* reals, int realSize, int* ints, int intSize) {
    if constexpr (kIsComplex<T>)
      lapack<T, "heevd">(letter(s.mode), letter(s.uplo), s.n, a.data(), a.leading(), s.w, work, size, reals, realSize,
                         ints, intSize, &answer);
    else
      lapack<T, "syevd">(letter(s.mode), letter(s.uplo), s.n, a.data(), a.leading(), s.w, work, size, ints, intSize,
                         &answer);
  });
  return answer;
}

/// A matrix that is positive definite beside the first, and how both belong together.
template <class T>
struct Partner {
  cusolverEigType_t kind;
  T* b;
  int ldb;
  bool isValid(int n) const { return kind >= CUSOLVER_EIG_TYPE_1 && kind <= CUSOLVER_EIG_TYPE_3 && isLeading(ldb, n); }
};

template <class T>
int solve(const Symmetric<T>& s, const Partner<T>& p) {
  int answer = 0;
  Roomy a(s.n, s.n, s.a, s.lda), b(s.n, s.n, p.b, p.ldb);
  const int kind = p.kind;
  withWorks<T>([&](T* work, int size, Real<T>* reals, int realSize, int* ints, int intSize) {
    if constexpr (kIsComplex<T>)
      lapack<T, "hegvd">(kind, letter(s.mode), letter(s.uplo), s.n, a.data(), a.leading(), b.data(), b.leading(), s.w,
                         work, size, reals, realSize, ints, intSize, &answer);
    else
      lapack<T, "sygvd">(kind, letter(s.mode), letter(s.uplo), s.n, a.data(), a.leading(), b.data(), b.leading(), s.w,
                         work, size, ints, intSize, &answer);
  });
  return answer;
}

/// Moves the part to the front, with its vectors, and says how large it is.
template <class T>
int64_t keep(const Symmetric<T>& s, const Range<T>& range) {
  int64_t first = 0, last = s.n;
  if (range.kind == CUSOLVER_EIG_RANGE_I && s.n > 0) first = range.first - 1, last = range.last;
  if (range.kind == CUSOLVER_EIG_RANGE_V) {
    first = std::upper_bound(s.w, s.w + s.n, range.low) - s.w;
    last = std::upper_bound(s.w, s.w + s.n, range.high) - s.w;
  }
  std::copy(s.w + first, s.w + last, s.w);
  if (s.mode == CUSOLVER_EIG_MODE_VECTOR && first > 0)
    for (int64_t k = first; k < last; ++k) std::copy_n(s.a + k * s.lda, s.n, s.a + (k - first) * s.lda);
  return last - first;
}

/// `compute` gives LAPACK's info. The host waits for how many eigenvalues there are.
template <class T, class Count, class Compute>
Status submitRange(Handle h, const char* real, const char* complex, const Symmetric<T>& s, const Range<T>& range,
                   Count* found, int* info, Compute compute) {
  auto count = std::make_shared<int64_t>(0);
  const Status status = submitWithInfo(
      h, nameOf<T>(real, complex), info,
      [=] {
        const int answer = compute();
        if (answer == 0) *count = keep(s, range);
        return answer;
      },
      operations<T>(cube(s.n) * 4));
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  const Status waited = statusOf(libs::await(h->stream));
  *found = static_cast<Count>(*count);
  return waited;
}

/// The Frobenius norm of A - V W V^H; `a` is what the triangle of A was, n rows and columns, and is used up.
template <class T>
double residualOf(const Symmetric<T>& s, std::vector<T>& a) {
  const int64_t n = s.n;
  const auto at = [n](int64_t row, int64_t column) { return static_cast<size_t>(row + column * n); };
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < j; ++i) {
      T &upper = a[at(i, j)], &lower = a[at(j, i)];
      if constexpr (kIsComplex<T>)
        s.uplo == CUBLAS_FILL_MODE_UPPER ? lower = std::conj(upper) : upper = std::conj(lower);
      else
        s.uplo == CUBLAS_FILL_MODE_UPPER ? lower = upper : upper = lower;
    }
  auto scaled = room<T>(n * n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) scaled[at(i, j)] = s.a[i + j * s.lda] * s.w[j];
  const T one(1), minusOne(-1);
  const int rows = std::max(1, s.n);
  cublas::openBlas<T>().gemm("N", "C", &s.n, &s.n, &s.n, &minusOne, scaled.data(), &rows, s.a, &s.lda, &one, a.data(),
                             &rows);
  double sum = 0;
  for (int64_t k = 0; k < n * n; ++k) sum += std::norm(std::complex<double>(a[static_cast<size_t>(k)]));
  return std::sqrt(sum);
}

template <class T>
Status syevj(Handle h, const Symmetric<T>& s, int* info, Jacobi* jacobi) {
  SOLVER_CALL(h, s.isValid() && jacobi);
  jacobi->isBatched = false;
  return submitWithInfo(h, nameOf<T>("syevj", "heevj"), info, [=, residual = jacobi->residual] {
    const bool hasVectors = s.mode == CUSOLVER_EIG_MODE_VECTOR;
    auto before = room<T>(hasVectors ? int64_t{s.n} * s.n : 0);
    if (hasVectors) lapack<T, "lacpy">("A", s.n, s.n, s.a, s.lda, before.data(), std::max(1, s.n));
    const int answer = solve(s);
    *residual = hasVectors && answer == 0 ? residualOf(s, before) : std::numeric_limits<double>::quiet_NaN();
    return answer;
  });
}

template <class T>
Status sygvd(Handle h, const Symmetric<T>& s, const Partner<T>& p, int* info) {
  SOLVER_CALL(h, s.isValid() && p.isValid(s.n));
  return submitWithInfo(
      h, nameOf<T>("sygvd", "hegvd"), info, [=] { return solve(s, p); }, operations<T>(cube(s.n) * 5));
}

/// Of the ordinary problem that the call reduces its own to, C = L^-1 A L^-H (or L^H A L) with B = L L^H, whose vectors
/// are Y = L^H X (or L^-1 X). `a` is what the triangle of A was; B has its factor by now.
template <class T>
double reducedResidual(const Symmetric<T>& s, const Partner<T>& p, std::vector<T>& a) {
  const int kind = static_cast<int>(p.kind), rows = std::max(1, s.n);
  const bool isLower = s.uplo == CUBLAS_FILL_MODE_LOWER, isThird = p.kind == CUSOLVER_EIG_TYPE_3;
  int answer = 0;
  lapack<T, "sygst", "hegst">(kind, letter(s.uplo), s.n, a.data(), rows, p.b, p.ldb, &answer);
  auto vectors = room<T>(int64_t{s.n} * s.n);
  lapack<T, "lacpy">("A", s.n, s.n, s.a, s.lda, vectors.data(), rows);
  const T one(1);
  const char* const op = isLower != isThird ? "C" : "N";
  const auto& blas = cublas::openBlas<T>();
  (isThird ? blas.trsm : blas.trmm)("L", letter(s.uplo), op, "N", &s.n, &s.n, &one, p.b, &p.ldb, vectors.data(), &rows);
  Symmetric<T> reduced = s;
  reduced.a = vectors.data(), reduced.lda = rows;
  return residualOf(reduced, a);
}

template <class T>
Status sygvj(Handle h, const Symmetric<T>& s, const Partner<T>& p, int* info, Jacobi* jacobi) {
  SOLVER_CALL(h, s.isValid() && p.isValid(s.n) && jacobi);
  jacobi->isBatched = false;
  return submitWithInfo(h, nameOf<T>("sygvj", "hegvj"), info, [=, residual = jacobi->residual] {
    const bool hasVectors = s.mode == CUSOLVER_EIG_MODE_VECTOR;
    auto before = room<T>(hasVectors ? int64_t{s.n} * s.n : 0);
    if (hasVectors) lapack<T, "lacpy">("A", s.n, s.n, s.a, s.lda, before.data(), std::max(1, s.n));
    const int answer = solve(s, p);
    *residual = hasVectors && answer == 0 ? reducedResidual(s, p, before) : std::numeric_limits<double>::quiet_NaN();
    return answer;
  });
}

template <class T>
Status sygvdx(Handle h, const Symmetric<T>& s, const Partner<T>& p, const Range<T>& range, int* found, int* info) {
  SOLVER_CALL(h, s.isValid() && p.isValid(s.n) && range.isValid(s.n) && found);
  return submitRange(h, "sygvdx", "hegvdx", s, range, found, info, [=] { return solve(s, p); });
}

}  // namespace

template <class T>
Status syevd(Handle h, const Symmetric<T>& s, int* info) {
  SOLVER_CALL(h, s.isValid());
  return submitWithInfo(h, nameOf<T>("syevd", "heevd"), info, [=] { return solve(s); }, operations<T>(cube(s.n) * 4));
}

template <class T, class Count>
Status syevdx(Handle h, const Symmetric<T>& s, const Range<T>& range, Count* found, int* info) {
  SOLVER_CALL(h, s.isValid() && range.isValid(s.n) && found);
  return submitRange(h, "syevdx", "heevdx", s, range, found, info, [=] { return solve(s); });
}

template <class T>
Status syevBatched(Handle h, const Symmetric<T>& first, int* info, int count) {
  SOLVER_CALL(h, first.isValid() && count >= 0);
  return submit(h, nameOf<T>("syevjBatched", "heevjBatched"), [=] {
    libs::parallelFor(static_cast<unsigned>(count), [=](unsigned k) {
      Symmetric<T> s = first;
      s.a += int64_t{k} * s.lda * s.n;
      s.w += int64_t{k} * s.n;
      const int answer = solve(s);
      if (info) info[k] = answer;
    });
  });
}

#define INSTANTIATE(T)                                                                  \
  template Status syevd(Handle, const Symmetric<T>&, int*);                             \
  template Status syevdx(Handle, const Symmetric<T>&, const Range<T>&, int64_t*, int*); \
  template Status syevBatched(Handle, const Symmetric<T>&, int*, int);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

extern "C" {

#define SYMMETRIC(T) \
  Symmetric<Inner<T>> { mode, uplo, n, in(a), lda, w }
/// For sizes, which are asked with constant pointers.
#define ASKED(T, R) \
  Symmetric<Inner<T>> { mode, uplo, n, nullptr, lda, nullptr }
#define DEFINE(L, T, R, sy)                                                                                            \
  Status cusolverDn##L##sy##evd_bufferSize(Handle h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, const T*,   \
                                           int lda, const R*, int* size) {                                             \
    return tellSize(h, ASKED(T, R).isValid(), size);                                                                   \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evd(Handle h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T* a, int lda, R* w,   \
                                T*, int, int* info) {                                                                  \
    return syevd(h, SYMMETRIC(T), info);                                                                               \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evdx_bufferSize(Handle h, cusolverEigMode_t mode, cusolverEigRange_t kind,                 \
                                            cublasFillMode_t uplo, int n, const T*, int lda, R low, R high, int first, \
                                            int last, int*, const R*, int* size) {                                     \
    const Range<Inner<T>> range{kind, low, high, first, last};                                                         \
    return tellSize(h, ASKED(T, R).isValid() && range.isValid(n), size);                                               \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evdx(Handle h, cusolverEigMode_t mode, cusolverEigRange_t kind, cublasFillMode_t uplo,     \
                                 int n, T* a, int lda, R low, R high, int first, int last, int* found, R* w, T*, int,  \
                                 int* info) {                                                                          \
    return syevdx(h, SYMMETRIC(T), Range<Inner<T>>{kind, low, high, first, last}, found, info);                        \
  }                                                                                                                    \
  Status cusolverDn##L##sy##gvd_bufferSize(Handle h, cusolverEigType_t kind, cusolverEigMode_t mode,                   \
                                           cublasFillMode_t uplo, int n, const T*, int lda, const T*, int ldb,         \
                                           const R*, int* size) {                                                      \
    return tellSize(h, ASKED(T, R).isValid() && Partner<Inner<T>>{kind, nullptr, ldb}.isValid(n), size);               \
  }                                                                                                                    \
  Status cusolverDn##L##sy##gvd(Handle h, cusolverEigType_t kind, cusolverEigMode_t mode, cublasFillMode_t uplo,       \
                                int n, T* a, int lda, T* b, int ldb, R* w, T*, int, int* info) {                       \
    return sygvd(h, SYMMETRIC(T), {kind, in(b), ldb}, info);                                                           \
  }                                                                                                                    \
  Status cusolverDn##L##sy##gvdx_bufferSize(                                                                           \
      Handle h, cusolverEigType_t kind, cusolverEigMode_t mode, cusolverEigRange_t part, cublasFillMode_t uplo, int n, \
      const T*, int lda, const T*, int ldb, R low, R high, int first, int last, int*, const R*, int* size) {           \
    const Range<Inner<T>> range{part, low, high, first, last};                                                         \
    const Partner<Inner<T>> partner{kind, nullptr, ldb};                                                               \
    return tellSize(h, ASKED(T, R).isValid() && partner.isValid(n) && range.isValid(n), size);                         \
  }                                                                                                                    \
  Status cusolverDn##L##sy##gvdx(Handle h, cusolverEigType_t kind, cusolverEigMode_t mode, cusolverEigRange_t part,    \
                                 cublasFillMode_t uplo, int n, T* a, int lda, T* b, int ldb, R low, R high, int first, \
                                 int last, int* found, R* w, T*, int, int* info) {                                     \
    return sygvdx(h, SYMMETRIC(T), {kind, in(b), ldb}, {part, low, high, first, last}, found, info);                   \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evj_bufferSize(Handle h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, const T*,   \
                                           int lda, const R*, int* size, syevjInfo_t jacobi) {                         \
    return tellSize(h, ASKED(T, R).isValid() && jacobi, size);                                                         \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evj(Handle h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T* a, int lda, R* w,   \
                                T*, int, int* info, syevjInfo_t jacobi) {                                              \
    return syevj(h, SYMMETRIC(T), info, jacobi);                                                                       \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evjBatched_bufferSize(Handle h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n,      \
                                                  const T*, int lda, const R*, int* size, syevjInfo_t jacobi,          \
                                                  int count) {                                                         \
    return tellSize(h, ASKED(T, R).isValid() && jacobi && count >= 0, size);                                           \
  }                                                                                                                    \
  Status cusolverDn##L##sy##evjBatched(Handle h, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T* a, int lda,  \
                                       R* w, T*, int, int* info, syevjInfo_t jacobi, int count) {                      \
    SOLVER_CALL(h, jacobi);                                                                                            \
    jacobi->isBatched = true;                                                                                          \
    return syevBatched(h, SYMMETRIC(T), info, count);                                                                  \
  }                                                                                                                    \
  Status cusolverDn##L##sy##gvj_bufferSize(Handle h, cusolverEigType_t kind, cusolverEigMode_t mode,                   \
                                           cublasFillMode_t uplo, int n, const T*, int lda, const T*, int ldb,         \
                                           const R*, int* size, syevjInfo_t jacobi) {                                  \
    return tellSize(h, ASKED(T, R).isValid() && Partner<Inner<T>>{kind, nullptr, ldb}.isValid(n) && jacobi, size);     \
  }                                                                                                                    \
  Status cusolverDn##L##sy##gvj(Handle h, cusolverEigType_t kind, cusolverEigMode_t mode, cublasFillMode_t uplo,       \
                                int n, T* a, int lda, T* b, int ldb, R* w, T*, int, int* info, syevjInfo_t jacobi) {   \
    return sygvj(h, SYMMETRIC(T), {kind, in(b), ldb}, info, jacobi);                                                   \
  }
DEFINE(S, float, float, sy)
DEFINE(D, double, double, sy)
DEFINE(C, cuComplex, float, he)
DEFINE(Z, cuDoubleComplex, double, he)
#undef DEFINE
#undef ASKED
#undef SYMMETRIC

}  // extern "C"
}  // namespace ordito::cusolver
