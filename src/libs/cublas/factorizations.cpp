// cuBLAS's factorizations of many small matrices, each by LAPACK on one thread. The arrays of pointers are the device's
// and are read in the task.
#include <algorithm>
#include <numeric>
#include <vector>

#include "libs/cublas/gemm.hpp"
#include "libs/cublas/plain_lu.hpp"

namespace ordito::cublas {
namespace {

template <class T>
int lu(int n, T* a, int lda, int* pivots) {
  if (!pivots) return luWithoutPivots(n, n, a, lda);
  int info = 0;
  openBlas<T>().getrf(&n, &n, a, &lda, pivots, &info);
  return info;
}

/// Pivots that exchange nothing.
std::vector<int> inOrder(int n) {
  std::vector<int> pivots(static_cast<size_t>(n));
  std::iota(pivots.begin(), pivots.end(), 1);
  return pivots;
}

template <class T>
cublasStatus_t getrf(cublasHandle_t handle, int n, T* const* a, int lda, int* pivots, int* info, int count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(n >= 0 && lda >= std::max(1, n) && count >= 0 && (count == 0 || ((a || n == 0) && info)));
  return submit(handle, "cublas getrfBatched", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      info[i] = lu(n, at(a, i), lda, pivots ? pivots + static_cast<size_t>(i) * static_cast<size_t>(n) : nullptr);
    });
  });
}

/// `info` is the host's and about the arguments, as LAPACK counts them.
template <class T>
cublasStatus_t getrs(cublasHandle_t handle, cublasOperation_t op, int n, int columns, const T* const* a, int lda,
                     const int* pivots, T* const* b, int ldb, int* info, int count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(info);
  const int wrong = !isOperation(op)                          ? 1
                    : n < 0                                   ? 2
                    : columns < 0                             ? 3
                    : !a && count > 0 && n > 0                ? 4
                    : lda < std::max(1, n)                    ? 5
                    : !b && count > 0 && n > 0 && columns > 0 ? 7
                    : ldb < std::max(1, n)                    ? 8
                    : count < 0                               ? 10
                                                              : 0;
  *info = -wrong;
  ORDITO_CHECK(wrong == 0);
  if (n == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  return submit(handle, "cublas getrsBatched", [=] {
    const std::vector<int> none = pivots ? std::vector<int>() : inOrder(n);
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      int ignored = 0;
      const int* own = pivots ? pivots + static_cast<size_t>(i) * static_cast<size_t>(n) : none.data();
      openBlas<T>().getrs(letter(op), &n, &columns, a[i], &lda, own, b[i], &ldb, &ignored);
    });
  });
}

/// The inverse of what `a` holds the LU of, into c.
template <class T>
int invert(int n, const T* a, int lda, const int* pivots, T* c, int ldc) {
  for (int j = 0; j < n; ++j) std::copy_n(element(a, 0, j, lda), n, element(c, 0, j, ldc));
  const std::vector<int> none = pivots ? std::vector<int>() : inOrder(n);
  const int size = std::max(1, n * 64);
  std::vector<T> work(static_cast<size_t>(size));
  int info = 0;
  openBlas<T>().getri(&n, c, &ldc, pivots ? pivots : none.data(), work.data(), &size, &info);
  return info;
}

template <class T>
cublasStatus_t getri(cublasHandle_t handle, int n, const T* const* a, int lda, const int* pivots, T* const* c, int ldc,
                     int* info, int count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(n >= 0 && lda >= std::max(1, n) && ldc >= std::max(1, n) && count >= 0);
  ORDITO_CHECK(count == 0 || (((a && c) || n == 0) && info));
  return submit(handle, "cublas getriBatched", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      const int* own = pivots ? pivots + static_cast<size_t>(i) * static_cast<size_t>(n) : nullptr;
      info[i] = invert(n, at(a, i), lda, own, at(c, i), ldc);
    });
  });
}

/// getrf and getri in one, for matrices of up to 32 rows.
template <class T>
cublasStatus_t matinv(cublasHandle_t handle, int n, const T* const* a, int lda, T* const* c, int ldc, int* info,
                      int count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(n >= 0 && n <= 32 && lda >= std::max(1, n) && ldc >= std::max(1, n) && count >= 0);
  ORDITO_CHECK(count == 0 || (((a && c) || n == 0) && info));
  return submit(handle, "cublas matinvBatched", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      std::vector<T> factors(static_cast<size_t>(n) * static_cast<size_t>(n));
      std::vector<int> pivots(static_cast<size_t>(n));
      for (int j = 0; j < n; ++j) std::copy_n(element(at(a, i), 0, j, lda), n, element(factors.data(), 0, j, n));
      info[i] = lu(n, factors.data(), std::max(1, n), pivots.data());
      if (info[i] == 0) info[i] = invert(n, factors.data(), std::max(1, n), pivots.data(), at(c, i), ldc);
    });
  });
}

