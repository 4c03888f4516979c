// Of the interface with 64-bit sizes: eigenvalues of matrices that are not symmetric, the largest singular values, and
// the triangle of a product of reflections.
#include "libs/cusolver/generic.hpp"

namespace ordito::cusolver {
namespace {

/// All eigenvalues, and the vectors of either side if wished. Of a real matrix they are complex numbers, or their real
/// parts before their imaginary ones; the vectors of a pair are the real and the imaginary part of the first.
template <class T>
struct Eigenvalues {
  cusolverEigMode_t left, right;
  int n;
  T* a;
  int lda;
  void* w;
  bool areComplex;
  T* vl;
  int ldvl;
  T* vr;
  int ldvr;

  int compute() const {
    int answer = 0;
    T none{};
    T* const leftVectors = vl ? vl : &none;
    T* const rightVectors = vr ? vr : &none;
    if constexpr (kIsComplex<T>) {
      auto more = room<Real<T>>(2 * int64_t{n});
      withWork<T>([&](T* work, int size) {
        lapack<T, "geev">(letter(left), letter(right), n, a, lda, static_cast<T*>(w), leftVectors, std::max(1, ldvl),
                          rightVectors, std::max(1, ldvr), work, size, more.data(), &answer);
      });
    } else {
      auto parts = room<T>(2 * int64_t{n});
      withWork<T>([&](T* work, int size) {
        lapack<T, "geev">(letter(left), letter(right), n, a, lda, parts.data(), parts.data() + n, leftVectors,
                          std::max(1, ldvl), rightVectors, std::max(1, ldvr), work, size, &answer);
      });
      for (int i = 0; i < n; ++i) {
        const T real = parts[static_cast<size_t>(i)], imaginary = parts[n + i];
        if (areComplex)
          static_cast<std::complex<T>*>(w)[i] = {real, imaginary};
        else
          static_cast<T*>(w)[i] = real, static_cast<T*>(w)[n + i] = imaginary;
      }
    }
    return answer;
  }
};

cudaDataType complexOf(cudaDataType type) {
  return type == CUDA_R_32F ? CUDA_C_32F : type == CUDA_R_64F ? CUDA_C_64F : type;
}

/// As on a GPU, vectors have A's type; eigenvalues of a real matrix may be complex numbers.
bool areEigenvalueTypes(cudaDataType a, cudaDataType w, cudaDataType vl, cudaDataType vr, cudaDataType compute) {
  return areAlike(a, vl, vr, compute) && (w == a || w == complexOf(a));
}

/// The `rank` largest singular values with their vectors. They are the true ones, and so need no iterations of a random
/// subspace.
template <class T>
int largestSingularValues(int m, int n, int rank, const T* a, int lda, Real<T>* s, T* u, int ldu, T* v, int ldv) {
  const int all = std::min(m, n);
  auto copy = room<T>(int64_t{m} * n), left = room<T>(int64_t{m} * all), right = room<T>(int64_t{n} * all);
  auto values = room<Real<T>>(all);
  lapack<T, "lacpy">("A", m, n, a, lda, copy.data(), std::max(1, m));
  const Decomposition<T> thin{CUSOLVER_EIG_MODE_VECTOR,
                              true,
                              m,
                              n,
                              copy.data(),
                              std::max(1, m),
                              values.data(),
                              left.data(),
                              std::max(1, m),
                              right.data(),
                              std::max(1, n)};
  const int answer = thin.compute();
  std::copy_n(values.begin(), rank, s);
  if (u) lapack<T, "lacpy">("A", m, rank, left.data(), std::max(1, m), u, ldu);
  if (v) lapack<T, "lacpy">("A", n, rank, right.data(), std::max(1, n), v, ldv);
  return answer;
}

bool isThinJob(signed char job) { return job == 'S' || job == 'N'; }

struct Randomized {
  signed char jobU, jobV;
  int64_t m, n, rank, oversampling, iterations, lda, ldu, ldv;

