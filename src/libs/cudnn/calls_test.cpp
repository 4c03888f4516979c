// What is the same for every call of cuDNN: bad arguments, and calls in a graph.
#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

TEST(Cudnn, BadArguments) {
  const Tensor x({1, 2, 3, 4}), y({1, 2, 3, 5});
  cudnnActivationDescriptor_t relu = nullptr;
  cudnnCreateActivationDescriptor(&relu);
  EXPECT_EQ(cudnnActivationForward(handle(), relu, &kOne, x.descriptor, x.data, &kZero, y.descriptor, y.data),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnActivationForward(nullptr, relu, &kOne, x.descriptor, x.data, &kZero, x.descriptor, x.data),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetTensor4dDescriptor(x.descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 0, 3, 4),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetTensor4dDescriptor(x.descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8, 1, 2, 3, 4), kGood);
  EXPECT_EQ(cudnnActivationForward(handle(), relu, &kOne, x.descriptor, x.data, &kZero, x.descriptor, x.data),
            CUDNN_STATUS_NOT_SUPPORTED);
  size_t bytes = 0;
  ASSERT_EQ(cudnnGetTensorSizeInBytes(x.descriptor, &bytes), kGood);
  EXPECT_EQ(bytes, 24U);
  EXPECT_STREQ(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM");
  int major = 0;
  EXPECT_EQ(cudnnGetProperty(MAJOR_VERSION, &major), kGood);
  EXPECT_EQ(major, CUDNN_MAJOR);
  cudnnDestroyActivationDescriptor(relu);
}

TEST(Cudnn, CapturedCallsRunAtEveryLaunchWithoutTheirDescriptors) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  const Tensor x({2, 3, 5, 4}), y({2, 2, 5, 4}), z({2, 2, 5, 4}), weights({2, 3, 1, 1});
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  cudnnHandle_t own = nullptr;
  ASSERT_EQ(cudnnCreate(&own), kGood);
  ASSERT_EQ(cudnnSetStream(own, stream), kGood);
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnActivationDescriptor_t relu = nullptr;
  ASSERT_EQ(cudnnCreateFilterDescriptor(&filter), kGood);
  ASSERT_EQ(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NCHW, 2, 3, 1, 1), kGood);
  ASSERT_EQ(cudnnCreateConvolutionDescriptor(&convolution), kGood);
  ASSERT_EQ(cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_DOUBLE),
            kGood);
  ASSERT_EQ(cudnnCreateActivationDescriptor(&relu), kGood);
  ASSERT_EQ(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0), kGood);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  {
    const double two = 2, zero = 0;  // gone before the first launch
    EXPECT_EQ(
        cudnnConvolutionForward(own, &two, x.descriptor, x.data, filter, weights.data, convolution,
                                CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &zero, y.descriptor, y.data),
        kGood);
    EXPECT_EQ(cudnnActivationForward(own, relu, &kOne, y.descriptor, y.data, &zero, z.descriptor, z.data), kGood);
  }
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  cudnnDestroyActivationDescriptor(relu);
  cudnnDestroyConvolutionDescriptor(convolution);
  cudnnDestroyFilterDescriptor(filter);
  cudnnDestroy(own);
  for (int launch = 0; launch < 3; ++launch) {
    x.forEach([&](int n, int c, int h, int w) { x.at(n, c, h, w) = randomValue(); });
    ASSERT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    z.expect([&](int n, int k, int h, int w) {
      double sum = 0;
      for (int c = 0; c < 3; ++c) sum += 2 * x.at(n, c, h, w) * weights.at(k, c, 0, 0);
      return std::max(0.0, sum);
    });
  }
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuStreamDestroy(stream);
}

}  // namespace
}  // namespace ordito::libs::cudnn
