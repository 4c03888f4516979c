// cuBLASXt: level 3 for matrices of the host or of any device. Here all memory is the processor's, which does the work
// anyway, so each call is the one of cuBLAS, on a handle of its own, and waits for it. Devices, blocks and the host's
// share of the work are kept and change nothing.
#include <algorithm>
#include <vector>

#include "cublasXt.h"
#include "libs/cublas/handle.hpp"

struct cublasXtContext {
  cublasHandle_t handle = nullptr;
  int blockDim = 2048;
  cublasXtPinnedMemMode_t pinning = CUBLASXT_PINNING_DISABLED;
};

namespace ordito::cublas {
namespace {

bool isRoutine(cublasXtBlasOp_t op, cublasXtOpType_t type) {
  return op >= CUBLASXT_GEMM && op < CUBLASXT_ROUTINE_MAX && type >= CUBLASXT_FLOAT && type <= CUBLASXT_DOUBLECOMPLEX;
}

int deviceCount() {
  int count = 0;
  return libs::hasContext() && cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

bool areDevices(int count, const int* devices) {
  if (count <= 0 || !devices) return false;
  return std::all_of(devices, devices + count, [n = deviceCount()](int device) { return device >= 0 && device < n; });
}

int64_t wide(size_t size) { return static_cast<int64_t>(size); }

/// Waits for a call that was made.
cublasStatus_t finished(cublasXtHandle_t xt, cublasStatus_t status) {
  return status != CUBLAS_STATUS_SUCCESS ? status : statusOf(libs::await(xt->handle->stream));
}

/// A symmetric matrix from its packed triangle.
template <class T>
std::vector<T> unpacked(cublasFillMode_t fill, size_t n, const T* packed) {
  std::vector<T> full(n * n);
  size_t at = 0;
  for (size_t j = 0; j < n; ++j) {
    const size_t first = fill == CUBLAS_FILL_MODE_LOWER ? j : 0, last = fill == CUBLAS_FILL_MODE_LOWER ? n : j + 1;
    for (size_t i = first; i < last; ++i) full[i + j * n] = packed[at++];
  }
  return full;
}

/// `symm` multiplies by the whole matrix.
template <class T, class Symm>
cublasStatus_t spmm(cublasXtHandle_t xt, cublasSideMode_t side, cublasFillMode_t fill, size_t m, size_t n,
                    const T* packed, const Symm& symm) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(isSide(side) && isFill(fill) && (m == 0 || n == 0 || packed));
  const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  // The triangle may be the result of what the devices still do.
  const cublasStatus_t before = finished(xt, CUBLAS_STATUS_SUCCESS);
  if (before != CUBLAS_STATUS_SUCCESS) return before;
  const std::vector<T> full = m == 0 || n == 0 ? std::vector<T>() : unpacked(fill, order, packed);
  return finished(xt, symm(full.data(), std::max<int64_t>(1, wide(order))));
}

}  // namespace

extern "C" {

cublasStatus_t cublasXtCreate(cublasXtHandle_t* xt) {
  ORDITO_CHECK(xt);
  cublasHandle_t handle = nullptr;
  if (const cublasStatus_t status = cublasCreate_v2(&handle)) return status;
  *xt = new cublasXtContext{.handle = handle};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtDestroy(cublasXtHandle_t xt) {
  ORDITO_HANDLE(xt);
  cublasDestroy_v2(xt->handle);
  delete xt;
  return CUBLAS_STATUS_SUCCESS;
}
/// Each device is a board of its own.
cublasStatus_t cublasXtGetNumBoards(int count, int* devices, int* boards) {
  ORDITO_CHECK(areDevices(count, devices) && boards);
  *boards = count;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtMaxBoards(int* boards) {
  ORDITO_CHECK(boards);
  *boards = deviceCount();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t xt, int count, int* devices) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(areDevices(count, devices));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t xt, int blockDim) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(blockDim > 0);
  xt->blockDim = blockDim;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t xt, int* blockDim) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(blockDim);
  *blockDim = xt->blockDim;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t xt, cublasXtPinnedMemMode_t mode) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(mode == CUBLASXT_PINNING_DISABLED || mode == CUBLASXT_PINNING_ENABLED);
  xt->pinning = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t xt, cublasXtPinnedMemMode_t* mode) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(mode);
  *mode = xt->pinning;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtSetCpuRoutine(cublasXtHandle_t xt, cublasXtBlasOp_t op, cublasXtOpType_t type, void*) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(isRoutine(op, type));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtSetCpuRatio(cublasXtHandle_t xt, cublasXtBlasOp_t op, cublasXtOpType_t type, float ratio) {
  ORDITO_HANDLE(xt);
  ORDITO_CHECK(isRoutine(op, type) && ratio >= 0 && ratio <= 1);
  return CUBLAS_STATUS_SUCCESS;
}