template <class T>
cublasStatus_t geqrf(cublasHandle_t handle, int m, int n, T* const* a, int lda, T* const* tau, int* info, int count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(info);
  const bool isEmpty = m == 0 || n == 0 || count == 0;
  const int wrong = m < 0 ? 1 : n < 0 ? 2 : !a && !isEmpty ? 3 : lda < std::max(1, m) ? 4 : count < 0 ? 7 : 0;
  *info = -wrong;
  ORDITO_CHECK(wrong == 0 && (isEmpty || tau));
  if (isEmpty) return CUBLAS_STATUS_SUCCESS;
  return submit(handle, "cublas geqrfBatched", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      const int size = std::max(1, n * 64);
      std::vector<T> work(static_cast<size_t>(size));
      int ignored = 0;
      openBlas<T>().geqrf(&m, &n, a[i], &lda, tau[i], work.data(), &size, &ignored);
    });
  });
}

/// Least squares; `statuses`, which may be null, is the device's. The info counts arguments as a GPU's library does: m,
/// columns and n are the first three, and the count the eighth (tests/gpu/libraries/cublas.cu).
template <class T>
cublasStatus_t gels(cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, T* const* a, int lda,
                    T* const* c, int ldc, int* info, int* statuses, int count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(info);
  *info = 0;
  if (op != CUBLAS_OP_N) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int wrong = m < 0                               ? 1
                    : columns < 0                       ? 2
                    : n < 0                             ? 3
                    : lda < std::max(1, m)              ? 5
                    : ldc < std::max(1, std::max(m, n)) ? 7
                    : count < 0                         ? 8
                                                        : 0;
  *info = -wrong;
  const bool isEmpty = m == 0 || n == 0 || count == 0;
  ORDITO_CHECK(wrong == 0 && (isEmpty || (a && c)));
  if (isEmpty) return CUBLAS_STATUS_SUCCESS;  // and nothing is written, as on a GPU
  if (m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
  return submit(handle, "cublas gelsBatched", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      const int size = std::max(1, (std::min(m, n) + std::max({m, n, columns})) * 64);
      std::vector<T> work(static_cast<size_t>(size));
      int status = 0;
      openBlas<T>().gels("N", &m, &n, &columns, a[i], &lda, c[i], &ldc, work.data(), &size, &status, 1);
      if (statuses) statuses[i] = status;
    });
  });
}

}  // namespace

extern "C" {

#define DEFINE(L, T)                                                                                                   \
  cublasStatus_t cublas##L##getrfBatched(cublasHandle_t h, int n, T* const A[], int lda, int* P, int* info,            \
                                         int count) {                                                                  \
    return getrf(h, n, inArray(A), lda, P, info, count);                                                               \
  }                                                                                                                    \
  cublasStatus_t cublas##L##getrsBatched(cublasHandle_t h, cublasOperation_t op, int n, int columns,                   \
                                         const T* const A[], int lda, const int* P, T* const B[], int ldb, int* info,  \
                                         int count) {                                                                  \
    return getrs<Inner<T>>(h, op, n, columns, inArray(A), lda, P, inArray(B), ldb, info, count);                       \
  }                                                                                                                    \
  cublasStatus_t cublas##L##getriBatched(cublasHandle_t h, int n, const T* const A[], int lda, const int* P,           \
                                         T* const C[], int ldc, int* info, int count) {                                \
    return getri<Inner<T>>(h, n, inArray(A), lda, P, inArray(C), ldc, info, count);                                    \
  }                                                                                                                    \
  cublasStatus_t cublas##L##matinvBatched(cublasHandle_t h, int n, const T* const A[], int lda, T* const C[], int ldc, \
                                          int* info, int count) {                                                      \
    return matinv<Inner<T>>(h, n, inArray(A), lda, inArray(C), ldc, info, count);                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##L##geqrfBatched(cublasHandle_t h, int m, int n, T* const A[], int lda, T* const tau[],        \
                                         int* info, int count) {                                                       \
    return geqrf(h, m, n, inArray(A), lda, inArray(tau), info, count);                                                 \
  }                                                                                                                    \
  cublasStatus_t cublas##L##gelsBatched(cublasHandle_t h, cublasOperation_t op, int m, int n, int columns,             \
                                        T* const A[], int lda, T* const C[], int ldc, int* info, int* statuses,        \
                                        int count) {                                                                   \
    return gels(h, op, m, n, columns, inArray(A), lda, inArray(C), ldc, info, statuses, count);                        \
  }
ORDITO_FOR_ALL_INT(DEFINE)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
