// cuBLAS: statuses of bad arguments, and what the manual leaves open (cases.hpp).
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cases.hpp"

namespace {

const float kOne = 1, kTwo = 2, kZero = 0;
const cublasOperation_t N = CUBLAS_OP_N, T = CUBLAS_OP_T;
const float kNan = NAN;

float* matrix() { return on<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}); }
float* nans() { return on<float>({kNan, kNan, kNan, kNan}); }

void handles(Cases& cases, cublasHandle_t h) {
  int version = 0;
  cudaStream_t stream = nullptr;
  cublasHandle_t other = nullptr;
  CASE("create: null", cublasCreate(nullptr));
  CASE("destroy: null", cublasDestroy(nullptr));
  CASE("create and destroy", cublasCreate(&other) * 100 + cublasDestroy(other));
  CASE("version: no handle", cublasGetVersion(nullptr, &version));
  CASE("version: no answer", cublasGetVersion(h, nullptr));
  CASE("stream: set without handle", cublasSetStream(nullptr, nullptr));
  CASE("stream: get without handle", cublasGetStream(nullptr, &stream));
  CASE("pointer mode: 7", cublasSetPointerMode(h, cublasPointerMode_t(7)));
  CASE("pointer mode: no handle", cublasSetPointerMode(nullptr, CUBLAS_POINTER_MODE_HOST));
  CASE("atomics mode: 7", cublasSetAtomicsMode(h, cublasAtomicsMode_t(7)));
  CASE("math mode: 99", cublasSetMathMode(h, cublasMath_t(99)));
  CASE("math mode: no handle", cublasSetMathMode(nullptr, CUBLAS_DEFAULT_MATH));
  CASE("workspace: none of 0 bytes", cublasSetWorkspace(h, nullptr, 0));
  CASE("workspace: none of 1024 bytes", cublasSetWorkspace(h, nullptr, 1024));
  char* room = zeros<char>(1 << 20);
  CASE("workspace: at an odd address", cublasSetWorkspace(h, room + 1, 1 << 19));
  CASE("workspace: no handle", cublasSetWorkspace(nullptr, room, 1 << 19));
  CASE("workspace: the library's own again", cublasSetStream(h, nullptr));
  CASE("multiprocessors: -1", cublasSetSmCountTarget(h, -1));
  CASE("multiprocessors: 100000", cublasSetSmCountTarget(h, 100000));
  CASE("multiprocessors: 0", cublasSetSmCountTarget(h, 0));
}

