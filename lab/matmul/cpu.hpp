// The product on the CPU: the orders of the three loops that the courses compare, in blocks, and shared by threads.
//
// In order i j k the inner loop walks down a column of B and misses the cache at nearly every step; in order i k j it
// walks along rows of B and C. Blocks keep the parts that are used again in the cache.
#pragma once

#include "context.hpp"

namespace cpu {

using Matrix = std::vector<float>;

/// i j k with an accumulator.
inline void ijkSum(const Context& m, Matrix& c) {
  const std::size_t n = m.side();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) c[i * n + j] = element(m, i, j);
  }
}

/// i j k, adding to C in place, as the matrix report has it.
inline void ijkInPlace(const Context& m, Matrix& c) {
  const std::size_t n = m.side();
  std::fill(c.begin(), c.end(), 0.0f);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) c[i * n + j] += m.a[i * n + k] * m.b[k * n + j];
    }
  }
}

/// Rows `first` up to `last` in order i k j.
inline void ikjRows(const Context& m, Matrix& c, std::size_t first, std::size_t last) {
  const std::size_t n = m.side();
  for (std::size_t i = first; i < last; ++i) {
    std::fill_n(c.begin() + static_cast<std::ptrdiff_t>(i * n), n, 0.0f);
    for (std::size_t k = 0; k < n; ++k) {
      const float x = m.a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += x * m.b[k * n + j];
    }
  }
}

inline void ikj(const Context& m, Matrix& c) { ikjRows(m, c, 0, m.side()); }

/// i k j in blocks: a part of B of kBlock x kColumns floats (128 KB) stays in the cache while all rows of A pass by.
inline void blocked(const Context& m, Matrix& c) {
  constexpr std::size_t kBlock = 64;
  constexpr std::size_t kColumns = 512;
  const std::size_t n = m.side();
  std::fill(c.begin(), c.end(), 0.0f);
  for (std::size_t k0 = 0; k0 < n; k0 += kBlock) {
    const std::size_t k1 = std::min(n, k0 + kBlock);
    for (std::size_t j0 = 0; j0 < n; j0 += kColumns) {
      const std::size_t j1 = std::min(n, j0 + kColumns);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = k0; k < k1; ++k) {
          const float x = m.a[i * n + k];
          for (std::size_t j = j0; j < j1; ++j) c[i * n + j] += x * m.b[k * n + j];
        }
      }
    }
  }
}

#ifdef _OPENMP
/// i k j with the rows shared statically. Each thread writes rows of its own, so there is no race.
inline void openMp(const Context& m, Matrix& c, int threads) {
  const int n = m.n;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int i = 0; i < n; ++i) ikjRows(m, c, static_cast<std::size_t>(i), static_cast<std::size_t>(i) + 1);
}
#endif

}  // namespace cpu
