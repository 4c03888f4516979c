// What the convolutions work on, and the loops they are judged by: a signal of small whole numbers (so that floats are
// exact), the three channels of an image, and masks that are not symmetric (so that a mask not turned round shows).
#pragma once

#include "../common/image.hpp"
#include "../common/output.hpp"
#include "border.hpp"
#include "picture.cuh"

struct Mask {
  int radius = 0;
  int divisor = 1;
  std::vector<int> weights;  // (2 radius + 1)^2 of a picture's, 2 radius + 1 of a signal's

  int side() const { return 2 * radius + 1; }
};

/// Weights -2 ... 4 without symmetry.
inline Mask crookedMask(int radius, bool picture) {
  Mask mask{radius, 1, {}};
  const int length = picture ? mask.side() * mask.side() : mask.side();
  int sum = 0;
  for (int k = 0; k < length; ++k) {
    mask.weights.push_back((k * 5 + k / 3) % 7 - 2);
    sum += mask.weights.back();
  }
  if (picture && sum > 1) mask.divisor = sum;
  return mask;
}

/// The row 1 4 6 4 1 ... of Pascal's triangle: a blur whose square mask is the product of a column and a row.
inline Mask binomialRow(int radius) {
  Mask mask{radius, 1, {1}};
  for (int k = 0; k < 2 * radius; ++k) {
    mask.weights.push_back(0);
    for (std::size_t i = mask.weights.size() - 1; i > 0; --i) mask.weights[i] += mask.weights[i - 1];
  }
  mask.divisor = 1 << 4 * radius;
  return mask;
}

inline Mask binomialSquare(int radius) {
  const Mask row = binomialRow(radius);
  Mask mask{radius, row.divisor, {}};
  for (const int a : row.weights) {
    for (const int b : row.weights) mask.weights.push_back(a * b);
  }
  return mask;
}

using Plane = std::vector<unsigned char>;

struct Context {
  Context(const lab::Options& given, lab::Image picture)
      : options(given),
        n(static_cast<int>(given.size)),
        image(std::move(picture)),
        x(given.size),
        y(given.size),
        deviceX(given.size),
        deviceY(given.size),
        planes(3, Plane(image.pixels())),
        results(3, Plane(image.pixels())),
        devicePlanes(3 * image.pixels()),
        deviceResults(3 * image.pixels()) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 31) - 15;
    for (std::size_t i = 0; i < image.rgb.size(); ++i) planes[i % 3][i / 3] = image.rgb[i];
    deviceX.upload(x.data(), x.size());
    for (unsigned channel = 0; channel < 3; ++channel) {
      if (image.pixels() == 0) break;
      LAB_CHECK(cudaMemcpy(plane(channel), planes[channel].data(), image.pixels(), cudaMemcpyHostToDevice));
    }
  }

  int width() const { return static_cast<int>(image.width); }
  int height() const { return static_cast<int>(image.height); }
  unsigned char* plane(unsigned channel) { return devicePlanes.get() + channel * image.pixels(); }
  unsigned char* resultPlane(unsigned channel) { return deviceResults.get() + channel * image.pixels(); }

  const lab::Options& options;
  int n;
  lab::Image image;
  std::vector<float> x, y;
  lab::DeviceArray<float> deviceX, deviceY;
  std::vector<Plane> planes, results;
  lab::DeviceArray<unsigned char> devicePlanes, deviceResults;
};

namespace reference {

template <Border Policy>
void signal(const std::vector<float>& x, const Mask& mask, std::vector<float>& y) {
  const int n = static_cast<int>(x.size());
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < mask.side(); ++k) {
      const int from = insideIndex<Policy>(i + mask.radius - k, n);
      if (from >= 0)
        sum += static_cast<float>(mask.weights[static_cast<std::size_t>(k)]) * x[static_cast<std::size_t>(from)];
    }
    y[static_cast<std::size_t>(i)] = sum;
  }
}

template <Border Policy>
void picture(const Plane& x, int height, int width, const Mask& mask, Plane& y) {
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      int sum = 0;
      for (int i = 0; i < mask.side(); ++i) {
        for (int j = 0; j < mask.side(); ++j) {
          sum += mask.weights[static_cast<std::size_t>(i * mask.side() + j)] *
                 sampleOf<Policy>(x.data(), row + mask.radius - i, column + mask.radius - j, height, width);
        }
      }
      y[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)] =
          toSample(sum, mask.divisor);
    }
  }
}

}  // namespace reference
