// cuBLAS's first interface: no handle, scalars by value, results by value, letters.
#include <cublas.h>

#include <vector>

#include "expect.hpp"

int main() {
  EXPECT(cublasInit() == CUBLAS_STATUS_SUCCESS);
  const int n = 4;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, ones(n, 1);
  float *dA = nullptr, *dX = nullptr, *dY = nullptr;
  EXPECT(cublasAlloc(n * n, sizeof(float), reinterpret_cast<void**>(&dA)) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasAlloc(n, sizeof(float), reinterpret_cast<void**>(&dX)) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasAlloc(n, sizeof(float), reinterpret_cast<void**>(&dY)) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetMatrix(n, n, sizeof(float), a.data(), n, dA, n) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetVector(n, sizeof(float), ones.data(), 1, dX, 1) == CUBLAS_STATUS_SUCCESS);
  cublasSgemv('n', n, n, 1.0f, dA, n, dX, 1, 0.0f, dY, 1);  // sums of rows: 28 32 36 40
  EXPECT(cublasSdot(n, dX, 1, dY, 1) == 136);
  EXPECT(cublasIsamax(n, dY, 1) == 4);
  cublasSscal(n, 0.5f, dY, 1);
  EXPECT(cublasSasum(n, dY, 1) == 68);
  EXPECT(cublasGetError() == CUBLAS_STATUS_SUCCESS);
  cublasSgemv('q', n, n, 1.0f, dA, n, dX, 1, 0.0f, dY, 1);
  EXPECT(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasGetError() == CUBLAS_STATUS_SUCCESS);
  for (float* memory : {dA, dX, dY}) EXPECT(cublasFree(memory) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasShutdown() == CUBLAS_STATUS_SUCCESS);
  return finish();
}
