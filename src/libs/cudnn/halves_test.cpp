// cuDNN with numbers of 16 bits against the same calls in double, which cudnn_test.cpp compares with their definitions:
// operands are the same numbers, so results differ by the rounding of float sums and one of the result.
#include <algorithm>
#include <cmath>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

template <class E>
constexpr cudnnDataType_t kType = std::is_same_v<E, __half>          ? CUDNN_DATA_HALF
                                  : std::is_same_v<E, __nv_bfloat16> ? CUDNN_DATA_BFLOAT16
                                  : std::is_same_v<E, float>         ? CUDNN_DATA_FLOAT
                                                                     : CUDNN_DATA_DOUBLE;

template <class E>
struct Typed {
  std::vector<E> data;
  cudnnTensorDescriptor_t descriptor = nullptr;

  Typed(const Sizes& sizes, bool isNhwc) : data(static_cast<size_t>(sizes.count())) {
    EXPECT_EQ(cudnnCreateTensorDescriptor(&descriptor), kGood);
    EXPECT_EQ(cudnnSetTensor4dDescriptor(descriptor, isNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, kType<E>, sizes.n,
                                         sizes.c, sizes.h, sizes.w),
              kGood);
  }
  ~Typed() { cudnnDestroyTensorDescriptor(descriptor); }
  Typed(const Typed&) = delete;
  Typed& operator=(const Typed&) = delete;
};

/// The same numbers, narrow and as doubles.
template <class E>
struct Pair {
  Typed<E> narrow;
  Typed<double> wide;

  explicit Pair(const Sizes& sizes, bool isNhwc = false) : narrow(sizes, isNhwc), wide(sizes, isNhwc) {
    for (size_t i = 0; i < narrow.data.size(); ++i) {
      narrow.data[i] = static_cast<E>(static_cast<float>(randomValue()));
      wide.data[i] = static_cast<double>(static_cast<float>(narrow.data[i]));
    }
  }
  template <class T>
  auto& of() {
    if constexpr (std::is_same_v<T, double>)
      return wide;
    else
      return narrow;
  }
  void expectSame(double epsilon) const {
    for (size_t i = 0; i < wide.data.size(); ++i)
      ASSERT_NEAR(static_cast<double>(static_cast<float>(narrow.data[i])), wide.data[i],
                  epsilon * std::max(1.0, std::abs(wide.data[i])))
          << i;
  }
};

/// Alpha and beta are floats unless the tensors are of doubles.
template <class T>
struct Scalars {
  using Scalar = std::conditional_t<std::is_same_v<T, double>, double, float>;
  Scalar one = 1, zero = 0, half = 0.5;
};

template <class E>
class CudnnHalves : public testing::Test {
 public:
  // A unit in the last place, and a little for sums in float.
  static constexpr double kEpsilon = std::is_same_v<E, __half> ? 0x1p-10 : 0x1p-7;
  /// call(T(), scalars) in both types, each of which has to succeed.
  template <class Call>
  void both(const Call& call) {
    ASSERT_EQ(call(E(), Scalars<E>()), kGood);
    ASSERT_EQ(call(double(), Scalars<double>()), kGood);
    finish();
  }
};
using Narrow = testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(CudnnHalves, Narrow);

#define OF(pair) pair.template of<T>().descriptor, pair.template of<T>().data.data()
#define DATA(pair) pair.template of<T>().data.data()

