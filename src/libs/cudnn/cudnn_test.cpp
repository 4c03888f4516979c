// cuDNN's forward passes against the sums that define them, in single and double precision, with random sizes, layouts,
// alpha and beta (NaN where nothing may be read); its backward passes against differences of the forward ones.
#include <cmath>
#include <limits>

#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

struct ConvolutionCase {
  int groups = random(1, 2), filters = groups * random(1, 3), channels = random(1, 3);
  int r = random(1, 3), s = random(1, 3), padH = random(0, 2), padW = random(0, 2), strideH = random(1, 2),
      strideW = random(1, 2), dilationH = random(1, 2), dilationW = random(1, 2);
  cudnnConvolutionMode_t mode = random(0, 1) ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
  Sizes x{random(1, 3), groups* channels, random(5, 8), random(5, 9)};
  Sizes y{};
  cudnnConvolutionDescriptor_t d = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;

  explicit ConvolutionCase(bool isNhwc) {
    EXPECT_EQ(cudnnCreateConvolutionDescriptor(&d), kGood);
    EXPECT_EQ(
        cudnnSetConvolution2dDescriptor(d, padH, padW, strideH, strideW, dilationH, dilationW, mode, CUDNN_DATA_DOUBLE),
        kGood);
    EXPECT_EQ(cudnnSetConvolutionGroupCount(d, groups), kGood);
    EXPECT_EQ(cudnnCreateFilterDescriptor(&filter), kGood);
    EXPECT_EQ(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_DOUBLE, isNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                         filters, channels, r, s),
              kGood);
    const Tensor input(x);
    EXPECT_EQ(cudnnGetConvolution2dForwardOutputDim(d, input.descriptor, filter, &y.n, &y.c, &y.h, &y.w), kGood);
    EXPECT_EQ(y.h, (x.h + 2 * padH - dilationH * (r - 1) - 1) / strideH + 1);
  }
  ~ConvolutionCase() {
    cudnnDestroyConvolutionDescriptor(d);
    cudnnDestroyFilterDescriptor(filter);
  }

  double sum(const Tensor& in, const Tensor& w, int n, int k, int p, int q) const {
    double total = 0;
    for (int c = 0; c < channels; ++c)
      for (int i = 0; i < r; ++i)
        for (int j = 0; j < s; ++j) {
          const int h = p * strideH - padH + i * dilationH, v = q * strideW - padW + j * dilationW;
          if (h < 0 || v < 0 || h >= x.h || v >= x.w) continue;
          const bool isTurned = mode == CUDNN_CONVOLUTION;
          total += in.at(n, k / (filters / groups) * channels + c, h, v) *
                   w.at(k, c, isTurned ? r - 1 - i : i, isTurned ? s - 1 - j : j);
        }
    return total;
  }
};

