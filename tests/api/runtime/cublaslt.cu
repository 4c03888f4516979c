// cuBLASLt as programs use it: a layer of a network in half precision, y = relu(W x + b), by a search for an algorithm
// and one call, and the same in a graph; results against loops.
#include <cublasLt.h>
#include <cuda_fp16.h>

#include <cmath>
#include <vector>

#include "expect.hpp"

constexpr int kOutputs = 48, kInputs = 32, kSamples = 24;

__global__ void fill(__half* cells, int count, int period, float offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) cells[i] = __float2half(static_cast<float>(i % period) - offset);
}

template <class Value>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, Value value) {
  EXPECT(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)) == CUBLAS_STATUS_SUCCESS);
}

int main() {
  __half *weights = nullptr, *x = nullptr, *y = nullptr, *bias = nullptr;
  EXPECT_OK(cudaMallocManaged(&weights, kInputs * kOutputs * sizeof(__half)));
  EXPECT_OK(cudaMallocManaged(&x, kInputs * kSamples * sizeof(__half)));
  EXPECT_OK(cudaMallocManaged(&y, kOutputs * kSamples * sizeof(__half)));
  EXPECT_OK(cudaMallocManaged(&bias, kOutputs * sizeof(__half)));
  cudaStream_t stream = nullptr;
  EXPECT_OK(cudaStreamCreate(&stream));

  cublasLtHandle_t handle = nullptr;
  EXPECT(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulDesc_t desc = nullptr;
  EXPECT(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
  set(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
  set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(bias));
  cublasLtMatrixLayout_t layoutW = nullptr, layoutX = nullptr, layoutY = nullptr;
  EXPECT(cublasLtMatrixLayoutCreate(&layoutW, CUDA_R_16F, kInputs, kOutputs, kInputs) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatrixLayoutCreate(&layoutX, CUDA_R_16F, kInputs, kSamples, kInputs) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatrixLayoutCreate(&layoutY, CUDA_R_16F, kOutputs, kSamples, kOutputs) == CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulPreference_t preference = nullptr;
  EXPECT(cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, layoutW, layoutX, layoutY, layoutY, preference, 1, &best,
                                        &found) == CUBLAS_STATUS_SUCCESS);
  EXPECT(found == 1);

  const float alpha = 1, beta = 0;
  // In the stream's order: kernels, product.
  fill<<<8, 256, 0, stream>>>(weights, kInputs * kOutputs, 5, 2);
  fill<<<4, 256, 0, stream>>>(x, kInputs * kSamples, 7, 3);
  fill<<<1, 256, 0, stream>>>(bias, kOutputs, 9, 4);
  const auto layer = [&] {
    return cublasLtMatmul(handle, desc, &alpha, weights, layoutW, x, layoutX, &beta, y, layoutY, y, layoutY, &best.algo,
                          nullptr, 0, stream);
  };
  EXPECT(layer() == CUBLAS_STATUS_SUCCESS);
  EXPECT_OK(cudaStreamSynchronize(stream));
  const auto check = [&] {
    for (int j = 0; j < kSamples; ++j)
      for (int i = 0; i < kOutputs; ++i) {
        float sum = __half2float(bias[i]);
        for (int k = 0; k < kInputs; ++k)
          sum += __half2float(weights[k + i * kInputs]) * __half2float(x[k + j * kInputs]);
        EXPECT(__half2float(y[i + j * kOutputs]) == fmaxf(sum, 0));
      }
  };
  check();

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<4, 256, 0, stream>>>(x, kInputs * kSamples, 3, 1);
  EXPECT(layer() == CUBLAS_STATUS_SUCCESS);
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int launch = 0; launch < 2; ++launch) EXPECT_OK(cudaGraphLaunch(executable, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  check();

  EXPECT(cublasLtMatmulPreferenceDestroy(preference) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtMatmulDescDestroy(desc) == CUBLAS_STATUS_SUCCESS);
  for (auto layout : {layoutW, layoutX, layoutY}) EXPECT(cublasLtMatrixLayoutDestroy(layout) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  return finish();
}
