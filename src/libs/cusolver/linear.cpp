// Linear systems: Cholesky's factors, LU, and those of symmetric matrices that are not definite.
#include "libs/cublas/plain_lu.hpp"
#include "libs/cusolver/dense.hpp"

namespace ordito::cusolver {

/// The first NaN on a factor's diagonal, where LAPACK's definition stops and OpenBLAS goes on; 0: there is none.
template <class T>
int firstNaN(int n, const T* a, int lda) {
  for (int i = 0; i < n; ++i)
    if (std::isnan(std::real(*cublas::element(a, i, i, lda)))) return i + 1;
  return 0;
}

template <class T>
Status potrf(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, int* info) {
  SOLVER_CALL(h, info);
  if (const int wrong = firstWrong({{1, isFill(uplo)}, {2, n >= 0}, {4, isLeading(lda, n)}}))
    return refuse(h, nameOf<T>("potrf"), info, wrong);
  return submitWithInfo(
      h, nameOf<T>("potrf"), info,
      [=] {
        int answer = 0;
        lapack<T, "potrf">(letter(uplo), n, a, lda, &answer);
        return answer == 0 ? firstNaN(n, a, lda) : answer;
      },
      operations<T>(cube(n) / 3));
}

template <class T>
Status potrs(Handle h, cublasFillMode_t uplo, int n, int columns, const T* a, int lda, T* b, int ldb, int* info) {
  SOLVER_CALL(h, true);
  const int wrong =
      firstWrong({{1, isFill(uplo)}, {2, n >= 0}, {3, columns >= 0}, {5, isLeading(lda, n)}, {7, isLeading(ldb, n)}});
  if (wrong) return refuse(h, nameOf<T>("potrs"), info, wrong);
  return submitWithInfo(h, nameOf<T>("potrs"), info, [=] {
    int answer = 0;
    lapack<T, "potrs">(letter(uplo), n, columns, a, lda, b, ldb, &answer);
    return answer;
  });
}

template <class T>
Status trtri(Handle h, cublasFillMode_t uplo, cublasDiagType_t diag, int n, T* a, int lda, int* info) {
  SOLVER_CALL(h, isFill(uplo) && isDiagonal(diag) && n >= 0 && isLeading(lda, n));
  return submitWithInfo(h, "cusolverDnXtrtri", info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    lapack<T, "trtri">(letter(uplo), letter(diag), n, matrix.data(), matrix.leading(), &answer);
    return answer;
  });
}

template <class T, class Pivot>
Status getrf(Handle h, int m, int n, T* a, int lda, Pivot* pivots, int* info) {
  SOLVER_CALL(h, m >= 0 && n >= 0);
  // As on a GPU, only the info tells of this one.
  if (!isLeading(lda, m)) return submitWithInfo(h, nameOf<T>("getrf"), info, [] { return -4; });
  return submitWithInfo(
      h, nameOf<T>("getrf"), info,
      [=] {
        if (!pivots) return cublas::luWithoutPivots(m, n, a, lda);
        int answer = 0;
        auto rows = room<int>(std::min(m, n));
        if (cublas::hasNaN(m, n, a, lda))
          answer = cublas::luPassingNaNs(m, n, a, lda, rows.data());
        else
          lapack<T, "getrf">(m, n, a, lda, rows.data(), &answer);
        std::copy_n(rows.begin(), std::min(m, n), pivots);
        return answer;
      },
      operations<T>(cube(std::min(m, n)) * 2 / 3));
}

namespace {

/// With the factors of luWithoutPivots.
template <class T>
void solveWithoutPivots(cublasOperation_t op, int n, int columns, const T* a, int lda, T* b, int ldb) {
  const T one(1);
  const auto lower = [&] {
    cublas::openBlas<T>().trsm("L", "L", letter(op), "U", &n, &columns, &one, a, &lda, b, &ldb);
  };
  if (op == CUBLAS_OP_N) lower();
  cublas::openBlas<T>().trsm("L", "U", letter(op), "N", &n, &columns, &one, a, &lda, b, &ldb);
  if (op != CUBLAS_OP_N) lower();
}

template <class T>
Status potri(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, int* info) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n));
  return submitWithInfo(h, nameOf<T>("potri"), info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    lapack<T, "potri">(letter(uplo), n, matrix.data(), matrix.leading(), &answer);
    return answer;
  });
}

template <class T>
Status lauum(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, int* info) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n));
  return submitWithInfo(h, nameOf<T>("lauum"), info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    lapack<T, "lauum">(letter(uplo), n, matrix.data(), matrix.leading(), &answer);
    return answer;
  });
}

/// Of rows of `a` by the pivots from `first` to `last`, counted from 1.
template <class T>
Status laswp(Handle h, int n, T* a, int lda, int first, int last, const int* pivots, int step) {
  SOLVER_CALL(h, n >= 0 && lda >= 1 && first >= 1 && last >= first && step != 0);
  return submit(h, nameOf<T>("laswp"), [=] { lapack<T, "laswp">(n, a, lda, first, last, pivots, step); });
}