  bool isValid() const {
    return isThinJob(jobU) && isThinJob(jobV) && areSizes(m, n, rank, oversampling, iterations, lda, ldu, ldv) &&
           rank > 0 && rank + oversampling <= std::min(m, n) && isLeading(lda, m) &&
           (jobU == 'N' || isLeading(ldu, m)) && (jobV == 'N' || isLeading(ldv, n));
  }
};

bool isReflectors(cusolverDirectMode_t direct, cusolverStorevMode_t store, int64_t n, int64_t k, int64_t ldv,
                  int64_t ldt) {
  const bool isColumns = store == CUBLAS_STOREV_COLUMNWISE;
  return (direct == CUBLAS_DIRECT_FORWARD || direct == CUBLAS_DIRECT_BACKWARD) &&
         (isColumns || store == CUBLAS_STOREV_ROWWISE) && areSizes(n, k, ldv, ldt) && k <= n &&
         isLeading(ldv, isColumns ? n : k) && isLeading(ldt, k);
}

}  // namespace

extern "C" {

Status cusolverDnXgeev_bufferSize(Handle h, cusolverDnParams_t, cusolverEigMode_t left, cusolverEigMode_t right,
                                  int64_t n, cudaDataType type, const void*, int64_t lda, cudaDataType typeW,
                                  const void*, cudaDataType typeL, const void*, int64_t ldvl, cudaDataType typeR,
                                  const void*, int64_t ldvr, cudaDataType compute, size_t* device, size_t* host) {
  const bool areVectors = (left == CUSOLVER_EIG_MODE_NOVECTOR || isLeading(ldvl, n)) &&
                          (right == CUSOLVER_EIG_MODE_NOVECTOR || isLeading(ldvr, n));
  const bool isValid = isEigenMode(left) && isEigenMode(right) && areSizes(n, lda) && isLeading(lda, n) && areVectors;
  return tellSizes(h, isValid && areEigenvalueTypes(type, typeW, typeL, typeR, compute), device, host);
}
Status cusolverDnXgeev(Handle h, cusolverDnParams_t, cusolverEigMode_t left, cusolverEigMode_t right, int64_t n,
                       cudaDataType type, void* a, int64_t lda, cudaDataType typeW, void* w, cudaDataType typeL,
                       void* vl, int64_t ldvl, cudaDataType typeR, void* vr, int64_t ldvr, cudaDataType compute, void*,
                       size_t, void*, size_t, int* info) {
  SOLVER_CALL(h, isEigenMode(left) && isEigenMode(right) && areSizes(n, lda) && isLeading(lda, n));
  SOLVER_CHECK(areEigenvalueTypes(type, typeW, typeL, typeR, compute) && (n == 0 || (a && w)));
  SOLVER_CHECK(left == CUSOLVER_EIG_MODE_NOVECTOR || (isLeading(ldvl, n) && areSizes(ldvl) && vl));
  SOLVER_CHECK(right == CUSOLVER_EIG_MODE_NOVECTOR || (isLeading(ldvr, n) && areSizes(ldvr) && vr));
  return withType(type, [&]<class T>() {
    const Eigenvalues<T> all{left,          right,     asInt(n),    as<T>(a),  asInt(lda), w,
                             typeW != type, as<T>(vl), asInt(ldvl), as<T>(vr), asInt(ldvr)};
    return submitWithInfo(h, "cusolverDnXgeev", info, [=] { return all.compute(); }, operations<T>(25 * cube(n)));
  });
}

Status cusolverDnXgesvdr_bufferSize(Handle h, cusolverDnParams_t, signed char jobU, signed char jobV, int64_t m,
                                    int64_t n, int64_t rank, int64_t oversampling, int64_t iterations,
                                    cudaDataType type, const void*, int64_t lda, cudaDataType typeS, const void*,
                                    cudaDataType typeU, const void*, int64_t ldu, cudaDataType typeV, const void*,
                                    int64_t ldv, cudaDataType compute, size_t* device, size_t* host) {
  const Randomized call{jobU, jobV, m, n, rank, oversampling, iterations, lda, ldu, ldv};
  const bool isValid = call.isValid() && areAlike(type, typeU, typeV, compute) && typeS == realOf(type);
  return tellSizes(h, isValid, device, host);
}
Status cusolverDnXgesvdr(Handle h, cusolverDnParams_t, signed char jobU, signed char jobV, int64_t m, int64_t n,
                         int64_t rank, int64_t oversampling, int64_t iterations, cudaDataType type, void* a,
                         int64_t lda, cudaDataType typeS, void* s, cudaDataType typeU, void* u, int64_t ldu,
                         cudaDataType typeV, void* v, int64_t ldv, cudaDataType compute, void*, size_t, void*, size_t,
                         int* info) {
  const Randomized call{jobU, jobV, m, n, rank, oversampling, iterations, lda, ldu, ldv};
  SOLVER_CALL(h, call.isValid() && areAlike(type, typeU, typeV, compute) && typeS == realOf(type));
  SOLVER_CHECK(a && s && (jobU == 'N' || u) && (jobV == 'N' || v));
  return withType(type, [&]<class T>() {
    T* const left = jobU == 'N' ? nullptr : as<T>(u);
    T* const right = jobV == 'N' ? nullptr : as<T>(v);
    return submitWithInfo(h, "cusolverDnXgesvdr", info, [=, values = as<Real<T>>(s), matrix = as<T>(a)] {
      return largestSingularValues(asInt(m), asInt(n), asInt(rank), matrix, asInt(lda), values, left, asInt(ldu), right,
                                   asInt(ldv));
    });
  });
}

Status cusolverDnXlarft_bufferSize(Handle h, cusolverDnParams_t, cusolverDirectMode_t direct,
                                   cusolverStorevMode_t store, int64_t n, int64_t k, cudaDataType typeV, const void*,
                                   int64_t ldv, cudaDataType typeTau, const void*, cudaDataType typeT, void*,
                                   int64_t ldt, cudaDataType compute, size_t* device, size_t* host) {
  const bool isValid = isReflectors(direct, store, n, k, ldv, ldt) && areAlike(typeV, typeTau, typeT, compute);
  return tellSizes(h, isValid, device, host);
}
Status cusolverDnXlarft(Handle h, cusolverDnParams_t, cusolverDirectMode_t direct, cusolverStorevMode_t store,
                        int64_t n, int64_t k, cudaDataType typeV, const void* v, int64_t ldv, cudaDataType typeTau,
                        const void* tau, cudaDataType typeT, void* t, int64_t ldt, cudaDataType compute, void*, size_t,
                        void*, size_t) {
  SOLVER_CALL(h, isReflectors(direct, store, n, k, ldv, ldt) && areAlike(typeV, typeTau, typeT, compute));
  if (n == 0 || k == 0) return CUSOLVER_STATUS_SUCCESS;
  SOLVER_CHECK(v && tau && t);
  return withType(typeV, [&]<class T>() {
    return submit(h, "cusolverDnXlarft", [=, vectors = as<T>(v), factors = as<T>(tau), triangle = as<T>(t)] {
      lapack<T, "larft">(direct == CUBLAS_DIRECT_FORWARD ? "F" : "B", store == CUBLAS_STOREV_COLUMNWISE ? "C" : "R",
                         asInt(n), asInt(k), vectors, asInt(ldv), factors, triangle, asInt(ldt));
    });
  });
}

}  // extern "C"
}  // namespace ordito::cusolver
