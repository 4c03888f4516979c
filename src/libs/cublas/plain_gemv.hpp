// A matrix times a vector by loops of Ordito's own, as quick as memory: OpenBLAS's read past the end of their operands,
// where device memory may end.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "libs/cublas/vectors.hpp"
#include "libs/stream_task.hpp"

namespace ordito::cublas {

/// As many numbers as a line of the cache has.
template <class T>
using Line [[gnu::vector_size(64)]] = T;

/// total += A x for `count` rows from `a` on, columns together of which each is asked for ahead: what a processor sees
/// by itself are a few streams of reads, and not behind the end of a page.
template <int kTogether, class T>
[[gnu::always_inline]] inline void addRealColumns(int64_t count, const T* a, int64_t lda, const T* x, T* total) {
  constexpr int64_t kStep = 64 / sizeof(T), kAhead = 16 * kStep;
  T factors[kTogether];  // of which the compiler knows that no total lies there
  std::copy_n(x, kTogether, factors);
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    Line<T> sum, column;
    std::memcpy(&sum, total + i, sizeof(sum));
    for (int k = 0; k < kTogether; ++k) {
      const T* const from = a + k * lda + i;
      __builtin_prefetch(from + kAhead, 0, 3);
      std::memcpy(&column, from, sizeof(column));
      sum = column * factors[k] + sum;
    }
    std::memcpy(total + i, &sum, sizeof(sum));
  }
  for (; i < count; ++i)
    for (int k = 0; k < kTogether; ++k) total[i] = a[k * lda + i] * factors[k] + total[i];
}

template <class T>
void addColumns(int64_t count, int64_t n, const T* a, int64_t lda, const T* x, T* total) {
  withVectors([=] {
    int64_t j = 0;
    if constexpr (!kIsComplex<T>)
      for (; j + 4 <= n; j += 4) addRealColumns<4>(count, a + j * lda, lda, x + j, total);
    for (; j < n; ++j) {
      const T *column = a + j * lda, factor = x[j];
      for (int64_t i = 0; i < count; ++i) total[i] += multiply(factor, column[i]);
    }
  });
}

/// The product of a column, or its conjugate, and x.
template <bool Conjugate, class T>
T columnTimes(int64_t m, const T* column, const T* x) {
  return sumOfChunk<T>(0, m, [=](int64_t i) { return multiply(conjugateIf<Conjugate>(column[i]), x[i]); });
}

/// The products of four columns of real numbers and x: four streams from memory, and x is loaded once for all.
template <class T>
void fourColumnsTimes(int64_t m, const T* a, int64_t lda, const T* x, T* totals) {
  withVectors([=] {
#pragma clang fp reassociate(on)
    const T *a0 = a, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    T sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int64_t i = 0; i < m; ++i) {
      const T factor = x[i];
      sum0 += a0[i] * factor, sum1 += a1[i] * factor, sum2 += a2[i] * factor, sum3 += a3[i] * factor;
    }
    totals[0] = sum0, totals[1] = sum1, totals[2] = sum2, totals[3] = sum3;
  });
}

/// part(index) for each, on all threads where the work is worth it.
template <class Part>
void forParts(unsigned parts, int64_t work, const Part& part) {
  if (work >= 1 << 16) return libs::parallelFor(parts, part);
  for (unsigned index = 0; index < parts; ++index) part(index);
}

/// How y = A x is divided: into blocks of rows, and if those are few, each into groups of columns, whose sums are added
/// in the end. It depends on the sizes alone, and so does how sums round. A block's totals are about a first cache: the
/// longer the pieces of columns, the better the memory.
template <class T>
struct Blocks {
  static constexpr int64_t kMostRows = 32768 / sizeof(T), kMostParts = 16, kLeastWork = 1 << 16;
  int64_t rows, columns, blockRows, blocks, groups, groupColumns;

  Blocks(int64_t m, int64_t n) : rows(m), columns(n), blockRows(std::min(m, kMostRows)) {
    blocks = (m + blockRows - 1) / blockRows;
    groups = std::clamp<int64_t>(std::min(kMostParts / blocks, n * blockRows / kLeastWork), 1, kMostParts);
    groupColumns = (n + groups - 1) / groups;
    groupColumns = std::max<int64_t>(4, (groupColumns + 3) / 4 * 4);
    groups = std::max<int64_t>(1, (n + groupColumns - 1) / groupColumns);
  }
};

/// sums[i] = row i of A times x.
template <class T>
std::vector<T> productOfRows(int64_t m, int64_t n, const T* a, int64_t lda, const T* x) {
  const Blocks<T> b(m, n);
  std::vector<T> sums(static_cast<size_t>(b.groups * m));  // a group's totals one behind another
  auto part = [&](unsigned index) {
    const int64_t block = index / b.groups, group = index % b.groups;
    const int64_t row = block * b.blockRows, column = group * b.groupColumns;
    addColumns(std::min(b.blockRows, m - row), std::min(b.groupColumns, n - column), a + row + column * lda, lda,
               x + column, sums.data() + group * m + row);
  };
  forParts(static_cast<unsigned>(b.blocks * b.groups), m * n, part);
  for (int64_t group = 1; group < b.groups; ++group)
    for (int64_t i = 0; i < m; ++i) sums[static_cast<size_t>(i)] += sums[static_cast<size_t>(group * m + i)];
  return sums;
}

/// sums[i] = column i of A, or its conjugate, times x.
template <class T>
std::vector<T> productOfColumns(bool isConjugate, int64_t m, int64_t n, const T* a, int64_t lda, const T* x) {
  // Whole fours: which columns are taken together, and so how sums round, does not depend on the threads.
  const int64_t share = n / (2 * static_cast<int64_t>(libs::parallelThreads()));
  const int64_t each = std::clamp<int64_t>(share, 256, 4096) / 4 * 4;
  std::vector<T> sums(static_cast<size_t>(n));
  auto part = [&](unsigned index) {
    int64_t i = index * each;
    const int64_t end = std::min(n, i + each);
    if constexpr (!kIsComplex<T>)
      for (; i + 4 <= end; i += 4) fourColumnsTimes(m, a + i * lda, lda, x, sums.data() + i);
    for (; i < end; ++i)
      sums[static_cast<size_t>(i)] =
          isConjugate ? columnTimes<true>(m, a + i * lda, x) : columnTimes<false>(m, a + i * lda, x);
  };
  forParts(static_cast<unsigned>((n + each - 1) / each), m * n, part);
  return sums;
}

}  // namespace ordito::cublas
