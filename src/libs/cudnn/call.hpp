// The frame of a call of cuDNN: the handle, the scalars, a task in the handle's stream for the type of the tensors.
#pragma once

#include <type_traits>
#include <utility>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "libs/cudnn/descriptors.hpp"
#include "libs/stream_task.hpp"

struct cudnnContext {
  CUstream stream = nullptr;
};

namespace ordito::libs::cudnn {

/// What numbers of a type are computed in, and what a program has the parameters of a normalisation in.
template <class E>
using Compute = std::conditional_t<std::is_same_v<E, double>, double, float>;

template <class E>
Compute<E> wide(E value) {
  return static_cast<Compute<E>>(value);
}
/// Element `at` of data that consists of E.
template <class E>
double get(const void* data, int64_t at) {
  return static_cast<double>(wide(static_cast<const E*>(data)[at]));
}

/// What scales a result and what was there before: alpha * result + beta * old, where the old is not read if beta is 0.
/// cuDNN takes them from the host's memory, as float unless the tensor is of doubles.
struct Blend {
  double alpha, beta;

  template <class T>
  void into(T& to, double result) const {
    to = static_cast<T>(beta == 0 ? alpha * result : alpha * result + beta * static_cast<double>(wide(to)));
  }
};

inline double scalar(const Shape& shape, const void* from) {
  return shape.type == CUDNN_DATA_DOUBLE ? *static_cast<const double*>(from)
                                         : static_cast<double>(*static_cast<const float*>(from));
}
inline Blend blend(const Shape& shape, const void* alpha, const void* beta) {
  return {scalar(shape, alpha), scalar(shape, beta)};
}

/// body(T()), T being what the type says.
template <class Body>
void withElement(cudnnDataType_t type, const Body& body) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return body(double());
    case CUDNN_DATA_HALF: return body(__half());
    case CUDNN_DATA_BFLOAT16: return body(__nv_bfloat16());
    default: return body(float());
  }
}

template <class Task>
cudnnStatus_t submit(cudnnHandle_t handle, const char* name, Task task, Work work = {}) {
  return enqueue(handle->stream, name, std::move(task), work) == CUDA_SUCCESS ? CUDNN_STATUS_SUCCESS
                                                                              : executionFailed();
}

/// task(T()) in the handle's stream, T being what the tensor consists of.
template <class Task>
cudnnStatus_t submitTyped(cudnnHandle_t handle, const char* name, const Shape& shape, Task task, Work work = {}) {
  CUDNN_TRY(checkType(shape));
  return submit(handle, name, [type = shape.type, task = std::move(task)] { withElement(type, task); }, work);
}

/// body(i) for each i below count, side by side in parts.
template <class Body>
void forAll(int64_t count, const Body& body) {
  constexpr int64_t kAtOnce = 16384;
  parallelFor(static_cast<unsigned>((count + kAtOnce - 1) / kAtOnce), [&](unsigned part) {
    const int64_t end = (part + 1) * kAtOnce < count ? (part + 1) * kAtOnce : count;
    for (int64_t i = part * kAtOnce; i < end; ++i) body(i);
  });
}

}  // namespace ordito::libs::cudnn
