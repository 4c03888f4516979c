// Systems with three or five diagonals: one matrix with many right sides, and batches, one after another in memory or
// interleaved.
//
// Gaussian elimination on the band; with pivots a row moves up by as many places as the band is wide at most, so the
// band above the diagonal becomes twice as wide (Golub and Van Loan, "Matrix Computations", 4.3.4).
#include <cmath>

#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {
namespace {

/// A matrix with `half` diagonals on each side of the main one. A row has the columns from row - half to row + 2 half.
template <class T>
class Band {
 public:
  Band(int size, int half)
      : size_(size), half_(half), cells_(static_cast<size_t>(size) * static_cast<size_t>(3 * half + 1)) {}

  T& at(int row, int column) {
    return cells_[static_cast<size_t>(row) * static_cast<size_t>(3 * half_ + 1) +
                  static_cast<size_t>(column - row + half_)];
  }

  /// right(i, j): the right sides, which become the solutions. Without pivots a 0 on the diagonal is divided by.
  template <class Right>
  void solve(bool hasPivots, int columns, const Right& right) {
    for (int step = 0; step < size_; ++step) eliminate(step, hasPivots, columns, right);
    for (int row = size_ - 1; row >= 0; --row)
      for (int j = 0; j < columns; ++j) {
        T sum = right(row, j);
        for (int k = row + 1; k <= std::min(size_ - 1, row + 2 * half_); ++k) sum -= multiply(at(row, k), right(k, j));
        right(row, j) = sum / at(row, row);
      }
  }

 private:
  template <class Right>
  void eliminate(int step, bool hasPivots, int columns, const Right& right) {
    const int last = std::min(size_ - 1, step + half_), widest = std::min(size_ - 1, step + 2 * half_);
    int pivot = step;
    for (int row = step + 1; hasPivots && row <= last; ++row)
      if (std::abs(at(row, step)) > std::abs(at(pivot, step))) pivot = row;
    if (pivot != step) {
      for (int k = step; k <= widest; ++k) std::swap(at(step, k), at(pivot, k));
      for (int j = 0; j < columns; ++j) std::swap(right(step, j), right(pivot, j));
    }
    for (int row = step + 1; row <= last; ++row) {
      if (at(row, step) == T(0)) continue;
      const T factor = at(row, step) / at(step, step);
      for (int k = step + 1; k <= widest; ++k) at(row, k) -= multiply(factor, at(step, k));
      for (int j = 0; j < columns; ++j) right(row, j) -= multiply(factor, right(step, j));
    }
  }

  int size_, half_;
  std::vector<T> cells_;
};

/// The diagonals of a system: element i of each is diagonal[i * step], from the lowest one up.
template <class T>
Band<T> bandOf(int m, std::initializer_list<const T*> diagonals, int64_t step) {
  const int half = static_cast<int>(diagonals.size()) / 2;
  Band<T> band(m, half);
  int distance = -half;
  for (const T* diagonal : diagonals) {
    for (int i = 0; i < m; ++i)
      if (i + distance >= 0 && i + distance < m) band.at(i, i + distance) = diagonal[i * step];
    ++distance;
  }
  return band;
}

template <class T>
cusparseStatus_t solveOne(cusparseHandle_t handle, bool hasPivots, int m, int n, const T* lower, const T* middle,
                          const T* upper, T* b, int leading) {
  ORDITO_HANDLE(handle);
  // The manual wants three rows at least.
  ORDITO_CHECK(m >= 3 && n >= 0 && leading >= m && lower && middle && upper && (n == 0 || b));
  return submit(handle, "cusparse gtsv2", [=] {
    Band<T> band = bandOf(m, {lower, middle, upper}, 1);
    band.solve(hasPivots, n, [=](int i, int j) -> T& { return b[i + static_cast<int64_t>(j) * leading]; });
  });
}

template <class T>
cusparseStatus_t solveStrided(cusparseHandle_t handle, int m, const T* lower, const T* middle, const T* upper, T* x,
                              int count, int stride) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 3 && count >= 0 && stride >= m && lower && middle && upper && x);
  return submit(handle, "cusparse gtsv2StridedBatch", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      const int64_t from = static_cast<int64_t>(i) * stride;
      Band<T> band = bandOf(m, {lower + from, middle + from, upper + from}, 1);
      band.solve(false, 1, [=](int row, int) -> T& { return x[from + row]; });
    });
  });
}