void vectors(Cases& cases, cublasHandle_t h) {
  float *x = matrix(), *y = matrix(), result = 7;
  int index = 7;
  CASE("axpy: no handle", cublasSaxpy(nullptr, 3, &kOne, x, 1, y, 1));
  CASE("axpy: n -1", cublasSaxpy(h, -1, &kOne, x, 1, y, 1));
  CASE("axpy: n 0, no pointers", cublasSaxpy(h, 0, nullptr, nullptr, 1, nullptr, 1));
  CASE("axpy: n 0, no vectors", cublasSaxpy(h, 0, &kOne, nullptr, 1, nullptr, 1));
  CASE("axpy: no alpha", cublasSaxpy(h, 3, nullptr, x, 1, y, 1));
  CASE("axpy: incx 0", cublasSaxpy(h, 3, &kOne, x, 0, y = matrix(), 1), shown(y, 3));
  CASE("axpy: incy 0", cublasSaxpy(h, 1, &kOne, x, 1, y = matrix(), 0), shown(y, 3));
  CASE("axpy: incx -1", cublasSaxpy(h, 3, &kOne, x, -1, y = matrix(), 1), shown(y, 3));
  CASE("axpy: alpha 0, no vectors", cublasSaxpy(h, 3, &kZero, nullptr, 1, nullptr, 1));
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  const float* zero = on<float>({0});
  CASE("axpy: alpha 0 on the device, x NaN", cublasSaxpy(h, 3, zero, nans(), 1, y = matrix(), 1), shown(y, 3));
  CASE("axpy: alpha 0 on the device, no vectors", cublasSaxpy(h, 3, zero, nullptr, 1, nullptr, 1));
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  CASE("axpy: alpha 0, x NaN", cublasSaxpy(h, 3, &kZero, nans(), 1, y = matrix(), 1), shown(y, 3));
  CASE("copy: n -1", cublasScopy(h, -1, x, 1, y, 1));
  CASE("copy: incx 0", cublasScopy(h, 3, x, 0, y = matrix(), 1), shown(y, 3));
  CASE("copy: n 0, no vectors", cublasScopy(h, 0, nullptr, 1, nullptr, 1));
  CASE("dot: n -1", cublasSdot(h, -1, x, 1, y, 1, &(result = 7)), shown(result));
  CASE("dot: n 0", cublasSdot(h, 0, nullptr, 1, nullptr, 1, &(result = 7)), shown(result));
  CASE("dot: no answer", cublasSdot(h, 3, x, 1, y, 1, nullptr));
  CASE("dot: incx 0", cublasSdot(h, 3, x, 0, y = matrix(), 1, &(result = 7)), shown(result));
  CASE("dot: no vectors", cublasSdot(h, 0, x, 1, y, 1, nullptr));
  CASE("nrm2: n -1", cublasSnrm2(h, -1, x, 1, &(result = 7)), shown(result));
  CASE("nrm2: n 0", cublasSnrm2(h, 0, x, 1, &(result = 7)), shown(result));
  CASE("nrm2: incx 0", cublasSnrm2(h, 3, x, 0, &(result = 7)), shown(result));
  CASE("nrm2: incx -1", cublasSnrm2(h, 3, x, -1, &(result = 7)), shown(result));
  CASE("nrm2: squares overflow", cublasSnrm2(h, 2, on<float>({3e30f, 4e30f}), 1, &(result = 7)), shown(result));
  CASE("nrm2: squares underflow", cublasSnrm2(h, 2, on<float>({3e-30f, 4e-30f}), 1, &(result = 7)), shown(result));
  CASE("nrm2: infinity", cublasSnrm2(h, 2, on<float>({INFINITY, 4}), 1, &(result = 7)), shown(result));
  CASE("asum: n 0", cublasSasum(h, 0, x, 1, &(result = 7)), shown(result));
  CASE("asum: incx 0", cublasSasum(h, 3, x, 0, &(result = 7)), shown(result));
  CASE("asum: incx -1", cublasSasum(h, 3, x, -1, &(result = 7)), shown(result));
  CASE("amax: n 0", cublasIsamax(h, 0, x, 1, &(index = 7)), shown(index));
  CASE("amax: n -1", cublasIsamax(h, -1, x, 1, &(index = 7)), shown(index));
  CASE("amax: incx 0", cublasIsamax(h, 3, x, 0, &(index = 7)), shown(index));
  CASE("amax: incx -1", cublasIsamax(h, 3, x, -1, &(index = 7)), shown(index));
  CASE("amax: no answer", cublasIsamax(h, 3, x, 1, nullptr));
  CASE("amax: NaN first", cublasIsamax(h, 3, on<float>({kNan, 1, 2}), 1, &(index = 7)), shown(index));
  CASE("amax: NaN second", cublasIsamax(h, 3, on<float>({1, kNan, 2}), 1, &(index = 7)), shown(index));
  CASE("amax: NaN alone", cublasIsamax(h, 3, nans(), 1, &(index = 7)), shown(index));
  CASE("amax: equal ones", cublasIsamax(h, 4, on<float>({1, -2, 2, 2}), 1, &(index = 7)), shown(index));
  CASE("amin: NaN first", cublasIsamin(h, 3, on<float>({kNan, 2, 1}), 1, &(index = 7)), shown(index));
  CASE("amin: NaN second", cublasIsamin(h, 3, on<float>({2, kNan, 1}), 1, &(index = 7)), shown(index));
  CASE("scal: n -1", cublasSscal(h, -1, &kTwo, x, 1));
  CASE("scal: alpha 0, NaN", cublasSscal(h, 2, &kZero, x = nans(), 1), shown(x, 3));
  CASE("scal: incx 0", cublasSscal(h, 3, &kTwo, x = matrix(), 0), shown(x, 3));
  CASE("scal: incx -1", cublasSscal(h, 3, &kTwo, x = matrix(), -1), shown(x, 3));
  CASE("scal: no alpha", cublasSscal(h, 3, nullptr, x, 1));
  CASE("swap: n -1", cublasSswap(h, -1, x, 1, y, 1));
  CASE("rot: n 0", cublasSrot(h, 0, x, 1, y, 1, &kOne, &kZero));
  CASE("rot: n 0, nothing", cublasSrot(h, 0, nullptr, 1, nullptr, 1, nullptr, nullptr));
  CASE("rot: n -1, nothing", cublasSrot(h, -1, nullptr, 1, nullptr, 1, nullptr, nullptr));
  CASE("rotm: n 0, nothing", cublasSrotm(h, 0, nullptr, 1, nullptr, 1, nullptr));
}

void rotations(Cases& cases, cublasHandle_t h) {
  const float pairs[][2] = {{0, 0}, {0, 2}, {3, 0}, {3, 4}, {-3, 4}, {4, -3}, {3, 3}, {1e30f, 1e30f}, {kNan, 1}};
  const char* names[] = {"rotg: 0 0",  "rotg: 0 2", "rotg: 3 0",       "rotg: 3 4",  "rotg: -3 4",
                         "rotg: 4 -3", "rotg: 3 3", "rotg: 1e30 1e30", "rotg: NaN 1"};
  for (int i = 0; i < 9; ++i) {
    float a = pairs[i][0], b = pairs[i][1], c = 7, s = 7;
    CASE(names[i], cublasSrotg(h, &a, &b, &c, &s), shown(a), shown(b), shown(c), shown(s));
  }
  float c = 7, s = 7, a = 1;
  CASE("rotg: no a", cublasSrotg(h, nullptr, &a, &c, &s));
  float d1 = 2, d2 = 3, x1 = 4, y1 = 5, param[5] = {9, 9, 9, 9, 9};
  CASE("rotmg: 2 3 4 5", cublasSrotmg(h, &d1, &d2, &x1, &y1, param), shown(param, 5), shown(d1), shown(d2), shown(x1));
  d1 = -1;
  CASE("rotmg: d1 -1", cublasSrotmg(h, &d1, &d2, &x1, &y1, param), shown(param, 5), shown(d1), shown(d2), shown(x1));
}

