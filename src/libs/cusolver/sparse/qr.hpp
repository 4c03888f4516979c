// A(:, Q) = U R of a sparse matrix by rotations: each row is turned into the rows of R that begin where it does, from
// the left to the right, until nothing of it is left (A. George, M. Heath, "Solution of sparse linear least squares
// problems using Givens rotations", 1980). The rotations are kept, so that right-hand sides can follow.
#pragma once

#include <cmath>

#include "libs/cusolver/sparse/rows.hpp"

namespace ordito::cusolver {

template <class T>
class SparseQr {
 public:
  /// A row of R whose diagonal is not larger than `tolerance` is no row: its column depends on those before, and what
  /// is left of it is turned into the rows below (M. Heath, "Some extensions of an algorithm for sparse linear least
  /// squares problems", 1982). With a negative tolerance every row counts.
  SparseQr(const Rows<T>& a, Order columnOrder, double tolerance)
      : rows_(a.rows),
        n_(a.columns),
        tolerance_(tolerance),
        order_(std::move(columnOrder)),
        r_(at(n_)),
        slot_(at(n_), -1) {
    const Rows<T> turned = permuted(a, identityOrder(a.rows), order_);
    for (int i = 0; i < turned.rows; ++i) {
      Entries row;
      for (int k = turned.begin[at(i)]; k < turned.begin[at(i + 1)]; ++k)
        row.emplace_back(turned.column[at(k)], turned.value[at(k)]);
      insert(std::move(row), i);
    }
    if (tolerance_ >= 0) dropDependent();
  }

  /// The first diagonal element of R, in the order of elimination, that is not larger than that; -1 if there is none.
  int firstPivotUpTo(double tolerance) const {
    for (int j = 0; j < n_; ++j)
      if (!(diagonal(j) > tolerance)) return j;
    return -1;
  }
  bool isIndependent(int j) const { return slot_[at(j)] >= 0; }
  const Order& columnOrder() const { return order_; }

  /// The x of least |A x - b|, with 0 for the columns that depend on others.
  std::vector<T> solve(std::vector<T> b, Real<T>* residual = nullptr) const {
    for (const Rotation& turn : rotations_) {
      const T upper = b[at(turn.upper)], lower = b[at(turn.lower)];
      b[at(turn.upper)] = turn.c * upper + conjugate(turn.s) * lower;
      b[at(turn.lower)] = turn.c * lower - turn.s * upper;
    }
    std::vector<T> z(at(n_)), x(at(n_));
    std::vector<char> isUsed(at(rows_));
    for (int j = n_ - 1; j >= 0; --j) {
      if (!isIndependent(j)) continue;
      isUsed[at(slot_[at(j)])] = 1;
      T sum = b[at(slot_[at(j)])];
      for (const auto& [column, value] : r_[at(j)])
        if (column > j) sum -= value * z[at(column)];
      z[at(j)] = sum / r_[at(j)].front().second;
      x[at(order_[at(j)])] = z[at(j)];
    }
    if (residual) {
      Real<T> squares = 0;
      for (int i = 0; i < rows_; ++i)
        if (!isUsed[at(i)]) squares += std::norm(b[at(i)]);
      *residual = std::sqrt(squares);
    }
    return x;
  }

 private:
  using Entries = std::vector<std::pair<int, T>>;
  struct Rotation {
    int upper, lower;  // of the right-hand side
    Real<T> c;
    T s;
  };

  double diagonal(int j) const { return isIndependent(j) ? std::abs(r_[at(j)].front().second) : 0; }

  /// Turns a row, whose right-hand side is at `slot`, into R.
  void insert(Entries row, int slot) {
    while (!row.empty()) {
      const int j = row.front().first;
      if (row.front().second == T(0)) {
        row.erase(row.begin());
      } else if (isIndependent(j)) {
        rotate(j, row, slot);
      } else {
        r_[at(j)] = std::move(row);
        slot_[at(j)] = slot;
        return;
      }
    }
  }

  /// Row j of R takes the first element of `row`, which keeps the rest.
  void rotate(int j, Entries& row, int slot) {
    Entries& top = r_[at(j)];
    const T a = top.front().second, b = row.front().second;
    const Real<T> length = std::hypot(std::abs(a), std::abs(b));
    const Real<T> c = std::abs(a) / length;
    const T direction = a == T(0) ? T(1) : a / T(std::abs(a));
    const T s = a == T(0) ? b / T(length) : b * conjugate(direction) / T(length);
    rotations_.push_back({slot_[at(j)], slot, c, s});
    Entries upper, lower;
    upper.reserve(top.size() + row.size()), lower.reserve(top.size() + row.size());
    for (size_t i = 0, k = 0; i < top.size() || k < row.size();) {
      const int column = std::min(i < top.size() ? top[i].first : n_, k < row.size() ? row[k].first : n_);
      const T one = i < top.size() && top[i].first == column ? top[i++].second : T(0);
      const T other = k < row.size() && row[k].first == column ? row[k++].second : T(0);
      upper.emplace_back(column, c * one + conjugate(s) * other);
      if (column != j) lower.emplace_back(column, c * other - s * one);
    }
    top = std::move(upper), row = std::move(lower);
  }

  void dropDependent() {
    for (int j = 0; j < n_; ++j) {
      if (!isIndependent(j) || diagonal(j) > tolerance_) continue;
      Entries rest(r_[at(j)].begin() + 1, r_[at(j)].end());
      const int slot = std::exchange(slot_[at(j)], -1);
      r_[at(j)].clear();
      insert(std::move(rest), slot);
    }
  }

  int rows_, n_;
  double tolerance_;
  Order order_;
  std::vector<Entries> r_;
  std::vector<int> slot_;  // of each row of R: where its right-hand side is; -1 if there is no such row
  std::vector<Rotation> rotations_;
};

}  // namespace ordito::cusolver
