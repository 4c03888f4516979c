// cuDNN: sums, products and reductions of whole tensors.
#include <cmath>
#include <limits>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x,
                                   const void* from, const void* beta, const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && alpha && beta && x && y && from && to && x->sameSizes(*y) && x->type == y->type);
  return submitTyped(
      handle, "cudnnTransformTensor", *x, [=, x = Shape(*x), y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forAll(x.count(), [&](int64_t i) { blend.into(static_cast<E*>(to)[y.at(i)], get<E>(from, x.at(i))); });
      });
}

/// to = alpha * from, spread over to's sizes, + beta * to.
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t a, const void* from,
                             const void* beta, const cudnnTensorDescriptor_t c, void* to) {
  CUDNN_CHECK(handle && alpha && beta && a && c && from && to && a->type == c->type && a->spreadsOver(*c));
  return submitTyped(
      handle, "cudnnAddTensor", *c, [=, a = Shape(*a), c = Shape(*c), blend = blend(*c, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forAll(c.count(), [&](int64_t i) { blend.into(static_cast<E*>(to)[c.at(i)], get<E>(from, a.spread(c, i))); });
      });
}

cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t y, void* to, const void* value) {
  CUDNN_CHECK(handle && y && to && value);
  CUDNN_TRY(checkType(*y));
  double all = 0;
  withElement(y->type, [&](auto zero) { all = get<decltype(zero)>(value, 0); });
  return submitTyped(handle, "cudnnSetTensor", *y, [=, y = Shape(*y)](auto zero) {
    using E = decltype(zero);
    forAll(y.count(), [&](int64_t i) { static_cast<E*>(to)[y.at(i)] = static_cast<E>(all); });
  });
}

cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t y, void* to, const void* alpha) {
  CUDNN_CHECK(handle && y && to && alpha);
  return submitTyped(handle, "cudnnScaleTensor", *y, [=, y = Shape(*y), by = scalar(*y, alpha)](auto zero) {
    using E = decltype(zero);
    forAll(y.count(), [&](int64_t i) {
      E& value = static_cast<E*>(to)[y.at(i)];
      value = static_cast<E>(by == 0 ? 0 : by * static_cast<double>(wide(value)));  // by 0 whatever was there
    });
  });
}

// --- operations on two tensors

cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t d, cudnnOpTensorOp_t operation, cudnnDataType_t type,
                                         cudnnNanPropagation_t nan) {
  CUDNN_CHECK(d && operation >= CUDNN_OP_TENSOR_ADD && operation <= CUDNN_OP_TENSOR_NOT);
  *d = {operation, type, nan};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetOpTensorDescriptor(const cudnnOpTensorDescriptor_t d, cudnnOpTensorOp_t* operation,
                                         cudnnDataType_t* type, cudnnNanPropagation_t* nan) {
  CUDNN_CHECK(d && operation && type && nan);
  *operation = d->operation, *type = d->type, *nan = d->nan;
  return CUDNN_STATUS_SUCCESS;
}

namespace {

double combined(cudnnOpTensorOp_t operation, double a, double b) {
  switch (operation) {
    case CUDNN_OP_TENSOR_ADD: return a + b;
    case CUDNN_OP_TENSOR_MUL: return a * b;
    case CUDNN_OP_TENSOR_MIN: return std::fmin(a, b);
    case CUDNN_OP_TENSOR_MAX: return std::fmax(a, b);
    case CUDNN_OP_TENSOR_SQRT: return std::sqrt(a);
    default: return 1 - a;
  }
}

}  // namespace

/// C = op(alpha1 * A, alpha2 * B) + beta * C; B's dimensions of size 1 stand for any. The last two operations have no
/// B.
cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t d, const void* alpha1,
                            const cudnnTensorDescriptor_t a, const void* left, const void* alpha2,
                            const cudnnTensorDescriptor_t b, const void* right, const void* beta,
                            const cudnnTensorDescriptor_t c, void* to) {
  CUDNN_CHECK(handle && d && alpha1 && beta && a && c && left && to && a->sameSizes(*c) && a->type == c->type);
  const bool isUnary = d->operation == CUDNN_OP_TENSOR_SQRT || d->operation == CUDNN_OP_TENSOR_NOT;
  CUDNN_CHECK(isUnary || (alpha2 && b && right && b->type == c->type && b->spreadsOver(*c)));
  return submitTyped(
      handle, "cudnnOpTensor", *c,
      [=, a = Shape(*a), b = isUnary ? Shape(*a) : Shape(*b), c = Shape(*c), operation = d->operation,
       first = scalar(*c, alpha1), second = isUnary ? 0 : scalar(*c, alpha2), keep = scalar(*c, beta)](auto zero) {
        using E = decltype(zero);
        forAll(c.count(), [&](int64_t i) {
          const double x = first * get<E>(left, a.at(i));
          const double y = isUnary ? 0 : second * get<E>(right, b.spread(c, i));
          Blend{1, keep}.into(static_cast<E*>(to)[c.at(i)], combined(operation, x, y));
        });
      });
}

