// cuBLAS's first interface (cublas.h): no handles, scalars by value, letters for operations, errors by cublasGetError.
// Each call is one of the second interface on a handle of the library's own.
#include <atomic>
#include <mutex>

#include "cublas.h"
#include "libs/cublas/handle.hpp"

namespace ordito::cublas {
namespace {

std::atomic<cublasStatus_t> lastError = CUBLAS_STATUS_SUCCESS;

/// Remembers what went wrong until it is asked for.
void note(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) lastError = status;
}

std::mutex& mutex() {
  static std::mutex one;
  return one;
}
cublasHandle_t& theHandle() {
  static cublasHandle_t handle = nullptr;
  return handle;
}

/// Programs may leave cublasInit out.
cublasHandle_t handle() {
  const std::scoped_lock lock(mutex());
  if (!theHandle()) note(cublasCreate_v2(&theHandle()));
  return theHandle();
}

/// A letter that means nothing makes the call fail.
cublasOperation_t op(char letter) {
  switch (letter) {
    case 'n':
    case 'N': return CUBLAS_OP_N;
    case 't':
    case 'T': return CUBLAS_OP_T;
    case 'c':
    case 'C': return CUBLAS_OP_C;
    default: return static_cast<cublasOperation_t>(-1);
  }
}
template <class Mode>
Mode choose(char letter, char first, Mode ifFirst, char second, Mode ifSecond) {
  const char upper = letter >= 'a' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return upper == first ? ifFirst : upper == second ? ifSecond : static_cast<Mode>(-1);
}
cublasFillMode_t fill(char letter) { return choose(letter, 'L', CUBLAS_FILL_MODE_LOWER, 'U', CUBLAS_FILL_MODE_UPPER); }
cublasSideMode_t side(char letter) { return choose(letter, 'L', CUBLAS_SIDE_LEFT, 'R', CUBLAS_SIDE_RIGHT); }
cublasDiagType_t diag(char letter) { return choose(letter, 'N', CUBLAS_DIAG_NON_UNIT, 'U', CUBLAS_DIAG_UNIT); }

}  // namespace

