// CTC loss against the sum over all ways of saying a label; divisive normalisation, normalisation by its other names
// and the columns of a convolution against their formulas, and back against differences.
#include <cmath>
#include <numeric>

#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

/// Numbers in device memory, which is this process's.
template <class T>
class Memory {
 public:
  explicit Memory(size_t count, T value = {}) : count_(count) {
    CUdeviceptr pointer = 0;
    EXPECT_TRUE(hasContext() && cuMemAlloc(&pointer, std::max<size_t>(1, count) * sizeof(T)) == CUDA_SUCCESS);
    data = reinterpret_cast<T*>(pointer);
    std::fill_n(data, count, value);
  }
  explicit Memory(const std::vector<T>& values) : Memory(values.size()) {
    std::copy(values.begin(), values.end(), data);
  }
  ~Memory() { cuMemFree(reinterpret_cast<CUdeviceptr>(data)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::vector<T> copy() const { return {data, data + count_}; }

  T* data = nullptr;

 private:
  size_t count_;
};

constexpr float kUntouched = -7;

/// Random sequences, labels and lengths, with steps between the numbers that are not packed.
struct CtcCase {
  int steps = random(1, 5), sequences = random(1, 3), letters = random(2, 4);
  int sizes[3] = {steps, sequences, letters}, gaps[3] = {(letters + 1) * sequences, letters + 1, 1};
  std::vector<int> labels, lengths, inputs;
  size_t count = static_cast<size_t>(steps * sequences * (letters + 1));
  Memory<float> x{count}, dx{count, kUntouched}, costs{static_cast<size_t>(sequences), kUntouched};
  Memory<char> room{1};
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnCTCLossDescriptor_t d = nullptr;

  CtcCase() {
    for (int n = 0; n < sequences; ++n) {
      lengths.push_back(random(0, 3));
      inputs.push_back(random(0, steps));
      for (int i = 0; i < lengths.back(); ++i) labels.push_back(random(1, letters - 1));
    }
    for (size_t i = 0; i < count; ++i) x.data[i] = static_cast<float>(2 * randomValue());
    EXPECT_EQ(cudnnCreateTensorDescriptor(&tensor), kGood);
    EXPECT_EQ(cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_FLOAT, 3, sizes, gaps), kGood);
    EXPECT_EQ(cudnnCreateCTCLossDescriptor(&d), kGood);
    set(CUDNN_LOSS_NORMALIZATION_SOFTMAX);
  }
  ~CtcCase() {
    cudnnDestroyTensorDescriptor(tensor);
    cudnnDestroyCTCLossDescriptor(d);
  }
  void set(cudnnLossNormalizationMode_t mode, cudnnCTCGradMode_t gradients = CUDNN_CTC_ZERO_OOB_GRADIENTS) const {
    EXPECT_EQ(cudnnSetCTCLossDescriptor_v9(d, CUDNN_DATA_FLOAT, mode, gradients, 3), kGood);
  }
  cudnnStatus_t call(void* gradients) const {
    return cudnnCTCLoss(handle(), tensor, x.data, labels.data(), lengths.data(), inputs.data(), costs.data, tensor,
                        gradients, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, d, room.data, 1);
  }
  size_t at(int t, int n, int a) const { return static_cast<size_t>((int64_t{t} * sequences + n) * (letters + 1) + a); }
  std::vector<int> label(int n) const {
    const auto begin = labels.begin() + std::accumulate(lengths.begin(), lengths.begin() + n, 0);
    return {begin, begin + lengths[static_cast<size_t>(n)]};
  }
  std::vector<double> probabilities(int t, int n, bool isSoftmax) const {
    std::vector<double> all;
    for (int a = 0; a < letters; ++a) all.push_back(isSoftmax ? std::exp(x.data[at(t, n, a)]) : x.data[at(t, n, a)]);
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    for (double& one : all) one /= isSoftmax ? sum : 1;
    return all;
  }
  /// The probability of the label: all that may be said, one letter for each step, repetitions and then blanks left
  /// out.
  double likelihood(int n, bool isSoftmax) const {
    const int length = inputs[static_cast<size_t>(n)];
    std::vector<std::vector<double>> p;
    for (int t = 0; t < length; ++t) p.push_back(probabilities(t, n, isSoftmax));
    double total = 0;
    std::vector<int> said(static_cast<size_t>(length));
    for (int64_t number = 0; number < static_cast<int64_t>(std::pow(letters, length)); ++number) {
      int64_t rest = number;
      double product = 1;
      for (size_t t = 0; t < said.size(); ++t, rest /= letters)
        product *= p[t][static_cast<size_t>(said[t] = static_cast<int>(rest % letters))];
      std::vector<int> heard;
      for (size_t t = 0; t < said.size(); ++t)
        if (said[t] != 0 && (t == 0 || said[t] != said[t - 1])) heard.push_back(said[t]);
      if (heard == label(n)) total += product;
    }
    return total;
  }
  bool isPossible(int n) const { return inputs[static_cast<size_t>(n)] > 0 && likelihood(n, true) > 0; }
  /// As on a GPU an empty label costs nothing.
  double cost(int n) const {
    const size_t i = static_cast<size_t>(n);
    return lengths[i] == 0 || !isPossible(n) ? 0 : -std::log(likelihood(n, true));
  }
};

TEST(Cudnn, CtcLoss) {
  for (int round = 0; round < 60; ++round) {
    CtcCase c;
    ASSERT_EQ(c.call(c.dx.data), kGood);
    finish();
    const std::vector<float> costs = c.costs.copy(), gradient = c.dx.copy();
    for (int n = 0; n < c.sequences; ++n) ASSERT_NEAR(costs[static_cast<size_t>(n)], c.cost(n), 1e-5);
    for (int t = 0; t < c.steps; ++t)
      for (int n = 0; n < c.sequences; ++n)
        for (int a = 0; a < c.letters; ++a) {
          const size_t i = static_cast<size_t>(n), at = c.at(t, n, a);
          if (t >= c.inputs[i] || !c.isPossible(n)) {
            ASSERT_EQ(gradient[at], kUntouched);
            continue;
          }
          // Of an empty label: a GPU takes away the probability of the only path, not divided by it.
          double expected = c.probabilities(t, n, true)[static_cast<size_t>(a)] - (a == 0 ? c.likelihood(n, true) : 0);
          if (c.lengths[i] > 0) {
            const float was = c.x.data[at];
            c.x.data[at] = was + 0.01F;
            const double above = c.cost(n), high = c.x.data[at];
            c.x.data[at] = was - 0.01F;
            expected = (above - c.cost(n)) / (high - c.x.data[at]);
            c.x.data[at] = was;
          }
          ASSERT_NEAR(gradient[at], expected, 1e-4);
        }
  }
}

TEST(Cudnn, CtcLossOfLabelsOnTheDevice) {
  for (int round = 0; round < 20; ++round) {
    CtcCase c;
    const auto mode = round % 2 ? CUDNN_CTC_ZERO_OOB_GRADIENTS : CUDNN_CTC_SKIP_OOB_GRADIENTS;
    c.set(CUDNN_LOSS_NORMALIZATION_SOFTMAX, mode);
    ASSERT_EQ(c.call(c.dx.data), kGood);
    const Memory<int> labels(c.labels), lengths(c.lengths), inputs(c.inputs);
    const Memory<float> costs(static_cast<size_t>(c.sequences)), dx(c.count, kUntouched);
    ASSERT_EQ(cudnnCTCLoss_v8(handle(), CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC, c.d, c.tensor, c.x.data, labels.data,
                              lengths.data, inputs.data, costs.data, c.tensor, dx.data, 1, c.room.data),
              kGood);
    finish();
    EXPECT_EQ(costs.copy(), c.costs.copy());
    for (int t = 0; t < c.steps; ++t)
      for (int n = 0; n < c.sequences; ++n) {
        const bool isCleared = mode == CUDNN_CTC_ZERO_OOB_GRADIENTS && !c.isPossible(n);
        ASSERT_EQ(dx.data[c.at(t, n, 0)], isCleared ? 0 : c.dx.data[c.at(t, n, 0)]);
      }
  }
}

TEST(Cudnn, CtcLossOfProbabilities) {
  CtcCase c;
  c.set(CUDNN_LOSS_NORMALIZATION_NONE);
  for (size_t i = 0; i < c.count; ++i) c.x.data[i] = static_cast<float>(0.1 + std::abs(randomValue()) / 2);
  std::fill(c.inputs.begin(), c.inputs.end(), c.steps);
  ASSERT_EQ(c.call(c.dx.data), kGood);
  ASSERT_EQ(c.call(nullptr), kGood);  // costs alone
  finish();
  for (int n = 0; n < c.sequences; ++n) {
    if (c.lengths[static_cast<size_t>(n)] == 0 || !c.isPossible(n)) continue;
    ASSERT_NEAR(c.costs.data[n], -std::log(c.likelihood(n, false)), 1e-5);
    for (int t = 0; t < c.steps; ++t) {
      double sum = 0;  // each step says one letter: probability times gradient is minus a letter's part
      for (int a = 0; a < c.letters; ++a)
        if (c.dx.data[c.at(t, n, a)] < 0) sum -= c.dx.data[c.at(t, n, a)] * c.x.data[c.at(t, n, a)];
      ASSERT_NEAR(sum, 1, 1e-5);
    }
  }
}

TEST(Cudnn, CtcLossRefusesWhatTheManualNames) {
  CtcCase c;
  size_t bytes = 0;
  const auto size = [&](cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dx) {
    return cudnnGetCTCLossWorkspaceSize(handle(), x, dx, c.labels.data(), c.lengths.data(), c.inputs.data(),
                                        CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, c.d, &bytes);
  };
  const Tensor four({1, 2, 3, 4});
  cudnnTensorDescriptor_t doubles = nullptr;
  cudnnCreateTensorDescriptor(&doubles);
  cudnnSetTensorNdDescriptor(doubles, CUDNN_DATA_DOUBLE, 3, c.sizes, c.gaps);
  c.labels.resize(20);
  EXPECT_EQ(size(c.tensor, c.tensor), kGood);
  EXPECT_EQ(size(doubles, doubles), CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(size(four.descriptor, four.descriptor), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(size(c.tensor, four.descriptor), CUDNN_STATUS_BAD_PARAM);
  c.inputs[0] = c.steps + 1;
  EXPECT_EQ(c.call(c.dx.data), CUDNN_STATUS_BAD_PARAM);
  c.inputs[0] = c.steps;
  c.lengths[0] = -1;
  EXPECT_EQ(c.call(c.dx.data), CUDNN_STATUS_BAD_PARAM);
  c.lengths[0] = 1;
  c.labels[0] = c.letters;
  EXPECT_EQ(c.call(c.dx.data), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnSetCTCLossDescriptor(c.d, CUDNN_DATA_HALF), CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cudnnSetCTCLossDescriptor(c.d, CUDNN_DATA_FLOAT), kGood);
  cudnnLossNormalizationMode_t mode{};
  cudnnNanPropagation_t nan{};
  cudnnDataType_t type{};
  ASSERT_EQ(cudnnGetCTCLossDescriptorEx(c.d, &type, &mode, &nan), kGood);
  EXPECT_EQ(mode, CUDNN_LOSS_NORMALIZATION_NONE);
  cudnnDestroyTensorDescriptor(doubles);
}

TEST(Cudnn, DivisiveNormalization) {
  for (const unsigned n : {1U, 3U, 4U})
    for (const bool hasMeans : {false, true}) {
      const Sizes sizes{2, 2, random(1, 5), random(2, 6)};
      const Tensor x(sizes), y(sizes, true), means(sizes), weights(sizes), dx(sizes), dMeans(sizes), scratch(sizes);
      cudnnLRNDescriptor_t d = nullptr;
      ASSERT_EQ(cudnnCreateLRNDescriptor(&d), kGood);
      ASSERT_EQ(cudnnSetLRNDescriptor(d, n, 2, 0.75, 0.5), kGood);
      const auto forward = [&] {
        ASSERT_EQ(cudnnDivisiveNormalizationForward(handle(), d, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &kOne, x.descriptor,
                                                    x.data, hasMeans ? means.data : nullptr, scratch.data, scratch.data,
                                                    &kZero, y.descriptor, y.data),
                  kGood);
      };
      forward();
      y.expect([&](int i, int c, int h, int w) {
        double squares = 0;
        const int first = (static_cast<int>(n) - 1) / 2, size = static_cast<int>(n);
        for (int k = std::max(0, h - first); k < std::min(sizes.h, h - first + size); ++k)
          for (int l = std::max(0, w - first); l < std::min(sizes.w, w - first + size); ++l)
            squares += std::pow(x.at(i, c, k, l) - (hasMeans ? means.at(i, c, h, w) : 0), 2);
        return x.at(i, c, h, w) * std::pow(0.5 + 2 * squares / (n * n), -0.75);
      });
      ASSERT_EQ(cudnnDivisiveNormalizationBackward(handle(), d, CUDNN_DIVNORM_PRECOMPUTED_MEANS, &kOne, x.descriptor,
                                                   x.data, hasMeans ? means.data : nullptr, weights.data, scratch.data,
                                                   scratch.data, &kZero, dx.descriptor, dx.data, dMeans.data),
                kGood);
      expectGradient(x, y, weights, dx, forward);
      if (hasMeans) expectGradient(means, y, weights, dMeans, forward);
      cudnnDestroyLRNDescriptor(d);
    }
}

/// The results of both names are the same, bit by bit.
TEST(Cudnn, NormalizationIsBatchNormalization) {
  const Sizes sizes{3, 2, 2, 3}, one{1, 2, 1, 1};
  const Tensor x(sizes), z(sizes), y(sizes), again(sizes), scale(one), bias(one), mean(one), variance(one), saved(one),
      deviation(one), dy(sizes), dx(sizes), dz(sizes), dScale(one), dBias(one), other(one), otherBias(one);
  cudnnActivationDescriptor_t relu = nullptr;
  cudnnCreateActivationDescriptor(&relu);
  cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
  ASSERT_EQ(cudnnBatchNormalizationForwardTrainingEx(
                handle(), CUDNN_BATCHNORM_SPATIAL, CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION, &kOne, &kZero, x.descriptor,
                x.data, z.descriptor, z.data, y.descriptor, y.data, scale.descriptor, scale.data, bias.data, 1,
                mean.data, variance.data, 1e-3, saved.data, deviation.data, relu, nullptr, 0, nullptr, 0),
            kGood);
  const auto train = [&](int groups) {
    return cudnnNormalizationForwardTraining(handle(), CUDNN_NORM_PER_CHANNEL, CUDNN_NORM_OPS_NORM_ADD_ACTIVATION,
                                             CUDNN_NORM_ALGO_PERSIST, &kOne, &kZero, x.descriptor, x.data,
                                             scale.descriptor, scale.data, bias.data, 1, scale.descriptor, mean.data,
                                             variance.data, 1e-3, saved.data, deviation.data, relu, z.descriptor,
                                             z.data, again.descriptor, again.data, nullptr, 0, nullptr, 0, groups);
  };
  ASSERT_EQ(train(1), kGood);
  EXPECT_EQ(train(2), CUDNN_STATUS_NOT_SUPPORTED);
  again.expect([&](int n, int c, int h, int w) { return y.at(n, c, h, w); });
  const auto back = [&](const Tensor& to, const Tensor& toScale, const Tensor& toBias) {
    return cudnnNormalizationBackward(
        handle(), CUDNN_NORM_PER_CHANNEL, CUDNN_NORM_OPS_NORM_ADD_ACTIVATION, CUDNN_NORM_ALGO_STANDARD, &kOne, &kZero,
        &kOne, &kZero, x.descriptor, x.data, y.descriptor, y.data, dy.descriptor, dy.data, dz.descriptor, dz.data,
        to.descriptor, to.data, scale.descriptor, scale.data, bias.data, toScale.data, toBias.data, 1e-3,
        scale.descriptor, saved.data, deviation.data, relu, nullptr, 0, nullptr, 0, 1);
  };
  ASSERT_EQ(back(dx, dScale, dBias), kGood);
  expectGradient(bias, again, dy, dBias, [&] { ASSERT_EQ(train(1), kGood); });
  expectGradient(x, again, dy, dx, [&] { ASSERT_EQ(train(1), kGood); });
  const auto infer = [&](cudnnNormOps_t operation) {
    return cudnnNormalizationForwardInference(handle(), CUDNN_NORM_PER_CHANNEL, operation, CUDNN_NORM_ALGO_STANDARD,
                                              &kOne, &kZero, x.descriptor, x.data, scale.descriptor, scale.data,
                                              bias.data, scale.descriptor, mean.data, variance.data, nullptr, nullptr,
                                              nullptr, y.descriptor, y.data, 1e-3, 1);
  };
  EXPECT_EQ(infer(CUDNN_NORM_OPS_NORM_ACTIVATION), CUDNN_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(infer(CUDNN_NORM_OPS_NORM), kGood);
  y.expect([&](int n, int c, int h, int w) {
    return (x.at(n, c, h, w) - mean.at(0, c, 0, 0)) / std::sqrt(variance.at(0, c, 0, 0) + 1e-3) * scale.at(0, c, 0, 0) +
           bias.at(0, c, 0, 0);
  });
  ASSERT_EQ(cudnnDeriveNormTensorDescriptor(scale.descriptor, bias.descriptor, x.descriptor, CUDNN_NORM_PER_CHANNEL, 1),
            kGood);
  cudnnDestroyActivationDescriptor(relu);
}

/// A filter's products with the columns are what the convolution gives.
TEST(Cudnn, ColumnsOfAConvolution) {
  for (const auto mode : {CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION}) {
    const Tensor x({2, 2, 5, 6}, mode == CUDNN_CONVOLUTION), w({3, 2, 2, 3}), y({2, 3, 3, 4}), columns({1, 1, 12, 24});
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t d = nullptr;
    cudnnCreateFilterDescriptor(&filter);
    cudnnCreateConvolutionDescriptor(&d);
    ASSERT_EQ(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NCHW, 3, 2, 2, 3), kGood);
    ASSERT_EQ(cudnnSetConvolution2dDescriptor(d, 1, 0, 2, 1, 2, 1, mode, CUDNN_DATA_DOUBLE), kGood);
    ASSERT_EQ(cudnnIm2Col(handle(), x.descriptor, x.data, filter, d, columns.data), kGood);
    ASSERT_EQ(cudnnConvolutionForward(handle(), &kOne, x.descriptor, x.data, filter, w.data, d,
                                      CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, &kZero, y.descriptor, y.data),
              kGood);
    y.expect([&](int n, int k, int p, int q) {
      double sum = 0;
      for (int row = 0; row < 12; ++row) sum += w.data[k * 12 + row] * columns.at(0, 0, row, n * 12 + p * 4 + q);
      return sum;
    });
    EXPECT_EQ(cudnnIm2Col(handle(), x.descriptor, x.data, filter, d, nullptr), CUDNN_STATUS_BAD_PARAM);
    cudnnDestroyFilterDescriptor(filter);
    cudnnDestroyConvolutionDescriptor(d);
  }
}

TEST(Cudnn, VersionIsNotOlderThanTheHeader) {
  int major = 0, minor = 0, patch = 0;
  ASSERT_EQ(cudnnGetProperty(MAJOR_VERSION, &major), kGood);
  ASSERT_EQ(cudnnGetProperty(MINOR_VERSION, &minor), kGood);
  ASSERT_EQ(cudnnGetProperty(PATCH_LEVEL, &patch), kGood);
  EXPECT_EQ(cudnnGetVersion(), static_cast<size_t>(major * 10000 + minor * 100 + patch));
  EXPECT_EQ(major, CUDNN_MAJOR);
  EXPECT_GE(cudnnGetVersion(), static_cast<size_t>(CUDNN_VERSION));
}

}  // namespace
}  // namespace ordito::libs::cudnn
