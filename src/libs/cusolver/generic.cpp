// The interface with 64-bit sizes, whose matrices say their type at run time: the typed calls behind it are the same.
#include "libs/cusolver/generic.hpp"

namespace ordito::cusolver {
namespace {

template <class T>
Status sytrs(Handle h, cublasFillMode_t uplo, int n, int columns, const T* a, int lda, const int64_t* pivots, T* b,
             int ldb, int* info) {
  return submitWithInfo(h, "cusolverDnXsytrs", info, [=] {
    int answer = 0;
    auto rows = room<int>(n);
    std::transform(pivots, pivots + n, rows.begin(), [](int64_t p) { return static_cast<int>(p); });
    lapack<T, "sytrs">(letter(uplo), n, columns, a, lda, rows.data(), b, ldb, &answer);
    return answer;
  });
}

}  // namespace

extern "C" {

Status cusolverDnXpotrf_bufferSize(Handle h, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n, cudaDataType type,
                                   const void*, int64_t lda, cudaDataType compute, size_t* device, size_t* host) {
  return tellSizes(h, isFill(uplo) && areSizes(n, lda) && isLeading(lda, n) && areAlike(type, compute), device, host);
}
Status cusolverDnXpotrf(Handle h, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a,
                        int64_t lda, cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, areSizes(n, lda) && areAlike(type, compute));
  return withType(type, [&]<class T>() { return potrf(h, uplo, asInt(n), as<T>(a), asInt(lda), info); });
}
Status cusolverDnXpotrs(Handle h, cusolverDnParams_t, cublasFillMode_t uplo, int64_t n, int64_t columns,
                        cudaDataType type, const void* a, int64_t lda, cudaDataType typeB, void* b, int64_t ldb,
                        int* info) {
  SOLVER_CALL(h, areSizes(n, columns, lda, ldb) && areAlike(type, typeB));
  return withType(type, [&]<class T>() {
    return potrs(h, uplo, asInt(n), asInt(columns), as<T>(a), asInt(lda), as<T>(b), asInt(ldb), info);
  });
}

Status cusolverDnXtrtri_bufferSize(Handle h, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n, cudaDataType type,
                                   void*, int64_t lda, size_t* device, size_t* host) {
  const bool isValid = isFill(uplo) && isDiagonal(diag) && areSizes(n, lda) && isLeading(lda, n) && isKnown(type);
  return tellSizes(h, isValid, device, host);
}
Status cusolverDnXtrtri(Handle h, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n, cudaDataType type, void* a,
                        int64_t lda, void*, size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, areSizes(n, lda));
  return withType(type, [&]<class T>() { return trtri(h, uplo, diag, asInt(n), as<T>(a), asInt(lda), info); });
}

Status cusolverDnXsytrs_bufferSize(Handle h, cublasFillMode_t uplo, int64_t n, int64_t columns, cudaDataType type,
                                   const void*, int64_t lda, const int64_t*, cudaDataType typeB, void*, int64_t ldb,
                                   size_t* device, size_t* host) {
  const bool isValid = isFill(uplo) && areSizes(n, columns, lda, ldb) && isLeading(lda, n) && isLeading(ldb, n);
  return tellSizes(h, isValid && areAlike(type, typeB), device, host);
}
Status cusolverDnXsytrs(Handle h, cublasFillMode_t uplo, int64_t n, int64_t columns, cudaDataType type, const void* a,
                        int64_t lda, const int64_t* pivots, cudaDataType typeB, void* b, int64_t ldb, void*, size_t,
                        void*, size_t, int* info) {
  SOLVER_CALL(h, isFill(uplo) && areSizes(n, columns, lda, ldb) && isLeading(lda, n) && isLeading(ldb, n));
  SOLVER_CHECK(areAlike(type, typeB));
  if (!pivots) return CUSOLVER_STATUS_NOT_SUPPORTED;  // see sytrf
  return withType(type, [&]<class T>() {
    return sytrs(h, uplo, asInt(n), asInt(columns), as<T>(a), asInt(lda), pivots, as<T>(b), asInt(ldb), info);
  });
}

