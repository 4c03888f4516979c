// What the matrix products work on, and how a product is judged.
//
// The elements are small integers, so every sum is exact in float and the answer has no rounding to argue about. It is
// verified completely: up to n = 256 against the sequential product, beyond that by Freivalds' check in integers
// (C*r = A*(B*r) for three random vectors r; a wrong C passes one with probability at most 1/1000) and by 64 whole
// elements besides.
#pragma once

#include <cstdint>

#include "../common/output.hpp"

constexpr std::size_t kLargestSize = 16384;
constexpr std::size_t kFullCheckSize = 256;

class Random {
 public:
  unsigned next() {
    return static_cast<unsigned>((state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL) >> 33);
  }

 private:
  std::uint64_t state_ = 42;
};

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        n(static_cast<int>(given.size)),
        a(elements()),
        b(elements()),
        c(elements()),
        deviceA(elements()),
        deviceB(elements()),
        deviceC(elements()) {
    Random random;
    for (float& x : a) x = static_cast<float>(random.next() % 9) - 4;
    for (float& x : b) x = static_cast<float>(random.next() % 9) - 4;
    upload();
  }

  void upload() {
    deviceA.upload(a.data(), elements());
    deviceB.upload(b.data(), elements());
  }

  std::size_t side() const { return static_cast<std::size_t>(n); }
  std::size_t elements() const { return side() * side(); }

  const lab::Options& options;
  int n;
  std::vector<float> a, b, c;
  lab::DeviceArray<float> deviceA, deviceB, deviceC;
};

// ------------------------------------------------------------------------------------------------------ references

/// y = M * x in 64-bit integers.
inline std::vector<std::int64_t> times(const std::vector<float>& matrix, const std::vector<std::int64_t>& x) {
  const std::size_t n = x.size();
  std::vector<std::int64_t> y(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += static_cast<std::int64_t>(matrix[i * n + j]) * x[j];
    y[i] = sum;
  }
  return y;
}

inline float element(const Context& m, std::size_t i, std::size_t j) {
  const std::size_t n = m.side();
  float sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += m.a[i * n + k] * m.b[k * n + j];
  return sum;
}

inline bool wholeProductRight(const Context& m) {
  const std::size_t n = m.side();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (m.c[i * n + j] != element(m, i, j)) return false;
    }
  }
  return true;
}

/// A float that is no integer in the possible range cannot be an element of C, and must not reach the integer check.
inline bool isPlausible(float x, float bound) {
  return x >= -bound && x <= bound && x == static_cast<float>(static_cast<std::int64_t>(x));
}

inline bool freivaldsRight(const Context& m) {
  const std::size_t n = m.side();
  for (const float x : m.c) {
    if (!isPlausible(x, 16.0f * static_cast<float>(n))) return false;
  }
  Random random;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::int64_t> r(n);
    for (std::int64_t& x : r) x = random.next() % 1000;
    if (times(m.c, r) != times(m.a, times(m.b, r))) return false;
  }
  for (int sample = 0; sample < 64; ++sample) {
    const std::size_t i = random.next() % n;
    const std::size_t j = random.next() % n;
    if (m.c[i * n + j] != element(m, i, j)) return false;
  }
  return true;
}

inline void judge(const Context& m, lab::Measurement& row) {
  const double n = m.n;
  row.flops = 2 * n * n * n;
  const bool right = static_cast<std::size_t>(m.n) <= kFullCheckSize ? wholeProductRight(m) : freivaldsRight(m);
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}