TYPED_TEST(CudnnHalves, Convolutions) {
  for (const bool isNhwc : {false, true}) {
    Pair<TypeParam> x({2, 4, 7, 6}, isNhwc), w({6, 2, 3, 2}, isNhwc), y({2, 6, 4, 4}, isNhwc), dy({2, 6, 4, 4}, isNhwc),
        dx({2, 4, 7, 6}, isNhwc), dw({6, 2, 3, 2}, isNhwc), bias({1, 6, 1, 1}), z({2, 6, 4, 4});
    cudnnConvolutionDescriptor_t d = nullptr;
    cudnnActivationDescriptor_t relu = nullptr;
    ASSERT_EQ(cudnnCreateConvolutionDescriptor(&d), kGood);
    ASSERT_EQ(cudnnSetConvolution2dDescriptor(d, 1, 1, 2, 2, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT), kGood);
    ASSERT_EQ(cudnnSetConvolutionGroupCount(d, 2), kGood);
    ASSERT_EQ(cudnnCreateActivationDescriptor(&relu), kGood);
    ASSERT_EQ(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0), kGood);
    this->both([&](auto type, auto s) {
      using T = decltype(type);
      cudnnFilterDescriptor_t f = nullptr;
      cudnnCreateFilterDescriptor(&f);
      cudnnSetFilter4dDescriptor(f, kType<T>, isNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, 6, 2, 3, 2);
      constexpr auto kAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
      EXPECT_EQ(cudnnConvolutionForward(handle(), &s.one, OF(x), f, DATA(w), d, kAlgorithm, nullptr, 0, &s.half, OF(y)),
                kGood);
      EXPECT_EQ(cudnnConvolutionBackwardData(handle(), &s.one, f, DATA(w), OF(dy), d, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
                                             nullptr, 0, &s.zero, OF(dx)),
                kGood);
      EXPECT_EQ(cudnnConvolutionBackwardFilter(handle(), &s.one, OF(x), OF(dy), d, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
                                               nullptr, 0, &s.zero, f, DATA(dw)),
                kGood);
      EXPECT_EQ(cudnnConvolutionBackwardBias(handle(), &s.one, OF(dy), &s.zero, OF(bias)), kGood);
      const auto result = cudnnConvolutionBiasActivationForward(handle(), &s.one, OF(x), f, DATA(w), d, kAlgorithm,
                                                                nullptr, 0, &s.half, OF(z), OF(bias), relu, OF(z));
      cudnnDestroyFilterDescriptor(f);
      return result;
    });
    for (const auto* each : {&y, &dx, &dw, &bias, &z}) each->expectSame(6 * this->kEpsilon);
    cudnnDestroyConvolutionDescriptor(d);
    cudnnDestroyActivationDescriptor(relu);
  }
}

TYPED_TEST(CudnnHalves, Layers) {
  const Sizes sizes{2, 3, 4, 5}, pooled{2, 3, 2, 2};
  Pair<TypeParam> x(sizes), y(sizes), dy(sizes), dx(sizes), p(pooled), dp(pooled), dxPooled(sizes), soft(sizes),
      dSoft(sizes), local(sizes);
  cudnnActivationDescriptor_t swish = nullptr;
  cudnnPoolingDescriptor_t pool = nullptr;
  cudnnLRNDescriptor_t lrn = nullptr;
  ASSERT_EQ(cudnnCreateActivationDescriptor(&swish), kGood);
  ASSERT_EQ(cudnnSetActivationDescriptor(swish, CUDNN_ACTIVATION_SWISH, CUDNN_PROPAGATE_NAN, 1), kGood);
  ASSERT_EQ(cudnnCreatePoolingDescriptor(&pool), kGood);
  ASSERT_EQ(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2), kGood);
  ASSERT_EQ(cudnnCreateLRNDescriptor(&lrn), kGood);
  this->both([&](auto type, auto s) {
    using T = decltype(type);
    EXPECT_EQ(cudnnActivationForward(handle(), swish, &s.one, OF(x), &s.zero, OF(y)), kGood);
    EXPECT_EQ(cudnnActivationBackward(handle(), swish, &s.one, OF(y), OF(dy), OF(x), &s.zero, OF(dx)), kGood);
    EXPECT_EQ(cudnnPoolingForward(handle(), pool, &s.one, OF(x), &s.zero, OF(p)), kGood);
    EXPECT_EQ(cudnnPoolingBackward(handle(), pool, &s.one, OF(p), OF(dp), OF(x), &s.zero, OF(dxPooled)), kGood);
    EXPECT_EQ(
        cudnnSoftmaxForward(handle(), CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &s.one, OF(x), &s.zero, OF(soft)),
        kGood);
    EXPECT_EQ(cudnnSoftmaxBackward(handle(), CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &s.one, OF(soft), OF(dy),
                                   &s.zero, OF(dSoft)),
              kGood);
    return cudnnLRNCrossChannelForward(handle(), lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, &s.one, OF(x), &s.zero, OF(local));
  });
  for (const auto* each : {&y, &dx, &p, &dxPooled, &soft, &dSoft, &local}) each->expectSame(8 * this->kEpsilon);
  cudnnDestroyActivationDescriptor(swish);
  cudnnDestroyPoolingDescriptor(pool);
  cudnnDestroyLRNDescriptor(lrn);
}

