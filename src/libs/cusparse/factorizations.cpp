// Incomplete factorizations without fill-in, L U and L L^H, in place, and the triangular solutions of the older
// interface.
//
// Row by row (Saad, "Iterative Methods for Sparse Linear Systems", algorithm 10.4): a row is reduced by the rows above
// that it has entries for; what falls outside the pattern is dropped.
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {
namespace {

/// The first row whose pivot is 0 or missing, with the matrix's base; -1 if there is none. Tasks share it.
using FirstZero = std::shared_ptr<std::atomic<int>>;
FirstZero noZero() { return std::make_shared<std::atomic<int>>(-1); }

}  // namespace
}  // namespace ordito::cusparse

/// What the analysis leaves for the solution: where a pivot is 0. `boost...`: what csrilu02 puts in place of small
/// ones.
struct csrilu02Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
  bool boosts = false;
  const void *boostTolerance = nullptr, *boostValue = nullptr;
};
struct csric02Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};
struct csrsv2Info {
  ordito::cusparse::FirstZero zero = ordito::cusparse::noZero();
};

namespace ordito::cusparse {
namespace {

void report(const FirstZero& zero, int row) {
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

/// The rows without an entry on the diagonal, or, if there are values, with a 0 there.
template <class T>
void reportZeros(const Pattern& a, const T* values, const FirstZero& zero) {
  for (int i = 0; i < a.rows; ++i) {
    bool hasPivot = false;
    for (int k = a.begin(i); k < a.end(i); ++k) hasPivot |= a.column(k) == i && (!values || values[k] != T(0));
    if (!hasPivot) return report(zero, i + a.base);
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

/// What every call checks.
cusparseStatus_t check(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor,
                       const void* values, const int* offsets, const int* indices, const void* info) {
  ORDITO_HANDLE(handle);
  ORDITO_CHECK(m >= 0 && count >= 0 && info && (m == 0 || offsets) && (count == 0 || (values && indices)));
  ORDITO_GENERAL(descriptor);
  return CUSPARSE_STATUS_SUCCESS;
}

#define CHECK_ALL(values) \
  if (const cusparseStatus_t status = check(handle, m, count, descriptor, values, offsets, indices, info)) return status

template <class Info>
cusparseStatus_t analyse(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor,
                         const void* values, const int* offsets, const int* indices, Info* info) {
  CHECK_ALL(values);
  info->zero = noZero();
  return submit(handle, "cusparse analysis", [zero = info->zero, a = Pattern{m, descriptor->base, offsets, indices}] {
    reportZeros<float>(a, nullptr, zero);
  });
}

template <class T>
cusparseStatus_t luOf(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor, T* values,
                      const int* offsets, const int* indices, const csrilu02Info* info) {
  CHECK_ALL(values);
  Boost<T> boost{info->boosts, 0, {}};
  const bool isHost = handle->pointerMode == CUSPARSE_POINTER_MODE_HOST;
  if (boost.isOn && isHost) {
    boost.tolerance = *static_cast<const double*>(info->boostTolerance);
    boost.value = *static_cast<const T*>(info->boostValue);
  }
  return submit(handle, "cusparse csrilu02",
                [=, zero = info->zero, tolerance = info->boostTolerance, value = info->boostValue,
                 a = Pattern{m, descriptor->base, offsets, indices}]() mutable {
                  if (boost.isOn && !isHost) {
                    boost.tolerance = *static_cast<const double*>(tolerance);
                    boost.value = *static_cast<const T*>(value);
                  }
                  factorLu(a, values, boost, zero);
                });
}

template <class T>
cusparseStatus_t choleskyOf(cusparseHandle_t handle, int m, int count, const cusparseMatDescr* descriptor, T* values,
                            const int* offsets, const int* indices, const csric02Info* info) {
  CHECK_ALL(values);
  return submit(handle, "cusparse csric02", [=, zero = info->zero, a = Pattern{m, descriptor->base, offsets, indices}] {
    factorCholesky(a, values, zero);
  });
}

/// By the generic interface's solution.
template <class T>
cusparseStatus_t solveOf(cusparseHandle_t handle, cusparseOperation_t op, int m, int count, const T* alpha,
                         const cusparseMatDescr* descriptor, const T* values, const int* offsets, const int* indices,
                         const csrsv2Info* info, const T* f, T* x) {
  CHECK_ALL(values);
  ORDITO_CHECK(isOperation(op) && alpha && (m == 0 || (f && x)));
  cusparseSpMatDescr a = csrOf(m, m, count, values, offsets, indices, *descriptor);
  if (descriptor->diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT) {
    const cusparseStatus_t status =
        submit(handle, "cusparse csrsv2",
               [zero = info->zero, values = in(values), p = Pattern{m, descriptor->base, offsets, indices}] {
                 reportZeros(p, values, zero);
               });
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
  }
  cusparseDnVecDescr right{m, const_cast<T*>(f), a.type}, solution{m, x, a.type};
  cusparseSpSVDescr_t plan = nullptr;
  cusparseSpSV_createDescr(&plan);
  const cusparseStatus_t status =
      cusparseSpSV_solve(handle, op, alpha, &a, &right, &solution, a.type, CUSPARSE_SPSV_ALG_DEFAULT, plan);
  cusparseSpSV_destroyDescr(plan);
  return status;
}

}  // namespace

extern "C" {

#define DEFINE(Name, name)                                                                                  \
  cusparseStatus_t cusparseCreate##Name##Info(name##Info_t* info) { return makeDescriptor(info); }          \
  cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info) { return destroyDescriptor(info); }       \
  cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, name##Info_t info, int* position) { \
    return tellZero(handle, info, position);                                                                \
  }
DEFINE(Csrilu02, csrilu02)
DEFINE(Csric02, csric02)
DEFINE(Csrsv2, csrsv2)
#undef DEFINE

#define DEFINE_FACTORIZATION(L, T, name, factorize)                                                                   \
  cusparseStatus_t cusparse##L##name##_bufferSize(cusparseHandle_t handle, int m, int count,                          \
                                                  const cusparseMatDescr_t descriptor, T* values, const int* offsets, \
                                                  const int* indices, name##Info_t info, int* size) {                 \
    CHECK_ALL(values);                                                                                                \
    return tellBufferSize(size);                                                                                      \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##name##_analysis(                                                                      \
      cusparseHandle_t handle, int m, int count, const cusparseMatDescr_t descriptor, const T* values,                \
      const int* offsets, const int* indices, name##Info_t info, cusparseSolvePolicy_t, void*) {                      \
    return analyse(handle, m, count, descriptor, values, offsets, indices, info);                                     \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, int m, int count, const cusparseMatDescr_t descriptor,  \
                                     T* values, const int* offsets, const int* indices, name##Info_t info,            \
                                     cusparseSolvePolicy_t, void*) {                                                  \
    return factorize(handle, m, count, descriptor, in(values), offsets, indices, info);                               \
  }
#define DEFINE(L, T)                                                                                                  \
  DEFINE_FACTORIZATION(L, T, csrilu02, luOf)                                                                          \
  DEFINE_FACTORIZATION(L, T, csric02, choleskyOf)                                                                     \
  cusparseStatus_t cusparse##L##csrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int isOn,         \
                                                      double* tolerance, T* value) {                                  \
    ORDITO_HANDLE(handle);                                                                                            \
    ORDITO_CHECK(info && (!isOn || (tolerance && value)));                                                            \
    info->boosts = isOn != 0, info->boostTolerance = tolerance, info->boostValue = value;                             \
    return CUSPARSE_STATUS_SUCCESS;                                                                                   \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv2_bufferSize(cusparseHandle_t handle, cusparseOperation_t, int m, int count,     \
                                                  const cusparseMatDescr_t descriptor, T* values, const int* offsets, \
                                                  const int* indices, csrsv2Info_t info, int* size) {                 \
    CHECK_ALL(values);                                                                                                \
    return tellBufferSize(size);                                                                                      \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv2_analysis(                                                                      \
      cusparseHandle_t handle, cusparseOperation_t, int m, int count, const cusparseMatDescr_t descriptor,            \
      const T* values, const int* offsets, const int* indices, csrsv2Info_t info, cusparseSolvePolicy_t, void*) {     \
    if (descriptor && descriptor->diagonal == CUSPARSE_DIAG_TYPE_UNIT) {                                              \
      CHECK_ALL(values);                                                                                              \
      info->zero = noZero();                                                                                          \
      return CUSPARSE_STATUS_SUCCESS;                                                                                 \
    }                                                                                                                 \
    return analyse(handle, m, count, descriptor, values, offsets, indices, info);                                     \
  }                                                                                                                   \
  cusparseStatus_t cusparse##L##csrsv2_solve(cusparseHandle_t handle, cusparseOperation_t op, int m, int count,       \
                                             const T* alpha, const cusparseMatDescr_t descriptor, const T* values,    \
                                             const int* offsets, const int* indices, csrsv2Info_t info, const T* f,   \
                                             T* x, cusparseSolvePolicy_t, void*) {                                    \
    return solveOf(handle, op, m, count, alpha, descriptor, values, offsets, indices, info, f, x);                    \
  }
ORDITO_FOR_TYPES(DEFINE)
#undef DEFINE
#undef DEFINE_FACTORIZATION

}  // extern "C"
}  // namespace ordito::cusparse
