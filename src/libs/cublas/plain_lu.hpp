// LU as LAPACK does not have it: without exchanges of rows, which cuBLAS and cuSOLVER do if they get no array for
// pivots, and with pivots that are no NaNs where there are others, as a GPU's library chooses them.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

namespace ordito::cublas {

/// Takes multiples of row k from those below; false if its pivot is 0.
template <class T>
bool eliminate(int64_t k, int64_t m, int64_t n, T* a, int64_t lda) {
  const T pivot = a[k + k * lda];
  if (pivot == T(0)) return false;
  for (int64_t i = k + 1; i < m; ++i) a[i + k * lda] /= pivot;
  for (int64_t j = k + 1; j < n; ++j)
    for (int64_t i = k + 1; i < m; ++i) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
  return true;
}

/// Gives the first zero pivot, counted from 1, or 0.
template <class T>
int luWithoutPivots(int64_t m, int64_t n, T* a, int64_t lda) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    if (!eliminate(k, m, n, a, lda) && info == 0) info = static_cast<int>(k + 1);
  }
  return info;
}

template <class T>
bool hasNaN(int64_t m, int64_t n, const T* a, int64_t lda) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      if (std::isnan(std::abs(a[i + j * lda]))) return true;
  return false;
}

/// The same with exchanges of rows, which `pivots` tell, counted from 1.
template <class T>
int luPassingNaNs(int64_t m, int64_t n, T* a, int64_t lda, int* pivots) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i) {
      const auto here = std::abs(a[i + k * lda]), there = std::abs(a[best + k * lda]);
      if (here > there || (std::isnan(there) && !std::isnan(here))) best = i;
    }
    pivots[k] = static_cast<int>(best + 1);
    for (int64_t j = 0; best != k && j < n; ++j) std::swap(a[k + j * lda], a[best + j * lda]);
    if (!eliminate(k, m, n, a, lda) && info == 0) info = static_cast<int>(k + 1);
  }
  return info;
}

}  // namespace ordito::cublas
