// What the tests of NPP share: images of random pixels, sizes and steps, which end where device memory does, so that a
// pixel too far is a fault.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "libs/stream_task.hpp"
#include "npp.h"

namespace ordito::libs::npp {

inline std::mt19937& generator() {
  static std::mt19937 g(11);
  return g;
}
inline int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator()); }

/// An image of device memory, which is this process's, with random pixels.
template <class T>
class TestImage {
 public:
  TestImage(NppiSize size, int channels, int low = 0, int high = 255) : size_(size), channels_(channels) {
    width_ = std::max(1, size.width * channels);
    step_ = static_cast<int>(sizeof(T)) * (width_ + random(0, 5));
    const size_t bytes = static_cast<size_t>(step_) * static_cast<size_t>(std::max(1, size.height));
    CUdeviceptr pointer = 0;
    EXPECT_TRUE(hasContext() && cuMemAlloc(&pointer, bytes) == CUDA_SUCCESS);
    data_ = reinterpret_cast<T*>(pointer);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < width_; ++x) row(y)[x] = static_cast<T>(random(low, high));
  }
  ~TestImage() { cuMemFree(reinterpret_cast<CUdeviceptr>(data_)); }
  TestImage(const TestImage&) = delete;
  TestImage& operator=(const TestImage&) = delete;

  T* data() const { return data_; }
  int step() const { return step_; }
  NppiSize size() const { return size_; }
  T* row(int y) const {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(data_) + static_cast<ptrdiff_t>(y) * step_);
  }
  T at(int x, int y, int channel = 0) const { return row(y)[x * channels_ + channel]; }
  T clamped(int x, int y, int channel = 0) const {
    return at(std::clamp(x, 0, size_.width - 1), std::clamp(y, 0, size_.height - 1), channel);
  }

  /// Equal to what `expected` says of each number, within `error`.
  void expect(const std::function<double(int x, int y, int channel)>& expected, double error = 0) const {
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x)
        for (int c = 0; c < channels_; ++c)
          ASSERT_NEAR(static_cast<double>(at(x, y, c)), expected(x, y, c), error) << x << ' ' << y << ' ' << c;
  }

 private:
  NppiSize size_;
  int channels_, width_ = 0, step_ = 0;
  T* data_ = nullptr;
};

inline constexpr NppiSize kSizes[] = {{0, 0}, {0, 3}, {1, 1}, {17, 1}, {1, 19}, {33, 35}, {64, 48}};
inline constexpr auto kGood = NPP_SUCCESS;

inline NppStreamContext context() {
  NppStreamContext c{};
  EXPECT_EQ(nppGetStreamContext(&c), kGood);
  return c;
}

}  // namespace ordito::libs::npp
