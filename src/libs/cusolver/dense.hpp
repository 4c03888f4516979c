// The calls for one type of numbers, which the typed interface (cusolverDnSpotrf) and the generic one
// (cusolverDnXpotrf) share. Arguments are those of the interface, without work areas. All of them check, and give what
// the call answers.
#pragma once

#include "libs/cusolver/handle.hpp"
#include "libs/cusolver/lapack.hpp"

namespace ordito::cusolver {

using Handle = cusolverDnHandle_t;
using Status = cusolverStatus_t;

template <class T>
Status potrf(Handle h, cublasFillMode_t uplo, int n, T* a, int lda, int* info);
template <class T>
Status potrs(Handle h, cublasFillMode_t uplo, int n, int columns, const T* a, int lda, T* b, int ldb, int* info);
template <class T>
Status trtri(Handle h, cublasFillMode_t uplo, cublasDiagType_t diag, int n, T* a, int lda, int* info);
/// Pivots have 32 bits in the typed interface and 64 in the generic one; null for LU without exchanges.
template <class T, class Pivot>
Status getrf(Handle h, int m, int n, T* a, int lda, Pivot* pivots, int* info);
template <class T, class Pivot>
Status getrs(Handle h, cublasOperation_t op, int n, int columns, const T* a, int lda, const Pivot* pivots, T* b,
             int ldb, int* info);
template <class T>
Status geqrf(Handle h, int m, int n, T* a, int lda, T* tau, int* info);

/// A part of the eigenvalues: those from the `first` to the `last`, counted from 1, or those in (low, high].
template <class T>
struct Range {
  cusolverEigRange_t kind = CUSOLVER_EIG_RANGE_ALL;
  Real<T> low = 0, high = 0;
  int64_t first = 0, last = 0;

  bool isValid(int n) const {
    if (kind == CUSOLVER_EIG_RANGE_I) return n == 0 || (first >= 1 && first <= last && last <= n);
    return kind == CUSOLVER_EIG_RANGE_ALL || (kind == CUSOLVER_EIG_RANGE_V && low < high);
  }
};

template <class T>
struct Symmetric {
  cusolverEigMode_t mode;
  cublasFillMode_t uplo;
  int n;
  T* a;
  int lda;
  Real<T>* w;

  bool isValid() const { return isEigenMode(mode) && isFill(uplo) && n >= 0 && isLeading(lda, n); }
};
template <class T>
Status syevd(Handle h, const Symmetric<T>& matrix, int* info);
/// `found`, the host's, says how many eigenvalues are in the range; the call waits for it.
template <class T, class Count>
Status syevdx(Handle h, const Symmetric<T>& matrix, const Range<T>& range, Count* found, int* info);
/// Matrices one behind the other.
template <class T>
Status syevBatched(Handle h, const Symmetric<T>& first, int* info, int count);

/// `rest`, which may be null, gets what did not converge.
template <class T>
Status gesvd(Handle h, char jobU, char jobVt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt,
             Real<T>* rest, int* info);

/// A singular value decomposition with V, not its conjugate transpose, of any shape.
template <class T>
struct Decomposition {
  cusolverEigMode_t mode;
  bool isThin;
  int m, n;
  T* a;
  int lda;
  Real<T>* s;
  T* u;
  int ldu;
  T* v;
  int ldv;

  int rank() const { return std::min(m, n); }
  bool isValid() const {
    if (!isEigenMode(mode) || m < 0 || n < 0 || !isLeading(lda, m)) return false;
    return mode == CUSOLVER_EIG_MODE_NOVECTOR || (isLeading(ldu, m) && isLeading(ldv, n));
  }
  /// What LAPACK calls info.
  int compute() const;
};
template <class T>
Status gesvdj(Handle h, const Decomposition<T>& d, int* info);

}  // namespace ordito::cusolver