void matrixVector(Cases& cases, cublasHandle_t h) {
  float *a = matrix(), *x = matrix(), *y = matrix();
  CASE("gemv: no handle", cublasSgemv(nullptr, N, 2, 2, &kOne, a, 2, x, 1, &kZero, y, 1));
  CASE("gemv: m -1", cublasSgemv(h, N, -1, 2, &kOne, a, 2, x, 1, &kZero, y, 1));
  CASE("gemv: lda 1 of 2", cublasSgemv(h, N, 2, 2, &kOne, a, 1, x, 1, &kZero, y, 1));
  CASE("gemv: incx 0", cublasSgemv(h, N, 2, 2, &kOne, a, 2, x, 0, &kZero, y, 1));
  CASE("gemv: incy 0", cublasSgemv(h, N, 2, 2, &kOne, a, 2, x, 1, &kZero, y, 0));
  CASE("gemv: operation 9", cublasSgemv(h, cublasOperation_t(9), 2, 2, &kOne, a, 2, x, 1, &kZero, y, 1));
  CASE("gemv: no alpha", cublasSgemv(h, N, 2, 2, nullptr, a, 2, x, 1, &kZero, y, 1));
  CASE("gemv: no beta", cublasSgemv(h, N, 2, 2, &kOne, a, 2, x, 1, nullptr, y, 1));
  CASE("gemv: m 0, no pointers", cublasSgemv(h, N, 0, 2, &kOne, nullptr, 1, nullptr, 1, &kZero, nullptr, 1));
  CASE("gemv: m 0, lda 0", cublasSgemv(h, N, 0, 2, &kOne, a, 0, x, 1, &kZero, y, 1));
  CASE("gemv: n 0 keeps or scales y", cublasSgemv(h, N, 2, 0, &kOne, a, 2, x, 1, &kTwo, y = matrix(), 1), shown(y, 2));
  CASE("gemv: beta 0, y NaN", cublasSgemv(h, N, 2, 2, &kOne, a, 2, x, 1, &kZero, y = nans(), 1), shown(y, 2));
  CASE("gemv: alpha 0, A NaN", cublasSgemv(h, N, 2, 2, &kZero, nans(), 2, x, 1, &kTwo, y = matrix(), 1), shown(y, 2));
  CASE("gemv: incx -1", cublasSgemv(h, N, 2, 2, &kOne, a, 2, x, -1, &kZero, y = matrix(), 1), shown(y, 2));
  CASE("ger: lda 1 of 2", cublasSger(h, 2, 2, &kOne, x, 1, y, 1, a, 1));
  CASE("ger: incx 0", cublasSger(h, 2, 2, &kOne, x, 0, y, 1, a, 2));
  CASE("gbmv: lda too small", cublasSgbmv(h, N, 2, 2, 1, 1, &kOne, a, 2, x, 1, &kZero, y, 1));
  CASE("gbmv: kl -1", cublasSgbmv(h, N, 2, 2, -1, 1, &kOne, a, 3, x, 1, &kZero, y, 1));
  CASE("symv: fill 9", cublasSsymv(h, cublasFillMode_t(9), 2, &kOne, a, 2, x, 1, &kZero, y, 1));
  CASE("symv: fill full", cublasSsymv(h, CUBLAS_FILL_MODE_FULL, 2, &kOne, a, 2, x, 1, &kZero, y, 1));
  CASE("trsv: singular",
       cublasStrsv(h, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_NON_UNIT, 2, on<float>({0, 1, 0, 2}), 2, x = matrix(), 1),
       shown(x, 2));
  CASE("trsv: diagonal 9", cublasStrsv(h, CUBLAS_FILL_MODE_LOWER, N, cublasDiagType_t(9), 2, a, 2, x, 1));
  CASE("trsv: n -1", cublasStrsv(h, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_UNIT, -1, a, 2, x, 1));
  CASE("trmv: n 0, no pointers",
       cublasStrmv(h, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_UNIT, 0, nullptr, 1, nullptr, 1));
}

