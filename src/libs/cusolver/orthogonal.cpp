// Orthogonal factors: QR, least squares, and the ways to bidiagonal and to tridiagonal form.
#include "libs/cusolver/dense.hpp"

namespace ordito::cusolver {

template <class T>
Status geqrf(Handle h, int m, int n, T* a, int lda, T* tau, int* info) {
  SOLVER_CALL(h, m >= 0 && n >= 0 && isLeading(lda, m));
  return submitWithInfo(
      h, nameOf<T>("geqrf"), info,
      [=] {
        int answer = 0;
        Roomy matrix(m, n, a, lda);
        withWork<T>([&](T* work, int size) {
          lapack<T, "geqrf">(m, n, matrix.data(), matrix.leading(), tau, work, size, &answer);
        });
        return answer;
      },
      operations<T>(2.0 * std::max(m, n) * std::min(m, n) * std::min(m, n)));
}

#define INSTANTIATE(T) template Status geqrf(Handle, int, int, T*, int, T*, int*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

namespace {

/// What a factor is applied to: from which side, and as what.
struct Application {
  cublasSideMode_t side;
  cublasOperation_t op;
  int m, n;  // of the matrix
  int order() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  bool isValid() const { return isSide(side) && isOperation(op) && m >= 0 && n >= 0; }
};

template <class T>
Status orgqr(Handle h, int m, int n, int k, T* a, int lda, const T* tau, int* info) {
  SOLVER_CALL(h, m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && isLeading(lda, m));
  return submitWithInfo(h, nameOf<T>("orgqr", "ungqr"), info, [=] {
    int answer = 0;
    Roomy matrix(m, n, a, lda);
    withWork<T>([&](T* work, int size) {
      lapack<T, "orgqr", "ungqr">(m, n, k, matrix.data(), matrix.leading(), tau, work, size, &answer);
    });
    return answer;
  });
}

template <class T>
Status ormqr(Handle h, const Application& to, int k, const T* a, int lda, const T* tau, T* c, int ldc, int* info) {
  SOLVER_CALL(h, to.isValid() && k >= 0 && k <= to.order() && isLeading(lda, to.order()) && isLeading(ldc, to.m));
  SOLVER_CHECK(!kIsComplex<T> || to.op != CUBLAS_OP_T);
  return submitWithInfo(h, nameOf<T>("ormqr", "unmqr"), info, [=] {
    int answer = 0;
    Roomy factor(to.order(), k, const_cast<T*>(a), lda), matrix(to.m, to.n, c, ldc);
    const char* const op = kIsComplex<T> || to.op == CUBLAS_OP_N ? letter(to.op) : "T";
    withWork<T>([&](T* work, int size) {
      lapack<T, "ormqr", "unmqr">(letter(to.side), op, to.m, to.n, k, factor.data(), factor.leading(), tau,
                                  matrix.data(), matrix.leading(), work, size, &answer);
    });
    return answer;
  });
}

template <class T>
Status gebrd(Handle h, int m, int n, T* a, int lda, Real<T>* d, Real<T>* e, T* tauQ, T* tauP, int* info) {
  SOLVER_CALL(h, m >= n && n >= 0 && isLeading(lda, m));
  return submitWithInfo(h, nameOf<T>("gebrd"), info, [=] {
    int answer = 0;
    Roomy matrix(m, n, a, lda);
    withWork<T>([&](T* work, int size) {
      lapack<T, "gebrd">(m, n, matrix.data(), matrix.leading(), d, e, tauQ, tauP, work, size, &answer);
    });
    return answer;
  });
}

/// Q of gebrd from the left, the conjugate transpose of P from the right.
template <class T>
Status orgbr(Handle h, cublasSideMode_t side, int m, int n, int k, T* a, int lda, const T* tau, int* info) {
  SOLVER_CALL(h, isSide(side) && m >= 0 && n >= 0 && k >= 0 && isLeading(lda, m));
  const bool isLeft = side == CUBLAS_SIDE_LEFT;
  SOLVER_CHECK(isLeft ? n <= m && n >= std::min(m, k) : m <= n && m >= std::min(n, k));
  return submitWithInfo(h, nameOf<T>("orgbr", "ungbr"), info, [=] {
    int answer = 0;
    Roomy matrix(m, n, a, lda);
    withWork<T>([&](T* work, int size) {
      lapack<T, "orgbr", "ungbr">(isLeft ? "Q" : "P", m, n, k, matrix.data(), matrix.leading(), tau, work, size,
                                  &answer);
    });
    return answer;
  });
}

template <class T>
Status sytrd(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, Real<T>* d, Real<T>* e, T* tau, int* info) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n));
  return submitWithInfo(h, nameOf<T>("sytrd", "hetrd"), info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    withWork<T>([&](T* work, int size) {
      lapack<T, "sytrd", "hetrd">(letter(uplo), n, matrix.data(), matrix.leading(), d, e, tau, work, size, &answer);
    });
    return answer;
  });
}

