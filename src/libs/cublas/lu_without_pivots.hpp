// LU without exchanges of rows, which LAPACK does not have and both cuBLAS and cuSOLVER do if they get no array for
// pivots.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ordito::cublas {

/// Gives the first zero pivot, counted from 1, or 0.
template <class T>
int luWithoutPivots(int64_t m, int64_t n, T* a, int64_t lda) {
  int info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    const T pivot = a[k + k * lda];
    if (pivot == T(0)) {
      if (info == 0) info = static_cast<int>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < m; ++i) a[i + k * lda] /= pivot;
    for (int64_t j = k + 1; j < n; ++j)
      for (int64_t i = k + 1; i < m; ++i) a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
  }
  return info;
}

}  // namespace ordito::cublas