TEST(Cudnn, Convolutions) {
  for (int round = 0; round < 25; ++round) {
    const bool isNhwc = round % 3 == 2;
    const ConvolutionCase c(isNhwc);
    const Tensor x(c.x, isNhwc), w({c.filters, c.channels, c.r, c.s}, isNhwc), y(c.y, isNhwc), dx(c.x, isNhwc),
        dw({c.filters, c.channels, c.r, c.s}, isNhwc), weights(c.y, isNhwc);
    const double alpha = randomValue();
    y.fill(std::numeric_limits<double>::quiet_NaN());
    ASSERT_EQ(cudnnConvolutionForward(handle(), &alpha, x.descriptor, x.data, c.filter, w.data, c.d,
                                      CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, &kZero, y.descriptor, y.data),
              kGood);
    y.expect([&](int n, int k, int p, int q) { return alpha * c.sum(x, w, n, k, p, q); });
    const std::vector<double> before = y.copy();
    ASSERT_EQ(cudnnConvolutionForward(handle(), &kOne, x.descriptor, x.data, c.filter, w.data, c.d,
                                      CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, nullptr, 0, &alpha, y.descriptor, y.data),
              kGood);
    y.expect([&](int n, int k, int p, int q) {
      return c.sum(x, w, n, k, p, q) + alpha * before[static_cast<size_t>(&y.at(n, k, p, q) - y.data)];
    });
    if (round > 5) continue;
    const auto forward = [&] {
      cudnnConvolutionForward(handle(), &kOne, x.descriptor, x.data, c.filter, w.data, c.d,
                              CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, &kZero, y.descriptor, y.data);
    };
    ASSERT_EQ(
        cudnnConvolutionBackwardData(handle(), &kOne, c.filter, w.data, weights.descriptor, weights.data, c.d,
                                     CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, nullptr, 0, &kZero, dx.descriptor, dx.data),
        kGood);
    expectGradient(x, y, weights, dx, forward);
    ASSERT_EQ(
        cudnnConvolutionBackwardFilter(handle(), &kOne, x.descriptor, x.data, weights.descriptor, weights.data, c.d,
                                       CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, nullptr, 0, &kZero, c.filter, dw.data),
        kGood);
    expectGradient(w, y, weights, dw, forward);
    const Tensor bias({1, c.y.c, 1, 1});
    ASSERT_EQ(cudnnConvolutionBackwardBias(handle(), &kOne, y.descriptor, y.data, &kZero, bias.descriptor, bias.data),
              kGood);
    bias.expect([&](int, int channel, int, int) {
      double sum = 0;
      y.forEach([&](int n, int k, int p, int q) { sum += k == channel ? y.at(n, k, p, q) : 0; });
      return sum;
    });
  }
}

TEST(Cudnn, ConvolutionBiasActivation) {
  const ConvolutionCase c(false);
  const Tensor x(c.x), w({c.filters, c.channels, c.r, c.s}), y(c.y), z(c.y), bias({1, c.y.c, 1, 1});
  cudnnActivationDescriptor_t relu = nullptr;
  cudnnCreateActivationDescriptor(&relu);
  cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
  const double half = 0.5;
  ASSERT_EQ(cudnnConvolutionBiasActivationForward(handle(), &kOne, x.descriptor, x.data, c.filter, w.data, c.d,
                                                  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, nullptr, 0, &half,
                                                  z.descriptor, z.data, bias.descriptor, bias.data, relu, y.descriptor,
                                                  y.data),
            kGood);
  y.expect([&](int n, int k, int p, int q) {
    return std::max(0.0, c.sum(x, w, n, k, p, q) + half * z.at(n, k, p, q) + bias.at(0, k, 0, 0));
  });
  cudnnDestroyActivationDescriptor(relu);
}

TEST(Cudnn, AlgorithmsAndWorkspaces) {
  const ConvolutionCase c(false);
  const Tensor x(c.x), y(c.y);
  int count = 0, most = 0;
  ASSERT_EQ(cudnnGetConvolutionForwardAlgorithmMaxCount(handle(), &most), kGood);
  std::vector<cudnnConvolutionFwdAlgoPerf_t> results(static_cast<size_t>(most));
  ASSERT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(handle(), x.descriptor, c.filter, c.d, y.descriptor, most, &count,
                                                   results.data()),
            kGood);
  EXPECT_EQ(count, most);
  EXPECT_EQ(results[0].status, kGood);
  ASSERT_EQ(cudnnFindConvolutionForwardAlgorithm(handle(), x.descriptor, c.filter, c.d, y.descriptor, 2, &count,
                                                 results.data()),
            kGood);
  EXPECT_EQ(count, 2);
  EXPECT_GE(results[0].time, 0);
  size_t bytes = 0;
  ASSERT_EQ(cudnnGetConvolutionForwardWorkspaceSize(handle(), x.descriptor, c.filter, c.d, y.descriptor,
                                                    results[0].algo, &bytes),
            kGood);
  EXPECT_EQ(cudnnGetConvolutionForwardWorkspaceSize(handle(), y.descriptor, c.filter, c.d, x.descriptor,
                                                    results[0].algo, &bytes),
            CUDNN_STATUS_BAD_PARAM);
}

