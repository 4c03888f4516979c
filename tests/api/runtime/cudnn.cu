// cuDNN as the programs of courses use it: a small network (convolution, bias, rectifier, pooling, a full layer as a
// convolution, softmax) learns to tell horizontal from vertical bars, with gradients by the library and steps by a
// kernel.
#include <cudnn.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "expect.hpp"

constexpr int kImages = 32, kSide = 12, kFilters = 4, kClasses = 2, kPooled = 5;
#define EXPECT_DNN(call) EXPECT((call) == CUDNN_STATUS_SUCCESS)

__global__ void draw(float* images, int* labels) {
  const int image = blockIdx.x, x = threadIdx.x, y = threadIdx.y, label = image % 2, bar = 1 + image / 2 % (kSide - 2);
  images[(image * kSide + y) * kSide + x] = (label ? x : y) == bar ? 1.0f : 0.0f;
  if (x == 0 && y == 0) labels[image] = label;
}

/// Of the cross entropy of a softmax by what went into it, divided by the number of images.
__global__ void lossGradient(const float* probabilities, const int* labels, float* gradient) {
  const int i = threadIdx.x, image = i / kClasses;
  gradient[i] = (probabilities[i] - (labels[image] == i % kClasses ? 1.0f : 0.0f)) / kImages;
}

__global__ void step(float* weights, const float* gradient, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) weights[i] -= 0.5f * gradient[i];
}

struct Tensor {
  cudnnTensorDescriptor_t descriptor = nullptr;
  float *data = nullptr, *gradient = nullptr;
  int count = 0;

  Tensor(int n, int c, int h, int w) : count(n * c * h * w) {
    EXPECT_DNN(cudnnCreateTensorDescriptor(&descriptor));
    EXPECT_DNN(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
    EXPECT_OK(cudaMalloc(&data, count * sizeof(float)));
    EXPECT_OK(cudaMalloc(&gradient, count * sizeof(float)));
    EXPECT_OK(cudaMemset(data, 0, count * sizeof(float)));
  }
};

struct Filter {
  cudnnFilterDescriptor_t descriptor = nullptr;
  float *data = nullptr, *gradient = nullptr;
  int count;

