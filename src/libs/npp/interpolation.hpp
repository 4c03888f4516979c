// NPP: pixels between pixels, as a GPU's library computes them: places in single precision, whole numbers to the
// nearest one, halves upwards.
#pragma once

#include <array>
#include <numbers>
#include <span>

#include "libs/npp/image.hpp"
#include "nppi_geometry_transforms.h"

namespace ordito::libs::npp {

/// Pixels from `first` on of one direction and their weights.
struct Neighbours {
  int first;
  std::span<const double> weights;
};

/// What an interpolation takes around a place.
class Taps {
 public:
  Taps(float at, int interpolation) {
    const float below = std::floor(at);
    const double rest = at - below;
    first_ = static_cast<int>(below);
    switch (interpolation) {
      case NPPI_INTER_LINEAR: count_ = 2, weights_ = {1 - rest, rest}; break;
      case NPPI_INTER_CUBIC: throughFour(rest); break;
      case NPPI_INTER_LANCZOS: lanczos(rest); break;
      default: first_ = static_cast<int>(std::floor(at + 0.5F));
    }
  }
  Neighbours neighbours() const { return {first_, {weights_.data(), count_}}; }

 private:
  /// The polynomial of third degree through four pixels (Lagrange), not a convolution.
  void throughFour(double t) {
    --first_, count_ = 4;
    weights_ = {-t * (t - 1) * (t - 2) / 6, (t * t - 1) * (t - 2) / 2, -t * (t + 1) * (t - 2) / 2, t * (t * t - 1) / 6};
  }
  /// Of three lobes; the weights' sum is 1.
  void lanczos(double t) {
    first_ -= 2, count_ = 6;
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) {
      const double d = t + 2 - static_cast<double>(i), x = std::numbers::pi * d;
      weights_[i] = d == 0 ? 1 : std::abs(d) < 3 ? 3 * std::sin(x) * std::sin(x / 3) / (x * x) : 0;
      sum += weights_[i];
    }
    for (double& weight : weights_) weight /= sum;
  }

  int first_;
  size_t count_ = 1;
  std::array<double, 6> weights_{1};
};

/// The outermost pixels that interpolations take; they stand for those beyond.
struct Edges {
  int left, top, right, bottom;
};

template <class T>
T nearest(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  if constexpr (sizeof(T) <= 2) value = static_cast<float>(value);
  return saturate<T>(std::floor(value + 0.5));
}

template <class T>
T interpolated(Image<const T> from, const Edges& edges, Neighbours columns, Neighbours rows, int channels,
               int channel) {
  double sum = 0;
  for (size_t j = 0; j < rows.weights.size(); ++j) {
    const T* const row = from.row(std::clamp(rows.first + static_cast<int>(j), edges.top, edges.bottom));
    for (size_t i = 0; i < columns.weights.size(); ++i) {
      const int x = std::clamp(columns.first + static_cast<int>(i), edges.left, edges.right);
      sum += rows.weights[j] * columns.weights[i] * static_cast<double>(row[x * channels + channel]);
    }
  }
  return nearest<T>(sum);
}

}  // namespace ordito::libs::npp