template <class T>
Status orgtr(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, const T* tau, int* info) {
  SOLVER_CALL(h, isFill(uplo) && n >= 0 && isLeading(lda, n));
  return submitWithInfo(h, nameOf<T>("orgtr", "ungtr"), info, [=] {
    int answer = 0;
    Roomy matrix(n, n, a, lda);
    withWork<T>([&](T* work, int size) {
      lapack<T, "orgtr", "ungtr">(letter(uplo), n, matrix.data(), matrix.leading(), tau, work, size, &answer);
    });
    return answer;
  });
}

template <class T>
Status ormtr(Handle h, const Application& to, cublasFillMode_t uplo, T* a, int lda, T* tau, T* c, int ldc, int* info) {
  SOLVER_CALL(h, to.isValid() && isFill(uplo) && isLeading(lda, to.order()) && isLeading(ldc, to.m));
  SOLVER_CHECK(!kIsComplex<T> || to.op != CUBLAS_OP_T);
  return submitWithInfo(h, nameOf<T>("ormtr", "unmtr"), info, [=] {
    int answer = 0;
    Roomy factor(to.order(), to.order(), a, lda), matrix(to.m, to.n, c, ldc);
    const char* const op = kIsComplex<T> || to.op == CUBLAS_OP_N ? letter(to.op) : "T";
    withWork<T>([&](T* work, int size) {
      lapack<T, "ormtr", "unmtr">(letter(to.side), letter(uplo), op, to.m, to.n, factor.data(), factor.leading(), tau,
                                  matrix.data(), matrix.leading(), work, size, &answer);
    });
    return answer;
  });
}

/// Least squares of as many equations as unknowns or more, in the precision of the result (linear.cpp says why). `a`
/// and `b` stay as they are.
template <class T>
Status gels(Handle h, int m, int n, int columns, const T* a, int lda, const T* b, int ldb, T* x, int ldx,
            int* iterations, int* info) {
  SOLVER_CALL(h, m >= n && n >= 0 && columns >= 0 && isLeading(lda, m) && isLeading(ldb, m) && isLeading(ldx, n));
  SOLVER_CHECK(iterations);
  *iterations = 0;
  return submitWithInfo(h, nameOf<T>("gels"), info, [=] {
    const int rows = std::max(1, m);
    auto factors = room<T>(int64_t{m} * n), sides = room<T>(int64_t{m} * columns);
    int answer = 0;
    lapack<T, "lacpy">("A", m, n, a, lda, factors.data(), rows);
    lapack<T, "lacpy">("A", m, columns, b, ldb, sides.data(), rows);
    withWork<T>([&](T* work, int size) {
      lapack<T, "gels">("N", m, n, columns, factors.data(), rows, sides.data(), rows, work, size, &answer);
    });
    if (answer == 0) lapack<T, "lacpy">("A", n, columns, sides.data(), rows, x, ldx);
    return answer;
  });
}

}  // namespace