TEST(Cudnn, Pooling) {
  for (int round = 0; round < 12; ++round) {
    const auto mode = static_cast<cudnnPoolingMode_t>(round % 4);
    const int height = random(1, 3), width = random(1, 3), padH = random(0, height - 1), padW = random(0, width - 1),
              strideH = random(1, 3), strideW = random(1, 3);
    cudnnPoolingDescriptor_t d = nullptr;
    cudnnCreatePoolingDescriptor(&d);
    ASSERT_EQ(
        cudnnSetPooling2dDescriptor(d, mode, CUDNN_NOT_PROPAGATE_NAN, height, width, padH, padW, strideH, strideW),
        kGood);
    const Tensor x({2, random(1, 3), random(3, 7), random(3, 7)}, round % 2);
    Sizes out{};
    ASSERT_EQ(cudnnGetPooling2dForwardOutputDim(d, x.descriptor, &out.n, &out.c, &out.h, &out.w), kGood);
    const Tensor y(out), weights(out), dx(x.sizes());
    const auto forward = [&] {
      return cudnnPoolingForward(handle(), d, &kOne, x.descriptor, x.data, &kZero, y.descriptor, y.data);
    };
    ASSERT_EQ(forward(), kGood);
    y.expect([&](int n, int c, int p, int q) {
      double sum = 0, best = -10;
      int covered = 0;
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) {
          const int h = p * strideH - padH + i, w = q * strideW - padW + j;
          if (h < 0 || w < 0 || h >= x.sizes().h || w >= x.sizes().w) continue;
          sum += x.at(n, c, h, w), best = std::max(best, x.at(n, c, h, w)), ++covered;
        }
      if (mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING) return sum / (height * width);
      return mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ? sum / covered : best;
    });
    ASSERT_EQ(cudnnPoolingBackward(handle(), d, &kOne, y.descriptor, y.data, weights.descriptor, weights.data,
                                   x.descriptor, x.data, &kZero, dx.descriptor, dx.data),
              kGood);
    expectGradient(x, y, weights, dx, forward);
    cudnnDestroyPoolingDescriptor(d);
  }
}

TEST(Cudnn, Activations) {
  for (int mode = CUDNN_ACTIVATION_SIGMOID; mode <= CUDNN_ACTIVATION_SWISH; ++mode) {
    cudnnActivationDescriptor_t d = nullptr;
    cudnnCreateActivationDescriptor(&d);
    ASSERT_EQ(cudnnSetActivationDescriptor(d, static_cast<cudnnActivationMode_t>(mode), CUDNN_PROPAGATE_NAN, 0.6),
              kGood);
    const Sizes sizes{random(1, 3), random(1, 3), random(1, 4), random(1, 5)};
    const Tensor x(sizes, true), y(sizes), weights(sizes), dx(sizes);
    const auto forward = [&] {
      return cudnnActivationForward(handle(), d, &kOne, x.descriptor, x.data, &kZero, y.descriptor, y.data);
    };
    ASSERT_EQ(forward(), kGood);
    y.expect([&](int n, int c, int h, int w) {
      const double v = x.at(n, c, h, w);
      const double values[] = {1 / (1 + std::exp(-v)),
                               std::max(v, 0.0),
                               std::tanh(v),
                               std::min(std::max(v, 0.0), 0.6),
                               v > 0 ? v : 0.6 * std::expm1(v),
                               v,
                               v / (1 + std::exp(-0.6 * v))};
      return values[mode];
    });
    ASSERT_EQ(cudnnActivationBackward(handle(), d, &kOne, y.descriptor, y.data, weights.descriptor, weights.data,
                                      x.descriptor, x.data, &kZero, dx.descriptor, dx.data),
              kGood);
    expectGradient(x, y, weights, dx, forward);
    cudnnDestroyActivationDescriptor(d);
  }
}

