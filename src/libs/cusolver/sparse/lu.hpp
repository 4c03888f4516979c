// A(P, Q) = L U of a sparse matrix, column by column: J. Gilbert and T. Peierls, "Sparse partial pivoting in time
// proportional to arithmetic operations", 1988. What a column of L and U holds is what the walk along L's columns
// reaches from the column's entries.
#pragma once

#include <cmath>

#include "libs/cusolver/sparse/rows.hpp"

namespace ordito::cusolver {

template <class T>
class SparseLu {
 public:
  /// The diagonal's entry is the pivot if it is at least `threshold` times the largest; 1 is partial pivoting.
  SparseLu(const Rows<T>& a, Order columnOrder, double threshold)
      : n_(a.rows), columns_(std::move(columnOrder)), place_(at(n_), -1), x_(at(n_)), mark_(at(n_), -1) {
    const Rows<T> byColumns = transposed(a);
    for (int j = 0; j < n_; ++j) {
      const int column = columns_[at(j)];
      reach(byColumns, column, j);
      eliminate(byColumns, column, j);
      store(j, pivotOf(column, threshold), column);
    }
  }

  /// The first column whose pivot is not larger than that; -1 if there is none.
  int firstPivotUpTo(double tolerance) const {
    for (int j = 0; j < n_; ++j)
      if (!(std::abs(pivots_[at(j)]) > tolerance)) return j;
    return -1;
  }

  std::vector<T> solve(std::vector<T> b) const {
    std::vector<T> z(at(n_));
    for (int k = 0; k < n_; ++k) {
      z[at(k)] = b[at(rows_[at(k)])];
      for (const auto& [row, value] : lower_[at(k)]) b[at(row)] -= value * z[at(k)];
    }
    std::vector<T> x(at(n_));
    for (int k = n_ - 1; k >= 0; --k) {
      z[at(k)] /= pivots_[at(k)];
      for (const auto& [row, value] : upper_[at(k)]) z[at(row)] -= value * z[at(k)];
      x[at(columns_[at(k)])] = z[at(k)];
    }
    return x;
  }

  const Order& rowOrder() const { return rows_; }
  const Order& columnOrder() const { return columns_; }
  /// With its diagonal of ones.
  Rows<T> lower() const {
    RowsBuilder<T> builder(n_, n_);
    for (int k = 0; k < n_; ++k) {
      builder.add(k, k, T(1));
      for (const auto& [row, value] : lower_[at(k)]) builder.add(place_[at(row)], k, value);
    }
    return sorted(builder.build());
  }
  Rows<T> upper() const {
    RowsBuilder<T> builder(n_, n_);
    for (int k = 0; k < n_; ++k) {
      for (const auto& [row, value] : upper_[at(k)]) builder.add(row, k, value);
      builder.add(k, k, pivots_[at(k)]);
    }
    return sorted(builder.build());
  }

 private:
  using Entries = std::vector<std::pair<int, T>>;

  /// The rows of column j, so that each comes before those that it changes.
  void reach(const Rows<T>& byColumns, int column, int j) {
    order_.clear();
    for (int k = byColumns.begin[at(column)]; k < byColumns.begin[at(column + 1)]; ++k) {
      if (mark_[at(byColumns.column[at(k)])] == j) continue;
      path_.assign(1, {byColumns.column[at(k)], 0});
      mark_[at(path_.back().first)] = j;
      while (!path_.empty()) {
        auto& [row, next] = path_.back();
        const int k2 = place_[at(row)];
        if (k2 < 0 || next == lower_[at(k2)].size()) {
          order_.push_back(row);
          path_.pop_back();
          continue;
        }
        const int to = lower_[at(k2)][next++].first;
        if (mark_[at(to)] != j) mark_[at(to)] = j, path_.emplace_back(to, 0);
      }
    }
    std::ranges::reverse(order_);
  }

  void eliminate(const Rows<T>& byColumns, int column, int) {
    for (const int row : order_) x_[at(row)] = T(0);
    for (int k = byColumns.begin[at(column)]; k < byColumns.begin[at(column + 1)]; ++k)
      x_[at(byColumns.column[at(k)])] += byColumns.value[at(k)];
    for (const int row : order_) {
      const int k = place_[at(row)];
      if (k < 0) continue;
      const T factor = x_[at(row)];
      for (const auto& [to, value] : lower_[at(k)]) x_[at(to)] -= value * factor;
    }
  }

  /// The row of the pivot: -1 if the column has none.
  int pivotOf(int diagonal, double threshold) const {
    int best = -1;
    double largest = -1;
    for (const int row : order_)
      if (place_[at(row)] < 0 && std::abs(x_[at(row)]) > largest) best = row, largest = std::abs(x_[at(row)]);
    const bool hasDiagonal = diagonal < n_ && place_[at(diagonal)] < 0 && mark_[at(diagonal)] >= 0 &&
                             std::ranges::find(order_, diagonal) != order_.end();
    if (hasDiagonal && std::abs(x_[at(diagonal)]) >= threshold * largest && x_[at(diagonal)] != T(0)) return diagonal;
    return best;
  }

  void store(int j, int pivotRow, int diagonal) {
    if (pivotRow < 0) {  // a row that nobody has, and a pivot of 0
      pivotRow = place_[at(diagonal)] < 0 ? diagonal : static_cast<int>(std::ranges::find(place_, -1) - place_.begin());
      x_[at(pivotRow)] = T(0);
    }
    const T pivot = x_[at(pivotRow)];
    Entries lower, upper;
    for (const int row : order_) {
      const int k = place_[at(row)];
      if (k >= 0)
        upper.emplace_back(k, x_[at(row)]);
      else if (row != pivotRow)
        lower.emplace_back(row, pivot == T(0) ? T(0) : x_[at(row)] / pivot);
    }
    place_[at(pivotRow)] = j;
    rows_.push_back(pivotRow), pivots_.push_back(pivot);
    lower_.push_back(std::move(lower)), upper_.push_back(std::move(upper));
  }

  int n_;
  Order columns_, rows_;
  std::vector<Entries> lower_, upper_;  // by columns: L by rows of A, U by places
  std::vector<T> pivots_;
  std::vector<int> place_;  // of each row of A: which pivot it holds, -1 as long as it holds none
  std::vector<T> x_;
  std::vector<int> mark_, order_;
  std::vector<std::pair<int, size_t>> path_;
};

}  // namespace ordito::cusolver
