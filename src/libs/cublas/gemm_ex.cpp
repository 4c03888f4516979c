// Products whose matrices are of types that BLAS does not have: half, bfloat16, int8. Factors are widened to float
// (int8 whose sums need more to double), in which their products are exact; sums are rounded once, when they are
// stored.
#include "libs/cublas/gemm_ex.hpp"

#include <algorithm>
#include <memory>

#include "cuda_fp16.h"
#include "libs/scratch.hpp"
#include "ordito/cublas_overloads.h"

namespace ordito::cublas {
namespace {

/// A column of C = alpha P + beta C, rounded to C's type.
template <class I, class E>
void storeColumn(int64_t rows, I alpha, const I* product, I beta, E* c) {
  if (beta == I(0)) {
    for (int64_t i = 0; i < rows; ++i) narrow(alpha * product[i], c[i]);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    if constexpr (std::is_same_v<E, int32_t>)
      narrow(alpha * product[i] + beta * static_cast<I>(c[i]), c[i]);
    else
      narrow(alpha * product[i] + beta * widen(c[i]), c[i]);
  }
}
template <class I, class E>
void storeProduct(const Product& p, I alpha, const I* product, I beta, E* c) {
  forColumns(p.m, p.n, [&](int64_t j) { storeColumn(p.m, alpha, product + j * p.m, beta, c + j * p.ldc); });
}

template <class I, class E>
void multiplyWidened(Product p, I alpha, const E* a, const E* b, I beta, void* c, cudaDataType typeC) {
  if (alpha == I(0)) p.k = 0;
  const int64_t rowsA = p.opA == CUBLAS_OP_N ? p.m : p.k, columnsA = p.opA == CUBLAS_OP_N ? p.k : p.m;
  const int64_t rowsB = p.opB == CUBLAS_OP_N ? p.k : p.n, columnsB = p.opB == CUBLAS_OP_N ? p.n : p.k;
  const auto wideA = libs::scratch<I>(static_cast<size_t>(rowsA * columnsA));
  const auto wideB = libs::scratch<I>(static_cast<size_t>(rowsB * columnsB));
  widenMatrix(a, rowsA, columnsA, p.lda, wideA.get());
  widenMatrix(b, rowsB, columnsB, p.ldb, wideB.get());
  Product wide = p;
  wide.lda = std::max<int64_t>(1, rowsA), wide.ldb = std::max<int64_t>(1, rowsB);
  if (typeC == kTypeOf<I>) return multiplyInTiles(wide, alpha, wideA.get(), wideB.get(), beta, static_cast<I*>(c));
  const auto product = libs::scratch<I>(static_cast<size_t>(p.m * p.n));
  wide.ldc = p.m;
  multiplyInTiles(wide, I(1), wideA.get(), wideB.get(), I(0), product.get());
  if constexpr (std::is_same_v<I, double>)
    storeProduct(p, alpha, product.get(), beta, static_cast<int32_t*>(c));
  else if constexpr (std::is_same_v<I, float>)
    typeC == CUDA_R_16F ? storeProduct(p, alpha, product.get(), beta, static_cast<Half*>(c))
                        : storeProduct(p, alpha, product.get(), beta, static_cast<Bfloat16*>(c));
}

template <class T>
void multiplyPlain(const TypedProduct& t, const AnyScalar& alpha, const void* a, const void* b, const AnyScalar& beta,
                   void* c) {
  multiplyInTiles(t.p, alpha.as<T>(), static_cast<const T*>(a), static_cast<const T*>(b), beta.as<T>(),
                  static_cast<T*>(c));
}

}  // namespace

void multiplyTyped(const TypedProduct& t, const AnyScalar& alpha, const void* a, const void* b, const AnyScalar& beta,
                   void* c) {
  switch (t.typeA) {
    case CUDA_R_32F: return multiplyPlain<Float>(t, alpha, a, b, beta, c);
    case CUDA_R_64F: return multiplyPlain<Double>(t, alpha, a, b, beta, c);
    case CUDA_C_32F: return multiplyPlain<ComplexFloat>(t, alpha, a, b, beta, c);
    case CUDA_C_64F: return multiplyPlain<ComplexDouble>(t, alpha, a, b, beta, c);
    case CUDA_R_16F:
      return multiplyWidened(t.p, alpha.as<float>(), static_cast<const Half*>(a), static_cast<const Half*>(b),
                             beta.as<float>(), c, t.typeC);
    case CUDA_R_16BF:
      return multiplyWidened(t.p, alpha.as<float>(), static_cast<const Bfloat16*>(a), static_cast<const Bfloat16*>(b),
                             beta.as<float>(), c, t.typeC);
    case CUDA_C_8I:
      return multiplyWidened(t.p, alpha.as<ComplexFloat>(), static_cast<const ComplexByte*>(a),
                             static_cast<const ComplexByte*>(b), beta.as<ComplexFloat>(), c, t.typeC);
    default: break;
  }
  const auto *x = static_cast<const int8_t*>(a), *y = static_cast<const int8_t*>(b);
  if (t.typeC == CUDA_R_32F) return multiplyWidened(t.p, alpha.as<float>(), x, y, beta.as<float>(), c, t.typeC);
  multiplyWidened(t.p, alpha.as<double>(), x, y, beta.as<double>(), c, t.typeC);
}

namespace {

bool isMultipleOf(size_t size, const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % size == 0; }

bool isAlgorithm(cublasGemmAlgo_t algorithm) {
  return (algorithm >= CUBLAS_GEMM_DEFAULT && algorithm <= CUBLAS_GEMM_ALGO23) ||
         (algorithm >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algorithm <= CUBLAS_GEMM_ALGO15_TENSOR_OP) ||
         algorithm == CUBLAS_GEMM_AUTOTUNE;
}

cublasStatus_t refusal(cublasHandle_t handle, const TypedProduct& t, int64_t count) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(t.p.isRight() && count >= 0 && areCountable(count) && isAlgorithm(t.algorithm));
  ORDITO_CHECK(t.typeA != CUDA_R_8F_E4M3 && t.typeA != CUDA_R_8F_E5M2);  // which only cublasLt has
  if (!t.isSupported()) return CUBLAS_STATUS_NOT_SUPPORTED;
  // The manual wants words of four int8.
  const bool isWords = t.p.lda % 4 == 0 && t.p.ldb % 4 == 0;
  return t.typeC == CUDA_R_32I && !isWords ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

/// answerAtOnce for scalars of any type.
std::optional<cublasStatus_t> answerTyped(cublasHandle_t handle, const TypedProduct& t, const void* alpha,
                                          bool areFactorsThere, const void* beta, bool isResultThere) {
  const auto read = [&](const void* place) {
    const bool isRead = place && handle->pointerMode == CUBLAS_POINTER_MODE_HOST;
    return isRead ? readAs<ComplexDouble>(t.scaleType(), place) : ComplexDouble();
  };
  const ComplexDouble first = read(alpha), second = read(beta);
  return answerAtOnce(handle, t.p.k != 0, alpha ? &first : nullptr, areFactorsThere, beta ? &second : nullptr,
                      isResultThere);
}

cublasStatus_t gemmEx(cublasHandle_t handle, const TypedProduct& t, const void* alpha, const void* a, const void* b,
                      const void* beta, void* c, int64_t strideA = 0, int64_t strideB = 0, int64_t strideC = 0,
                      int64_t count = 1) {
  if (const cublasStatus_t status = refusal(handle, t, count)) return status;
  if (t.p.isEmpty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerTyped(handle, t, alpha, a && b, beta, c)) return *answer;
  if (t.typeC == CUDA_R_32I && !(isMultipleOf(4, a) && isMultipleOf(4, b))) return CUBLAS_STATUS_NOT_SUPPORTED;
  const size_t size = sizeOf(t.typeA);
  if (!isMultipleOf(size, a) || !isMultipleOf(size, b) || !isMultipleOf(sizeOf(t.typeC), c))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const AnyScalar one(handle, alpha, t.scaleType()), other(handle, beta, t.scaleType());
  const EmulatedBits bits(handle, t.typeC);
  const auto bytesA = static_cast<int64_t>(sizeOf(t.typeA)), bytesC = static_cast<int64_t>(sizeOf(t.typeC));
  return submit(
      handle, "cublas GemmEx",
      [=] {
        multiplyMany(t.p, count, [&](int64_t i, bool) {
          multiplyTyped(t, one, static_cast<const char*>(a) + i * strideA * bytesA,
                        static_cast<const char*>(b) + i * strideB * bytesA, other,
                        static_cast<char*>(c) + i * strideC * bytesC);
        });
        bits.tell();
      },
      t.work(count));
}

cublasStatus_t gemmBatchedEx(cublasHandle_t handle, const TypedProduct& t, const void* alpha, const void* const* a,
                             const void* const* b, const void* beta, void* const* c, int64_t count) {
  if (const cublasStatus_t status = refusal(handle, t, count)) return status;
  if (t.p.isEmpty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  if (const auto answer = answerTyped(handle, t, alpha, a && b, beta, c)) return *answer;
  const AnyScalar one(handle, alpha, t.scaleType()), other(handle, beta, t.scaleType());
  return submit(
      handle, "cublas GemmBatchedEx",
      [=] {
        multiplyMany(t.p, count, [&](int64_t i, bool) { multiplyTyped(t, one, at(a, i), at(b, i), other, c[i]); });
      },
      t.work(count));
}

}  // namespace

extern "C" {

#define PRODUCT_PARAMETERS(Int, S) \
  cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k, const S *alpha
#define DEFINE(suffix, Int)                                                                                           \
  cublasStatus_t cublasGemmEx##suffix(PRODUCT_PARAMETERS(Int, void), const void* A, cudaDataType tA, Int lda,         \
                                      const void* B, cudaDataType tB, Int ldb, const void* beta, void* C,             \
                                      cudaDataType tC, Int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo) { \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, tA, tB, tC, compute, algo}, alpha, A, B, beta, C);            \
  }                                                                                                                   \
  cublasStatus_t cublasGemmBatchedEx##suffix(PRODUCT_PARAMETERS(Int, void), const void* const A[], cudaDataType tA,   \
                                             Int lda, const void* const B[], cudaDataType tB, Int ldb,                \
                                             const void* beta, void* const C[], cudaDataType tC, Int ldc, Int count,  \
                                             cublasComputeType_t compute, cublasGemmAlgo_t algo) {                    \
    return gemmBatchedEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, tA, tB, tC, compute, algo}, alpha, A, B, beta, C,      \
                         count);                                                                                      \
  }                                                                                                                   \
  cublasStatus_t cublasGemmStridedBatchedEx##suffix(                                                                  \
      PRODUCT_PARAMETERS(Int, void), const void* A, cudaDataType tA, Int lda, long long strideA, const void* B,       \
      cudaDataType tB, Int ldb, long long strideB, const void* beta, void* C, cudaDataType tC, Int ldc,               \
      long long strideC, Int count, cublasComputeType_t compute, cublasGemmAlgo_t algo) {                             \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, tA, tB, tC, compute, algo}, alpha, A, B, beta, C, strideA,    \
                  strideB, strideC, count);                                                                           \
  }                                                                                                                   \
  cublasStatus_t cublasSgemmEx##suffix(PRODUCT_PARAMETERS(Int, float), const void* A, cudaDataType tA, Int lda,       \
                                       const void* B, cudaDataType tB, Int ldb, const float* beta, void* C,           \
                                       cudaDataType tC, Int ldc) {                                                    \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, tA, tB, tC, CUBLAS_COMPUTE_32F}, alpha, A, B, beta, C);       \
  }                                                                                                                   \
  cublasStatus_t cublasCgemmEx##suffix(PRODUCT_PARAMETERS(Int, cuComplex), const void* A, cudaDataType tA, Int lda,   \
                                       const void* B, cudaDataType tB, Int ldb, const cuComplex* beta, void* C,       \
                                       cudaDataType tC, Int ldc) {                                                    \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, tA, tB, tC, CUBLAS_COMPUTE_32F}, alpha, A, B, beta, C);       \
  }                                                                                                                   \
  cublasStatus_t cublasCgemm3mEx##suffix(PRODUCT_PARAMETERS(Int, cuComplex), const void* A, cudaDataType tA, Int lda, \
                                         const void* B, cudaDataType tB, Int ldb, const cuComplex* beta, void* C,     \
                                         cudaDataType tC, Int ldc) {                                                  \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, tA, tB, tC, CUBLAS_COMPUTE_32F}, alpha, A, B, beta, C);       \
  }                                                                                                                   \
  cublasStatus_t cublasHgemm##suffix(PRODUCT_PARAMETERS(Int, __half), const __half* A, Int lda, const __half* B,      \
                                     Int ldb, const __half* beta, __half* C, Int ldc) {                               \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, kHalf, kHalf, kHalf, CUBLAS_COMPUTE_16F}, alpha, A, B, beta,  \
                  C);                                                                                                 \
  }                                                                                                                   \
  cublasStatus_t cublasHgemmBatched##suffix(PRODUCT_PARAMETERS(Int, __half), const __half* const A[], Int lda,        \
                                            const __half* const B[], Int ldb, const __half* beta, __half* const C[],  \
                                            Int ldc, Int count) {                                                     \
    return gemmBatchedEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, kHalf, kHalf, kHalf, CUBLAS_COMPUTE_16F}, alpha,       \
                         reinterpret_cast<const void* const*>(A), reinterpret_cast<const void* const*>(B), beta,      \
                         reinterpret_cast<void* const*>(C), count);                                                   \
  }                                                                                                                   \
  cublasStatus_t cublasHgemmStridedBatched##suffix(                                                                   \
      PRODUCT_PARAMETERS(Int, __half), const __half* A, Int lda, long long strideA, const __half* B, Int ldb,         \
      long long strideB, const __half* beta, __half* C, Int ldc, long long strideC, Int count) {                      \
    return gemmEx(h, {{ta, tb, m, n, k, lda, ldb, ldc}, kHalf, kHalf, kHalf, CUBLAS_COMPUTE_16F}, alpha, A, B, beta,  \
                  C, strideA, strideB, strideC, count);                                                               \
  }
static constexpr cudaDataType kHalf = CUDA_R_16F;
DEFINE(, int)
DEFINE(_64, int64_t)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