TEST(Cudnn, Softmax) {
  for (int algorithm = CUDNN_SOFTMAX_FAST; algorithm <= CUDNN_SOFTMAX_LOG; ++algorithm)
    for (const auto mode : {CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL}) {
      const Sizes sizes{random(1, 3), random(1, 4), random(1, 3), random(1, 3)};
      const Tensor x(sizes), y(sizes), weights(sizes), dx(sizes);
      const auto kind = static_cast<cudnnSoftmaxAlgorithm_t>(algorithm);
      const auto forward = [&] {
        return cudnnSoftmaxForward(handle(), kind, mode, &kOne, x.descriptor, x.data, &kZero, y.descriptor, y.data);
      };
      ASSERT_EQ(forward(), kGood);
      y.expect([&](int n, int c, int h, int w) {
        double sum = 0;
        x.forEach([&](int i, int j, int k, int l) {
          const bool isIn = i == n && (mode == CUDNN_SOFTMAX_MODE_INSTANCE || (k == h && l == w));
          sum += isIn ? std::exp(x.at(i, j, k, l)) : 0;
        });
        const double p = std::exp(x.at(n, c, h, w)) / sum;
        return algorithm == CUDNN_SOFTMAX_LOG ? std::log(p) : p;
      });
      ASSERT_EQ(cudnnSoftmaxBackward(handle(), kind, mode, &kOne, y.descriptor, y.data, weights.descriptor,
                                     weights.data, &kZero, dx.descriptor, dx.data),
                kGood);
      expectGradient(x, y, weights, dx, forward);
    }
}

TEST(Cudnn, BatchNormalization) {
  for (const auto mode : {CUDNN_BATCHNORM_PER_ACTIVATION, CUDNN_BATCHNORM_SPATIAL})
    for (const bool isSaved : {false, true}) {
      const bool isSpatial = mode == CUDNN_BATCHNORM_SPATIAL;
      const Sizes sizes{random(3, 5), random(1, 3), random(1, 3), random(1, 3)};
      const Sizes one{1, sizes.c, isSpatial ? 1 : sizes.h, isSpatial ? 1 : sizes.w};
      const Tensor x(sizes, true), y(sizes), weights(sizes), dx(sizes), scale(one), bias(one), mean(one), variance(one),
          savedMean(one), savedDeviation(one), dScale(one), dBias(one);
      cudnnTensorDescriptor_t derived = nullptr;
      cudnnCreateTensorDescriptor(&derived);
      ASSERT_EQ(cudnnDeriveBNTensorDescriptor(derived, x.descriptor, mode), kGood);
      mean.fill(0);
      variance.fill(0);
      const auto forward = [&] {
        return cudnnBatchNormalizationForwardTraining(handle(), mode, &kOne, &kZero, x.descriptor, x.data, y.descriptor,
                                                      y.data, derived, scale.data, bias.data, 1, mean.data,
                                                      variance.data, 1e-3, savedMean.data, savedDeviation.data);
      };
      ASSERT_EQ(forward(), kGood);
      ASSERT_EQ(cudnnBatchNormalizationBackward(
                    handle(), mode, &kOne, &kZero, &kOne, &kZero, x.descriptor, x.data, weights.descriptor,
                    weights.data, dx.descriptor, dx.data, derived, scale.data, dScale.data, dBias.data, 1e-3,
                    isSaved ? savedMean.data : nullptr, isSaved ? savedDeviation.data : nullptr),
                kGood);
      finish();
      mean.forEach([&](int, int c, int h, int w) {
        double sum = 0, squares = 0;
        int count = 0;
        const auto isIn = [&](int j, int k, int l) { return j == c && (isSpatial || (k == h && l == w)); };
        x.forEach([&](int i, int j, int k, int l) {
          if (isIn(j, k, l)) sum += x.at(i, j, k, l), ++count;
        });
        x.forEach([&](int i, int j, int k, int l) {
          if (isIn(j, k, l)) squares += std::pow(x.at(i, j, k, l) - sum / count, 2);
        });
        ASSERT_NEAR(mean.at(0, c, h, w), sum / count, 1e-12);
        ASSERT_NEAR(variance.at(0, c, h, w), squares / (count - 1), 1e-12);
        ASSERT_NEAR(savedDeviation.at(0, c, h, w), 1 / std::sqrt(squares / count + 1e-3), 1e-12);
      });
      expectGradient(x, y, weights, dx, forward);
      expectGradient(scale, y, weights, dScale, forward);
      expectGradient(bias, y, weights, dBias, forward);
      ASSERT_EQ(cudnnBatchNormalizationForwardInference(handle(), mode, &kOne, &kZero, x.descriptor, x.data,
                                                        y.descriptor, y.data, derived, scale.data, bias.data, mean.data,
                                                        variance.data, 1e-3),
                kGood);
      y.expect([&](int n, int c, int h, int w) {
        const int k = isSpatial ? 0 : h, l = isSpatial ? 0 : w;
        return (x.at(n, c, h, w) - mean.at(0, c, k, l)) / std::sqrt(variance.at(0, c, k, l) + 1e-3) *
                   scale.at(0, c, k, l) +
               bias.at(0, c, k, l);
      });
      cudnnDestroyTensorDescriptor(derived);
    }
}

