// A(P, P) = L L^H of a sparse matrix, row by row. Which columns a row of L has is told by the elimination tree: the
// paths from the row's entries up to the row (J. Liu, "The role of elimination trees in sparse factorization", 1990).
#pragma once

#include <cmath>

#include "libs/cusolver/sparse/rows.hpp"

namespace ordito::cusolver {

template <class T>
class SparseCholesky {
 public:
  /// Of a Hermitian matrix whose lower triangle is `a`'s.
  SparseCholesky(const Rows<T>& a, Order order) : n_(a.rows), order_(std::move(order)), columns_(at(n_)) {
    const Rows<T> lower = reordered(a);
    const std::vector<int> parent = eliminationTree(lower);
    std::vector<int> mark(at(n_), -1);
    std::vector<T> x(at(n_));
    for (int k = 0; k < n_; ++k) {
      const std::vector<int> row = reach(lower, parent, k, mark);
      T diagonal(0);
      for (int e = lower.begin[at(k)]; e < lower.begin[at(k + 1)]; ++e)
        (lower.column[at(e)] == k ? diagonal : x[at(lower.column[at(e)])]) += lower.value[at(e)];
      Real<T> rest = std::real(diagonal);
      for (const int j : row) {
        const T value = x[at(j)] / diagonal_[at(j)];
        x[at(j)] = T(0);
        for (const auto& [to, factor] : columns_[at(j)]) x[at(to)] -= value * conjugate(factor);
        rest -= std::norm(value);
        columns_[at(j)].emplace_back(k, value);
      }
      squares_.push_back(rest);
      diagonal_.push_back(rest > 0 ? std::sqrt(rest) : Real<T>(1));
    }
  }

  /// The first row whose pivot is not larger than that; -1 if there is none.
  int firstPivotUpTo(double tolerance) const {
    for (int k = 0; k < n_; ++k)
      if (!(squares_[at(k)] > 0 && std::sqrt(squares_[at(k)]) > tolerance)) return k;
    return -1;
  }

  std::vector<T> solve(const std::vector<T>& b) const {
    std::vector<T> y(at(n_)), x(at(n_));
    for (int k = 0; k < n_; ++k) y[at(k)] = b[at(order_[at(k)])];
    for (int k = 0; k < n_; ++k) {
      y[at(k)] /= diagonal_[at(k)];
      for (const auto& [row, value] : columns_[at(k)]) y[at(row)] -= value * y[at(k)];
    }
    for (int k = n_ - 1; k >= 0; --k) {
      for (const auto& [row, value] : columns_[at(k)]) y[at(k)] -= conjugate(value) * y[at(row)];
      y[at(k)] /= diagonal_[at(k)];
      x[at(order_[at(k)])] = y[at(k)];
    }
    return x;
  }

  const std::vector<Real<T>>& diagonal() const { return diagonal_; }

 private:
  /// The lower triangle of A(P, P); an entry that comes above is its mirror's conjugate.
  Rows<T> reordered(const Rows<T>& a) const {
    const Order place = inverseOf(order_);
    RowsBuilder<T> builder(n_, n_);
    a.eachEntry([&](int i, int j, T value) {
      if (i < j) return;
      const int row = place[at(i)], column = place[at(j)];
      row >= column ? builder.add(row, column, value) : builder.add(column, row, conjugate(value));
    });
    return builder.build();
  }

  /// The parent of a column is the first row below that L has an entry in; -1 for none.
  static std::vector<int> eliminationTree(const Rows<T>& lower) {
    std::vector<int> parent(at(lower.rows), -1), ancestor(at(lower.rows), -1);
    lower.eachEntry([&](int k, int j, const T&) {
      while (j != k && j >= 0) {
        const int next = ancestor[at(j)];
        ancestor[at(j)] = k;
        if (next < 0) parent[at(j)] = k;
        j = next;
      }
    });
    return parent;
  }

  /// The columns of row k of L, each before those that it changes.
  static std::vector<int> reach(const Rows<T>& lower, const std::vector<int>& parent, int k, std::vector<int>& mark) {
    std::vector<int> columns;
    mark[at(k)] = k;
    for (int e = lower.begin[at(k)]; e < lower.begin[at(k + 1)]; ++e)
      for (int j = lower.column[at(e)]; j >= 0 && mark[at(j)] != k; j = parent[at(j)])
        mark[at(j)] = k, columns.push_back(j);
    std::ranges::sort(columns);  // a column's ancestors have higher numbers
    return columns;
  }

  int n_;
  Order order_;
  std::vector<std::vector<std::pair<int, T>>> columns_;  // of L, below the diagonal
  std::vector<Real<T>> diagonal_, squares_;
};

}  // namespace ordito::cusolver