Status cusolverDnXgeqrf_bufferSize(Handle h, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, const void*,
                                   int64_t lda, cudaDataType typeTau, const void*, cudaDataType compute, size_t* device,
                                   size_t* host) {
  const bool isValid = areSizes(m, n, lda) && isLeading(lda, m) && areAlike(type, typeTau, compute);
  return tellSizes(h, isValid, device, host);
}
Status cusolverDnXgeqrf(Handle h, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda,
                        cudaDataType typeTau, void* tau, cudaDataType compute, void*, size_t, void*, size_t,
                        int* info) {
  SOLVER_CALL(h, areSizes(m, n, lda) && areAlike(type, typeTau, compute));
  return withType(type,
                  [&]<class T>() { return geqrf(h, asInt(m), asInt(n), as<T>(a), asInt(lda), as<T>(tau), info); });
}

Status cusolverDnXgetrf_bufferSize(Handle h, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, const void*,
                                   int64_t lda, cudaDataType compute, size_t* device, size_t* host) {
  return tellSizes(h, areSizes(m, n, lda) && isLeading(lda, m) && areAlike(type, compute), device, host);
}
Status cusolverDnXgetrf(Handle h, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda,
                        int64_t* pivots, cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, areSizes(m, n, lda) && areAlike(type, compute));
  return withType(type, [&]<class T>() { return getrf(h, asInt(m), asInt(n), as<T>(a), asInt(lda), pivots, info); });
}
Status cusolverDnXgetrs(Handle h, cusolverDnParams_t, cublasOperation_t op, int64_t n, int64_t columns,
                        cudaDataType type, const void* a, int64_t lda, const int64_t* pivots, cudaDataType typeB,
                        void* b, int64_t ldb, int* info) {
  SOLVER_CALL(h, areSizes(n, columns, lda, ldb) && areAlike(type, typeB));
  return withType(type, [&]<class T>() {
    return getrs(h, op, asInt(n), asInt(columns), as<T>(a), asInt(lda), pivots, as<T>(b), asInt(ldb), info);
  });
}

Status cusolverDnXsyevd_bufferSize(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t uplo,
                                   int64_t n, cudaDataType type, const void*, int64_t lda, cudaDataType typeW,
                                   const void*, cudaDataType compute, size_t* device, size_t* host) {
  const bool isValid = isEigenMode(mode) && isFill(uplo) && areSizes(n, lda) && isLeading(lda, n);
  return tellSizes(h, isValid && areAlike(type, compute) && typeW == realOf(type), device, host);
}
Status cusolverDnXsyevd(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t uplo, int64_t n,
                        cudaDataType type, void* a, int64_t lda, cudaDataType typeW, void* w, cudaDataType compute,
                        void*, size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, areSizes(n, lda) && areAlike(type, compute) && typeW == realOf(type));
  return withType(type, [&]<class T>() {
    return syevd(h, Symmetric<T>{mode, uplo, asInt(n), as<T>(a), asInt(lda), as<Real<T>>(w)}, info);
  });
}

Status cusolverDnXsyevdx_bufferSize(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, cusolverEigRange_t range,
                                    cublasFillMode_t uplo, int64_t n, cudaDataType type, const void*, int64_t lda,
                                    void*, void*, int64_t, int64_t, int64_t*, cudaDataType typeW, const void*,
                                    cudaDataType compute, size_t* device, size_t* host) {
  const bool isValid = isEigenMode(mode) && isFill(uplo) && areSizes(n, lda) && isLeading(lda, n) &&
                       range >= CUSOLVER_EIG_RANGE_ALL && range <= CUSOLVER_EIG_RANGE_V;
  return tellSizes(h, isValid && areAlike(type, compute) && typeW == realOf(type), device, host);
}
Status cusolverDnXsyevdx(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, cusolverEigRange_t range,
                         cublasFillMode_t uplo, int64_t n, cudaDataType type, void* a, int64_t lda, void* low,
                         void* high, int64_t first, int64_t last, int64_t* found, cudaDataType typeW, void* w,
                         cudaDataType compute, void*, size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, areSizes(n, lda) && areAlike(type, compute) && typeW == realOf(type));
  SOLVER_CHECK(range != CUSOLVER_EIG_RANGE_V || (low && high));
  return withType(type, [&]<class T>() {
    Range<T> part{range, 0, 0, first, last};
    if (range == CUSOLVER_EIG_RANGE_V) part.low = *as<Real<T>>(low), part.high = *as<Real<T>>(high);
    return syevdx(h, Symmetric<T>{mode, uplo, asInt(n), as<T>(a), asInt(lda), as<Real<T>>(w)}, part, found, info);
  });
}

