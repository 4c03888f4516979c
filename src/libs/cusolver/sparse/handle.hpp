// What is behind the handles of cuSOLVER's sparse part, how its calls get at a matrix, and how they are done: those on
// memory of the host at once, the others in the handle's stream.
#pragma once

#include <string>

#include "cusolverSp_LOWLEVEL_PREVIEW.h"
#include "libs/cusolver/handle.hpp"
#include "libs/cusolver/sparse/orderings.hpp"
#include "libs/cusparse/matrix_description.hpp"

struct cusolverSpContext {
  cudaStream_t stream = nullptr;
};

namespace ordito::cusolver {

using Status = cusolverStatus_t;
using Handle = cusolverSpHandle_t;

/// A matrix as calls name it. The description is copied at the call.
template <class T>
struct Csr {
  int rows, columns, count;
  cusparseMatDescr_t description;
  const T* value;
  const int *begin, *column;

  Status problem(bool hasValues = true) const {
    if (rows < 0 || columns < 0 || count < 0 || !description || !begin) return CUSOLVER_STATUS_INVALID_VALUE;
    if (count > 0 && (!column || (hasValues && !value))) return CUSOLVER_STATUS_INVALID_VALUE;
    return description->type == CUSPARSE_MATRIX_TYPE_GENERAL ? CUSOLVER_STATUS_SUCCESS
                                                             : CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  }
  int base() const { return description->base; }
};

/// The part of it that a task reads.
template <class T>
class CsrReader {
 public:
  explicit CsrReader(const Csr<T>& a) : a_(a), base_(a.base()) { a_.description = nullptr; }
  int rows() const { return a_.rows; }
  int count() const { return a_.count; }
  /// With the values of the i-th matrix of this pattern; zeros if the call has none.
  Rows<T> read(int i = 0) const {
    Rows<T> result{a_.rows, a_.columns, std::vector<int>(a_.begin, a_.begin + a_.rows + 1), {}, {}};
    const int first = result.begin.front();
    for (int& place : result.begin) place -= first;
    const auto entries = at(result.begin.back());
    result.column.assign(a_.column, a_.column + entries);
    for (int& column : result.column) column -= base_;
    if (a_.value)
      result.value.assign(a_.value + static_cast<int64_t>(i) * a_.count,
                          a_.value + static_cast<int64_t>(i) * a_.count + static_cast<int64_t>(entries));
    else
      result.value.resize(entries);
    return result;
  }

 private:
  Csr<T> a_;
  int base_;
};

enum class Side { Host, Device };

/// On memory of the host at once; else a task.
template <class Task>
Status perform(Handle handle, Side side, const std::string& name, Task task) {
  if (side == Side::Host) return task(), CUSOLVER_STATUS_SUCCESS;
  return statusOf(libs::enqueue(handle->stream, name.c_str(), std::function<void()>(std::move(task))));
}
/// A call with an answer for the host is done when it returns.
template <class Task>
Status performAndAwait(Handle handle, Side side, const std::string& name, Task task) {
  const Status status = perform(handle, side, name, std::move(task));
  if (status != CUSOLVER_STATUS_SUCCESS || side == Side::Host) return status;
  return statusOf(libs::await(handle->stream));
}

/// The numbers that calls have for ways to reorder.
template <class T>
Order orderFor(int reorder, const Rows<T>& a) {
  switch (reorder) {
    case 1: return reverseCuthillMcKee(Graph(a));
    case 2: return minimumDegree(Graph(a));
    case 3: return nestedDissection(Graph(a));
    default: return identityOrder(a.rows);
  }
}

#define SPARSE_CALL(handle, matrix)                      \
  if (!(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED; \
  if (const Status wrong = (matrix)) return wrong

// X(letter, type, side of the memory as part of the name, side)
#define SPARSE_FOR_ALL(X, ...) \
  X(S, float, __VA_ARGS__)     \
  X(D, double, __VA_ARGS__)    \
  X(C, cuComplex, __VA_ARGS__) \
  X(Z, cuDoubleComplex, __VA_ARGS__)

}  // namespace ordito::cusolver