void products(Cases& cases, cublasHandle_t h) {
  float *a = matrix(), *b = matrix(), *c = matrix();
  const auto gemm = [&](int m, int n, int k, int lda, int ldb, int ldc) {
    return cublasSgemm(h, N, N, m, n, k, &kOne, a, lda, b, ldb, &kZero, c, ldc);
  };
  CASE("gemm: no handle", cublasSgemm(nullptr, N, N, 2, 2, 2, &kOne, a, 2, b, 2, &kZero, c, 2));
  CASE("gemm: m -1", gemm(-1, 2, 2, 2, 2, 2));
  CASE("gemm: n -1", gemm(2, -1, 2, 2, 2, 2));
  CASE("gemm: k -1", gemm(2, 2, -1, 2, 2, 2));
  CASE("gemm: lda 1 of 2", gemm(2, 2, 2, 1, 2, 2));
  CASE("gemm: ldb 1 of 2", gemm(2, 2, 2, 2, 1, 2));
  CASE("gemm: ldc 1 of 2", gemm(2, 2, 2, 2, 2, 1));
  CASE("gemm: m 0, lda 0", gemm(0, 2, 2, 0, 2, 0));
  CASE("gemm: n 0, ldb 0", gemm(2, 0, 2, 2, 0, 2));
  CASE("gemm: operation 9", cublasSgemm(h, cublasOperation_t(9), N, 2, 2, 2, &kOne, a, 2, b, 2, &kZero, c, 2));
  CASE("gemm: conjugate of real", cublasSgemm(h, CUBLAS_OP_C, N, 2, 2, 2, &kOne, a, 2, b, 2, &kZero, c, 2),
       shown(c, 4));
  CASE("gemm: no alpha", cublasSgemm(h, N, N, 2, 2, 2, nullptr, a, 2, b, 2, &kZero, c, 2));
  CASE("gemm: no beta", cublasSgemm(h, N, N, 2, 2, 2, &kOne, a, 2, b, 2, nullptr, c, 2));
  CASE("gemm: m 0, no pointers", cublasSgemm(h, N, N, 0, 2, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2));
  CASE("gemm: m 0, no matrices", cublasSgemm(h, N, N, 0, 2, 2, &kOne, nullptr, 2, nullptr, 2, &kZero, nullptr, 2));
  CASE("gemm: k 0, beta 2", cublasSgemm(h, N, N, 2, 2, 0, &kOne, a, 2, b, 1, &kTwo, c = matrix(), 2), shown(c, 4));
  CASE("gemm: k 0, no A and B", cublasSgemm(h, N, N, 2, 2, 0, &kOne, nullptr, 2, nullptr, 1, &kTwo, c = matrix(), 2),
       shown(c, 4));
  CASE("gemm: beta 0, C NaN", cublasSgemm(h, N, N, 2, 2, 2, &kOne, a, 2, b, 2, &kZero, c = nans(), 2), shown(c, 4));
  CASE("gemm: alpha 0, A NaN", cublasSgemm(h, N, N, 2, 2, 2, &kZero, nans(), 2, b, 2, &kTwo, c = matrix(), 2),
       shown(c, 4));
  CASE("gemm: alpha 0, no A and B",
       cublasSgemm(h, N, N, 2, 2, 2, &kZero, nullptr, 2, nullptr, 2, &kTwo, c = matrix(), 2), shown(c, 4));
  CASE("gemm: A NaN times zero",
       cublasSgemm(h, N, N, 2, 2, 2, &kOne, nans(), 2, on<float>({0, 0, 0, 0}), 2, &kZero, c = matrix(), 2),
       shown(c, 4));
  CASE("symm: side 9",
       cublasSsymm(h, cublasSideMode_t(9), CUBLAS_FILL_MODE_LOWER, 2, 2, &kOne, a, 2, b, 2, &kZero, c, 2));
  CASE("symm: lda 1 of 2",
       cublasSsymm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, 2, 2, &kOne, a, 1, b, 2, &kZero, c, 2));
  CASE("syrk: conjugate of real",
       cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, 2, 2, &kOne, a, 2, &kZero, c = matrix(), 2), shown(c, 4));
  CASE("syrk: beta 0, C NaN", cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, N, 2, 2, &kOne, a, 2, &kZero, c = nans(), 2),
       shown(c, 4));
  CASE("trsm: alpha 0, A NaN",
       cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_NON_UNIT, 2, 2, &kZero, nans(), 2,
                   c = nans(), 2),
       shown(c, 4));
  CASE("trsm: singular",
       cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_NON_UNIT, 2, 1, &kOne,
                   on<float>({0, 1, 0, 2}), 2, c = matrix(), 2),
       shown(c, 2));
  CASE("trsm: m 0, no pointers", cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_UNIT, 0, 2,
                                             &kOne, nullptr, 1, nullptr, 1));
  CASE("trsm: ldb 1 of 2",
       cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, N, CUBLAS_DIAG_UNIT, 2, 2, &kOne, a, 2, b, 1));
  CASE("geam: lda 1 of 2", cublasSgeam(h, N, N, 2, 2, &kOne, a, 1, &kOne, b, 2, c, 2));
  CASE("geam: alpha 0, no A", cublasSgeam(h, N, N, 2, 2, &kZero, nullptr, 2, &kOne, b, 2, c = matrix(), 2),
       shown(c, 4));
  CASE("geam: alpha 0, A NaN", cublasSgeam(h, N, N, 2, 2, &kZero, nans(), 2, &kOne, b, 2, c = matrix(), 2),
       shown(c, 4));
  CASE("geam: in place, turned", cublasSgeam(h, T, N, 2, 2, &kOne, c = matrix(), 2, &kZero, b, 2, c, 2));
  CASE("geam: in place, ldc other", cublasSgeam(h, N, N, 2, 2, &kOne, c = matrix(), 2, &kZero, b, 2, c, 3));
  CASE("dgmm: incx 0", cublasSdgmm(h, CUBLAS_SIDE_LEFT, 2, 2, a, 2, b, 0, c = matrix(), 2), shown(c, 4));
  CASE("dgmm: side 9", cublasSdgmm(h, cublasSideMode_t(9), 2, 2, a, 2, b, 1, c, 2));
}

cublasStatus_t ex(cublasHandle_t h, int size, void* a, cudaDataType_t at, void* b, cudaDataType_t bt, void* c,
                  cudaDataType_t ct, cublasComputeType_t compute, int algorithm = CUBLAS_GEMM_DEFAULT) {
  alignas(16) static const float alphas[4] = {1, 0, 0, 0}, betas[4] = {0, 0, 0, 0};
  static const int one = 1;
  const void* alpha = compute == CUBLAS_COMPUTE_32I ? static_cast<const void*>(&one) : alphas;
  return cublasGemmEx(h, N, N, size, size, size, alpha, a, at, size, b, bt, size, betas, c, ct, size, compute,
                      cublasGemmAlgo_t(algorithm));
}