  Filter(int k, int c, int h, int w) : count(k * c * h * w) {
    EXPECT_DNN(cudnnCreateFilterDescriptor(&descriptor));
    EXPECT_DNN(cudnnSetFilter4dDescriptor(descriptor, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k, c, h, w));
    EXPECT_OK(cudaMalloc(&data, count * sizeof(float)));
    EXPECT_OK(cudaMalloc(&gradient, count * sizeof(float)));
    std::vector<float> start(count);
    for (float& value : start) value = (std::rand() % 2001 - 1000) / 4000.0f;
    EXPECT_OK(cudaMemcpy(data, start.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  }
};

int main() {
  cudnnHandle_t handle;
  cudaStream_t stream;
  EXPECT(cudnnGetVersion() >= 8000);
  EXPECT_DNN(cudnnCreate(&handle));
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_DNN(cudnnSetStream(handle, stream));
  Tensor x(kImages, 1, kSide, kSide), conv(kImages, kFilters, 10, 10), bias(1, kFilters, 1, 1),
      pooled(kImages, kFilters, kPooled, kPooled), scores(kImages, kClasses, 1, 1), answer(kImages, kClasses, 1, 1);
  Filter first(kFilters, 1, 3, 3), full(kClasses, kFilters, kPooled, kPooled);
  int* labels = nullptr;
  EXPECT_OK(cudaMallocManaged(&labels, kImages * sizeof(int)));

  cudnnConvolutionDescriptor_t convolution;
  EXPECT_DNN(cudnnCreateConvolutionDescriptor(&convolution));
  EXPECT_DNN(cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  int n, c, h, w, found = 0;
  EXPECT_DNN(cudnnGetConvolution2dForwardOutputDim(convolution, x.descriptor, first.descriptor, &n, &c, &h, &w));
  EXPECT(n == kImages && c == kFilters && h == 10 && w == 10);
  cudnnConvolutionFwdAlgoPerf_t best;
  EXPECT_DNN(cudnnGetConvolutionForwardAlgorithm_v7(handle, x.descriptor, first.descriptor, convolution,
                                                    conv.descriptor, 1, &found, &best));
  EXPECT(found == 1 && best.status == CUDNN_STATUS_SUCCESS);
  size_t bytes = 0;
  EXPECT_DNN(cudnnGetConvolutionForwardWorkspaceSize(handle, x.descriptor, first.descriptor, convolution,
                                                     conv.descriptor, best.algo, &bytes));
  void* space = nullptr;
  EXPECT_OK(cudaMalloc(&space, bytes));
  cudnnActivationDescriptor_t relu;
  EXPECT_DNN(cudnnCreateActivationDescriptor(&relu));
  EXPECT_DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
  cudnnPoolingDescriptor_t pooling;
  EXPECT_DNN(cudnnCreatePoolingDescriptor(&pooling));
  EXPECT_DNN(cudnnSetPooling2dDescriptor(pooling, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));

  draw<<<kImages, dim3(kSide, kSide), 0, stream>>>(x.data, labels);
  const float one = 1, zero = 0;
  const auto fullAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  const auto filterAlgorithm = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
  std::vector<float> probabilities(kImages * kClasses);
  double losses[2] = {0, 0};
  for (int round = 0; round <= 60; ++round) {
    EXPECT_DNN(cudnnConvolutionForward(handle, &one, x.descriptor, x.data, first.descriptor, first.data, convolution,
                                       best.algo, space, bytes, &zero, conv.descriptor, conv.data));
    EXPECT_DNN(cudnnAddTensor(handle, &one, bias.descriptor, bias.data, &one, conv.descriptor, conv.data));
    EXPECT_DNN(
        cudnnActivationForward(handle, relu, &one, conv.descriptor, conv.data, &zero, conv.descriptor, conv.data));
    EXPECT_DNN(
        cudnnPoolingForward(handle, pooling, &one, conv.descriptor, conv.data, &zero, pooled.descriptor, pooled.data));
    EXPECT_DNN(cudnnConvolutionForward(handle, &one, pooled.descriptor, pooled.data, full.descriptor, full.data,
                                       convolution, fullAlgorithm, space, bytes, &zero, scores.descriptor,
                                       scores.data));
    EXPECT_DNN(cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, scores.descriptor,
                                   scores.data, &zero, answer.descriptor, answer.data));
    if (round % 60 == 0) {
      EXPECT_OK(cudaMemcpyAsync(probabilities.data(), answer.data, answer.count * sizeof(float), cudaMemcpyDeviceToHost,
                                stream));
      EXPECT_OK(cudaStreamSynchronize(stream));
      for (int i = 0; i < kImages; ++i)
        losses[round / 60] -= std::log(probabilities[i * kClasses + labels[i]]) / kImages;
    }
    lossGradient<<<1, kImages * kClasses, 0, stream>>>(answer.data, labels, scores.gradient);
    EXPECT_DNN(cudnnConvolutionBackwardFilter(handle, &one, pooled.descriptor, pooled.data, scores.descriptor,
                                              scores.gradient, convolution, filterAlgorithm, space, bytes, &zero,
                                              full.descriptor, full.gradient));
    EXPECT_DNN(cudnnConvolutionBackwardData(handle, &one, full.descriptor, full.data, scores.descriptor,
                                            scores.gradient, convolution, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, space,
                                            bytes, &zero, pooled.descriptor, pooled.gradient));
    EXPECT_DNN(cudnnPoolingBackward(handle, pooling, &one, pooled.descriptor, pooled.data, pooled.descriptor,
                                    pooled.gradient, conv.descriptor, conv.data, &zero, conv.descriptor,
                                    conv.gradient));
    EXPECT_DNN(cudnnActivationBackward(handle, relu, &one, conv.descriptor, conv.data, conv.descriptor, conv.gradient,
                                       conv.descriptor, conv.data, &zero, conv.descriptor, conv.gradient));
    EXPECT_DNN(cudnnConvolutionBackwardBias(handle, &one, conv.descriptor, conv.gradient, &zero, bias.descriptor,
                                            bias.gradient));
    EXPECT_DNN(cudnnConvolutionBackwardFilter(handle, &one, x.descriptor, x.data, conv.descriptor, conv.gradient,
                                              convolution, filterAlgorithm, space, bytes, &zero, first.descriptor,
                                              first.gradient));
    step<<<1, 64, 0, stream>>>(first.data, first.gradient, first.count);
    step<<<1, 64, 0, stream>>>(bias.data, bias.gradient, bias.count);
    step<<<4, 64, 0, stream>>>(full.data, full.gradient, full.count);
  }
  EXPECT(losses[0] > 0.5);
  EXPECT(losses[1] < 0.1);
  EXPECT_DNN(cudnnDestroy(handle));
  return finish();
}