extern "C" {

cublasStatus cublasInit(void) { return handle() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED; }
cublasStatus cublasShutdown(void) {
  const std::scoped_lock lock(mutex());
  if (theHandle()) cublasDestroy_v2(theHandle());
  theHandle() = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus cublasGetError(void) { return lastError.exchange(CUBLAS_STATUS_SUCCESS); }
cublasStatus cublasAlloc(int n, int size, void** memory) {
  ORDITO_CHECK(memory && n > 0 && size > 0);
  CUdeviceptr pointer = 0;
  if (!libs::hasContext()) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (cuMemAlloc(&pointer, static_cast<size_t>(n) * static_cast<size_t>(size)) != CUDA_SUCCESS)
    return CUBLAS_STATUS_ALLOC_FAILED;
  *memory = reinterpret_cast<void*>(pointer);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus cublasFree(void* memory) {
  const CUresult result = cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
cublasStatus cublasSetKernelStream(cudaStream_t stream) { return cublasSetStream_v2(handle(), stream); }

#define REAL(T) Real<Inner<T>>
#define CALL(L, name, ...) note(cublas##L##name##_v2(handle(), __VA_ARGS__))
/// A result comes by value.
#define ANSWER(T, L, name, ...)        \
  T result{};                          \
  CALL(L, name, __VA_ARGS__, &result); \
  return result

#define LEVEL1(L, I, N, T)                                                                                           \
  REAL(T) cublas##N##nrm2(int n, const T* x, int incx) { ANSWER(REAL(T), N, nrm2, n, x, incx); }                     \
  REAL(T) cublas##N##asum(int n, const T* x, int incx) { ANSWER(REAL(T), N, asum, n, x, incx); }                     \
  int cublas##I##amax(int n, const T* x, int incx) { ANSWER(int, I, amax, n, x, incx); }                             \
  int cublas##I##amin(int n, const T* x, int incx) { ANSWER(int, I, amin, n, x, incx); }                             \
  void cublas##L##scal(int n, T a, T* x, int incx) { CALL(L, scal, n, &a, x, incx); }                                \
  void cublas##L##axpy(int n, T a, const T* x, int incx, T* y, int incy) { CALL(L, axpy, n, &a, x, incx, y, incy); } \
  void cublas##L##copy(int n, const T* x, int incx, T* y, int incy) { CALL(L, copy, n, x, incx, y, incy); }          \
  void cublas##L##swap(int n, T* x, int incx, T* y, int incy) { CALL(L, swap, n, x, incx, y, incy); }                \
  void cublas##L##rot(int n, T* x, int incx, T* y, int incy, REAL(T) c, T s) {                                       \
    CALL(L, rot, n, x, incx, y, incy, &c, &s);                                                                       \
  }
LEVEL1(S, Is, S, float)
LEVEL1(D, Id, D, double)
LEVEL1(C, Ic, Sc, cuComplex)
LEVEL1(Z, Iz, Dz, cuDoubleComplex)

#define REAL_LEVEL1(L, T)                                                                                            \
  T cublas##L##dot(int n, const T* x, int incx, const T* y, int incy) { ANSWER(T, L, dot, n, x, incx, y, incy); }    \
  void cublas##L##rotg(T* a, T* b, T* c, T* s) { CALL(L, rotg, a, b, c, s); }                                        \
  void cublas##L##rotm(int n, T* x, int incx, T* y, int incy, const T* p) { CALL(L, rotm, n, x, incx, y, incy, p); } \
  void cublas##L##rotmg(T* d1, T* d2, T* x1, const T* y1, T* p) { CALL(L, rotmg, d1, d2, x1, y1, p); }
REAL_LEVEL1(S, float)
REAL_LEVEL1(D, double)

#define COMPLEX_LEVEL1(L, M, T)                                                                                     \
  T cublas##L##dotu(int n, const T* x, int incx, const T* y, int incy) { ANSWER(T, L, dotu, n, x, incx, y, incy); } \
  T cublas##L##dotc(int n, const T* x, int incx, const T* y, int incy) { ANSWER(T, L, dotc, n, x, incx, y, incy); } \
  void cublas##M##scal(int n, REAL(T) a, T* x, int incx) { CALL(M, scal, n, &a, x, incx); }                         \
  void cublas##M##rot(int n, T* x, int incx, T* y, int incy, REAL(T) c, REAL(T) s) {                                \
    CALL(M, rot, n, x, incx, y, incy, &c, &s);                                                                      \
  }                                                                                                                 \
  void cublas##L##rotg(T* a, T b, REAL(T) * c, T * s) { CALL(L, rotg, a, &b, c, s); }
COMPLEX_LEVEL1(C, Cs, cuComplex)
COMPLEX_LEVEL1(Z, Zd, cuDoubleComplex)

#define TRIANGULAR(L, T, verb)                                                                          \
  void cublas##L##tr##verb(char u, char t, char d, int n, const T* A, int lda, T* x, int incx) {        \
    CALL(L, tr##verb, fill(u), op(t), diag(d), n, A, lda, x, incx);                                     \
  }                                                                                                     \
  void cublas##L##tb##verb(char u, char t, char d, int n, int k, const T* A, int lda, T* x, int incx) { \
    CALL(L, tb##verb, fill(u), op(t), diag(d), n, k, A, lda, x, incx);                                  \
  }                                                                                                     \
  void cublas##L##tp##verb(char u, char t, char d, int n, const T* A, T* x, int incx) {                 \
    CALL(L, tp##verb, fill(u), op(t), diag(d), n, A, x, incx);                                          \
  }
#define HERMITIAN(L, T, sy, sb, sp)                                                                                   \
  void cublas##L##sy##mv(char u, int n, T alpha, const T* A, int lda, const T* x, int incx, T beta, T* y, int incy) { \
    CALL(L, sy##mv, fill(u), n, &alpha, A, lda, x, incx, &beta, y, incy);                                             \
  }                                                                                                                   \
  void cublas##L##sb##mv(char u, int n, int k, T alpha, const T* A, int lda, const T* x, int incx, T beta, T* y,      \
                         int incy) {                                                                                  \
    CALL(L, sb##mv, fill(u), n, k, &alpha, A, lda, x, incx, &beta, y, incy);                                          \
  }                                                                                                                   \
  void cublas##L##sp##mv(char u, int n, T alpha, const T* A, const T* x, int incx, T beta, T* y, int incy) {          \
    CALL(L, sp##mv, fill(u), n, &alpha, A, x, incx, &beta, y, incy);                                                  \
  }                                                                                                                   \
  void cublas##L##sy##r(char u, int n, REAL(T) alpha, const T* x, int incx, T* A, int lda) {                          \
    CALL(L, sy##r, fill(u), n, &alpha, x, incx, A, lda);                                                              \
  }                                                                                                                   \
  void cublas##L##sp##r(char u, int n, REAL(T) alpha, const T* x, int incx, T* A) {                                   \
    CALL(L, sp##r, fill(u), n, &alpha, x, incx, A);                                                                   \
  }                                                                                                                   \
  void cublas##L##sy##r2(char u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* A, int lda) {         \
    CALL(L, sy##r2, fill(u), n, &alpha, x, incx, y, incy, A, lda);                                                    \
  }                                                                                                                   \
  void cublas##L##sp##r2(char u, int n, T alpha, const T* x, int incx, const T* y, int incy, T* A) {                  \
    CALL(L, sp##r2, fill(u), n, &alpha, x, incx, y, incy, A);                                                         \
  }
#define MATRICES(L, T)                                                                                                 \
  TRIANGULAR(L, T, mv)                                                                                                 \
  TRIANGULAR(L, T, sv)                                                                                                 \
  void cublas##L##gemv(char t, int m, int n, T alpha, const T* A, int lda, const T* x, int incx, T beta, T* y,         \
                       int incy) {                                                                                     \
    CALL(L, gemv, op(t), m, n, &alpha, A, lda, x, incx, &beta, y, incy);                                               \
  }                                                                                                                    \
  void cublas##L##gbmv(char t, int m, int n, int kl, int ku, T alpha, const T* A, int lda, const T* x, int incx,       \
                       T beta, T* y, int incy) {                                                                       \
    CALL(L, gbmv, op(t), m, n, kl, ku, &alpha, A, lda, x, incx, &beta, y, incy);                                       \
  }                                                                                                                    \
  void cublas##L##gemm(char ta, char tb, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb,       \
                       T beta, T* C, int ldc) {                                                                        \
    CALL(L, gemm, op(ta), op(tb), m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);                                     \
  }                                                                                                                    \
  void cublas##L##symm(char s, char u, int m, int n, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,  \
                       int ldc) {                                                                                      \
    CALL(L, symm, side(s), fill(u), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc);                                      \
  }                                                                                                                    \
  void cublas##L##syrk(char u, char t, int n, int k, T alpha, const T* A, int lda, T beta, T* C, int ldc) {            \
    CALL(L, syrk, fill(u), op(t), n, k, &alpha, A, lda, &beta, C, ldc);                                                \
  }                                                                                                                    \
  void cublas##L##syr2k(char u, char t, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, \
                        int ldc) {                                                                                     \
    CALL(L, syr2k, fill(u), op(t), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);                                       \
  }                                                                                                                    \
  void cublas##L##trmm(char s, char u, char t, char d, int m, int n, T alpha, const T* A, int lda, T* B, int ldb) {    \
    CALL(L, trmm, side(s), fill(u), op(t), diag(d), m, n, &alpha, A, lda, B, ldb, B, ldb);                             \
  }                                                                                                                    \
  void cublas##L##trsm(char s, char u, char t, char d, int m, int n, T alpha, const T* A, int lda, T* B, int ldb) {    \
    CALL(L, trsm, side(s), fill(u), op(t), diag(d), m, n, &alpha, A, lda, B, ldb);                                     \
  }