void extended(Cases& cases, cublasHandle_t h) {
  char *a = zeros<char>(4096), *b = zeros<char>(4096), *c = zeros<char>(4096);
  const auto f32 = CUBLAS_COMPUTE_32F, i32 = CUBLAS_COMPUTE_32I;
  CASE("ex int8: size 4", ex(h, 4, a, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32I, i32));
  CASE("ex int8: size 3", ex(h, 3, a, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32I, i32));
  CASE("ex int8: size 1", ex(h, 1, a, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32I, i32));
  CASE("ex int8: A at 1", ex(h, 4, a + 1, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32I, i32));
  CASE("ex int8: A at 2", ex(h, 4, a + 2, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32I, i32));
  CASE("ex int8: to float", ex(h, 4, a, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32F, f32));
  CASE("ex int8: to float, size 3", ex(h, 3, a, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_32F, f32));
  CASE("ex int8: to int8", ex(h, 4, a, CUDA_R_8I, b, CUDA_R_8I, c, CUDA_R_8I, i32));
  CASE("ex: half by bfloat16", ex(h, 4, a, CUDA_R_16F, b, CUDA_R_16BF, c, CUDA_R_32F, f32));
  CASE("ex: half to float", ex(h, 4, a, CUDA_R_16F, b, CUDA_R_16F, c, CUDA_R_32F, f32));
  CASE("ex: half to bfloat16", ex(h, 4, a, CUDA_R_16F, b, CUDA_R_16F, c, CUDA_R_16BF, f32));
  CASE("ex: half in half", ex(h, 4, a, CUDA_R_16F, b, CUDA_R_16F, c, CUDA_R_16F, CUBLAS_COMPUTE_16F));
  CASE("ex: bfloat16 in half", ex(h, 4, a, CUDA_R_16BF, b, CUDA_R_16BF, c, CUDA_R_16BF, CUBLAS_COMPUTE_16F));
  CASE("ex: float in double", ex(h, 4, a, CUDA_R_32F, b, CUDA_R_32F, c, CUDA_R_32F, CUBLAS_COMPUTE_64F));
  CASE("ex: double in float", ex(h, 4, a, CUDA_R_64F, b, CUDA_R_64F, c, CUDA_R_64F, f32));
  CASE("ex: float in TF32", ex(h, 4, a, CUDA_R_32F, b, CUDA_R_32F, c, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32));
  CASE("ex: double in TF32", ex(h, 4, a, CUDA_R_64F, b, CUDA_R_64F, c, CUDA_R_64F, CUBLAS_COMPUTE_32F_FAST_TF32));
  CASE("ex: compute type 999", ex(h, 4, a, CUDA_R_32F, b, CUDA_R_32F, c, CUDA_R_32F, cublasComputeType_t(999)));
  CASE("ex: data type 999", ex(h, 4, a, cudaDataType_t(999), b, CUDA_R_32F, c, CUDA_R_32F, f32));
  CASE("ex: algorithm 9999", ex(h, 4, a, CUDA_R_32F, b, CUDA_R_32F, c, CUDA_R_32F, f32, 9999));
  CASE("ex: fp8", ex(h, 16, a, CUDA_R_8F_E4M3, b, CUDA_R_8F_E4M3, c, CUDA_R_16F, f32));
  CASE("ex: half at an odd address", ex(h, 4, a + 1, CUDA_R_16F, b, CUDA_R_16F, c, CUDA_R_32F, f32));
  CASE("gemm_ex: int8 to float",
       cublasSgemmEx(h, N, N, 4, 4, 4, &kOne, a, CUDA_R_8I, 4, b, CUDA_R_8I, 4, &kZero, c, CUDA_R_32F, 4));
  const float half = 0.5f;
  CASE("scal_ex: half", cublasScalEx(h, 4, &half, CUDA_R_32F, a, CUDA_R_16F, 1, CUDA_R_32F));
  CASE("scal_ex: half in half", cublasScalEx(h, 4, &half, CUDA_R_16F, a, CUDA_R_16F, 1, CUDA_R_16F));
  CASE("dot_ex: float and half", cublasDotEx(h, 4, a, CUDA_R_32F, 1, b, CUDA_R_16F, 1, c, CUDA_R_32F, CUDA_R_32F));
}

void batches(Cases& cases, cublasHandle_t h) {
  float *a = matrix(), *b = matrix(), *c = matrix(), *singular = on<float>({1, 2, 2, 4});
  float** list = on<float*>({a});
  float **second = on<float*>({c}), **singulars = on<float*>({singular});
  int *pivots = zeros<int>(8), *info = zeros<int>(8), answer = 7;
  CASE("batched gemm: -1", cublasSgemmBatched(h, N, N, 2, 2, 2, &kOne, list, 2, list, 2, &kZero, second, 2, -1));
  CASE("batched gemm: 0, no lists",
       cublasSgemmBatched(h, N, N, 2, 2, 2, &kOne, nullptr, 2, nullptr, 2, &kZero, nullptr, 2, 0));
  CASE("batched gemm: lda 1", cublasSgemmBatched(h, N, N, 2, 2, 2, &kOne, list, 1, list, 2, &kZero, second, 2, 1));
  CASE("strided gemm: -1", cublasSgemmStridedBatched(h, N, N, 2, 2, 2, &kOne, a, 2, 4, b, 2, 4, &kZero, c, 2, 4, -1));
  CASE("strided gemm: 0", cublasSgemmStridedBatched(h, N, N, 2, 2, 2, &kOne, a, 2, 4, b, 2, 4, &kZero, c, 2, 4, 0));
  CASE("strided gemm: stride -4",
       cublasSgemmStridedBatched(h, N, N, 2, 2, 2, &kOne, a, 2, -4, b, 2, 4, &kZero, c, 2, 4, 1));
  CASE("strided gemm: steps of C overlap",
       cublasSgemmStridedBatched(h, N, N, 2, 2, 2, &kOne, a, 2, 0, b, 2, 0, &kZero, c, 2, 1, 2));
  CASE("getrf: n -1", cublasSgetrfBatched(h, -1, list, 2, pivots, info, 1));
  CASE("getrf: n 0", cublasSgetrfBatched(h, 0, list, 1, pivots, info, 1));
  CASE("getrf: lda 1 of 2", cublasSgetrfBatched(h, 2, list, 1, pivots, info, 1));
  CASE("getrf: batch -1", cublasSgetrfBatched(h, 2, list, 2, pivots, info, -1));
  CASE("getrf: batch 0", cublasSgetrfBatched(h, 2, nullptr, 2, nullptr, nullptr, 0));
  CASE("getrf: singular", cublasSgetrfBatched(h, 2, singulars, 2, pivots, info, 1), shown(info, 1), shown(pivots, 2),
       shown(singular, 4));
  CASE("getrf: no info", cublasSgetrfBatched(h, 2, list, 2, pivots, nullptr, 1));
  CASE("getri: singular", cublasSgetriBatched(h, 2, singulars, 2, pivots, second, 2, info, 1), shown(info, 1));
  CASE("getri: lda 1 of 2", cublasSgetriBatched(h, 2, singulars, 1, pivots, second, 2, info, 1));
  CASE("getrs: info", cublasSgetrsBatched(h, N, 2, 1, list, 1, pivots, second, 2, &(answer = 7), 1), shown(answer));
  CASE("getrs: nrhs -1", cublasSgetrsBatched(h, N, 2, -1, list, 2, pivots, second, 2, &(answer = 7), 1), shown(answer));
  CASE("getrs: no info", cublasSgetrsBatched(h, N, 2, 1, list, 2, pivots, second, 2, nullptr, 1));
  CASE("matinv: n 33", cublasSmatinvBatched(h, 33, list, 33, second, 33, info, 1));
  CASE("matinv: n -1", cublasSmatinvBatched(h, -1, list, 2, second, 2, info, 1));
  CASE("matinv: singular", cublasSmatinvBatched(h, 2, on<float*>({on<float>({1, 2, 2, 4})}), 2, second, 2, info, 1),
       shown(info, 1));
  CASE("gels: fewer rows than columns", cublasSgelsBatched(h, N, 1, 2, 1, list, 1, second, 2, &(answer = 7), info, 1),
       shown(answer));
  CASE("gels: turned", cublasSgelsBatched(h, T, 2, 1, 1, list, 2, second, 2, &(answer = 7), info, 1), shown(answer));
  CASE("gels: lda 1", cublasSgelsBatched(h, N, 2, 1, 1, list, 1, second, 2, &(answer = 7), info, 1), shown(answer));
  CASE("geqrf: batch -1", cublasSgeqrfBatched(h, 2, 2, list, 2, second, &(answer = 7), -1), shown(answer));
  CASE("geqrf: lda 1", cublasSgeqrfBatched(h, 2, 2, list, 1, second, &(answer = 7), 1), shown(answer));
}

