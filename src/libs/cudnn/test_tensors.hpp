// What the tests of cuDNN share: tensors with random numbers, and gradients by differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "cudnn.h"
#include "libs/stream_task.hpp"

namespace ordito::libs::cudnn {

inline constexpr auto kGood = CUDNN_STATUS_SUCCESS;

inline std::mt19937& generator() {
  static std::mt19937 g(5);
  return g;
}
inline int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator()); }
inline double randomValue() { return std::uniform_real_distribution<double>(-1, 1)(generator()); }

inline cudnnHandle_t handle() {
  static cudnnHandle_t const h = [] {
    cudnnHandle_t made = nullptr;
    EXPECT_EQ(cudnnCreate(&made), kGood);
    return made;
  }();
  return h;
}
inline void finish() { ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS); }

struct Sizes {
  int n, c, h, w;
  int count() const { return n * c * h * w; }
};

/// A tensor of doubles in device memory, which is this process's, in either layout.
class Tensor {
 public:
  explicit Tensor(Sizes sizes, bool isNhwc = false) : sizes_(sizes), isNhwc_(isNhwc) {
    EXPECT_EQ(cudnnCreateTensorDescriptor(&descriptor), kGood);
    const auto format = isNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    EXPECT_EQ(cudnnSetTensor4dDescriptor(descriptor, format, CUDNN_DATA_DOUBLE, sizes.n, sizes.c, sizes.h, sizes.w),
              kGood);
    CUdeviceptr pointer = 0;
    EXPECT_TRUE(hasContext() &&
                cuMemAlloc(&pointer, static_cast<size_t>(sizes.count()) * sizeof(double)) == CUDA_SUCCESS);
    data = reinterpret_cast<double*>(pointer);
    for (int i = 0; i < sizes.count(); ++i) data[i] = randomValue();
  }
  ~Tensor() {
    cudnnDestroyTensorDescriptor(descriptor);
    cuMemFree(reinterpret_cast<CUdeviceptr>(data));
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  double& at(int n, int c, int h, int w) const {
    const auto [images, channels, height, width] = sizes_;
    return isNhwc_ ? data[((n * height + h) * width + w) * channels + c]
                   : data[((n * channels + c) * height + h) * width + w];
  }
  Sizes sizes() const { return sizes_; }
  void fill(double value) const { std::fill_n(data, sizes_.count(), value); }
  std::vector<double> copy() const { return {data, data + sizes_.count()}; }
  void forEach(const std::function<void(int, int, int, int)>& visit) const {
    for (int n = 0; n < sizes_.n; ++n)
      for (int c = 0; c < sizes_.c; ++c)
        for (int h = 0; h < sizes_.h; ++h)
          for (int w = 0; w < sizes_.w; ++w) visit(n, c, h, w);
  }
  void expect(const std::function<double(int, int, int, int)>& value) const {
    finish();
    forEach([&](int n, int c, int h, int w) { ASSERT_NEAR(at(n, c, h, w), value(n, c, h, w), 1e-11); });
  }

  cudnnTensorDescriptor_t descriptor = nullptr;
  double* data = nullptr;

 private:
  Sizes sizes_;
  bool isNhwc_;
};

inline constexpr double kOne = 1, kZero = 0;

/// The gradient of sum(weights * y) by the numbers at `x`, by differences, is what the backward pass wrote to `dx`.
inline void expectGradient(const Tensor& x, const Tensor& y, const Tensor& weights, const Tensor& dx,
                           const std::function<void()>& forward) {
  finish();
  const auto loss = [&] {
    forward();
    cuStreamSynchronize(nullptr);
    double sum = 0;
    y.forEach([&](int n, int c, int h, int w) { sum += y.at(n, c, h, w) * weights.at(n, c, h, w); });
    return sum;
  };
  constexpr double kStep = 1e-6;
  x.forEach([&](int n, int c, int h, int w) {
    double& value = x.at(n, c, h, w);
    const double was = value;
    value = was + kStep;
    const double above = loss();
    value = was - kStep;
    const double below = loss();
    value = was;
    ASSERT_NEAR(dx.at(n, c, h, w), (above - below) / (2 * kStep), 1e-6) << n << ' ' << c << ' ' << h << ' ' << w;
  });
}

}  // namespace ordito::libs::cudnn