extern "C" {

// CuPy asks for the room of geqrf with the columns for the leading dimension, and GPUs answer.
#define DEFINE(L, T, R, org, orm, sy)                                                                                  \
  Status cusolverDn##L##geqrf_bufferSize(Handle h, int m, int n, T*, int, int* size) {                                 \
    return tellSize(h, m >= 0 && n >= 0, size);                                                                        \
  }                                                                                                                    \
  Status cusolverDn##L##geqrf(Handle h, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {                     \
    return geqrf(h, m, n, in(a), lda, in(tau), info);                                                                  \
  }                                                                                                                    \
  Status cusolverDn##L##org##qr_bufferSize(Handle h, int m, int n, int k, const T*, int lda, const T*, int* size) {    \
    return tellSize(h, m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && isLeading(lda, m), size);                     \
  }                                                                                                                    \
  Status cusolverDn##L##org##qr(Handle h, int m, int n, int k, T* a, int lda, const T* tau, T*, int, int* info) {      \
    return orgqr(h, m, n, k, in(a), lda, in(tau), info);                                                               \
  }                                                                                                                    \
  Status cusolverDn##L##orm##qr_bufferSize(Handle h, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, \
                                           const T*, int lda, const T*, const T*, int ldc, int* size) {                \
    const Application to{side, op, m, n};                                                                              \
    return tellSize(h, to.isValid() && k >= 0 && k <= to.order() && isLeading(lda, to.order()) && isLeading(ldc, m),   \
                    size);                                                                                             \
  }                                                                                                                    \
  Status cusolverDn##L##orm##qr(Handle h, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k,            \
                                const T* a, int lda, const T* tau, T* c, int ldc, T*, int, int* info) {                \
    return ormqr(h, {side, op, m, n}, k, in(a), lda, in(tau), in(c), ldc, info);                                       \
  }                                                                                                                    \
  Status cusolverDn##L##gebrd_bufferSize(Handle h, int m, int n, int* size) {                                          \
    return tellSize(h, m >= n && n >= 0, size);                                                                        \
  }                                                                                                                    \
  Status cusolverDn##L##gebrd(Handle h, int m, int n, T* a, int lda, R* d, R* e, T* tauQ, T* tauP, T*, int,            \
                              int* info) {                                                                             \
    return gebrd(h, m, n, in(a), lda, d, e, in(tauQ), in(tauP), info);                                                 \
  }                                                                                                                    \
  Status cusolverDn##L##org##br_bufferSize(Handle h, cublasSideMode_t side, int m, int n, int k, const T*, int lda,    \
                                           const T*, int* size) {                                                      \
    return tellSize(h, isSide(side) && m >= 0 && n >= 0 && k >= 0 && isLeading(lda, m), size);                         \
  }                                                                                                                    \
  Status cusolverDn##L##org##br(Handle h, cublasSideMode_t side, int m, int n, int k, T* a, int lda, const T* tau, T*, \
                                int, int* info) {                                                                      \
    return orgbr(h, side, m, n, k, in(a), lda, in(tau), info);                                                         \
  }                                                                                                                    \
  Status cusolverDn##L##sy##trd_bufferSize(Handle h, cublasFillMode_t uplo, int n, const T*, int lda, const R*,        \
                                           const R*, const T*, int* size) {                                            \
    return tellSize(h, isFill(uplo) && n >= 0 && isLeading(lda, n), size);                                             \
  }                                                                                                                    \
  Status cusolverDn##L##sy##trd(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, R* d, R* e, T* tau, T*, int,    \
                                int* info) {                                                                           \
    return sytrd(h, uplo, n, in(a), lda, d, e, in(tau), info);                                                         \
  }                                                                                                                    \
  Status cusolverDn##L##org##tr_bufferSize(Handle h, cublasFillMode_t uplo, int n, const T*, int lda, const T*,        \
                                           int* size) {                                                                \
    return tellSize(h, isFill(uplo) && n >= 0 && isLeading(lda, n), size);                                             \
  }                                                                                                                    \
  Status cusolverDn##L##org##tr(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, const T* tau, T*, int,          \
                                int* info) {                                                                           \
    return orgtr(h, uplo, n, in(a), lda, in(tau), info);                                                               \
  }                                                                                                                    \
  Status cusolverDn##L##orm##tr_bufferSize(Handle h, cublasSideMode_t side, cublasFillMode_t uplo,                     \
                                           cublasOperation_t op, int m, int n, const T*, int lda, const T*, const T*,  \
                                           int ldc, int* size) {                                                       \
    const Application to{side, op, m, n};                                                                              \
    return tellSize(h, to.isValid() && isFill(uplo) && isLeading(lda, to.order()) && isLeading(ldc, m), size);         \
  }                                                                                                                    \
  Status cusolverDn##L##orm##tr(Handle h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, int m,   \
                                int n, T* a, int lda, T* tau, T* c, int ldc, T*, int, int* info) {                     \
    return ormtr(h, {side, op, m, n}, uplo, in(a), lda, in(tau), in(c), ldc, info);                                    \
  }
DEFINE(S, float, float, org, orm, sy)
DEFINE(D, double, double, org, orm, sy)
DEFINE(C, cuComplex, float, ung, unm, he)
DEFINE(Z, cuDoubleComplex, double, ung, unm, he)
#undef DEFINE

#define DEFINE(LL, T)                                                                                                  \
  Status cusolverDn##LL##gels_bufferSize(Handle h, int m, int n, int columns, T*, int lda, T*, int ldb, T*, int ldx,   \
                                         void*, size_t* bytes) {                                                       \
    SOLVER_CALL(h, m >= n && n >= 0 && columns >= 0 && isLeading(lda, m) && isLeading(ldb, m) && bytes);               \
    SOLVER_CHECK(isLeading(ldx, n));                                                                                   \
    *bytes = sizeof(T);                                                                                                \
    return CUSOLVER_STATUS_SUCCESS;                                                                                    \
  }                                                                                                                    \
  Status cusolverDn##LL##gels(Handle h, int m, int n, int columns, T* a, int lda, T* b, int ldb, T* x, int ldx, void*, \
                              size_t, int* iterations, int* info) {                                                    \
    return gels(h, m, n, columns, in(a), lda, in(b), ldb, in(x), ldx, iterations, info);                               \
  }
ORDITO_FOR_PRECISIONS(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cusolver
