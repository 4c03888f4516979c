// cuSOLVER, dense: statuses of bad arguments, and what devInfo says (cases.hpp).
#include <cusolverDn.h>

#include "cases.hpp"

namespace {

const auto kLower = CUBLAS_FILL_MODE_LOWER;
const auto N = CUBLAS_OP_N;

float* matrix() { return on<float>({4, 1, 1, 3}); }
float* zeroMatrix() { return zeros<float>(4); }

void handles(Cases& cases, cusolverDnHandle_t h) {
  cusolverDnParams_t params = nullptr;
  CASE("create: null", cusolverDnCreate(nullptr));
  CASE("destroy: null", cusolverDnDestroy(nullptr));
  CASE("stream: no handle", cusolverDnSetStream(nullptr, nullptr));
  CASE("stream: no answer", cusolverDnGetStream(h, nullptr));
  CASE("params: no place", cusolverDnCreateParams(nullptr));
  CASE("params: destroy none", cusolverDnDestroyParams(nullptr));
  CASE("params: function 99", cusolverDnCreateParams(&params),
       std::to_string(cusolverDnSetAdvOptions(params, cusolverDnFunction_t(99), CUSOLVER_ALG_0)));
}

void cholesky(Cases& cases, cusolverDnHandle_t h) {
  float *a = matrix(), *work = zeros<float>(1 << 16);
  int *info = zeros<int>(1), size = 0;
  const auto fill9 = cublasFillMode_t(9);
  CASE("potrf size: n -1", cusolverDnSpotrf_bufferSize(h, kLower, -1, a, 2, &size));
  CASE("potrf size: n 0", cusolverDnSpotrf_bufferSize(h, kLower, 0, a, 1, &size));
  CASE("potrf size: lda 1 of 2", cusolverDnSpotrf_bufferSize(h, kLower, 2, a, 1, &size));
  CASE("potrf size: no answer", cusolverDnSpotrf_bufferSize(h, kLower, 2, a, 2, nullptr));
  CASE("potrf size: no handle", cusolverDnSpotrf_bufferSize(nullptr, kLower, 2, a, 2, &size));
  CASE("potrf size: fill 9", cusolverDnSpotrf_bufferSize(h, fill9, 2, a, 2, &size));
  CASE("potrf", cusolverDnSpotrf(h, kLower, 2, a = matrix(), 2, work, 1 << 16, info), shown(info, 1), shown(a + 2, 1));
  CASE("potrf: n 0", cusolverDnSpotrf(h, kLower, 0, a, 1, work, 1 << 16, info), shown(info, 1));
  CASE("potrf: n 0, no pointers", cusolverDnSpotrf(h, kLower, 0, nullptr, 1, nullptr, 0, info), shown(info, 1));
  CASE("potrf: n -1", cusolverDnSpotrf(h, kLower, -1, a, 2, work, 1 << 16, info), shown(info, 1));
  CASE("potrf: lda 1 of 2", cusolverDnSpotrf(h, kLower, 2, a, 1, work, 1 << 16, info), shown(info, 1));
  CASE("potrf: fill 9", cusolverDnSpotrf(h, fill9, 2, a, 2, work, 1 << 16, info), shown(info, 1));
  CASE("potrf: not definite", cusolverDnSpotrf(h, kLower, 2, on<float>({1, 2, 2, 1}), 2, work, 1 << 16, info),
       shown(info, 1));
  CASE("potrf: zero", cusolverDnSpotrf(h, kLower, 2, zeroMatrix(), 2, work, 1 << 16, info), shown(info, 1));
  CASE("potrf: NaN", cusolverDnSpotrf(h, kLower, 2, on<float>({NAN, 0, 0, 1}), 2, work, 1 << 16, info), shown(info, 1));
  CASE("potrf: no info", cusolverDnSpotrf(h, kLower, 2, matrix(), 2, work, 1 << 16, nullptr));
  CASE("potrs: nrhs -1", cusolverDnSpotrs(h, kLower, 2, -1, a, 2, work, 2, info), shown(info, 1));
  CASE("potrs: nrhs 0", cusolverDnSpotrs(h, kLower, 2, 0, a, 2, work, 2, info), shown(info, 1));
  CASE("potrs: ldb 1 of 2", cusolverDnSpotrs(h, kLower, 2, 1, a, 2, work, 1, info), shown(info, 1));
  CASE("batched: -1", cusolverDnSpotrfBatched(h, kLower, 2, on<float*>({a}), 2, info, -1));
  CASE("batched: 0", cusolverDnSpotrfBatched(h, kLower, 2, on<float*>({a}), 2, info, 0));
}

void elimination(Cases& cases, cusolverDnHandle_t h) {
  float *a = matrix(), *b = on<float>({1, 2}), *work = zeros<float>(1 << 16);
  int *info = zeros<int>(1), *pivots = on<int>({1, 2}), size = 0;
  CASE("getrf size: m -1", cusolverDnSgetrf_bufferSize(h, -1, 2, a, 2, &size));
  CASE("getrf size: m 0", cusolverDnSgetrf_bufferSize(h, 0, 2, a, 1, &size));
  CASE("getrf size: lda 1 of 2", cusolverDnSgetrf_bufferSize(h, 2, 2, a, 1, &size));
  CASE("getrf", cusolverDnSgetrf(h, 2, 2, a = on<float>({1, 4, 2, 3}), 2, work, pivots, info), shown(info, 1),
       shown(pivots, 2), shown(a, 4));
  CASE("getrf: m -1", cusolverDnSgetrf(h, -1, 2, a, 2, work, pivots, info), shown(info, 1));
  CASE("getrf: m 0", cusolverDnSgetrf(h, 0, 2, a, 1, work, pivots, info), shown(info, 1));
  CASE("getrf: lda 1 of 2", cusolverDnSgetrf(h, 2, 2, a, 1, work, pivots, info), shown(info, 1));
  CASE("getrf: zero", cusolverDnSgetrf(h, 2, 2, a = zeroMatrix(), 2, work, pivots, info), shown(info, 1),
       shown(pivots, 2), shown(a, 4));
  CASE("getrf: singular", cusolverDnSgetrf(h, 2, 2, a = on<float>({1, 2, 2, 4}), 2, work, pivots, info), shown(info, 1),
       shown(pivots, 2), shown(a, 4));
  CASE("getrf: without pivots, zero first",
       cusolverDnSgetrf(h, 2, 2, a = on<float>({0, 1, 1, 1}), 2, work, nullptr, info), shown(info, 1));
  CASE("getrf: NaN", cusolverDnSgetrf(h, 2, 2, a = on<float>({NAN, 1, 1, 1}), 2, work, pivots, info), shown(info, 1),
       shown(pivots, 2));
  CASE("getrs: operation 9", cusolverDnSgetrs(h, cublasOperation_t(9), 2, 1, a, 2, pivots, b, 2, info), shown(info, 1));
  CASE("getrs: nrhs -1", cusolverDnSgetrs(h, N, 2, -1, a, 2, pivots, b, 2, info), shown(info, 1));
  CASE("getrs: nrhs 0", cusolverDnSgetrs(h, N, 2, 0, a, 2, pivots, b, 2, info), shown(info, 1));
  CASE("getrs: ldb 1 of 2", cusolverDnSgetrs(h, N, 2, 1, a, 2, pivots, b, 1, info), shown(info, 1));
  CASE("getrs: without pivots", cusolverDnSgetrs(h, N, 2, 1, matrix(), 2, nullptr, b = on<float>({1, 2}), 2, info),
       shown(info, 1), shown(b, 2));
}

void orthogonal(Cases& cases, cusolverDnHandle_t h) {
  float *a = matrix(), *tau = zeros<float>(4), *work = zeros<float>(1 << 18);
  int *info = zeros<int>(1), size = 0;
  CASE("geqrf size: m -1", cusolverDnSgeqrf_bufferSize(h, -1, 2, a, 2, &size));
  CASE("geqrf size: lda 1 of 2", cusolverDnSgeqrf_bufferSize(h, 2, 2, a, 1, &size));
  CASE("geqrf: zero", cusolverDnSgeqrf(h, 2, 2, a = zeroMatrix(), 2, tau, work, 1 << 18, info), shown(info, 1),
       shown(tau, 2));
  CASE("geqrf: m 0", cusolverDnSgeqrf(h, 0, 2, a, 1, tau, work, 1 << 18, info), shown(info, 1));
  CASE("orgqr size: k 3 of 2", cusolverDnSorgqr_bufferSize(h, 2, 2, 3, a, 2, tau, &size));
  CASE("orgqr size: n 3 of 2", cusolverDnSorgqr_bufferSize(h, 2, 3, 2, a, 2, tau, &size));
  CASE("ormqr size: side 9", cusolverDnSormqr_bufferSize(h, cublasSideMode_t(9), N, 2, 2, 2, a, 2, tau, a, 2, &size));
  CASE("ormqr size: k 3 of 2", cusolverDnSormqr_bufferSize(h, CUBLAS_SIDE_LEFT, N, 2, 2, 3, a, 2, tau, a, 2, &size));
}

void spectra(Cases& cases, cusolverDnHandle_t h) {
  float *a = matrix(), *w = zeros<float>(4), *u = zeros<float>(9), *v = zeros<float>(9), *work = zeros<float>(1 << 18);
  int *info = zeros<int>(1), size = 0;
  const auto vectors = CUSOLVER_EIG_MODE_VECTOR, values = CUSOLVER_EIG_MODE_NOVECTOR;
  CASE("syevd size: n -1", cusolverDnSsyevd_bufferSize(h, vectors, kLower, -1, a, 2, w, &size));
  CASE("syevd size: n 0", cusolverDnSsyevd_bufferSize(h, vectors, kLower, 0, a, 1, w, &size));
  CASE("syevd size: lda 1 of 2", cusolverDnSsyevd_bufferSize(h, vectors, kLower, 2, a, 1, w, &size));
  CASE("syevd size: mode 9", cusolverDnSsyevd_bufferSize(h, cusolverEigMode_t(9), kLower, 2, a, 2, w, &size));
  CASE("syevd size: fill 9", cusolverDnSsyevd_bufferSize(h, vectors, cublasFillMode_t(9), 2, a, 2, w, &size));
  CASE("syevd: n 0", cusolverDnSsyevd(h, values, kLower, 0, a, 1, w, work, 1 << 18, info), shown(info, 1));
  CASE("syevd: work area of 0", cusolverDnSsyevd(h, values, kLower, 2, a = matrix(), 2, w, work, 0, info),
       shown(info, 1));
  CASE("syevd: NaN", cusolverDnSsyevd(h, values, kLower, 2, on<float>({NAN, 0, 0, 1}), 2, w, work, 1 << 18, info),
       shown(info, 1));
  CASE("gesvd size: fewer rows than columns", cusolverDnSgesvd_bufferSize(h, 1, 2, &size));
  CASE("gesvd size: m 0", cusolverDnSgesvd_bufferSize(h, 0, 0, &size));
  CASE("gesvd size: m -1", cusolverDnSgesvd_bufferSize(h, -1, 2, &size));
  const auto svd = [&](signed char jobu, signed char jobvt, int m, int n, int lda, int ldu, int ldvt) {
    return cusolverDnSgesvd(h, jobu, jobvt, m, n, a = matrix(), lda, w, u, ldu, v, ldvt, work, 1 << 18, nullptr, info);
  };
  CASE("gesvd", svd('A', 'A', 2, 2, 2, 2, 2), shown(info, 1));
  CASE("gesvd: fewer rows than columns", svd('A', 'A', 1, 2, 2, 2, 2), shown(info, 1));
  CASE("gesvd: job X", svd('X', 'A', 2, 2, 2, 2, 2), shown(info, 1));
  CASE("gesvd: both overwrite", svd('O', 'O', 2, 2, 2, 2, 2), shown(info, 1));
  CASE("gesvd: ldu 1 of 2", svd('A', 'A', 2, 2, 2, 1, 2), shown(info, 1));
  CASE("gesvd: ldvt 1 of 2", svd('A', 'A', 2, 2, 2, 2, 1), shown(info, 1));
  CASE("gesvd: lda 1 of 2", svd('A', 'A', 2, 2, 1, 2, 2), shown(info, 1));
  CASE("gesvd: m 0", svd('N', 'N', 0, 0, 1, 1, 1), shown(info, 1));
  gesvdjInfo_t jacobi = nullptr;
  syevjInfo_t eigen = nullptr;
  double residual = 7;
  int sweeps = 7;
  CASE("gesvdj info: no place", cusolverDnCreateGesvdjInfo(nullptr));
  CASE("gesvdj info: residual before", cusolverDnCreateGesvdjInfo(&jacobi),
       std::to_string(cusolverDnXgesvdjGetResidual(h, jacobi, &residual)));
  CASE("gesvdj info: sweeps before", cusolverDnXgesvdjGetSweeps(h, jacobi, &sweeps));
  CASE("gesvdj info: tolerance -1", cusolverDnXgesvdjSetTolerance(jacobi, -1));
  CASE("gesvdj info: sweeps -1", cusolverDnXgesvdjSetMaxSweeps(jacobi, -1));
  CASE("syevj info: destroy none", cusolverDnDestroySyevjInfo(nullptr));
  CASE("syevj size: n -1", cusolverDnCreateSyevjInfo(&eigen),
       std::to_string(cusolverDnSsyevj_bufferSize(h, vectors, kLower, -1, a, 2, w, &size, eigen)));
}

void generic(Cases& cases, cusolverDnHandle_t h) {
  cusolverDnParams_t params = nullptr;
  cusolverDnCreateParams(&params);
  float* a = matrix();
  size_t device = 0, host = 0;
  const auto size = [&](cusolverDnParams_t p, int64_t n, cudaDataType type, int64_t lda, cudaDataType compute) {
    return cusolverDnXpotrf_bufferSize(h, p, kLower, n, type, a, lda, compute, &device, &host);
  };
  CASE("Xpotrf size", size(params, 2, CUDA_R_32F, 2, CUDA_R_32F));
  CASE("Xpotrf size: no params", size(nullptr, 2, CUDA_R_32F, 2, CUDA_R_32F));
  CASE("Xpotrf size: n -1", size(params, -1, CUDA_R_32F, 2, CUDA_R_32F));
  CASE("Xpotrf size: lda 1 of 2", size(params, 2, CUDA_R_32F, 1, CUDA_R_32F));
  CASE("Xpotrf size: half", size(params, 2, CUDA_R_16F, 2, CUDA_R_16F));
  CASE("Xpotrf size: types differ", size(params, 2, CUDA_R_32F, 2, CUDA_R_64F));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cusolverDnHandle_t handle;
  if (cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS) return 2;
  handles(cases, handle);
  cholesky(cases, handle);
  elimination(cases, handle);
  orthogonal(cases, handle);
  spectra(cases, handle);
  generic(cases, handle);
}
