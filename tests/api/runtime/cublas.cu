// cuBLAS as programs use it: the workflow of courses, by the names of cublas_v2.h, with the compute type as an old
// program gives it; results against a loop.
#include <cublas_v2.h>

#include <vector>

#include "expect.hpp"

constexpr int kRows = 30, kColumns = 20, kInner = 25;

/// Element (i, j) by columns.
int at(int i, int j, int rows) { return i + j * rows; }

__global__ void doubled(float* cells, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) cells[i] *= 2;
}

int main() {
  std::vector<float> a(kRows * kInner), b(kInner * kColumns), c(kRows * kColumns), small(3);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  float *dA = nullptr, *dB = nullptr, *dC = nullptr;
  EXPECT_OK(cudaMalloc(&dA, a.size() * sizeof(float)));
  EXPECT_OK(cudaMalloc(&dB, b.size() * sizeof(float)));
  EXPECT_OK(cudaMalloc(&dC, c.size() * sizeof(float)));
  cublasHandle_t handle = nullptr;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetMatrix(kRows, kInner, sizeof(float), a.data(), kRows, dA, kRows) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetMatrixAsync(kInner, kColumns, sizeof(float), b.data(), kInner, dB, kInner, stream) ==
         CUBLAS_STATUS_SUCCESS);
  const float alpha = 1, beta = 0;
  // In the stream's order: kernel, product, kernel.
  doubled<<<4, 256, 0, stream>>>(dA, static_cast<int>(a.size()));
  EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kRows, kColumns, kInner, &alpha, dA, kRows, dB, kInner, &beta,
                     dC, kRows) == CUBLAS_STATUS_SUCCESS);
  doubled<<<4, 256, 0, stream>>>(dC, static_cast<int>(c.size()));
  EXPECT(cublasGetMatrixAsync(kRows, kColumns, sizeof(float), dC, kRows, c.data(), kRows, stream) ==
         CUBLAS_STATUS_SUCCESS);
  EXPECT_OK(cudaStreamSynchronize(stream));
  for (int j = 0; j < kColumns; ++j)
    for (int i = 0; i < kRows; ++i) {
      float sum = 0;
      for (int k = 0; k < kInner; ++k) sum += a[at(i, k, kRows)] * b[at(k, j, kInner)];
      EXPECT(c[at(i, j, kRows)] == 4 * sum);
    }
  EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kRows, kColumns, kInner, &alpha, dA, CUDA_R_32F, kRows, dB,
                      CUDA_R_32F, kInner, &beta, dC, CUDA_R_32F, kRows, CUDA_R_32F,
                      CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  // Every second of the first column's, into every third place of the host's.
  std::vector<float> sparse(7, -1);
  EXPECT(cublasGetVector(3, sizeof(float), dC, 2, sparse.data(), 3) == CUBLAS_STATUS_SUCCESS);
  for (int i = 0; i < 3; ++i) EXPECT(sparse[3 * i] == c[2 * i] / 2);
  EXPECT(sparse[1] == -1 && sparse[5] == -1);
  EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  return finish();
}