// --- reductions

cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t d, cudnnReduceTensorOp_t operation,
                                             cudnnDataType_t type, cudnnNanPropagation_t nan,
                                             cudnnReduceTensorIndices_t indices, cudnnIndicesType_t indexType) {
  CUDNN_CHECK(d && operation >= CUDNN_REDUCE_TENSOR_ADD && operation <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS);
  *d = {operation, type, nan, indices, indexType};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetReductionIndicesSize(cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t d,
                                           const cudnnTensorDescriptor_t a, const cudnnTensorDescriptor_t c,
                                           size_t* bytes) {
  CUDNN_CHECK(handle && d && a && c && bytes);
  *bytes = 0;
  return d->indices == CUDNN_REDUCE_TENSOR_NO_INDICES ? CUDNN_STATUS_SUCCESS : refuse("indices of a reduction");
}

cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t d,
                                             const cudnnTensorDescriptor_t a, const cudnnTensorDescriptor_t c,
                                             size_t* bytes) {
  CUDNN_CHECK(handle && d && a && c && bytes);
  *bytes = 1;  // not needed
  return CUDNN_STATUS_SUCCESS;
}

namespace {

/// What a reduction has seen so far.
class Reduced {
 public:
  explicit Reduced(cudnnReduceTensorOp_t operation) : operation_(operation) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (operation == CUDNN_REDUCE_TENSOR_MIN) value_ = kInfinity;
    if (operation == CUDNN_REDUCE_TENSOR_MAX) value_ = -kInfinity;
    if (operation == CUDNN_REDUCE_TENSOR_MUL || operation == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) value_ = 1;
  }

  void take(double x) {
    switch (operation_) {
      case CUDNN_REDUCE_TENSOR_MUL: value_ *= x; break;
      case CUDNN_REDUCE_TENSOR_MIN: value_ = std::fmin(value_, x); break;
      case CUDNN_REDUCE_TENSOR_MAX: value_ = std::fmax(value_, x); break;
      case CUDNN_REDUCE_TENSOR_AMAX: value_ = std::fmax(value_, std::abs(x)); break;
      case CUDNN_REDUCE_TENSOR_NORM1: value_ += std::abs(x); break;
      case CUDNN_REDUCE_TENSOR_NORM2: value_ += x * x; break;
      case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: value_ *= x == 0 ? 1 : x; break;
      default: value_ += x;
    }
    ++count_;
  }

  double result() const {
    if (operation_ == CUDNN_REDUCE_TENSOR_NORM2) return std::sqrt(value_);
    return operation_ == CUDNN_REDUCE_TENSOR_AVG ? value_ / static_cast<double>(count_) : value_;
  }

 private:
  cudnnReduceTensorOp_t operation_;
  double value_ = 0;
  int64_t count_ = 0;
};

}  // namespace

/// C's dimensions are A's, or 1 where it is reduced.
cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t d, void*, size_t, void*,
                                size_t, const void* alpha, const cudnnTensorDescriptor_t a, const void* from,
                                const void* beta, const cudnnTensorDescriptor_t c, void* to) {
  CUDNN_CHECK(handle && d && alpha && beta && a && c && from && to && a->type == c->type && c->spreadsOver(*a));
  if (d->indices != CUDNN_REDUCE_TENSOR_NO_INDICES) return refuse("indices of a reduction");
  return submitTyped(
      handle, "cudnnReduceTensor", *a,
      [=, a = Shape(*a), c = Shape(*c), operation = d->operation, blend = blend(*c, alpha, beta)](auto zero) {
        using E = decltype(zero);
        Shape dense = c;
        dense.pack(false);
        std::vector<Reduced> results(static_cast<size_t>(c.count()), Reduced(operation));
        for (int64_t i = 0; i < a.count(); ++i)
          results[static_cast<size_t>(dense.spread(a, i))].take(get<E>(from, a.at(i)));
        for (int64_t i = 0; i < c.count(); ++i)
          blend.into(static_cast<E*>(to)[c.at(i)], results[static_cast<size_t>(i)].result());
      });
}
