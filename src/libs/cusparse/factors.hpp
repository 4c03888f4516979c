// Incomplete factorizations without fill-in, L U and L L^H, in place.
//
// Row by row (Saad, "Iterative Methods for Sparse Linear Systems", algorithm 10.4): a row is reduced by the rows above
// that it has entries for; what falls outside the pattern is dropped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {

/// The first row whose pivot is 0 or missing, with the matrix's base; -1 if there is none. Tasks share it.
using FirstZero = std::shared_ptr<std::atomic<int>>;
inline FirstZero noZero() { return std::make_shared<std::atomic<int>>(-1); }

inline void report(const FirstZero& zero, int row) {
  int before = zero->load();
  while ((before < 0 || row < before) && !zero->compare_exchange_weak(before, row)) {
  }
}

/// Pivots smaller than the tolerance get the value.
template <class T>
struct Boost {
  bool isOn = false;
  double tolerance = 0;
  T value{};
};

/// op(A) x = alpha f, with a plan of its own.
template <class T>
cusparseStatus_t solveOnce(cusparseHandle_t handle, cusparseOperation_t op, const T* alpha, const cusparseSpMatDescr& a,
                           const T* f, T* x) {
  cusparseDnVecDescr right{a.rows, const_cast<T*>(f), a.type}, solution{a.rows, x, a.type};
  cusparseSpSVDescr_t plan = nullptr;
  cusparseSpSV_createDescr(&plan);
  const cusparseStatus_t status =
      cusparseSpSV_solve(handle, op, alpha, &a, &right, &solution, a.type, CUSPARSE_SPSV_ALG_DEFAULT, plan);
  cusparseSpSV_destroyDescr(plan);
  return status;
}

/// What a program sets of it, in memory of the host or the device.
struct BoostSetting {
  bool boosts = false;
  const void *boostTolerance = nullptr, *boostValue = nullptr;
};

template <class T>
cusparseStatus_t setBoost(cusparseHandle_t handle, BoostSetting* setting, int isOn, const double* tolerance,
                          const T* value) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(setting && (!isOn || (tolerance && value)));
  *setting = {isOn != 0, tolerance, value};
  return CUSPARSE_STATUS_SUCCESS;
}

/// Read at the call if it is the host's, else in the task.
template <class T>
class BoostOfCall {
 public:
  BoostOfCall(cusparseHandle_t handle, const BoostSetting& setting)
      : setting_(setting), isHost_(handle->pointerMode == CUSPARSE_POINTER_MODE_HOST) {
    if (isHost_) early_ = read();
  }
  Boost<T> inTask() const { return isHost_ ? early_ : read(); }

 private:
  Boost<T> read() const {
    if (!setting_.boosts) return {};
    return {true, *static_cast<const double*>(setting_.boostTolerance), *static_cast<const T*>(setting_.boostValue)};
  }

  BoostSetting setting_;
  bool isHost_;
  Boost<T> early_{};
};

/// One row after another, with the places of its columns at hand.
class RowWalk {
 public:
  explicit RowWalk(const Pattern& a)
      : a_(a), places_(static_cast<size_t>(a.rows), -1), diagonals_(static_cast<size_t>(a.rows), -1) {}

  void enter(int row) {
    lower_.clear();
    for (int k = a_.begin(row); k < a_.end(row); ++k) {
      const int column = a_.column(k);
      place(column) = k;
      if (column < row) lower_.push_back(k);
      if (column == row) diagonals_[static_cast<size_t>(row)] = k;
    }
    std::sort(lower_.begin(), lower_.end(), [&](int k, int l) { return a_.column(k) < a_.column(l); });
  }
  void leave(int row) {
    for (int k = a_.begin(row); k < a_.end(row); ++k) place(a_.column(k)) = -1;
  }
  /// The entries left of the diagonal, from the left.
  const std::vector<int>& lower() const { return lower_; }
  /// The entry's place in the arrays; -1 if the row has none in that column.
  int& place(int column) { return places_[static_cast<size_t>(column)]; }
  int diagonal(int row) const { return diagonals_[static_cast<size_t>(row)]; }

 private:
  const Pattern& a_;
  std::vector<int> places_, diagonals_, lower_;
};

template <class T>
void factorLu(const Pattern& a, T* values, const Boost<T>& boost, const FirstZero& zero) {
  RowWalk walk(a);
  for (int i = 0; i < a.rows; ++i) {
    walk.enter(i);
    for (const int k : walk.lower()) {
      const int j = a.column(k), pivot = walk.diagonal(j);
      if (pivot < 0) continue;
      values[k] /= values[pivot];
      for (int l = a.begin(j); l < a.end(j); ++l) {
        const int column = a.column(l), at = column > j ? walk.place(column) : -1;
        if (at >= 0) values[at] -= multiply(values[k], values[l]);
      }
    }
    const int pivot = walk.diagonal(i);
    if (pivot >= 0 && boost.isOn && static_cast<double>(std::abs(values[pivot])) <= boost.tolerance)
      values[pivot] = boost.value;
    if (pivot < 0 || values[pivot] == T(0)) report(zero, i + a.base);
    walk.leave(i);
  }
}

/// Only the lower triangle is read and written. A pivot that is not positive counts as 0.
template <class T>
void factorCholesky(const Pattern& a, T* values, const FirstZero& zero) {
  RowWalk walk(a);
  for (int i = 0; i < a.rows; ++i) {
    walk.enter(i);
    Real<T> squares = 0;
    for (const int k : walk.lower()) {
      const int j = a.column(k), pivot = walk.diagonal(j);
      if (pivot < 0) continue;
      for (int l = a.begin(j); l < a.end(j); ++l) {
        const int column = a.column(l), at = column < j ? walk.place(column) : -1;
        if (at >= 0) values[k] -= multiply(values[at], cublas::conjugateIf<true>(values[l]));
      }
      values[k] /= values[pivot];
      squares += std::norm(values[k]);
    }
    if (const int pivot = walk.diagonal(i); pivot >= 0) {
      const Real<T> rest = std::real(values[pivot]) - squares;
      if (!(rest > 0)) report(zero, i + a.base);
      values[pivot] = std::sqrt(rest);
    } else {
      report(zero, i + a.base);
    }
    walk.leave(i);
  }
}

/// Waits: a program asks before it goes on.
template <class Info>
cusparseStatus_t tellZero(cusparseHandle_t handle, const Info* info, int* position) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(info && position);
  const cusparseStatus_t status =
      submitAndAwait(handle, "cusparse zeroPivot", [zero = info->zero, position] { *position = zero->load(); });
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  return info->zero->load() < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

/// The same, and the call that tells of pivots.
#define ORDITO_PIVOT_INFO(Name, name)                                                                       \
  ORDITO_INFO(Name, name)                                                                                   \
  cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, name##Info_t info, int* position) { \
    return tellZero(handle, static_cast<name##Info*>(info), position);                                      \
  }

}  // namespace ordito::cusparse