TEST(Cudnn, LocalResponses) {
  for (const unsigned n : {1U, 4U, 5U}) {
    cudnnLRNDescriptor_t d = nullptr;
    cudnnCreateLRNDescriptor(&d);
    ASSERT_EQ(cudnnSetLRNDescriptor(d, n, 0.7, 0.75, 1.5), kGood);
    const Sizes sizes{2, random(1, 7), random(1, 3), random(1, 3)};
    const Tensor x(sizes), y(sizes), weights(sizes), dx(sizes);
    const auto forward = [&] {
      return cudnnLRNCrossChannelForward(handle(), d, CUDNN_LRN_CROSS_CHANNEL_DIM1, &kOne, x.descriptor, x.data, &kZero,
                                         y.descriptor, y.data);
    };
    ASSERT_EQ(forward(), kGood);
    y.expect([&](int i, int c, int h, int w) {
      double squares = 0;
      const int first = c - static_cast<int>(n - 1) / 2;
      for (int k = std::max(0, first); k < std::min(sizes.c, first + static_cast<int>(n)); ++k)
        squares += x.at(i, k, h, w) * x.at(i, k, h, w);
      return x.at(i, c, h, w) * std::pow(1.5 + 0.7 / n * squares, -0.75);
    });
    ASSERT_EQ(cudnnLRNCrossChannelBackward(handle(), d, CUDNN_LRN_CROSS_CHANNEL_DIM1, &kOne, y.descriptor, y.data,
                                           weights.descriptor, weights.data, x.descriptor, x.data, &kZero,
                                           dx.descriptor, dx.data),
              kGood);
    expectGradient(x, y, weights, dx, forward);
    cudnnDestroyLRNDescriptor(d);
  }
}

