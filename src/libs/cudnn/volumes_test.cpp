// cuDNN in three dimensions: convolutions and pooling of volumes against the sums that define them. A backward pass of
// what is linear is its adjoint: <dy, f(x)> = <f'(dy), x> for any x and dy.
#include <cmath>
#include <numeric>

#include "libs/cudnn/test_tensors.hpp"

namespace ordito::libs::cudnn {
namespace {

using Sizes5 = std::array<int, 5>;
using Place = std::array<int, 3>;

int count(const Sizes5& s) { return std::accumulate(s.begin(), s.end(), 1, std::multiplies<>()); }

/// A packed tensor of doubles.
struct Volume {
  Sizes5 sizes;
  std::vector<double> data;
  cudnnTensorDescriptor_t descriptor = nullptr;

  explicit Volume(const Sizes5& of) : sizes(of), data(static_cast<size_t>(count(of))) {
    for (double& value : data) value = randomValue();
    EXPECT_EQ(cudnnCreateTensorDescriptor(&descriptor), kGood);
    EXPECT_EQ(cudnnSetTensorNdDescriptorEx(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_DOUBLE, 5, sizes.data()), kGood);
  }
  ~Volume() { cudnnDestroyTensorDescriptor(descriptor); }
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  const double& at(int n, int c, int d, int h, int w) const {
    return data[static_cast<unsigned>((((n * sizes[1] + c) * sizes[2] + d) * sizes[3] + h) * sizes[4] + w)];
  }
  template <class Visit>
  void each(const Visit& visit) const {
    for (int i = 0; i < count(sizes); ++i) {
      int rest = i, at[5];
      for (size_t d = 5; d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
      visit(at[0], at[1], Place{at[2], at[3], at[4]}, data[static_cast<size_t>(i)]);
    }
  }
  double product(const Volume& other) const {
    return std::inner_product(data.begin(), data.end(), other.data.begin(), 0.0);
  }
};

bool isWithin(const Place& at, const Sizes5& sizes) {
  for (size_t i = 0; i < 3; ++i)
    if (at[i] < 0 || at[i] >= sizes[i + 2]) return false;
  return true;
}

Place randomPlace(int low, int high) { return {random(low, high), random(low, high), random(low, high)}; }

struct Convolution3 {
  int groups = random(1, 2), filters = groups * random(1, 2), channels = random(1, 2);
  Place window = randomPlace(1, 3), pad = randomPlace(0, 2), stride = randomPlace(1, 2), dilation = randomPlace(1, 2);
  cudnnConvolutionMode_t mode = random(0, 1) ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
  Sizes5 x{random(1, 3), groups* channels, random(5, 6), random(5, 7), random(5, 7)},
      w{filters, channels, window[0], window[1], window[2]}, y{};
  cudnnConvolutionDescriptor_t d = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;

  Convolution3() {
    EXPECT_EQ(cudnnCreateConvolutionDescriptor(&d), kGood);
    EXPECT_EQ(
        cudnnSetConvolutionNdDescriptor(d, 3, pad.data(), stride.data(), dilation.data(), mode, CUDNN_DATA_DOUBLE),
        kGood);
    EXPECT_EQ(cudnnSetConvolutionGroupCount(d, groups), kGood);
    EXPECT_EQ(cudnnCreateFilterDescriptor(&filter), kGood);
    EXPECT_EQ(cudnnSetFilterNdDescriptor(filter, CUDNN_DATA_DOUBLE, CUDNN_TENSOR_NCHW, 5, w.data()), kGood);
    const Volume input(x);
    EXPECT_EQ(cudnnGetConvolutionNdForwardOutputDim(d, input.descriptor, filter, 5, y.data()), kGood);
  }
  ~Convolution3() {
    cudnnDestroyConvolutionDescriptor(d);
    cudnnDestroyFilterDescriptor(filter);
  }