#define GER(L, T, name)                                                                                    \
  void cublas##L##name(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* A, int lda) { \
    CALL(L, name, m, n, &alpha, x, incx, y, incy, A, lda);                                                 \
  }
#define REAL_MATRICES(L, T)   \
  MATRICES(L, T)              \
  HERMITIAN(L, T, sy, sb, sp) \
  GER(L, T, ger)
REAL_MATRICES(S, float)
REAL_MATRICES(D, double)

#define COMPLEX_MATRICES(L, T)                                                                                         \
  MATRICES(L, T)                                                                                                       \
  HERMITIAN(L, T, he, hb, hp)                                                                                          \
  GER(L, T, geru)                                                                                                      \
  GER(L, T, gerc)                                                                                                      \
  void cublas##L##hemm(char s, char u, int m, int n, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,  \
                       int ldc) {                                                                                      \
    CALL(L, hemm, side(s), fill(u), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc);                                      \
  }                                                                                                                    \
  void cublas##L##herk(char u, char t, int n, int k, REAL(T) alpha, const T* A, int lda, REAL(T) beta, T* C,           \
                       int ldc) {                                                                                      \
    CALL(L, herk, fill(u), op(t), n, k, &alpha, A, lda, &beta, C, ldc);                                                \
  }                                                                                                                    \
  void cublas##L##her2k(char u, char t, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, REAL(T) beta, \
                        T* C, int ldc) {                                                                               \
    CALL(L, her2k, fill(u), op(t), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);                                       \
  }
COMPLEX_MATRICES(C, cuComplex)
COMPLEX_MATRICES(Z, cuDoubleComplex)

}  // extern "C"
}  // namespace ordito::cublas