#define CALL(function, ...)                                         \
  {                                                                 \
    ORDITO_HANDLE(xt);                                              \
    return finished(xt, cublas##function(xt->handle, __VA_ARGS__)); \
  }
#define SIDED cublasXtHandle_t xt, cublasSideMode_t side, cublasFillMode_t fill
#define RANK cublasXtHandle_t xt, cublasFillMode_t fill, cublasOperation_t op, size_t n, size_t k
#define OPERANDS(T) const T *A, size_t lda, const T *B, size_t ldb
#define DEFINE_RANK(L, T, S, name, function)                                                                      \
  cublasStatus_t cublasXt##L##name(RANK, const S* alpha, const T* A, size_t lda, const S* beta, T* C, size_t ldc) \
      CALL(L##function, fill, op, wide(n), wide(k), alpha, A, wide(lda), beta, C, wide(ldc))
#define DEFINE_RANK2(L, T, S, name, function)                                                          \
  cublasStatus_t cublasXt##L##name(RANK, const T* alpha, OPERANDS(T), const S* beta, T* C, size_t ldc) \
      CALL(L##function, fill, op, wide(n), wide(k), alpha, A, wide(lda), B, wide(ldb), beta, C, wide(ldc))
#define DEFINE_SYMM(L, T, name)                                                                                 \
  cublasStatus_t cublasXt##L##name(SIDED, size_t m, size_t n, const T* alpha, OPERANDS(T), const T* beta, T* C, \
                                   size_t ldc)                                                                  \
      CALL(L##name##_v2_64, side, fill, wide(m), wide(n), alpha, A, wide(lda), B, wide(ldb), beta, C, wide(ldc))
#define DEFINE(L, T)                                                                                                  \
  cublasStatus_t cublasXt##L##gemm(cublasXtHandle_t xt, cublasOperation_t opA, cublasOperation_t opB, size_t m,       \
                                   size_t n, size_t k, const T* alpha, OPERANDS(T), const T* beta, T* C, size_t ldc)  \
      CALL(L##gemm_v2_64, opA, opB, wide(m), wide(n), wide(k), alpha, A, wide(lda), B, wide(ldb), beta, C, wide(ldc)) \
          DEFINE_RANK(L, T, T, syrk, syrk_v2_64) DEFINE_RANK2(L, T, T, syr2k, syr2k_v2_64)                            \
              DEFINE_RANK2(L, T, T, syrkx, syrkx_64) DEFINE_SYMM(L, T, symm) cublasStatus_t cublasXt##L##trsm(        \
                  SIDED, cublasOperation_t op, cublasDiagType_t diag, size_t m, size_t n, const T* alpha, const T* A, \
                  size_t lda, T* B, size_t ldb) CALL(L##trsm_v2_64, side, fill, op, diag, wide(m), wide(n), alpha, A, \
                                                     wide(lda), B, wide(ldb))                                         \
                  cublasStatus_t cublasXt##L##trmm(SIDED, cublasOperation_t op, cublasDiagType_t diag, size_t m,      \
                                                   size_t n, const T* alpha, OPERANDS(T), T* C, size_t ldc)           \
                      CALL(L##trmm_v2_64, side, fill, op, diag, wide(m), wide(n), alpha, A, wide(lda), B, wide(ldb),  \
                           C, wide(ldc))                                                                              \
                          cublasStatus_t cublasXt##L##spmm(SIDED, size_t m, size_t n, const T* alpha, const T* AP,    \
                                                           const T* B, size_t ldb, const T* beta, T* C, size_t ldc) { \
    return spmm(xt, side, fill, m, n, AP, [=](const T* A, int64_t lda) {                                              \
      return cublas##L##symm_v2_64(xt->handle, side, fill, wide(m), wide(n), alpha, A, lda, B, wide(ldb), beta, C,    \
                                   wide(ldc));                                                                        \
    });                                                                                                               \
  }
ORDITO_FOR_ALL_INT(DEFINE)
#undef DEFINE
#define DEFINE(L, T, S)                     \
  DEFINE_RANK(L, T, S, herk, herk_v2_64)    \
  DEFINE_RANK2(L, T, S, her2k, her2k_v2_64) \
  DEFINE_RANK2(L, T, S, herkx, herkx_64)    \
  DEFINE_SYMM(L, T, hemm)
DEFINE(C, cuComplex, float)
DEFINE(Z, cuDoubleComplex, double)
#undef DEFINE

}  // extern "C"
}  // namespace ordito::cublas
