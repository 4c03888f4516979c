// Products of matrices in the types of BLAS: one, and many at once.
#include "libs/cublas/gemm.hpp"

#include "libs/cublas/elements.hpp"

namespace ordito::cublas {

namespace {

template <class T>
libs::Work work(const Product& p, int64_t count = 1) {
  return p.work(!std::is_arithmetic_v<T>, sizeof(T), sizeof(T), count);
}

template <class T>
cublasStatus_t gemm(cublasHandle_t handle, const Product& p, const T* alpha, const T* a, const T* b, const T* beta,
                    T* c) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(p.isRight());
  if (p.isEmpty()) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerAtOnce(handle, p.k != 0, alpha, a && b, beta, c)) return *answer;
  const Scalar<T> one(handle, alpha), other(handle, beta);
  const EmulatedBits bits(handle, kTypeOf<T>);
  return submit(
      handle, "cublas gemm",
      [=] {
        multiplyInTiles(p, one.get(), a, b, other.get(), c);
        bits.tell();
      },
      work<T>(p));
}

/// The arrays of pointers are the device's, and may be written by a kernel before: they are read in the task.
template <class T>
cublasStatus_t gemmBatched(cublasHandle_t handle, const Product& p, const T* alpha, const T* const* a,
                           const T* const* b, const T* beta, T* const* c, int64_t count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(p.isRight() && count >= 0 && areCountable(count));
  if (p.isEmpty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerAtOnce(handle, p.k != 0, alpha, a && b, beta, c)) return *answer;
  const Scalar<T> one(handle, alpha), other(handle, beta);
  return submit(
      handle, "cublas gemmBatched",
      [=] {
        multiplyMany(p, count, [&, first = one.get(), second = other.get()](int64_t i, bool large) {
          (large ? multiplyInTiles<T> : multiplyHere<T>)(p, first, at(a, i), at(b, i), second, c[i]);
        });
      },
      work<T>(p, count));
}

template <class T>
cublasStatus_t gemmStrided(cublasHandle_t handle, const Product& p, const T* alpha, const T* a, int64_t strideA,
                           const T* b, int64_t strideB, const T* beta, T* c, int64_t strideC, int64_t count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(p.isRight() && count >= 0 && areCountable(count));
  if (p.isEmpty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerAtOnce(handle, p.k != 0, alpha, a && b, beta, c)) return *answer;
  const Scalar<T> one(handle, alpha), other(handle, beta);
  return submit(
      handle, "cublas gemmStridedBatched",
      [=] {
        multiplyMany(p, count, [&, first = one.get(), second = other.get()](int64_t i, bool large) {
          (large ? multiplyInTiles<T> : multiplyHere<T>)(p, first, a + i * strideA, b + i * strideB, second,
                                                         c + i * strideC);
        });
      },
      work<T>(p, count));
}

}  // namespace

extern "C" {

#define DEFINE(L, T, suffix, Int)                                                                                    \
  cublasStatus_t cublas##L##gemm##suffix(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, \
                                         Int k, const T* alpha, const T* A, Int lda, const T* B, Int ldb,            \
                                         const T* beta, T* C, Int ldc) {                                             \
    return gemm(h, {ta, tb, m, n, k, lda, ldb, ldc}, in(alpha), in(A), in(B), in(beta), in(C));                      \
  }
ORDITO_FOR_ALL_V2(DEFINE)
#undef DEFINE
// Three products of real matrices instead of four are a way to be faster, not another result.
#define DEFINE(L, T, suffix, Int)                                                                                      \
  cublasStatus_t cublas##L##gemm3m##suffix(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, \
                                           Int k, const T* alpha, const T* A, Int lda, const T* B, Int ldb,            \
                                           const T* beta, T* C, Int ldc) {                                             \
    return gemm(h, {ta, tb, m, n, k, lda, ldb, ldc}, in(alpha), in(A), in(B), in(beta), in(C));                        \
  }
ORDITO_FOR_COMPLEX(DEFINE)
#undef DEFINE

#define DEFINE_MANY(name, T, suffix, Int)                                                                           \
  cublasStatus_t cublas##name##Batched##suffix(                                                                     \
      cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k, const T* alpha,            \
      const T* const A[], Int lda, const T* const B[], Int ldb, const T* beta, T* const C[], Int ldc, Int count) {  \
    return gemmBatched<Inner<T>>(h, {ta, tb, m, n, k, lda, ldb, ldc}, in(alpha), inArray(A), inArray(B), in(beta),  \
                                 inArray(C), count);                                                                \
  }                                                                                                                 \
  cublasStatus_t cublas##name##StridedBatched##suffix(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, \
                                                      Int m, Int n, Int k, const T* alpha, const T* A, Int lda,     \
                                                      long long strideA, const T* B, Int ldb, long long strideB,    \
                                                      const T* beta, T* C, Int ldc, long long strideC, Int count) { \
    return gemmStrided<Inner<T>>(h, {ta, tb, m, n, k, lda, ldb, ldc}, in(alpha), in(A), strideA, in(B), strideB,    \
                                 in(beta), in(C), strideC, count);                                                  \
  }
#define DEFINE(L, T, suffix, Int) DEFINE_MANY(L##gemm, T, suffix, Int)
ORDITO_FOR_ALL(DEFINE)
#undef DEFINE
ORDITO_FORMS(DEFINE_MANY, Cgemm3m, cuComplex, , _64)
#undef DEFINE_MANY

}  // extern "C"
}  // namespace ordito::cublas
