// A sparse matrix by rows, as the sparse part of cuSOLVER works on it: a copy of the program's, with indices from 0.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "libs/cublas/openblas.hpp"

namespace ordito::cusolver {

using cublas::kIsComplex;
using cublas::Real;

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

template <class T>
T conjugate(T value) {
  if constexpr (kIsComplex<T>)
    return std::conj(value);
  else
    return value;
}

/// Column indices need not be in order.
template <class T>
struct Rows {
  int rows = 0, columns = 0;
  std::vector<int> begin, column;
  std::vector<T> value;

  int count() const { return static_cast<int>(column.size()); }
  template <class Body>
  void eachEntry(const Body& body) const {
    for (int i = 0; i < rows; ++i)
      for (int k = begin[at(i)]; k < begin[at(i + 1)]; ++k) body(i, column[at(k)], value[at(k)]);
  }
};

/// From pieces (row, column, value), equal places in their order.
template <class T>
class RowsBuilder {
 public:
  RowsBuilder(int rows, int columns) : rows_(rows), columns_(columns) {}
  void add(int row, int column, T value) { row_.push_back(row), column_.push_back(column), value_.push_back(value); }
  Rows<T> build() const {
    Rows<T> result{rows_, columns_, std::vector<int>(at(rows_ + 1)), std::vector<int>(row_.size()),
                   std::vector<T>(row_.size())};
    for (const int row : row_) ++result.begin[at(row + 1)];
    std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
    std::vector<int> next(result.begin.begin(), result.begin.end() - 1);
    for (size_t k = 0; k < row_.size(); ++k) {
      const size_t to = at(next[at(row_[k])]++);
      result.column[to] = column_[k], result.value[to] = value_[k];
    }
    return result;
  }

 private:
  int rows_, columns_;
  std::vector<int> row_, column_;
  std::vector<T> value_;
};

/// The transpose, whose columns are in order.
template <class T>
Rows<T> transposed(const Rows<T>& a) {
  RowsBuilder<T> builder(a.columns, a.rows);
  a.eachEntry([&](int i, int j, T value) { builder.add(j, i, value); });
  return builder.build();
}
/// The same matrix with its columns in order.
template <class T>
Rows<T> sorted(const Rows<T>& a) {
  return transposed(transposed(a));
}

/// An order of n things: the i-th is order[i].
using Order = std::vector<int>;

inline Order identityOrder(int n) {
  Order order(at(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}
inline Order inverseOf(const Order& order) {
  Order inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[at(order[i])] = static_cast<int>(i);
  return inverse;
}

/// B with B(i, j) = A(rowOrder[i], columnOrder[j]).
template <class T>
Rows<T> permuted(const Rows<T>& a, const Order& rowOrder, const Order& columnOrder) {
  const Order rowPlace = inverseOf(rowOrder), columnPlace = inverseOf(columnOrder);
  RowsBuilder<T> builder(a.rows, a.columns);
  a.eachEntry([&](int i, int j, T value) { builder.add(rowPlace[at(i)], columnPlace[at(j)], value); });
  return sorted(builder.build());
}

}  // namespace ordito::cusolver