/// Scales, biases and statistics are floats.
TYPED_TEST(CudnnHalves, BatchNormalization) {
  const Sizes sizes{4, 3, 3, 5}, one{1, 3, 1, 1};
  Pair<TypeParam> x(sizes), y(sizes), dy(sizes), dx(sizes), z(sizes);
  Pair<float> scale(one), bias(one), mean(one), variance(one), saved(one), deviation(one), dScale(one), dBias(one);
  for (auto* statistics : {&mean, &variance}) {
    std::fill(statistics->narrow.data.begin(), statistics->narrow.data.end(), 0.0F);
    std::fill(statistics->wide.data.begin(), statistics->wide.data.end(), 0.0);
  }
  this->both([&](auto type, auto s) {
    using T = decltype(type);
    constexpr auto kMode = CUDNN_BATCHNORM_SPATIAL;
    cudnnTensorDescriptor_t derived = nullptr;
    cudnnCreateTensorDescriptor(&derived);
    EXPECT_EQ(cudnnDeriveBNTensorDescriptor(derived, x.template of<T>().descriptor, kMode), kGood);
    EXPECT_EQ(cudnnBatchNormalizationForwardTraining(handle(), kMode, &s.one, &s.zero, OF(x), OF(y), derived,
                                                     DATA(scale), DATA(bias), 1, DATA(mean), DATA(variance), 1e-3,
                                                     DATA(saved), DATA(deviation)),
              kGood);
    EXPECT_EQ(cudnnBatchNormalizationForwardInference(handle(), kMode, &s.one, &s.zero, OF(x), OF(z), derived,
                                                      DATA(scale), DATA(bias), DATA(mean), DATA(variance), 1e-3),
              kGood);
    const auto result = cudnnBatchNormalizationBackward(handle(), kMode, &s.one, &s.zero, &s.one, &s.zero, OF(x),
                                                        OF(dy), OF(dx), derived, DATA(scale), DATA(dScale), DATA(dBias),
                                                        1e-3, DATA(saved), DATA(deviation));
    cudnnDestroyTensorDescriptor(derived);
    return result;
  });
  for (const auto* each : {&y, &z, &dx}) each->expectSame(4 * this->kEpsilon);
  for (const auto* each : {&mean, &variance, &saved, &deviation, &dScale, &dBias}) each->expectSame(1e-5);
}

TYPED_TEST(CudnnHalves, SumsAndReductions) {
  const Sizes sizes{2, 3, 4, 5};
  Pair<TypeParam> a(sizes), b({1, 3, 1, 1}), c(sizes), sum({2, 1, 1, 1}), set(sizes), moved(sizes, true);
  cudnnOpTensorDescriptor_t op = nullptr;
  cudnnReduceTensorDescriptor_t reduce = nullptr;
  ASSERT_EQ(cudnnCreateOpTensorDescriptor(&op), kGood);
  ASSERT_EQ(cudnnSetOpTensorDescriptor(op, CUDNN_OP_TENSOR_MUL, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN), kGood);
  ASSERT_EQ(cudnnCreateReduceTensorDescriptor(&reduce), kGood);
  ASSERT_EQ(cudnnSetReduceTensorDescriptor(reduce, CUDNN_REDUCE_TENSOR_AVG, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                           CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES),
            kGood);
  this->both([&](auto type, auto s) {
    using T = decltype(type);
    const T value = static_cast<T>(0.75F);
    EXPECT_EQ(cudnnAddTensor(handle(), &s.one, OF(b), &s.half, OF(c)), kGood);
    EXPECT_EQ(cudnnOpTensor(handle(), op, &s.one, OF(a), &s.half, OF(b), &s.one, OF(c)), kGood);
    EXPECT_EQ(cudnnReduceTensor(handle(), reduce, nullptr, 0, nullptr, 0, &s.one, OF(a), &s.zero, OF(sum)), kGood);
    EXPECT_EQ(cudnnSetTensor(handle(), OF(set), &value), kGood);
    EXPECT_EQ(cudnnScaleTensor(handle(), OF(set), &s.half), kGood);
    return cudnnTransformTensor(handle(), &s.one, OF(a), &s.zero, OF(moved));
  });
  for (const auto* each : {&c, &sum, &set, &moved}) each->expectSame(4 * this->kEpsilon);
  EXPECT_EQ(set.wide.data[0], 0.375);
  cudnnDestroyOpTensorDescriptor(op);
  cudnnDestroyReduceTensorDescriptor(reduce);
}

}  // namespace
}  // namespace ordito::libs::cudnn
