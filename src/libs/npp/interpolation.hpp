// NPP: pixels between pixels, as a GPU's library computes them: places, weights and sums in single precision, each
// product fused with the sum before it, and whole numbers to the nearest one, halves upwards. In which order things are
// multiplied and added was found by what an H200 answered (tests/gpu/libraries/npp.cu), to the last bit.
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
  std::span<const float> weights;
};

/// What an interpolation takes around a place.
class Taps {
 public:
  Taps(float at, int interpolation) {
    const float below = std::floor(at), rest = at - below;
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
  static constexpr size_t kLanczosLobes = 3, kLanczosSteps = 100;

  /// The polynomial of third degree through four pixels (Lagrange), not a convolution. The distance from the first one
  /// is rounded, and the other three are counted from there.
  void throughFour(float rest) {
    const float a = rest + 1, t = a - 1, b = a - 2, c = a - 3;
    --first_, count_ = 4;
    weights_ = {t * b * (c / -6), a * b * c / 2, a * t * c / -2, a / 6 * t * b};
  }
  /// Of three lobes; the weights' sum is 1.
  void lanczos(double rest) {
    first_ -= 2, count_ = 6;
    std::array<double, 6> values{};
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) sum += values[i] = lanczosBetween(std::abs(rest + 2 - static_cast<double>(i)));
    for (size_t i = 0; i < count_; ++i) weights_[i] = static_cast<float>(values[i] / sum);
  }
  /// By a table of 100 steps for each pixel, with lines between them.
  static double lanczosBetween(double distance) {
    static const std::array<double, kLanczosLobes * kLanczosSteps + 2> table = lanczosTable();
    const double below = std::floor(distance * kLanczosSteps), rest = distance * kLanczosSteps - below;
    const auto step = static_cast<size_t>(below);
    return std::lerp(table[step], table[step + 1], rest);
  }
  static std::array<double, kLanczosLobes * kLanczosSteps + 2> lanczosTable() {
    std::array<double, kLanczosLobes * kLanczosSteps + 2> table{1};
    for (size_t step = 1; step < kLanczosLobes * kLanczosSteps; ++step) {
      const double x = std::numbers::pi * (static_cast<double>(step) / kLanczosSteps);
      table[step] = kLanczosLobes * std::sin(x) * std::sin(x / kLanczosLobes) / (x * x);
    }
    return table;
  }

  int first_;
  size_t count_ = 1;
  std::array<float, 6> weights_{1};
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

/// Whole numbers of 32 bits do not fit into single precision.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 4, double, float>;

/// The sum of `value(i)` with these weights. Along a row the first product is fused with the second one, along a column
/// the other way round; nothing else differs.
template <class Real, bool isRow>
Real weighted(std::span<const float> weights, auto value) {
  if (weights.size() == 1) return value(size_t{0}) * weights[0];
  constexpr size_t kFused = isRow ? 0 : 1, kRounded = 1 - kFused;
  Real sum = std::fma(value(kFused), Real{weights[kFused]}, value(kRounded) * weights[kRounded]);
  for (size_t i = 2; i < weights.size(); ++i) sum = std::fma(value(i), Real{weights[i]}, sum);
  return sum;
}

template <class T>
T interpolated(Image<const T> from, const Edges& edges, Neighbours columns, Neighbours rows, int channels,
               int channel) {
  using Real = Total<T>;
  const bool isLinear = rows.weights.size() == 2;
  const auto ofRow = [&](size_t j) {
    const T* const row = from.row(std::clamp(rows.first + static_cast<int>(j), edges.top, edges.bottom));
    return weighted<Real, true>(columns.weights, [&](size_t i) {
      const int x = std::clamp(columns.first + static_cast<int>(i), edges.left, edges.right);
      return static_cast<Real>(row[x * channels + channel]);
    });
  };
  return nearest<T>(isLinear ? weighted<Real, true>(rows.weights, ofRow) : weighted<Real, false>(rows.weights, ofRow));
}

}  // namespace ordito::libs::npp