  double sum(const Volume& in, const Volume& by, int n, int k, const Place& at) const {
    double total = 0;
    by.each([&](int filter, int c, const Place& tap, double weight) {
      Place from{};
      for (size_t i = 0; i < 3; ++i) {
        const int turned = mode == CUDNN_CONVOLUTION ? window[i] - 1 - tap[i] : tap[i];
        from[i] = at[i] * stride[i] - pad[i] + turned * dilation[i];
      }
      if (filter == k && isWithin(from, x))
        total += weight * in.at(n, k / (filters / groups) * channels + c, from[0], from[1], from[2]);
    });
    return total;
  }
};

TEST(CudnnVolumes, Convolutions) {
  for (int round = 0; round < 20; ++round) {
    const Convolution3 c;
    Volume x(c.x), w(c.w), y(c.y), dy(c.y), dx(c.x), dw(c.w);
    std::fill(y.data.begin(), y.data.end(), std::nan(""));
    ASSERT_EQ(cudnnConvolutionForward(handle(), &kOne, x.descriptor, x.data.data(), c.filter, w.data.data(), c.d,
                                      CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0, &kZero, y.descriptor, y.data.data()),
              kGood);
    finish();
    y.each([&](int n, int k, const Place& at, double value) { ASSERT_NEAR(value, c.sum(x, w, n, k, at), 1e-11); });
    ASSERT_EQ(cudnnConvolutionBackwardData(handle(), &kOne, c.filter, w.data.data(), dy.descriptor, dy.data.data(), c.d,
                                           CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, nullptr, 0, &kZero, dx.descriptor,
                                           dx.data.data()),
              kGood);
    ASSERT_EQ(cudnnConvolutionBackwardFilter(handle(), &kOne, x.descriptor, x.data.data(), dy.descriptor,
                                             dy.data.data(), c.d, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, nullptr, 0,
                                             &kZero, c.filter, dw.data.data()),
              kGood);
    finish();
    EXPECT_NEAR(dx.product(x), dy.product(y), 1e-9);
    EXPECT_NEAR(dw.product(w), dy.product(y), 1e-9);
  }
}

TEST(CudnnVolumes, DescriptorsTellWhatTheyWereTold) {
  const Convolution3 c;
  int rank = 0;
  Place pad{}, stride{}, dilation{};
  cudnnConvolutionMode_t mode{};
  cudnnDataType_t type{};
  ASSERT_EQ(cudnnGetConvolutionNdDescriptor(c.d, 3, &rank, pad.data(), stride.data(), dilation.data(), &mode, &type),
            kGood);
  EXPECT_EQ(rank, 3);
  EXPECT_EQ(pad, c.pad);
  EXPECT_EQ(stride, c.stride);
  EXPECT_EQ(dilation, c.dilation);
  // Filters over three dimensions and an image of two do not go together.
  const Tensor image({1, c.x[1], 5, 5});
  int sizes[5];
  EXPECT_EQ(cudnnGetConvolutionNdForwardOutputDim(c.d, image.descriptor, c.filter, 4, sizes), CUDNN_STATUS_BAD_PARAM);
}

TEST(CudnnVolumes, Pooling) {
  for (int round = 0; round < 20; ++round) {
    const auto mode = static_cast<cudnnPoolingMode_t>(round % 4);
    const bool isMaximum = mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    const Place window = randomPlace(1, 3), stride = randomPlace(1, 3);
    Place pad{};
    for (size_t i = 0; i < 3; ++i) pad[i] = random(0, window[i] - 1);
    cudnnPoolingDescriptor_t d = nullptr;
    ASSERT_EQ(cudnnCreatePoolingDescriptor(&d), kGood);
    ASSERT_EQ(
        cudnnSetPoolingNdDescriptor(d, mode, CUDNN_NOT_PROPAGATE_NAN, 3, window.data(), pad.data(), stride.data()),
        kGood);
    Volume x({2, random(1, 2), random(3, 6), random(3, 6), random(3, 6)});
    Sizes5 out{};
    ASSERT_EQ(cudnnGetPoolingNdForwardOutputDim(d, x.descriptor, 5, out.data()), kGood);
    Volume y(out), dy(out), dx(x.sizes), change(x.sizes);
    std::fill(change.data.begin(), change.data.end(), 0);
    ASSERT_EQ(cudnnPoolingForward(handle(), d, &kOne, x.descriptor, x.data.data(), &kZero, y.descriptor, y.data.data()),
              kGood);
    ASSERT_EQ(cudnnPoolingBackward(handle(), d, &kOne, y.descriptor, y.data.data(), dy.descriptor, dy.data.data(),
                                   x.descriptor, x.data.data(), &kZero, dx.descriptor, dx.data.data()),
              kGood);
    finish();
    y.each([&](int n, int c, const Place& at, double value) {
      std::vector<const double*> seen;
      for (int i = 0; i < window[0]; ++i)
        for (int j = 0; j < window[1]; ++j)
          for (int k = 0; k < window[2]; ++k) {
            const Place in{at[0] * stride[0] - pad[0] + i, at[1] * stride[1] - pad[1] + j,
                           at[2] * stride[2] - pad[2] + k};
            if (isWithin(in, x.sizes)) seen.push_back(&x.at(n, c, in[0], in[1], in[2]));
          }
      const double all = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? double(window[0] * window[1] * window[2])
                                                                             : static_cast<double>(seen.size());
      const double grown = dy.at(n, c, at[0], at[1], at[2]);
      const double* best = seen[0];
      double sum = 0;
      for (const double* one : seen) {
        sum += *one;
        if (*one > *best) best = one;
        if (!isMaximum) change.data[static_cast<size_t>(one - x.data.data())] += grown / all;
      }
      if (isMaximum) change.data[static_cast<size_t>(best - x.data.data())] += grown;
      ASSERT_NEAR(value, isMaximum ? *best : sum / all, 1e-12);
    });
    for (size_t i = 0; i < dx.data.size(); ++i) ASSERT_NEAR(dx.data[i], change.data[i], 1e-12);
    cudnnDestroyPoolingDescriptor(d);
  }
}

}  // namespace
}  // namespace ordito::libs::cudnn
