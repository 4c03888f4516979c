// cuSPARSE as programs use it: a matrix in CSR times a vector, in the order of a stream with kernels.
#include <cusparse.h>

#include "expect.hpp"

__global__ void doubled(float* cells, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) cells[i] *= 2;
}

int main() {
  // 1 0 2 / 0 3 0
  const int offsets[] = {0, 2, 3}, columns[] = {0, 2, 1};
  const float values[] = {1, 2, 3}, vector[] = {1, 10, 100};
  int *dOffsets = nullptr, *dColumns = nullptr;
  float *dValues = nullptr, *dX = nullptr, *dY = nullptr;
  EXPECT_OK(cudaMalloc(&dOffsets, sizeof offsets));
  EXPECT_OK(cudaMalloc(&dColumns, sizeof columns));
  EXPECT_OK(cudaMalloc(&dValues, sizeof values));
  EXPECT_OK(cudaMalloc(&dX, sizeof vector));
  EXPECT_OK(cudaMalloc(&dY, 2 * sizeof(float)));
  EXPECT_OK(cudaMemcpy(dOffsets, offsets, sizeof offsets, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(dColumns, columns, sizeof columns, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(dValues, values, sizeof values, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(dX, vector, sizeof vector, cudaMemcpyHostToDevice));
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  EXPECT(cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateCsr(&a, 2, 3, 3, dOffsets, dColumns, dValues, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateDnVec(&x, 3, dX, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateDnVec(&y, 2, dY, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  const float alpha = 1, beta = 0;
  size_t size = 0;
  EXPECT(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, x, &beta, y, CUDA_R_32F,
                                 CUSPARSE_SPMV_ALG_DEFAULT, &size) == CUSPARSE_STATUS_SUCCESS);
  void* buffer = nullptr;
  EXPECT_OK(cudaMalloc(&buffer, size));
  doubled<<<1, 32>>>(dValues, 3);
  EXPECT(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, x, &beta, y, CUDA_R_32F,
                      CUSPARSE_SPMV_ALG_DEFAULT, buffer) == CUSPARSE_STATUS_SUCCESS);
  doubled<<<1, 32>>>(dY, 2);
  float result[2] = {};
  EXPECT_OK(cudaMemcpy(result, dY, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result[0] == 804 && result[1] == 120);
  EXPECT(cusparseDestroySpMat(a) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseDestroyDnVec(x) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseDestroyDnVec(y) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseDestroy(handle) == CUSPARSE_STATUS_SUCCESS);
  return finish();
}
