// What cublas_v2.h has for C++ only: products of __half and __nv_bfloat16, and cublasGemmEx and its relatives with the
// compute type as CUDA 10 had it, the type of the sums.
#ifndef ORDITO_CUBLAS_OVERLOADS_H
#define ORDITO_CUBLAS_OVERLOADS_H

#include "cublas_api.h"

#if defined(__cplusplus)

#include "cuda_bf16.h"

extern "C" {
// Sizes of 32 and of 64 bits.
#define ORDITO_HALF_PRODUCTS(suffix, Int)                                                                              \
  cublasStatus_t cublasHgemm##suffix(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int m, Int n, Int k,        \
                                     const __half* alpha, const __half* a, Int lda, const __half* b, Int ldb,          \
                                     const __half* beta, __half* c, Int ldc);                                          \
  cublasStatus_t cublasHgemmBatched##suffix(cublasHandle_t, cublasOperation_t, cublasOperation_t, Int m, Int n, Int k, \
                                            const __half* alpha, const __half* const a[], Int lda,                     \
                                            const __half* const b[], Int ldb, const __half* beta, __half* const c[],   \
                                            Int ldc, Int count);                                                       \
  cublasStatus_t cublasHgemmStridedBatched##suffix(                                                                    \
      cublasHandle_t, cublasOperation_t, cublasOperation_t, Int m, Int n, Int k, const __half* alpha, const __half* a, \
      Int lda, long long strideA, const __half* b, Int ldb, long long strideB, const __half* beta, __half* c, Int ldc, \
      long long strideC, Int count);
ORDITO_HALF_PRODUCTS(, int)
ORDITO_HALF_PRODUCTS(_64, int64_t)
#undef ORDITO_HALF_PRODUCTS

// Matrices and vectors x of half precision (H) or bfloat16 (T), scalars of float (S), vectors y of the last type.
#define ORDITO_SMALL_GEMV(name, A, Y, suffix, Int)                                                                  \
  cublasStatus_t cublas##name##Batched##suffix(cublasHandle_t, cublasOperation_t, Int m, Int n, const float* alpha, \
                                               const A* const a[], Int lda, const A* const x[], Int incx,           \
                                               const float* beta, Y* const y[], Int incy, Int count);               \
  cublasStatus_t cublas##name##StridedBatched##suffix(                                                              \
      cublasHandle_t, cublasOperation_t, Int m, Int n, const float* alpha, const A* a, Int lda, long long strideA,  \
      const A* x, Int incx, long long stridex, const float* beta, Y* y, Int incy, long long stridey, Int count);
#define ORDITO_SMALL_GEMVS(suffix, Int)                                 \
  ORDITO_SMALL_GEMV(HSHgemv, __half, __half, suffix, Int)               \
  ORDITO_SMALL_GEMV(HSSgemv, __half, float, suffix, Int)                \
  ORDITO_SMALL_GEMV(TSTgemv, __nv_bfloat16, __nv_bfloat16, suffix, Int) \
  ORDITO_SMALL_GEMV(TSSgemv, __nv_bfloat16, float, suffix, Int)
ORDITO_SMALL_GEMVS(, int)
ORDITO_SMALL_GEMVS(_64, int64_t)
#undef ORDITO_SMALL_GEMVS
#undef ORDITO_SMALL_GEMV
}

// The strategy of an emulation by the name that all libraries share.
static inline cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, cudaEmulationStrategy strategy) {
  return cublasSetEmulationStrategy(handle, static_cast<cublasEmulationStrategy_t>(strategy));
}
static inline cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle, cudaEmulationStrategy* strategy) {
  cublasEmulationStrategy_t own;
  const cublasStatus_t status = cublasGetEmulationStrategy(handle, &own);
  if (status == CUBLAS_STATUS_SUCCESS) *strategy = static_cast<cudaEmulationStrategy>(own);
  return status;
}

static inline cublasStatus_t cublasMigrateComputeType(cublasHandle_t, cudaDataType_t type,
                                                      cublasComputeType_t* compute) {
  switch (type) {
    case CUDA_R_16F: *compute = CUBLAS_COMPUTE_16F; return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_32F:
    case CUDA_C_32F: *compute = CUBLAS_COMPUTE_32F; return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_64F:
    case CUDA_C_64F: *compute = CUBLAS_COMPUTE_64F; return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_32I: *compute = CUBLAS_COMPUTE_32I; return CUBLAS_STATUS_SUCCESS;
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opA, cublasOperation_t opB, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType typeA, int lda,
                                          const void* b, cudaDataType typeB, int ldb, const void* beta, void* c,
                                          cudaDataType typeC, int ldc, cudaDataType sums, cublasGemmAlgo_t algorithm) {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const cublasStatus_t status = cublasMigrateComputeType(handle, sums, &compute);
  return status != CUBLAS_STATUS_SUCCESS ? status
                                         : cublasGemmEx(handle, opA, opB, m, n, k, alpha, a, typeA, lda, b, typeB, ldb,
                                                        beta, c, typeC, ldc, compute, algorithm);
}

static inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t opA, cublasOperation_t opB,
                                                 int m, int n, int k, const void* alpha, const void* const a[],
                                                 cudaDataType typeA, int lda, const void* const b[], cudaDataType typeB,
                                                 int ldb, const void* beta, void* const c[], cudaDataType typeC,
                                                 int ldc, int count, cudaDataType sums, cublasGemmAlgo_t algorithm) {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const cublasStatus_t status = cublasMigrateComputeType(handle, sums, &compute);
  return status != CUBLAS_STATUS_SUCCESS
             ? status
             : cublasGemmBatchedEx(handle, opA, opB, m, n, k, alpha, a, typeA, lda, b, typeB, ldb, beta, c, typeC, ldc,
                                   count, compute, algorithm);
}

static inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opA,
                                                        cublasOperation_t opB, int m, int n, int k, const void* alpha,
                                                        const void* a, cudaDataType typeA, int lda, long long strideA,
                                                        const void* b, cudaDataType typeB, int ldb, long long strideB,
                                                        const void* beta, void* c, cudaDataType typeC, int ldc,
                                                        long long strideC, int count, cudaDataType sums,
                                                        cublasGemmAlgo_t algorithm) {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const cublasStatus_t status = cublasMigrateComputeType(handle, sums, &compute);
  return status != CUBLAS_STATUS_SUCCESS
             ? status
             : cublasGemmStridedBatchedEx(handle, opA, opB, m, n, k, alpha, a, typeA, lda, strideA, b, typeB, ldb,
                                          strideB, beta, c, typeC, ldc, strideC, count, compute, algorithm);
}

#endif
#endif