/// Factorizations of no matrices, of empty ones, and which of the wrong arguments the info tells.
void factorizations(Cases& cases, cublasHandle_t h) {
  float *result = matrix(), **list = on<float*>({matrix()}), **second = on<float*>({result});
  int *pivots = zeros<int>(8), *info = zeros<int>(8), answer = 7;
  const auto gels = [&](int m, int n, int columns, float** a, int lda, float** c, int ldc, int* infos, int count) {
    return cublasSgelsBatched(h, N, m, n, columns, a, lda, c, ldc, &(answer = 7), infos, count);
  };
  CASE("gels: m -1", gels(-1, 1, 1, list, 2, second, 2, info, 1), shown(answer));
  CASE("gels: n -1", gels(2, -1, 1, list, 2, second, 2, info, 1), shown(answer));
  CASE("gels: nrhs -1", gels(2, 1, -1, list, 2, second, 2, info, 1), shown(answer));
  CASE("gels: ldc 1", gels(2, 1, 1, list, 2, second, 1, info, 1), shown(answer));
  CASE("gels: batch -1", gels(2, 1, 1, list, 2, second, 2, info, -1), shown(answer));
  CASE("gels: fewer rows, lda 1", gels(2, 3, 1, list, 1, second, 3, info, 1), shown(answer));
  CASE("gels: fewer rows, nrhs -1", gels(2, 3, -1, list, 2, second, 3, info, 1), shown(answer));
  CASE("gels: fewer rows, batch -1", gels(2, 3, 1, list, 2, second, 3, info, -1), shown(answer));
  CASE("gels: fewer rows, no batches", gels(2, 3, 1, list, 2, second, 3, nullptr, 0), shown(answer));
  CASE("gels: m 0, no A", gels(0, 2, 1, nullptr, 2, second, 2, info, 1), shown(answer));
  CASE("gels: n 0, no A", gels(2, 0, 1, nullptr, 2, second, 2, info, 1), shown(answer));
  cudaMemset(info, 1, 4);
  CASE("gels: n 0, what is written", gels(2, 0, 1, list, 2, second, 2, info, 1), shown(info, 1), shown(result, 2));
  CASE("gels: m 0, n 0, no matrices", gels(0, 0, 1, nullptr, 2, nullptr, 2, info, 1), shown(answer));
  CASE("geqrf: m -1", cublasSgeqrfBatched(h, -1, 2, list, 2, second, &(answer = 7), 1), shown(answer));
  CASE("geqrf: n -1", cublasSgeqrfBatched(h, 2, -1, list, 2, second, &(answer = 7), 1), shown(answer));
  CASE("geqrf: m 0, no lists", cublasSgeqrfBatched(h, 0, 2, nullptr, 2, nullptr, &(answer = 7), 1), shown(answer));
  CASE("geqrf: n 0, no lists", cublasSgeqrfBatched(h, 2, 0, nullptr, 2, nullptr, &(answer = 7), 1), shown(answer));
  CASE("getrs: n -1", cublasSgetrsBatched(h, N, -1, 1, list, 2, pivots, second, 2, &(answer = 7), 1), shown(answer));
  CASE("getrs: ldb 1", cublasSgetrsBatched(h, N, 2, 1, list, 2, pivots, second, 1, &(answer = 7), 1), shown(answer));
  CASE("getrs: batch -1", cublasSgetrsBatched(h, N, 2, 1, list, 2, pivots, second, 2, &(answer = 7), -1),
       shown(answer));
  CASE("getrs: n 0, nothing", cublasSgetrsBatched(h, N, 0, 1, nullptr, 2, nullptr, nullptr, 2, &(answer = 7), 1),
       shown(answer));
  CASE("getrs: nrhs 0, no B", cublasSgetrsBatched(h, N, 2, 0, list, 2, pivots, nullptr, 2, &(answer = 7), 1),
       shown(answer));
  CASE("getrf: n 0, no lists", cublasSgetrfBatched(h, 0, nullptr, 2, nullptr, info, 1));
  CASE("getri: n -1", cublasSgetriBatched(h, -1, list, 2, pivots, second, 2, info, 1));
  CASE("getri: ldc 1", cublasSgetriBatched(h, 2, list, 2, pivots, second, 1, info, 1));
  CASE("getri: batch -1", cublasSgetriBatched(h, 2, list, 2, pivots, second, 2, info, -1));
  CASE("getri: n 0, no lists", cublasSgetriBatched(h, 0, nullptr, 2, nullptr, nullptr, 2, info, 1));
  CASE("matinv: n 0, no lists", cublasSmatinvBatched(h, 0, nullptr, 2, nullptr, 2, info, 1));
}