TEST(Cudnn, SumsAndReductions) {
  const Sizes sizes{3, 2, 4, 5};
  const Tensor a(sizes, true), b({1, 2, 1, 5}), c(sizes);
  const double alpha = 0.5, beta = -2;
  std::vector<double> before = c.copy();
  ASSERT_EQ(cudnnAddTensor(handle(), &alpha, b.descriptor, b.data, &beta, c.descriptor, c.data), kGood);
  c.expect([&](int n, int k, int h, int w) {
    return alpha * b.at(0, k, 0, w) + beta * before[static_cast<size_t>(&c.at(n, k, h, w) - c.data)];
  });
  ASSERT_EQ(cudnnTransformTensor(handle(), &alpha, a.descriptor, a.data, &kZero, c.descriptor, c.data), kGood);
  c.expect([&](int n, int k, int h, int w) { return alpha * a.at(n, k, h, w); });
  cudnnOpTensorDescriptor_t op = nullptr;
  cudnnCreateOpTensorDescriptor(&op);
  ASSERT_EQ(cudnnSetOpTensorDescriptor(op, CUDNN_OP_TENSOR_MAX, CUDNN_DATA_DOUBLE, CUDNN_PROPAGATE_NAN), kGood);
  ASSERT_EQ(cudnnOpTensor(handle(), op, &kOne, a.descriptor, a.data, &beta, b.descriptor, b.data, &kZero, c.descriptor,
                          c.data),
            kGood);
  c.expect([&](int n, int k, int h, int w) { return std::max(a.at(n, k, h, w), beta * b.at(0, k, 0, w)); });
  cudnnReduceTensorDescriptor_t reduce = nullptr;
  cudnnCreateReduceTensorDescriptor(&reduce);
  const Tensor rows({3, 1, 4, 1});
  ASSERT_EQ(cudnnSetReduceTensorDescriptor(reduce, CUDNN_REDUCE_TENSOR_NORM2, CUDNN_DATA_DOUBLE, CUDNN_PROPAGATE_NAN,
                                           CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES),
            kGood);
  ASSERT_EQ(cudnnReduceTensor(handle(), reduce, nullptr, 0, nullptr, 0, &kOne, a.descriptor, a.data, &kZero,
                              rows.descriptor, rows.data),
            kGood);
  rows.expect([&](int n, int, int h, int) {
    double sum = 0;
    for (int k = 0; k < 2; ++k)
      for (int w = 0; w < 5; ++w) sum += a.at(n, k, h, w) * a.at(n, k, h, w);
    return std::sqrt(sum);
  });
  const double seven = 7;
  ASSERT_EQ(cudnnSetTensor(handle(), c.descriptor, c.data, &seven), kGood);
  ASSERT_EQ(cudnnScaleTensor(handle(), c.descriptor, c.data, &alpha), kGood);
  c.expect([](int, int, int, int) { return 3.5; });
  cudnnDestroyOpTensorDescriptor(op);
  cudnnDestroyReduceTensorDescriptor(reduce);
}

TEST(Cudnn, Dropout) {
  const Sizes sizes{10, 10, 10, 10};
  const Tensor x(sizes), y(sizes), dx(sizes), states({1, 1, 1, 16}), reserve({10, 10, 10, 2});
  cudnnDropoutDescriptor_t d = nullptr;
  cudnnCreateDropoutDescriptor(&d);
  size_t bytes = 0, kept = 0;
  ASSERT_EQ(cudnnDropoutGetStatesSize(handle(), &bytes), kGood);
  ASSERT_LE(bytes, 16 * sizeof(double));
  ASSERT_EQ(cudnnDropoutGetReserveSpaceSize(x.descriptor, &kept), kGood);
  ASSERT_EQ(cudnnSetDropoutDescriptor(d, handle(), 0.25F, states.data, bytes, 42), kGood);
  x.fill(3);
  int counts[2] = {0, 0};
  for (int& count : counts) {
    ASSERT_EQ(cudnnDropoutForward(handle(), d, x.descriptor, x.data, y.descriptor, y.data, reserve.data, kept), kGood);
    ASSERT_EQ(cudnnDropoutBackward(handle(), d, x.descriptor, x.data, dx.descriptor, dx.data, reserve.data, kept),
              kGood);
    finish();
    y.forEach([&](int n, int c, int h, int w) {
      const double value = y.at(n, c, h, w);
      ASSERT_TRUE(value == 0 || value == 4);
      ASSERT_EQ(dx.at(n, c, h, w), value);
      count += value != 0;
    });
    EXPECT_NEAR(count, 7500, 200);
  }
  EXPECT_NE(counts[0], counts[1]);  // the next call draws other numbers
  cudnnDestroyDropoutDescriptor(d);
}

}  // namespace
}  // namespace ordito::libs::cudnn