Status cusolverDnXsyevBatched_bufferSize(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t uplo,
                                         int64_t n, cudaDataType type, const void*, int64_t lda, cudaDataType typeW,
                                         const void*, cudaDataType compute, size_t* device, size_t* host,
                                         int64_t count) {
  const bool isValid = isEigenMode(mode) && isFill(uplo) && areSizes(n, lda, count) && isLeading(lda, n);
  return tellSizes(h, isValid && areAlike(type, compute) && typeW == realOf(type), device, host);
}
Status cusolverDnXsyevBatched(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t uplo, int64_t n,
                              cudaDataType type, void* a, int64_t lda, cudaDataType typeW, void* w,
                              cudaDataType compute, void*, size_t, void*, size_t, int* info, int64_t count) {
  SOLVER_CALL(h, areSizes(n, lda, count) && areAlike(type, compute) && typeW == realOf(type));
  return withType(type, [&]<class T>() {
    const Symmetric<T> all{mode, uplo, asInt(n), as<T>(a), asInt(lda), as<Real<T>>(w)};
    return syevBatched(h, all, info, asInt(count));
  });
}

Status cusolverDnXgesvd_bufferSize(Handle h, cusolverDnParams_t, signed char, signed char, int64_t m, int64_t n,
                                   cudaDataType type, const void*, int64_t lda, cudaDataType typeS, const void*,
                                   cudaDataType typeU, const void*, int64_t, cudaDataType typeV, const void*, int64_t,
                                   cudaDataType compute, size_t* device, size_t* host) {
  const bool isValid = areSizes(m, n, lda) && m >= n && isLeading(lda, m);
  return tellSizes(h, isValid && areAlike(type, typeU, typeV, compute) && typeS == realOf(type), device, host);
}
Status cusolverDnXgesvd(Handle h, cusolverDnParams_t, signed char jobU, signed char jobVt, int64_t m, int64_t n,
                        cudaDataType type, void* a, int64_t lda, cudaDataType typeS, void* s, cudaDataType typeU,
                        void* u, int64_t ldu, cudaDataType typeV, void* vt, int64_t ldvt, cudaDataType compute, void*,
                        size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, areSizes(m, n, lda, ldu, ldvt) && areAlike(type, typeU, typeV, compute) && typeS == realOf(type));
  return withType(type, [&]<class T>() {
    return gesvd(h, static_cast<char>(jobU), static_cast<char>(jobVt), asInt(m), asInt(n), as<T>(a), asInt(lda),
                 as<Real<T>>(s), as<T>(u), asInt(ldu), as<T>(vt), asInt(ldvt), static_cast<Real<T>*>(nullptr), info);
  });
}

Status cusolverDnXgesvdp_bufferSize(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, int, int64_t m, int64_t n,
                                    cudaDataType type, const void*, int64_t lda, cudaDataType typeS, const void*,
                                    cudaDataType typeU, const void*, int64_t, cudaDataType typeV, const void*, int64_t,
                                    cudaDataType compute, size_t* device, size_t* host) {
  const bool isValid = isEigenMode(mode) && areSizes(m, n, lda) && isLeading(lda, m);
  return tellSizes(h, isValid && areAlike(type, typeU, typeV, compute) && typeS == realOf(type), device, host);
}
/// `perturbed` is how much the algorithm of a GPU may have added to singular values; this one adds nothing.
Status cusolverDnXgesvdp(Handle h, cusolverDnParams_t, cusolverEigMode_t mode, int thin, int64_t m, int64_t n,
                         cudaDataType type, void* a, int64_t lda, cudaDataType typeS, void* s, cudaDataType typeU,
                         void* u, int64_t ldu, cudaDataType typeV, void* v, int64_t ldv, cudaDataType compute, void*,
                         size_t, void*, size_t, int* info, double* perturbed) {
  SOLVER_CALL(h, areSizes(m, n, lda, ldu, ldv) && areAlike(type, typeU, typeV, compute) && typeS == realOf(type));
  if (perturbed) *perturbed = 0;
  return withType(type, [&]<class T>() {
    const Decomposition<T> d{mode,           thin != 0, asInt(m),   asInt(n), as<T>(a),  asInt(lda),
                             as<Real<T>>(s), as<T>(u),  asInt(ldu), as<T>(v), asInt(ldv)};
    return gesvdj(h, d, info);
  });
}

}  // extern "C"
}  // namespace ordito::cusolver