/// Where there is nothing to do, is anything asked for?
void nothingToDo(Cases& cases, cublasHandle_t h) {
  const auto f32 = CUBLAS_COMPUTE_32F;
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  const auto gemmEx = [&](int m, int n, int k, const void* alpha, const void* beta, void* c) {
    return cublasGemmEx(h, N, N, m, n, k, alpha, nullptr, CUDA_R_32F, 2, nullptr, CUDA_R_32F, 2, beta, c, CUDA_R_32F, 2,
                        f32, CUBLAS_GEMM_DEFAULT);
  };
  float* c = matrix();
  CASE("nothing: ex, m 0", gemmEx(0, 2, 2, nullptr, nullptr, nullptr));
  CASE("nothing: ex, n 0", gemmEx(2, 0, 2, nullptr, nullptr, nullptr));
  CASE("nothing: ex, k 0", gemmEx(2, 2, 0, nullptr, &kTwo, c = matrix()), shown(c, 4));
  CASE("nothing: ex, alpha 0", gemmEx(2, 2, 2, &kZero, &kTwo, c = matrix()), shown(c, 4));
  CASE("nothing: ex, alpha 0 and beta 1", gemmEx(2, 2, 2, &kZero, &kOne, nullptr));
  CASE("nothing: batched gemm, m 0",
       cublasSgemmBatched(h, N, N, 0, 2, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2, 3));
  CASE("nothing: batched gemm, no batches",
       cublasSgemmBatched(h, N, N, 2, 2, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2, 0));
  CASE("nothing: batched gemm, alpha 0 and beta 1",
       cublasSgemmBatched(h, N, N, 2, 2, 2, &kZero, nullptr, 2, nullptr, 2, &kOne, nullptr, 2, 1));
  CASE("nothing: strided gemm, m 0",
       cublasSgemmStridedBatched(h, N, N, 0, 2, 2, nullptr, nullptr, 2, 4, nullptr, 2, 4, nullptr, nullptr, 2, 4, 3));
  CASE("nothing: strided gemm, no batches",
       cublasSgemmStridedBatched(h, N, N, 2, 2, 2, nullptr, nullptr, 2, 4, nullptr, 2, 4, nullptr, nullptr, 2, 4, 0));
  CASE("nothing: batched ex, m 0",
       cublasGemmBatchedEx(h, N, N, 0, 2, 2, nullptr, nullptr, CUDA_R_32F, 2, nullptr, CUDA_R_32F, 2, nullptr, nullptr,
                           CUDA_R_32F, 2, 3, f32, CUBLAS_GEMM_DEFAULT));
  CASE("nothing: strided ex, m 0",
       cublasGemmStridedBatchedEx(h, N, N, 0, 2, 2, nullptr, nullptr, CUDA_R_32F, 2, 4, nullptr, CUDA_R_32F, 2, 4,
                                  nullptr, nullptr, CUDA_R_32F, 2, 4, 3, f32, CUBLAS_GEMM_DEFAULT));
  CASE("nothing: half, m 0", cublasHgemm(h, N, N, 0, 2, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2));
  CASE("nothing: double, m 0", cublasDgemm(h, N, N, 0, 2, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2));
  CASE("nothing: gemm, alpha 0 and beta 1",
       cublasSgemm(h, N, N, 2, 2, 2, &kZero, nullptr, 2, nullptr, 2, &kOne, nullptr, 2));
  CASE("nothing: gemv, m 0", cublasSgemv(h, N, 0, 2, nullptr, nullptr, 2, nullptr, 1, nullptr, nullptr, 1));
  CASE("nothing: gemv, alpha 0 and beta 1", cublasSgemv(h, N, 2, 2, &kZero, nullptr, 2, nullptr, 1, &kOne, nullptr, 1));
  CASE("nothing: batched gemv, m 0",
       cublasSgemvBatched(h, N, 0, 2, nullptr, nullptr, 2, nullptr, 1, nullptr, nullptr, 1, 3));
  CASE("nothing: batched gemv, no batches",
       cublasSgemvBatched(h, N, 2, 2, nullptr, nullptr, 2, nullptr, 1, nullptr, nullptr, 1, 0));
  CASE("nothing: strided gemv, m 0",
       cublasSgemvStridedBatched(h, N, 0, 2, nullptr, nullptr, 2, 4, nullptr, 1, 2, nullptr, nullptr, 1, 2, 3));
  CASE("nothing: syrk, n 0", cublasSsyrk(h, lower, N, 0, 2, nullptr, nullptr, 2, nullptr, nullptr, 2));
  CASE("nothing: syrk, k 0 and beta 1", cublasSsyrk(h, lower, N, 2, 0, &kOne, nullptr, 2, &kOne, nullptr, 2));
  CASE("nothing: syrk, alpha 0 and beta 1", cublasSsyrk(h, lower, N, 2, 2, &kZero, nullptr, 2, &kOne, nullptr, 2));
  CASE("nothing: trsm, m 0",
       cublasStrsm(h, CUBLAS_SIDE_LEFT, lower, N, CUBLAS_DIAG_UNIT, 0, 2, nullptr, nullptr, 2, nullptr, 2));
  CASE("nothing: trsm, n 0",
       cublasStrsm(h, CUBLAS_SIDE_LEFT, lower, N, CUBLAS_DIAG_UNIT, 2, 0, nullptr, nullptr, 2, nullptr, 2));
  CASE("nothing: scal, n 0", cublasSscal(h, 0, nullptr, nullptr, 1));
  CASE("nothing: ger, alpha 0", cublasSger(h, 2, 2, &kZero, nullptr, 1, nullptr, 1, nullptr, 2));
  CASE("nothing: ger, m 0", cublasSger(h, 0, 2, nullptr, nullptr, 1, nullptr, 1, nullptr, 2));
}