template <class T, class... Diagonals>
cusparseStatus_t solveInterleaved(cusparseHandle_t handle, bool hasPivots, int m, T* x, int count,
                                  Diagonals... diagonals) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 1 && count >= 0 && x && (diagonals && ...));
  return submit(handle, "cusparse InterleavedBatch", [=] {
    libs::parallelFor(static_cast<unsigned>(count), [&](unsigned i) {
      Band<T> band = bandOf<T>(m, {(diagonals + i)...}, count);
      band.solve(hasPivots, 1, [=](int row, int) -> T& { return x[static_cast<int64_t>(row) * count + i]; });
    });
  });
}

cusparseStatus_t tellSize(cusparseHandle_t handle, bool isRight, size_t* size) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(isRight);
  return tellBufferSize(size);
}

}  // namespace

extern "C" {

#define DEFINE_ONE(L, T, name, hasPivots)                                                                       \
  cusparseStatus_t cusparse##L##name##_bufferSizeExt(cusparseHandle_t handle, int m, int n, const T*, const T*, \
                                                     const T*, const T*, int leading, size_t* size) {           \
    return tellSize(handle, m >= 3 && n >= 0 && leading >= m, size);                                            \
  }                                                                                                             \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, int m, int n, const T* lower, const T* middle,    \
                                     const T* upper, T* b, int leading, void*) {                                \
    return solveOne(handle, hasPivots, m, n, in(lower), in(middle), in(upper), in(b), leading);                 \
  }
// Without a buffer, as in CUDA 10 and before.
#define DEFINE_OLD(L, T, name, hasPivots)                                                                    \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, int m, int n, const T* lower, const T* middle, \
                                     const T* upper, T* b, int leading) {                                    \
    return solveOne(handle, hasPivots, m, n, in(lower), in(middle), in(upper), in(b), leading);              \
  }
// Of the algorithms of gtsvInterleavedBatch only the first, Thomas's, is without pivots.
#define DEFINE(L, T)                                                                                                  \
  DEFINE_ONE(L, T, gtsv2, true)                                                                                       \
  DEFINE_ONE(L, T, gtsv2_nopivot, false)                                                                              \
  DEFINE_OLD(L, T, gtsv, true)                                                                                        \
  DEFINE_OLD(L, T, gtsv_nopivot, false)                                                                               \
  cusparseStatus_t cusparse##L##gtsvStridedBatch(cusparseHandle_t handle, int m, const T* lower, const T* middle,     \
                                                 const T* upper, T* x, int count, int stride) {                       \
    return solveStrided(handle, m, in(lower), in(middle), in(upper), in(x), count, stride);                           \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##gtsv2StridedBatch_bufferSizeExt(                                                      \
      cusparseHandle_t handle, int m, const T*, const T*, const T*, const T*, int count, int stride, size_t* size) {  \
    return tellSize(handle, m >= 3 && count >= 0 && stride >= m, size);                                               \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##gtsv2StridedBatch(cusparseHandle_t handle, int m, const T* lower, const T* middle,    \
                                                  const T* upper, T* x, int count, int stride, void*) {               \
    return solveStrided(handle, m, in(lower), in(middle), in(upper), in(x), count, stride);                           \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##gtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m,     \
                                                                   const T*, const T*, const T*, const T*, int count, \
                                                                   size_t* size) {                                    \
    return tellSize(handle, algorithm >= 0 && algorithm <= 2 && m >= 1 && count >= 0, size);                          \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##gtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, T* lower,         \
                                                     T* middle, T* upper, T* x, int count, void*) {                   \
    ORDITO_HANDLE(handle);                                                                                            \
    ORDITO_CHECK(algorithm >= 0 && algorithm <= 2);                                                                   \
    return solveInterleaved(handle, algorithm != 0, m, in(x), count, in(lower), in(middle), in(upper));               \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##gpsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m,     \
                                                                   const T*, const T*, const T*, const T*, const T*,  \
                                                                   const T*, int count, size_t* size) {               \
    return tellSize(handle, algorithm == 0 && m >= 1 && count >= 0, size);                                            \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##gpsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, T* lowest,        \
                                                     T* lower, T* middle, T* upper, T* uppermost, T* x, int count,    \
                                                     void*) {                                                         \
    ORDITO_HANDLE(handle);                                                                                            \
    ORDITO_CHECK(algorithm == 0);                                                                                     \
    return solveInterleaved(handle, true, m, in(x), count, in(lowest), in(lower), in(middle), in(upper),              \
                            in(uppermost));                                                                           \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE
#undef DEFINE_OLD
#undef DEFINE_ONE

}  // extern "C"
}  // namespace ordito::cusparse
