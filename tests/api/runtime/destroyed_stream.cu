// A library's handle whose stream is gone: every call is answered with the status that the manual names for a task that
// could not be started, and nothing is computed.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusolverSp.h>
#include <cusparse.h>
#include <nppi.h>
#include <nppi_arithmetic_and_logical_operations.h>

#include "expect.hpp"

float* untouched(size_t count) {
  float* memory = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, count * sizeof(float)));
  for (size_t i = 0; i < count; ++i) memory[i] = 1;
  return memory;
}
cudaStream_t destroyed() {
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamDestroy(stream));
  return stream;
}

void testBlas(cudaStream_t stream, float* memory) {
  const float one = 1, two = 2;
  float sum = 0;
  cublasHandle_t handle = nullptr;
  EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSscal(handle, 4, &two, memory, 1) == CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT(cublasSasum(handle, 4, memory, 1, &sum) == CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &two, memory, 2, memory, 2, &one, memory, 2) ==
         CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT(cublasSetStream(handle, nullptr) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasSasum(handle, 4, memory, 1, &sum) == CUBLAS_STATUS_SUCCESS && sum == 4);
  EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);

  cublasLtHandle_t light = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  EXPECT(cublasLtCreate(&light) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatmul(light, desc, &two, memory, layout, memory, layout, &one, memory, layout, memory, layout,
                        nullptr, nullptr, 0, stream) == CUBLAS_STATUS_EXECUTION_FAILED);
  cublasLtMatrixLayoutDestroy(layout), cublasLtMatmulDescDestroy(desc), cublasLtDestroy(light);
}

void testSparse(cudaStream_t stream, float* memory, int* indices) {
  const float two = 2;
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t x = nullptr;
  EXPECT(cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseSetStream(handle, stream) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateCsr(&a, 2, 2, 2, indices, indices, memory, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateDnVec(&x, 2, memory, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, a, x, &two, x, CUDA_R_32F,
                      CUSPARSE_SPMV_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_EXECUTION_FAILED);
  cusparseDestroySpMat(a), cusparseDestroyDnVec(x), cusparseDestroy(handle);
}

void testSolvers(cudaStream_t stream, float* memory, int* indices) {
  cusolverDnHandle_t dense = nullptr;
  EXPECT(cusolverDnCreate(&dense) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(cusolverDnSetStream(dense, stream) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(cusolverDnSgetrf(dense, 2, 2, memory, 2, memory, indices, indices) == CUSOLVER_STATUS_EXECUTION_FAILED);
  EXPECT(cusolverDnDestroy(dense) == CUSOLVER_STATUS_SUCCESS);
  cusolverSpHandle_t sparse = nullptr;
  cusparseMatDescr_t description = nullptr;
  int singularity = 0;
  EXPECT(cusolverSpCreate(&sparse) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(cusparseCreateMatDescr(&description) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusolverSpSetStream(sparse, stream) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(cusolverSpScsrlsvqr(sparse, 2, 2, description, memory, indices, indices, memory, 0, 0, memory, &singularity) ==
         CUSOLVER_STATUS_EXECUTION_FAILED);
  cusparseDestroyMatDescr(description), cusolverSpDestroy(sparse);
}

void testTransforms(cudaStream_t stream, float* memory) {
  cufftHandle plan = 0;
  EXPECT(cufftPlan1d(&plan, 2, CUFFT_C2C, 1) == CUFFT_SUCCESS);
  EXPECT(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
  auto* numbers = reinterpret_cast<cufftComplex*>(memory);
  EXPECT(cufftExecC2C(plan, numbers, numbers, CUFFT_FORWARD) == CUFFT_EXEC_FAILED);
  EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
}

void testNumbers(cudaStream_t stream, float* memory) {
  curandGenerator_t generator = nullptr;
  EXPECT(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
  EXPECT(curandSetStream(generator, stream) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGenerateUniform(generator, memory, 4) == CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
}

void testNetworks(cudaStream_t stream, float* memory) {
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t tensor = nullptr;
  const float two = 2;
  EXPECT(cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS);
  EXPECT(cudnnSetStream(handle, stream) == CUDNN_STATUS_SUCCESS);
  EXPECT(cudnnCreateTensorDescriptor(&tensor) == CUDNN_STATUS_SUCCESS);
  EXPECT(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 2, 2) == CUDNN_STATUS_SUCCESS);
  EXPECT(cudnnScaleTensor(handle, tensor, memory, &two) == CUDNN_STATUS_EXECUTION_FAILED);
  cudnnDestroyTensorDescriptor(tensor), cudnnDestroy(handle);
}

void testImages(cudaStream_t stream, float* memory) {
  NppStreamContext context{};
  EXPECT(nppGetStreamContext(&context) == NPP_SUCCESS);
  context.hStream = stream;
  const NppiSize size{2, 2};
  EXPECT(nppiAdd_32f_C1R_Ctx(memory, 8, memory, 8, memory, 8, size, context) == NPP_CUDA_KERNEL_EXECUTION_ERROR);
}

int main() {
  const cudaStream_t stream = destroyed();
  float* memory = untouched(8);
  int* indices = nullptr;
  EXPECT_OK(cudaMallocManaged(&indices, 4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) indices[i] = i;
  testBlas(stream, memory);
  testSparse(stream, memory, indices);
  testSolvers(stream, memory, indices);
  testTransforms(stream, memory);
  testNumbers(stream, memory);
  testNetworks(stream, memory);
  testImages(stream, memory);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i) EXPECT(memory[i] == 1);
  return finish();
}