/// The same of what has a matrix on each side: without sizes, and with factors of 0 and 1.
void nothingOfMatrices(Cases& cases, cublasHandle_t h) {
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  const auto left = CUBLAS_SIDE_LEFT;
  const auto unit = CUBLAS_DIAG_UNIT;
  CASE("nothing: geam, m 0", cublasSgeam(h, N, N, 0, 2, nullptr, nullptr, 2, nullptr, nullptr, 2, nullptr, 2));
  CASE("nothing: geam, n 0", cublasSgeam(h, N, N, 2, 0, nullptr, nullptr, 2, nullptr, nullptr, 2, nullptr, 2));
  CASE("nothing: dgmm, m 0", cublasSdgmm(h, left, 0, 2, nullptr, 2, nullptr, 1, nullptr, 2));
  CASE("nothing: dgmm, n 0", cublasSdgmm(h, left, 2, 0, nullptr, 2, nullptr, 1, nullptr, 2));
  CASE("nothing: symm, m 0", cublasSsymm(h, left, lower, 0, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2));
  CASE("nothing: symm, alpha 0 and beta 1",
       cublasSsymm(h, left, lower, 2, 2, &kZero, nullptr, 2, nullptr, 2, &kOne, nullptr, 2));
  CASE("nothing: trmm, m 0", cublasStrmm(h, left, lower, N, unit, 0, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, 2));
  CASE("nothing: trmm, n 0", cublasStrmm(h, left, lower, N, unit, 2, 0, nullptr, nullptr, 2, nullptr, 2, nullptr, 2));
  CASE("nothing: syr2k, n 0", cublasSsyr2k(h, lower, N, 0, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2));
  CASE("nothing: syr2k, alpha 0 and beta 1",
       cublasSsyr2k(h, lower, N, 2, 2, &kZero, nullptr, 2, nullptr, 2, &kOne, nullptr, 2));
  CASE("nothing: syrkx, n 0", cublasSsyrkx(h, lower, N, 0, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2));
  CASE("nothing: syrkx, alpha 0 and beta 1",
       cublasSsyrkx(h, lower, N, 2, 2, &kZero, nullptr, 2, nullptr, 2, &kOne, nullptr, 2));
  CASE("nothing: axpy ex, alpha 0",
       cublasAxpyEx(h, 2, &kZero, CUDA_R_32F, nullptr, CUDA_R_32F, 1, nullptr, CUDA_R_32F, 1, CUDA_R_32F));
  CASE("nothing: axpy ex, n 0",
       cublasAxpyEx(h, 0, nullptr, CUDA_R_32F, nullptr, CUDA_R_32F, 1, nullptr, CUDA_R_32F, 1, CUDA_R_32F));
}

void copies(Cases& cases) {
  float host[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, *device = matrix();
  CASE("set vector: n -1", cublasSetVector(-1, 4, host, 1, device, 1));
  CASE("set vector: n 0", cublasSetVector(0, 4, nullptr, 1, nullptr, 1));
  CASE("set vector: element of 0 bytes", cublasSetVector(2, 0, host, 1, device, 1));
  CASE("set vector: incx 0", cublasSetVector(2, 4, host, 0, device, 1));
  CASE("set vector: incy 0", cublasSetVector(2, 4, host, 1, device, 0));
  CASE("set vector: incx -1", cublasSetVector(2, 4, host + 2, -1, device, 1));
  CASE("set vector: no device memory", cublasSetVector(2, 4, host, 1, nullptr, 1));
  CASE("get vector: n -1", cublasGetVector(-1, 4, device, 1, host, 1));
  CASE("set matrix: lda 1 of 2", cublasSetMatrix(2, 2, 4, host, 1, device, 2));
  CASE("set matrix: ldb 1 of 2", cublasSetMatrix(2, 2, 4, host, 2, device, 1));
  CASE("set matrix: rows -1", cublasSetMatrix(-1, 2, 4, host, 2, device, 2));
  CASE("set matrix: rows 0", cublasSetMatrix(0, 2, 4, nullptr, 1, nullptr, 1));
  CASE("set matrix: lda 0", cublasSetMatrix(0, 2, 4, host, 0, device, 0));
  CASE("get matrix: lda 1 of 2", cublasGetMatrix(2, 2, 4, device, 1, host, 2));
}

void destroyed(Cases& cases, cublasHandle_t h) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cublasSetStream(h, stream);
  cudaStreamDestroy(stream);
  float *a = matrix(), *c = matrix();
  CASE("destroyed stream: gemm", cublasSgemm(h, N, N, 2, 2, 2, &kOne, a, 2, a, 2, &kZero, c, 2));
  CASE("destroyed stream: scal", cublasSscal(h, 2, &kTwo, a, 1));
  CASE("destroyed stream: another one", cublasSetStream(h, nullptr));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 2;
  handles(cases, handle);
  vectors(cases, handle);
  rotations(cases, handle);
  matrixVector(cases, handle);
  products(cases, handle);
  extended(cases, handle);
  batches(cases, handle);
  factorizations(cases, handle);
  nothingToDo(cases, handle);
  nothingOfMatrices(cases, handle);
  copies(cases);
  destroyed(cases, handle);
}
