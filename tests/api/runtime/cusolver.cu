// cuSOLVER as programs use it: a system whose matrix a kernel makes, factored and solved in a stream, and put back into
// the equation by a kernel behind it; eigenvalues that are known in closed form.
#include <cusolverDn.h>

#include <cmath>
#include <vector>

#include "expect.hpp"

constexpr int kSize = 48;

/// The second difference: 2 on the diagonal, -1 beside it.
__global__ void difference(double* a) {
  const int i = threadIdx.x, j = blockIdx.x;
  a[i + j * kSize] = i == j ? 2 : abs(i - j) == 1 ? -1 : 0;
}

__global__ void ones(double* x) { x[threadIdx.x] = 1; }

__global__ void apply(const double* x, double* b) {
  const int i = threadIdx.x;
  b[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < kSize ? x[i + 1] : 0);
}

int main() {
  double *a = nullptr, *x = nullptr, *b = nullptr, *w = nullptr, *work = nullptr;
  int *pivots = nullptr, *info = nullptr, size = 0, answer = -1;
  EXPECT_OK(cudaMalloc(&a, kSize * kSize * sizeof(double)));
  for (double** vector : {&x, &b, &w}) EXPECT_OK(cudaMalloc(vector, kSize * sizeof(double)));
  EXPECT_OK(cudaMalloc(&pivots, kSize * sizeof(int)));
  EXPECT_OK(cudaMalloc(&info, sizeof(int)));
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  cusolverDnHandle_t handle = nullptr;
  EXPECT(cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(cusolverDnSetStream(handle, stream) == CUSOLVER_STATUS_SUCCESS);

  EXPECT(cusolverDnDgetrf_bufferSize(handle, kSize, kSize, a, kSize, &size) == CUSOLVER_STATUS_SUCCESS);
  EXPECT_OK(cudaMalloc(&work, size * sizeof(double)));
  difference<<<kSize, kSize, 0, stream>>>(a);
  ones<<<1, kSize, 0, stream>>>(x);
  EXPECT(cusolverDnDgetrf(handle, kSize, kSize, a, kSize, work, pivots, info) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(cusolverDnDgetrs(handle, CUBLAS_OP_N, kSize, 1, a, kSize, pivots, x, kSize, info) == CUSOLVER_STATUS_SUCCESS);
  apply<<<1, kSize, 0, stream>>>(x, b);
  std::vector<double> result(kSize);
  EXPECT_OK(cudaMemcpyAsync(result.data(), b, kSize * sizeof(double), cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaMemcpyAsync(&answer, info, sizeof(int), cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(answer == 0);
  for (double value : result) EXPECT(std::abs(value - 1) < 1e-12);

  // The same calls as a graph, which runs twice.
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  difference<<<kSize, kSize, 0, stream>>>(a);
  EXPECT(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, kSize, a, kSize, w, work, size,
                          info) == CUSOLVER_STATUS_SUCCESS);
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int run = 0; run < 2; ++run) {
    EXPECT_OK(cudaMemset(w, 0, kSize * sizeof(double)));
    EXPECT_OK(cudaGraphLaunch(exec, stream));
    EXPECT_OK(cudaMemcpyAsync(result.data(), w, kSize * sizeof(double), cudaMemcpyDeviceToHost, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    for (int k = 0; k < kSize; ++k)
      EXPECT(std::abs(result[k] - (2 - 2 * std::cos(std::acos(-1.0) * (k + 1) / (kSize + 1)))) < 1e-12);
  }
  EXPECT(cusolverDnDestroy(handle) == CUSOLVER_STATUS_SUCCESS);
  EXPECT_OK(cudaDeviceSynchronize());
  return finish();
}
