// cuBLAS's additions to BLAS that are no products: sums of matrices, diagonal matrices, packed triangles.
#include <algorithm>
#include <vector>

#include "libs/cublas/gemm.hpp"
#include "libs/cublas/vectors.hpp"

namespace ordito::cublas {
namespace {

/// Columns of a result on all threads.
template <class Body>
void eachColumn(int64_t m, int64_t n, const Body& body) {
  if (m * n < kChunk) {
    for (int64_t j = 0; j < n; ++j) body(j);
    return;
  }
  const int64_t parts = std::min<int64_t>(n, 4 * static_cast<int64_t>(libs::parallelThreads()));
  libs::parallelFor(static_cast<unsigned>(parts), [&](unsigned part) {
    for (int64_t j = n * part / parts; j < n * (part + 1) / parts; ++j) body(j);
  });
}

/// C = alpha op(A) + beta op(B). C may be A or B, if that one is not turned.
template <class T>
cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t opA, cublasOperation_t opB, int64_t m, int64_t n,
                    const T* alpha, const T* a, int64_t lda, const T* beta, const T* b, int64_t ldb, T* c,
                    int64_t ldc) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isOperation(opA) && isOperation(opB) && m >= 0 && n >= 0);
  ORDITO_CHECK(lda >= std::max<int64_t>(1, opA == CUBLAS_OP_N ? m : n));
  ORDITO_CHECK(ldb >= std::max<int64_t>(1, opB == CUBLAS_OP_N ? m : n) && ldc >= std::max<int64_t>(1, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(alpha && beta && c);
  ORDITO_CHECK((c != a || (opA == CUBLAS_OP_N && lda == ldc)) && (c != b || (opB == CUBLAS_OP_N && ldb == ldc)));
  const Scalar<T> one(handle, alpha), other(handle, beta);
  return submit(handle, "cublas geam", [=] {
    const T first = one.get(), second = other.get();
    eachColumn(m, n, [&](int64_t j) {
      for (int64_t i = 0; i < m; ++i) {
        // What is multiplied by 0 is not read.
        const T x = first == T(0) ? T(0) : multiply(first, operated(opA, a, lda, i, j));
        c[i + j * ldc] = x + (second == T(0) ? T(0) : multiply(second, operated(opB, b, ldb, i, j)));
      }
    });
  });
}

/// C = diag(x) A or A diag(x).
template <class T>
cublasStatus_t dgmm(cublasHandle_t handle, cublasSideMode_t side, int64_t m, int64_t n, const T* a, int64_t lda,
                    const T* x, int64_t incx, T* c, int64_t ldc) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isSide(side) && m >= 0 && n >= 0 && lda >= std::max<int64_t>(1, m) && ldc >= std::max<int64_t>(1, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  ORDITO_CHECK(a && x && c);
  return submit(handle, "cublas dgmm", [=] {
    const bool left = side == CUBLAS_SIDE_LEFT;
    const Vector<const T> diagonal(x, left ? m : n, incx);
    eachColumn(m, n, [&](int64_t j) {
      for (int64_t i = 0; i < m; ++i) c[i + j * ldc] = multiply(a[i + j * lda], diagonal[left ? i : j]);
    });
  });
}

/// Calls with the place in the packed triangle of every (i, j) in it.
template <class Body>
void eachPacked(cublasFillMode_t fill, int64_t n, const Body& body) {
  int64_t at = 0;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t first = fill == CUBLAS_FILL_MODE_LOWER ? j : 0, last = fill == CUBLAS_FILL_MODE_LOWER ? n : j + 1;
    for (int64_t i = first; i < last; ++i) body(at++, i, j);
  }
}

template <class T>
cublasStatus_t unpack(cublasHandle_t handle, cublasFillMode_t fill, int64_t n, const T* packed, T* a, int64_t lda) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && lda >= std::max<int64_t>(1, n) && (n == 0 || (packed && a)));
  return submit(handle, "cublas tpttr",
                [=] { eachPacked(fill, n, [&](int64_t at, int64_t i, int64_t j) { a[i + j * lda] = packed[at]; }); });
}

template <class T>
cublasStatus_t pack(cublasHandle_t handle, cublasFillMode_t fill, int64_t n, const T* a, int64_t lda, T* packed) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isFill(fill) && n >= 0 && lda >= std::max<int64_t>(1, n) && (n == 0 || (packed && a)));
  return submit(handle, "cublas trttp",
                [=] { eachPacked(fill, n, [&](int64_t at, int64_t i, int64_t j) { packed[at] = a[i + j * lda]; }); });
}

}  // namespace

extern "C" {

#define DEFINE(L, T, suffix, Int)                                                                                    \
  cublasStatus_t cublas##L##geam##suffix(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, \
                                         const T* alpha, const T* A, Int lda, const T* beta, const T* B, Int ldb,    \
                                         T* C, Int ldc) {                                                            \
    return geam(h, ta, tb, m, n, in(alpha), in(A), lda, in(beta), in(B), ldb, in(C), ldc);                           \
  }                                                                                                                  \
  cublasStatus_t cublas##L##dgmm##suffix(cublasHandle_t h, cublasSideMode_t side, Int m, Int n, const T* A, Int lda, \
                                         const T* x, Int incx, T* C, Int ldc) {                                      \
    return dgmm(h, side, m, n, in(A), lda, in(x), incx, in(C), ldc);                                                 \
  }
ORDITO_FOR_ALL(DEFINE)
#undef DEFINE

#define DEFINE(L, T)                                                                                            \
  cublasStatus_t cublas##L##tpttr(cublasHandle_t h, cublasFillMode_t fill, int n, const T* AP, T* A, int lda) { \
    return unpack(h, fill, n, in(AP), in(A), lda);                                                              \
  }                                                                                                             \
  cublasStatus_t cublas##L##trttp(cublasHandle_t h, cublasFillMode_t fill, int n, const T* A, int lda, T* AP) { \
    return pack(h, fill, n, in(A), lda, in(AP));                                                                \
  }
ORDITO_FOR_ALL_INT(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
