// The loop of the product of a CSR matrix and a vector.
//
// It waits for memory, and what it takes besides has to be little. So a row has two vectors of sums, since an addition
// would wait for the one before; elements of x come one by one into a vector (a gather is no quicker); and the vectors
// of several rows are summed up together. What is to come is asked for: among reads of x from all over it the processor
// does not see that the entries are read in order. It is asked for far ahead, and into the second cache only: in the
// first one it would take the place of x.
#pragma once

#include <cstdint>
#include <cstring>

#include "libs/cublas/vectors.hpp"

namespace ordito::cusparse {

/// A CSR matrix and the x that it is multiplied by. What offsets and indices point into begins as much earlier as their
/// base says.
template <class T, class O, class I>
struct RowEntries {
  const O* offsets;
  const I* columns;
  const T *values, *x;
};

/// Two elements of x. Narrow indices, which are not negative, are read two at a time: the processor can read so often
/// in a cycle only, and a row's indices are half of what it has to read one by one.
template <class T>
struct Pair {
  T first, second;
  Pair(const T* x, const int64_t* at) : first(x[at[0]]), second(x[at[1]]) {}
  Pair(const T* x, const int32_t* at) {
    uint64_t both;
    std::memcpy(&both, at, sizeof(both));
    first = x[both & 0xffffffff], second = x[both >> 32];
  }
};

/// What the products of a row are added to: as many real numbers as 16 bytes hold.
template <class T>
struct Sums {
  static constexpr int64_t kLanes = 16 / sizeof(T);
  typedef T Type __attribute__((vector_size(16)));
  typedef T Unaligned __attribute__((vector_size(16), aligned(alignof(T))));

  template <class I>
  static Type products(const T* values, const T* x, const I* at) {
    const Type factors = *reinterpret_cast<const Unaligned*>(values);
    const Pair<T> a(x, at);
    if constexpr (kLanes == 4) {
      const Pair<T> b(x, at + 2);
      return factors * Type{a.first, a.second, b.first, b.second};
    } else {
      return factors * Type{a.first, a.second};
    }
  }
  static void add(Type& sums, T value) { sums[0] += value; }
  /// to[j] = the sum of the lanes of v[j], for as many as there are lanes.
  static void join(const Type* v, T* to) {
    Type joined;
    if constexpr (kLanes == 4) {
      const Type a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5) + __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
      const Type b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5) + __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
      joined = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
    } else {
      joined = __builtin_shufflevector(v[0], v[1], 0, 2) + __builtin_shufflevector(v[0], v[1], 1, 3);
    }
    *reinterpret_cast<Unaligned*>(to) = joined;
  }
};
/// One complex number.
template <class T>
  requires cublas::kIsComplex<T>
struct Sums<T> {
  static constexpr int64_t kLanes = 1;
  using Type = T;
  template <class I>
  static T products(const T* values, const T* x, const I* at) {
    return cublas::multiply(*values, x[*at]);
  }
  static void add(T& sum, T value) { sum += value; }
  static void join(const T* sum, T* to) { *to = *sum; }
};

template <class T, class I>
typename Sums<T>::Type sumsOfRow(const T* values, const I* columns, const T* x, int64_t k, int64_t end) {
  using S = Sums<T>;
  typename S::Type sums{}, others{};
  for (; k + 2 * S::kLanes <= end; k += 2 * S::kLanes) {
    sums += S::products(values + k, x, columns + k);
    others += S::products(values + k + S::kLanes, x, columns + k + S::kLanes);
  }
  sums += others;
  for (; k < end; ++k) S::add(sums, cublas::multiply(values[k], x[columns[k]]));
  return sums;
}

/// How many rows `sumRows` does at most.
constexpr int64_t kRowsTogether = 64;

/// sums[j] = the product of row first + j with x; of what is behind the last row anything.
template <class T, class O, class I>
void sumRows(RowEntries<T, O, I> a, int64_t first, int64_t count, T* sums) {
  using S = Sums<T>;
  constexpr int64_t kAhead = 8192 / sizeof(T);
  typename S::Type lanes[kRowsTogether];
  const O* offsets = a.offsets + first;
  for (int64_t j = 0; j < count; ++j) {
    const int64_t begin = offsets[j];
    __builtin_prefetch(a.values + begin + kAhead, 0, 2);
    __builtin_prefetch(a.columns + begin + kAhead, 0, 2);
    lanes[j] = sumsOfRow(a.values, a.columns, a.x, begin, offsets[j + 1]);
  }
  for (int64_t j = count; j % S::kLanes != 0; ++j) lanes[j] = {};
  for (int64_t j = 0; j < count; j += S::kLanes) S::join(lanes + j, sums + j);
}

}  // namespace ordito::cusparse
