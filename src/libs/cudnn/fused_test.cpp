// Batch normalisation with an addition and an activation behind it, and spatial transformers: in double, forwards
// against the formulas, back against differences.
#include <cmath>

#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

TEST(Cudnn, BatchNormalizationWithWhatComesBehind) {
  cudnnActivationDescriptor_t relu = nullptr;
  ASSERT_EQ(cudnnCreateActivationDescriptor(&relu), kGood);
  ASSERT_EQ(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0), kGood);
  for (const auto operation :
       {CUDNN_BATCHNORM_OPS_BN, CUDNN_BATCHNORM_OPS_BN_ACTIVATION, CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION}) {
    const bool isActive = operation != CUDNN_BATCHNORM_OPS_BN,
               adds = operation == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
    const Sizes sizes{3, 2, 2, 3}, one{1, 2, 1, 1};
    const Tensor x(sizes), z(sizes, true), y(sizes), weights(sizes), dx(sizes), dz(sizes), scale(one), bias(one);
    const Tensor mean(one), variance(one), dScale(one), dBias(one), savedMean(one), savedDeviation(one);
    size_t bytes = 7;
    ASSERT_EQ(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle(), CUDNN_BATCHNORM_SPATIAL, operation, relu,
                                                                   x.descriptor, &bytes),
              kGood);
    EXPECT_EQ(bytes, 0U);
    const auto forward = [&] {
      return cudnnBatchNormalizationForwardTrainingEx(
          handle(), CUDNN_BATCHNORM_SPATIAL, operation, &kOne, &kZero, x.descriptor, x.data, z.descriptor, z.data,
          y.descriptor, y.data, scale.descriptor, scale.data, bias.data, 1, mean.data, variance.data, 1e-3,
          savedMean.data, savedDeviation.data, relu, nullptr, 0, nullptr, 0);
    };
    ASSERT_EQ(forward(), kGood);
    y.expect([&](int n, int c, int h, int w) {
      const double normal = (x.at(n, c, h, w) - savedMean.at(0, c, 0, 0)) * savedDeviation.at(0, c, 0, 0);
      const double all = normal * scale.at(0, c, 0, 0) + bias.at(0, c, 0, 0) + (adds ? z.at(n, c, h, w) : 0);
      return isActive ? std::max(0.0, all) : all;
    });
    ASSERT_EQ(cudnnBatchNormalizationBackwardEx(handle(), CUDNN_BATCHNORM_SPATIAL, operation, &kOne, &kZero, &kOne,
                                                &kZero, x.descriptor, x.data, y.descriptor, y.data, weights.descriptor,
                                                weights.data, dz.descriptor, dz.data, dx.descriptor, dx.data,
                                                scale.descriptor, scale.data, bias.data, dScale.data, dBias.data, 1e-3,
                                                savedMean.data, savedDeviation.data, relu, nullptr, 0, nullptr, 0),
              kGood);
    const auto again = [&] { ASSERT_EQ(forward(), kGood); };
    expectGradient(x, y, weights, dx, again);
    expectGradient(scale, y, weights, dScale, again);
    expectGradient(bias, y, weights, dBias, again);
    if (adds) expectGradient(z, y, weights, dz, again);
  }
  ASSERT_EQ(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 0), kGood);
  size_t bytes = 7;
  EXPECT_EQ(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
                handle(), CUDNN_BATCHNORM_SPATIAL, CUDNN_BATCHNORM_OPS_BN_ACTIVATION, relu, nullptr, &bytes),
            CUDNN_STATUS_NOT_SUPPORTED);
  cudnnDestroyActivationDescriptor(relu);
}

TEST(Cudnn, SpatialTransformers) {
  const Sizes image{2, 3, 4, 5}, result{2, 3, 3, 4};
  const Tensor x(image, true), y(result), theta({2, 1, 2, 3}), grid({2, 3, 4, 2});
  const Tensor weights(result), dx(image), dgrid({2, 3, 4, 2}), dtheta({2, 1, 2, 3});
  cudnnSpatialTransformerDescriptor_t d = nullptr;
  ASSERT_EQ(cudnnCreateSpatialTransformerDescriptor(&d), kGood);
  const int sizes[] = {2, 3, 3, 4};
  ASSERT_EQ(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_DOUBLE, 4, sizes), kGood);
  const auto forward = [&] {
    ASSERT_EQ(cudnnSpatialTfGridGeneratorForward(handle(), d, theta.data, grid.data), kGood);
    ASSERT_EQ(
        cudnnSpatialTfSamplerForward(handle(), d, &kOne, x.descriptor, x.data, grid.data, &kZero, y.descriptor, y.data),
        kGood);
  };
  forward();
  grid.expect([&](int n, int h, int w, int k) {
    return theta.at(n, 0, k, 0) * (w / 1.5 - 1) + theta.at(n, 0, k, 1) * (h - 1) + theta.at(n, 0, k, 2);
  });
  y.expect([&](int n, int c, int h, int w) {
    const double column = (grid.at(n, h, w, 0) + 1) * 2, row = (grid.at(n, h, w, 1) + 1) * 1.5;
    double sum = 0;
    for (int i = 0; i < image.h; ++i)
      for (int j = 0; j < image.w; ++j)
        sum += x.at(n, c, i, j) * std::max(0.0, 1 - std::abs(row - i)) * std::max(0.0, 1 - std::abs(column - j));
    return sum;
  });
  ASSERT_EQ(cudnnSpatialTfSamplerBackward(handle(), d, &kOne, x.descriptor, x.data, &kZero, dx.descriptor, dx.data,
                                          &kOne, weights.descriptor, weights.data, grid.data, &kZero, dgrid.data),
            kGood);
  ASSERT_EQ(cudnnSpatialTfGridGeneratorBackward(handle(), d, dgrid.data, dtheta.data), kGood);
  expectGradient(x, y, weights, dx, forward);
  expectGradient(theta, y, weights, dtheta, forward);
  EXPECT_EQ(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_DOUBLE, 5, sizes),
            CUDNN_STATUS_NOT_SUPPORTED);
  cudnnDestroySpatialTransformerDescriptor(d);
}

}  // namespace
}  // namespace ordito::libs::cudnn