template <class T>
Status sytrf(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, int* pivots, int* info) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n));
  if (!pivots) return CUSOLVER_STATUS_NOT_SUPPORTED;  // factors without exchanges, which LAPACK does not have
  return submitWithInfo(h, nameOf<T>("sytrf"), info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    withWork<T>([&](T* work, int size) {
      lapack<T, "sytrf">(letter(uplo), n, matrix.data(), matrix.leading(), pivots, work, size, &answer);
    });
    return answer;
  });
}

template <class T>
Status sytri(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, const int* pivots, int* info) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n) && pivots);
  return submitWithInfo(h, nameOf<T>("sytri"), info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    auto work = room<T>(2 * int64_t{n});
    lapack<T, "sytri">(letter(uplo), n, matrix.data(), matrix.leading(), pivots, work.data(), &answer);
    return answer;
  });
}

template <class T>
Status potrfBatched(Handle h, cublasFillMode_t uplo, int n, T* const* a, int lda, int* info, int count) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n) && count >= 0);
  return submit(h, nameOf<T>("potrfBatched"), [=] {
    libs::parallelFor(static_cast<unsigned>(count), [=](unsigned k) {
      int answer = 0;
      lapack<T, "potrf">(letter(uplo), n, a[k], lda, &answer);
      if (info) info[k] = answer;
    });
  });
}

template <class T>
Status potrsBatched(Handle h, cublasFillMode_t uplo, int n, int columns, T* const* a, int lda, T* const* b, int ldb,
                    int* info, int count) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && columns >= 0 && isLeading(lda, n) && isLeading(ldb, n) && count >= 0);
  return submitWithInfo(h, nameOf<T>("potrsBatched"), info, [=] {
    libs::parallelFor(static_cast<unsigned>(count), [=](unsigned k) {
      int answer = 0;
      lapack<T, "potrs">(letter(uplo), n, columns, a[k], lda, b[k], ldb, &answer);
    });
    return 0;
  });
}

/// The calls that may work in less precision and refine: here they work in the precision of the result, so that no
/// iteration is needed. `a` stays as it is.
template <class T>
Status gesv(Handle h, int n, int columns, const T* a, int lda, int* pivots, const T* b, int ldb, T* x, int ldx,
            int* iterations, int* info) {
  SOLVER_CALL(h, n >= 0 && columns >= 0 && isLeading(lda, n) && isLeading(ldb, n) && isLeading(ldx, n) && iterations);
  *iterations = 0;
  return submitWithInfo(h, nameOf<T>("gesv"), info, [=] {
    auto factors = room<T>(int64_t{n} * n);
    auto rows = room<int>(n);
    int answer = 0;
    lapack<T, "lacpy">("A", n, n, a, lda, factors.data(), std::max(1, n));
    lapack<T, "lacpy">("A", n, columns, b, ldb, x, ldx);
    lapack<T, "gesv">(n, columns, factors.data(), std::max(1, n), rows.data(), x, ldx, &answer);
    if (pivots) std::copy_n(rows.begin(), n, pivots);
    return answer;
  });
}

}  // namespace

template <class T, class Pivot>
Status getrs(Handle h, cublasOperation_t op, int n, int columns, const T* a, int lda, const Pivot* pivots, T* b,
             int ldb, int* info) {
  SOLVER_CALL(h, isOperation(op) && n >= 0 && columns >= 0 && isLeading(lda, n) && isLeading(ldb, n));
  return submitWithInfo(h, nameOf<T>("getrs"), info, [=] {
    int answer = 0;
    if (!pivots) return solveWithoutPivots(op, n, columns, a, lda, b, ldb), answer;
    auto rows = room<int>(n);
    std::transform(pivots, pivots + n, rows.begin(), [](Pivot p) { return static_cast<int>(p); });
    lapack<T, "getrs">(letter(op), n, columns, a, lda, rows.data(), b, ldb, &answer);
    return answer;
  });
}

#define INSTANTIATE(T)                                                                                      \
  template Status trtri(Handle, cublasFillMode_t, cublasDiagType_t, int, T*, int, int*);                    \
  template Status getrf(Handle, int, int, T*, int, int64_t*, int*);                                         \
  template Status getrs(Handle, cublasOperation_t, int, int, const T*, int, const int64_t*, T*, int, int*); \
  template Status potrf(Handle, cublasFillMode_t, int, T*, int, int*);                                      \
  template Status potrs(Handle, cublasFillMode_t, int, int, const T*, int, T*, int, int*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

extern "C" {

/// A matrix of which one triangle counts, in its place.
#define DEFINE(L, T, name)                                                                                  \
  Status cusolverDn##L##name##_bufferSize(Handle h, cublasFillMode_t uplo, int n, T*, int lda, int* size) { \
    return tellSize(h, isFill(uplo) && n >= 0 && isLeading(lda, n), size);                                  \
  }                                                                                                         \
  Status cusolverDn##L##name(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, T*, int, int* info) {   \
    return name(h, uplo, n, in(a), lda, info);                                                              \
  }
