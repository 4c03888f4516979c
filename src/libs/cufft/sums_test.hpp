// Random numbers, and the sums that define a Fourier transform, in double: what tests compare with.
#pragma once

#include <complex>
#include <numbers>
#include <random>
#include <vector>

namespace ordito::cufft::test {

using Wide = std::complex<double>;

inline std::mt19937& generator() {
  static std::mt19937 engine(1);
  return engine;
}
inline int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator()); }

/// The sums along one dimension of `size` elements, `stride` apart, `outer` times.
inline std::vector<Wide> along(const std::vector<Wide>& x, int size, int stride, int sign) {
  std::vector<Wide> turns(static_cast<size_t>(size)), y(x.size());
  for (int k = 0; k < size; ++k)
    turns[static_cast<size_t>(k)] = std::polar(1.0, sign * 2 * std::numbers::pi * k / size);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t k = i / static_cast<size_t>(stride) % static_cast<size_t>(size);
    const size_t first = i - k * static_cast<size_t>(stride);
    for (size_t j = 0; j < static_cast<size_t>(size); ++j)
      y[i] += x[first + j * static_cast<size_t>(stride)] * turns[j * k % static_cast<size_t>(size)];
  }
  return y;
}

inline std::vector<Wide> reference(std::vector<Wide> x, const std::vector<int>& n, int sign) {
  int stride = 1;
  for (size_t d = n.size(); d-- > 0; stride *= n[d]) x = along(x, n[d], stride, sign);
  return x;
}

inline int product(const std::vector<int>& n) {
  int all = 1;
  for (const int size : n) all *= size;
  return all;
}

}  // namespace ordito::cufft::test
