// Singular values: LAPACK's gesvd, also for the calls that use Jacobi's method or an approximation.
#include <cmath>
#include <cstring>

#include "libs/cusolver/dense.hpp"

namespace ordito::cusolver {
namespace {

bool isJob(char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; }

template <class T>
int decompose(const char* jobU, const char* jobVt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt,
              int ldvt, Real<T>* rest) {
  int answer = 0;
  const int rank = std::min(m, n);
  const bool hasU = *jobU == 'A' || *jobU == 'S', hasVt = *jobVt == 'A' || *jobVt == 'S';
  Roomy matrix(m, n, a, lda);
  Roomy left(hasU ? m : 0, *jobU == 'A' ? m : rank, u, ldu);
  Roomy right(hasVt ? (*jobVt == 'A' ? n : rank) : 0, n, vt, ldvt);
  auto reals = room<Real<T>>(5 * int64_t{rank});
  T wanted{};
  auto call = [&](T* work, int size) {
    if constexpr (kIsComplex<T>)
      lapack<T, "gesvd">(jobU, jobVt, m, n, matrix.data(), matrix.leading(), s, left.data(), left.leading(),
                         right.data(), right.leading(), work, size, reals.data(), &answer);
    else
      lapack<T, "gesvd">(jobU, jobVt, m, n, matrix.data(), matrix.leading(), s, left.data(), left.leading(),
                         right.data(), right.leading(), work, size, &answer);
  };
  call(&wanted, -1);
  const int size = std::max(1, static_cast<int>(std::real(wanted)));
  auto work = room<T>(size);
  call(work.data(), size);
  if (!rest || rank < 2) return answer;
  if constexpr (kIsComplex<T>)
    std::copy_n(reals.begin(), rank - 1, rest);
  else
    std::copy_n(work.begin() + 1, rank - 1, rest);
  return answer;
}

template <class T>
T conjugate(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}

/// The Frobenius norm of A - U S V^H, of the first `rank` singular values; `a` has m rows and is used up.
template <class T>
double residualOf(const Decomposition<T>& d, int rank, std::vector<T>& a) {
  const int rows = std::max(1, d.m);
  auto scaled = room<T>(int64_t{d.m} * rank);
  for (int64_t k = 0; k < rank; ++k)
    for (int64_t i = 0; i < d.m; ++i) scaled[static_cast<size_t>(i + k * d.m)] = d.u[i + k * d.ldu] * d.s[k];
  const T one(1), minusOne(-1);
  cublas::openBlas<T>().gemm("N", "C", &d.m, &d.n, &rank, &minusOne, scaled.data(), &rows, d.v, &d.ldv, &one, a.data(),
                             &rows);
  double sum = 0;
  for (size_t k = 0; k < static_cast<size_t>(int64_t{d.m} * d.n); ++k) sum += std::norm(std::complex<double>(a[k]));
  return std::sqrt(sum);
}

template <class T>
std::vector<T> copyOf(const Decomposition<T>& d) {
  auto copy = room<T>(int64_t{d.m} * d.n);
  lapack<T, "lacpy">("A", d.m, d.n, d.a, d.lda, copy.data(), std::max(1, d.m));
  return copy;
}

/// Of a batch: how far its matrices are apart.
struct Strides {
  int64_t a, s, u, v;
};
template <class T>
Decomposition<T> member(Decomposition<T> d, const Strides& strides, int64_t k) {
  d.a += k * strides.a, d.s += k * strides.s;
  if (d.mode == CUSOLVER_EIG_MODE_VECTOR) d.u += k * strides.u, d.v += k * strides.v;
  return d;
}

template <class T>
Status gesvdjBatched(Handle h, const Decomposition<T>& first, int* info, int count) {
  SOLVER_CALL(h, first.isValid() && count >= 0);
  const Strides strides{int64_t{first.lda} * first.n, first.rank(), int64_t{first.ldu} * first.m,
                        int64_t{first.ldv} * first.n};
  return submit(h, nameOf<T>("gesvdjBatched"), [=] {
    libs::parallelFor(static_cast<unsigned>(count), [=](unsigned k) {
      const int answer = member(first, strides, k).compute();
      if (info) info[k] = answer;
    });
  });
}

/// The `rank` largest singular values of each. `norms`, the host's and maybe null, says what they leave of A; then the
/// call waits for them.
template <class T>
Status gesvdaBatched(Handle h, const Decomposition<T>& first, int rank, const Strides& strides, int* info,
                     double* norms, int count) {
  SOLVER_CALL(h, first.isValid() && count >= 0 && rank >= 0 && rank <= first.rank());
  const Status status = submit(h, nameOf<T>("gesvdaStridedBatched"), [=] {
    libs::parallelFor(static_cast<unsigned>(count), [=](unsigned k) {
      const Decomposition<T> d = member(first, strides, k);
      auto s = room<Real<T>>(d.rank());
      auto u = room<T>(int64_t{d.m} * d.rank()), v = room<T>(int64_t{d.n} * d.rank());
      auto before = copyOf(d), again = before;
      const bool hasVectors = d.mode == CUSOLVER_EIG_MODE_VECTOR;
      const Decomposition<T> whole{d.mode,
                                   true,
                                   d.m,
                                   d.n,
                                   again.data(),
                                   std::max(1, d.m),
                                   s.data(),
                                   u.data(),
                                   std::max(1, d.m),
                                   v.data(),
                                   std::max(1, d.n)};
      const int answer = whole.compute();
      std::copy_n(s.begin(), rank, d.s);
      if (hasVectors) {
        lapack<T, "lacpy">("A", d.m, rank, u.data(), std::max(1, d.m), d.u, d.ldu);
        lapack<T, "lacpy">("A", d.n, rank, v.data(), std::max(1, d.n), d.v, d.ldv);
      }
      if (norms && hasVectors) norms[k] = residualOf(whole, rank, before);
      if (info) info[k] = answer;
    });
  });
  return status == CUSOLVER_STATUS_SUCCESS && norms ? statusOf(libs::await(h->stream)) : status;
}

template <class T>
Status gesvdj(Handle h, const Decomposition<T>& d, int* info, Jacobi* jacobi) {
  SOLVER_CALL(h, d.isValid() && jacobi);
  jacobi->isBatched = false;
  return submitWithInfo(h, nameOf<T>("gesvdj"), info, [=, residual = jacobi->residual] {
    const bool hasVectors = d.mode == CUSOLVER_EIG_MODE_VECTOR;
    auto before = hasVectors ? copyOf(d) : std::vector<T>();
    const int answer = d.compute();
    *residual = hasVectors ? residualOf(d, d.rank(), before) : std::numeric_limits<double>::quiet_NaN();
    return answer;
  });
}

}  // namespace

template <class T>
int Decomposition<T>::compute() const {
  if (mode == CUSOLVER_EIG_MODE_NOVECTOR) {
    T none{};
    return decompose<T>("N", "N", m, n, a, lda, s, &none, 1, &none, 1, nullptr);
  }
  const int columns = isThin ? rank() : n;  // of V
  const char* const job = isThin ? "S" : "A";
  auto vt = room<T>(int64_t{columns} * n);
  const int answer = decompose<T>(job, job, m, n, a, lda, s, u, ldu, vt.data(), std::max(1, columns), nullptr);
  for (int64_t k = 0; k < columns; ++k)
    for (int64_t j = 0; j < n; ++j) v[j + k * ldv] = conjugate(vt[static_cast<size_t>(k + j * columns)]);
  return answer;
}

template <class T>
Status gesvd(Handle h, char jobU, char jobVt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt,
             Real<T>* rest, int* info) {
  // A GPU's gesvd wants as many rows as columns or more, too.
  SOLVER_CALL(h, m >= n && n >= 0);
  const bool hasU = jobU == 'A' || jobU == 'S', hasVt = jobVt == 'A' || jobVt == 'S';
  const int wrong = firstWrong({{1, isJob(jobU)},
                                {2, isJob(jobVt) && (jobU != 'O' || jobVt != 'O')},
                                {6, isLeading(lda, m)},
                                {9, !hasU || isLeading(ldu, m)},
                                {11, !hasVt || isLeading(ldvt, n)}});
  if (wrong) return refuse(h, nameOf<T>("gesvd"), info, wrong);
  return submitWithInfo(
      h, nameOf<T>("gesvd"), info,
      [=] {
        const char jobs[] = {jobU, jobVt};
        T none{};
        return decompose<T>(jobs, jobs + 1, m, n, a, lda, s, u ? u : &none, std::max(1, ldu), vt ? vt : &none,
                            std::max(1, ldvt), rest);
      },
      operations<T>(14.0 * m * n * n));
}

template <class T>
Status gesvdj(Handle h, const Decomposition<T>& d, int* info) {
  SOLVER_CALL(h, d.isValid());
  return submitWithInfo(h, "cusolverDnXgesvdp", info, [=] { return d.compute(); });
}

#define INSTANTIATE(T)                                                                                      \
  template struct Decomposition<T>;                                                                         \
  template Status gesvd(Handle, char, char, int, int, T*, int, Real<T>*, T*, int, T*, int, Real<T>*, int*); \
  template Status gesvdj(Handle, const Decomposition<T>&, int*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

extern "C" {

#define DECOMPOSITION(T, thin) \
  Decomposition<Inner<T>> { mode, thin, m, n, in(a), lda, s, in(u), ldu, in(v), ldv }
#define ASKED(T, thin) \
  Decomposition<Inner<T>> { mode, thin, m, n, nullptr, lda, nullptr, nullptr, ldu, nullptr, ldv }
#define DEFINE(L, T, R)                                                                                                \
  Status cusolverDn##L##gesvd_bufferSize(Handle h, int m, int n, int* size) {                                          \
    return tellSize(h, m >= n && n >= 0, size);                                                                        \
  }                                                                                                                    \
  Status cusolverDn##L##gesvd(Handle h, signed char jobU, signed char jobVt, int m, int n, T* a, int lda, R* s, T* u,  \
                              int ldu, T* vt, int ldvt, T*, int, R* rest, int* info) {                                 \
    return gesvd(h, static_cast<char>(jobU), static_cast<char>(jobVt), m, n, in(a), lda, s, in(u), ldu, in(vt), ldvt,  \
                 rest, info);                                                                                          \
  }                                                                                                                    \
  Status cusolverDn##L##gesvdj_bufferSize(Handle h, cusolverEigMode_t mode, int thin, int m, int n, const T*, int lda, \
                                          const R*, const T*, int ldu, const T*, int ldv, int* size,                   \
                                          gesvdjInfo_t jacobi) {                                                       \
    return tellSize(h, ASKED(T, thin != 0).isValid() && jacobi, size);                                                 \
  }                                                                                                                    \
  Status cusolverDn##L##gesvdj(Handle h, cusolverEigMode_t mode, int thin, int m, int n, T* a, int lda, R* s, T* u,    \
                               int ldu, T* v, int ldv, T*, int, int* info, gesvdjInfo_t jacobi) {                      \
    return gesvdj(h, DECOMPOSITION(T, thin != 0), info, jacobi);                                                       \
  }                                                                                                                    \
  Status cusolverDn##L##gesvdjBatched_bufferSize(Handle h, cusolverEigMode_t mode, int m, int n, const T*, int lda,    \
                                                 const R*, const T*, int ldu, const T*, int ldv, int* size,            \
                                                 gesvdjInfo_t jacobi, int count) {                                     \
    return tellSize(h, ASKED(T, false).isValid() && jacobi && count >= 0, size);                                       \
  }                                                                                                                    \
  Status cusolverDn##L##gesvdjBatched(Handle h, cusolverEigMode_t mode, int m, int n, T* a, int lda, R* s, T* u,       \
                                      int ldu, T* v, int ldv, T*, int, int* info, gesvdjInfo_t jacobi, int count) {    \
    SOLVER_CALL(h, jacobi);                                                                                            \
    jacobi->isBatched = true;                                                                                          \
    return gesvdjBatched(h, DECOMPOSITION(T, false), info, count);                                                     \
  }                                                                                                                    \
  Status cusolverDn##L##gesvdaStridedBatched_bufferSize(                                                               \
      Handle h, cusolverEigMode_t mode, int rank, int m, int n, const T*, int lda, long long, const R*, long long,     \
      const T*, int ldu, long long, const T*, int ldv, long long, int* size, int count) {                              \
    const auto d = ASKED(T, true);                                                                                     \
    return tellSize(h, d.isValid() && rank >= 0 && rank <= d.rank() && count >= 0, size);                              \
  }                                                                                                                    \
  Status cusolverDn##L##gesvdaStridedBatched(Handle h, cusolverEigMode_t mode, int rank, int m, int n,                 \
                                             const T* matrices, int lda, long long strideA, R* s, long long strideS,   \
                                             T* u, int ldu, long long strideU, T* v, int ldv, long long strideV, T*,   \
                                             int, int* info, double* norms, int count) {                               \
    T* const a = const_cast<T*>(matrices); /* which is only read */                                                    \
    return gesvdaBatched(h, DECOMPOSITION(T, true), rank, {strideA, strideS, strideU, strideV}, info, norms, count);   \
  }
DEFINE(S, float, float)
DEFINE(D, double, double)
DEFINE(C, cuComplex, float)
DEFINE(Z, cuDoubleComplex, double)
#undef DEFINE
#undef ASKED
#undef DECOMPOSITION

}  // extern "C"
}  // namespace ordito::cusolver