#define DEFINE_ALL(L, T) DEFINE(L, T, potrf) DEFINE(L, T, potri) DEFINE(L, T, lauum)
ORDITO_FOR_ALL_INT(DEFINE_ALL)
#undef DEFINE_ALL
#undef DEFINE

#define DEFINE(L, T)                                                                                                   \
  Status cusolverDn##L##potrs(Handle h, cublasFillMode_t uplo, int n, int columns, const T* a, int lda, T* b, int ldb, \
                              int* info) {                                                                             \
    return potrs(h, uplo, n, columns, in(a), lda, in(b), ldb, info);                                                   \
  }                                                                                                                    \
  Status cusolverDn##L##potrfBatched(Handle h, cublasFillMode_t uplo, int n, T* a[], int lda, int* info, int count) {  \
    return potrfBatched(h, uplo, n, inArray(a), lda, info, count);                                                     \
  }                                                                                                                    \
  Status cusolverDn##L##potrsBatched(Handle h, cublasFillMode_t uplo, int n, int columns, T* a[], int lda, T* b[],     \
                                     int ldb, int* info, int count) {                                                  \
    return potrsBatched(h, uplo, n, columns, inArray(a), lda, inArray(b), ldb, info, count);                           \
  }                                                                                                                    \
  Status cusolverDn##L##getrf_bufferSize(Handle h, int m, int n, T*, int lda, int* size) {                             \
    return tellSize(h, m >= 0 && n >= 0 && isLeading(lda, m), size);                                                   \
  }                                                                                                                    \
  Status cusolverDn##L##getrf(Handle h, int m, int n, T* a, int lda, T*, int* pivots, int* info) {                     \
    return getrf(h, m, n, in(a), lda, pivots, info);                                                                   \
  }                                                                                                                    \
  Status cusolverDn##L##getrs(Handle h, cublasOperation_t op, int n, int columns, const T* a, int lda,                 \
                              const int* pivots, T* b, int ldb, int* info) {                                           \
    return getrs(h, op, n, columns, in(a), lda, pivots, in(b), ldb, info);                                             \
  }                                                                                                                    \
  Status cusolverDn##L##laswp(Handle h, int n, T* a, int lda, int first, int last, const int* pivots, int step) {      \
    return laswp(h, n, in(a), lda, first, last, pivots, step);                                                         \
  }                                                                                                                    \
  Status cusolverDn##L##sytrf_bufferSize(Handle h, int n, T*, int lda, int* size) {                                    \
    return tellSize(h, n >= 0 && isLeading(lda, n), size);                                                             \
  }                                                                                                                    \
  Status cusolverDn##L##sytrf(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, int* pivots, T*, int,             \
                              int* info) {                                                                             \
    return sytrf(h, uplo, n, in(a), lda, pivots, info);                                                                \
  }                                                                                                                    \
  Status cusolverDn##L##sytri_bufferSize(Handle h, cublasFillMode_t uplo, int n, T*, int lda, const int*, int* size) { \
    return tellSize(h, isFill(uplo) && n >= 0 && isLeading(lda, n), size);                                             \
  }                                                                                                                    \
  Status cusolverDn##L##sytri(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, const int* pivots, T*, int,       \
                              int* info) {                                                                             \
    return sytri(h, uplo, n, in(a), lda, pivots, info);                                                                \
  }
ORDITO_FOR_ALL_INT(DEFINE)
#undef DEFINE

#define DEFINE(LL, T)                                                                                                 \
  Status cusolverDn##LL##gesv_bufferSize(Handle h, int n, int columns, T*, int lda, int*, T*, int ldb, T*, int ldx,   \
                                         void*, size_t* bytes) {                                                      \
    SOLVER_CALL(h, n >= 0 && columns >= 0 && isLeading(lda, n) && isLeading(ldb, n) && isLeading(ldx, n) && bytes);   \
    *bytes = sizeof(T);                                                                                               \
    return CUSOLVER_STATUS_SUCCESS;                                                                                   \
  }                                                                                                                   \
  Status cusolverDn##LL##gesv(Handle h, int n, int columns, T* a, int lda, int* pivots, T* b, int ldb, T* x, int ldx, \
                              void*, size_t, int* iterations, int* info) {                                            \
    return gesv(h, n, columns, in(a), lda, pivots, in(b), ldb, in(x), ldx, iterations, info);                         \
  }
ORDITO_FOR_PRECISIONS(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusolver
