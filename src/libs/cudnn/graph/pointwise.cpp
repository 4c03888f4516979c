// Operations on tensors element by element: of one, of two, of three, and derivatives. A size of 1 stands for any.
#include <cmath>

#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

struct Parameters {
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  double lower = 0, upper = std::numeric_limits<double>::infinity(), slope = 0;  // of ReLU
  double elu = 1, softplus = 1, swish = 1;
};

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

/// GELU's approximation by tanh, and how fast its argument grows.
template <class T>
T tanhArgument(T x) {
  return static_cast<T>(0.7978845608028654) * (x + static_cast<T>(0.044715) * x * x * x);
}
template <class T>
T tanhSlope(T x) {
  return static_cast<T>(0.7978845608028654) * (1 + 3 * static_cast<T>(0.044715) * x * x);
}

template <class T>
T ofOne(const Parameters& p, T x) {
  switch (p.mode) {
    case CUDNN_POINTWISE_ABS: return std::abs(x);
    case CUDNN_POINTWISE_CEIL: return std::ceil(x);
    case CUDNN_POINTWISE_COS: return std::cos(x);
    case CUDNN_POINTWISE_EXP: return std::exp(x);
    case CUDNN_POINTWISE_FLOOR: return std::floor(x);
    case CUDNN_POINTWISE_LOG: return std::log(x);
    case CUDNN_POINTWISE_NEG: return -x;
    case CUDNN_POINTWISE_RSQRT: return 1 / std::sqrt(x);
    case CUDNN_POINTWISE_SIN: return std::sin(x);
    case CUDNN_POINTWISE_SQRT: return std::sqrt(x);
    case CUDNN_POINTWISE_TAN: return std::tan(x);
    case CUDNN_POINTWISE_ERF: return std::erf(x);
    case CUDNN_POINTWISE_RECIPROCAL: return 1 / x;
    case CUDNN_POINTWISE_TANH_FWD: return std::tanh(x);
    case CUDNN_POINTWISE_SIGMOID_FWD: return sigmoid(x);
    case CUDNN_POINTWISE_ELU_FWD: return x >= 0 ? x : static_cast<T>(p.elu) * std::expm1(x);
    case CUDNN_POINTWISE_GELU_FWD: return x / 2 * (1 + std::erf(x * static_cast<T>(0.7071067811865476)));
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD: return x / 2 * (1 + std::tanh(tanhArgument(x)));
    case CUDNN_POINTWISE_SWISH_FWD: return x * sigmoid(static_cast<T>(p.swish) * x);
    case CUDNN_POINTWISE_LOGICAL_NOT: return static_cast<T>(x == 0);
    case CUDNN_POINTWISE_SOFTPLUS_FWD: {
      const T scaled = static_cast<T>(p.softplus) * x;  // a large one is itself
      return (std::max(scaled, T(0)) + std::log1p(std::exp(-std::abs(scaled)))) / static_cast<T>(p.softplus);
    }
    case CUDNN_POINTWISE_RELU_FWD: {
      const T lower = static_cast<T>(p.lower);
      return x > lower ? std::min(x, static_cast<T>(p.upper)) : lower + static_cast<T>(p.slope) * (x - lower);
    }
    default: return x;  // IDENTITY
  }
}

template <class T>
T ofTwo(const Parameters& p, T x, T b) {
  switch (p.mode) {
    case CUDNN_POINTWISE_ADD: return x + b;
    case CUDNN_POINTWISE_ADD_SQUARE: return x + b * b;
    case CUDNN_POINTWISE_DIV: return x / b;
    case CUDNN_POINTWISE_MAX: return std::isnan(x) || x > b ? x : b;
    case CUDNN_POINTWISE_MIN: return std::isnan(x) || x < b ? x : b;
    case CUDNN_POINTWISE_MOD: return std::fmod(x, b);
    case CUDNN_POINTWISE_MUL: return x * b;
    case CUDNN_POINTWISE_POW: return std::pow(x, b);
    case CUDNN_POINTWISE_SUB: return x - b;
    case CUDNN_POINTWISE_ATAN2: return std::atan2(x, b);
    case CUDNN_POINTWISE_CMP_EQ: return static_cast<T>(x == b);
    case CUDNN_POINTWISE_CMP_NEQ: return static_cast<T>(x != b);
    case CUDNN_POINTWISE_CMP_GT: return static_cast<T>(x > b);
    case CUDNN_POINTWISE_CMP_GE: return static_cast<T>(x >= b);
    case CUDNN_POINTWISE_CMP_LT: return static_cast<T>(x < b);
    case CUDNN_POINTWISE_CMP_LE: return static_cast<T>(x <= b);
    case CUDNN_POINTWISE_LOGICAL_AND: return static_cast<T>(x != 0 && b != 0);
    default: return static_cast<T>(x != 0 || b != 0);  // LOGICAL_OR
  }
}

/// Of ReLU: what is cut off is 0, whatever the gradient.
template <class T>
T throughRelu(const Parameters& p, T x, T gradient) {
  if (x <= static_cast<T>(p.lower)) return p.slope == 0 ? T(0) : static_cast<T>(p.slope) * gradient;
  return x < static_cast<T>(p.upper) ? gradient : T(0);
}

/// The derivative at x of the others.
template <class T>
T slopeAt(const Parameters& p, T x) {
  switch (p.mode) {
    case CUDNN_POINTWISE_TANH_BWD: return 1 - std::tanh(x) * std::tanh(x);
    case CUDNN_POINTWISE_SIGMOID_BWD: return sigmoid(x) * (1 - sigmoid(x));
    case CUDNN_POINTWISE_ELU_BWD: return x >= 0 ? T(1) : static_cast<T>(p.elu) * std::exp(x);
    case CUDNN_POINTWISE_GELU_BWD:
      return (1 + std::erf(x * static_cast<T>(0.7071067811865476))) / 2 +
             x * static_cast<T>(0.3989422804014327) * std::exp(-x * x / 2);
    case CUDNN_POINTWISE_GELU_APPROX_TANH_BWD: {
      const T t = std::tanh(tanhArgument(x));
      return (1 + t) / 2 + x / 2 * (1 - t * t) * tanhSlope(x);
    }
    case CUDNN_POINTWISE_SOFTPLUS_BWD: return sigmoid(static_cast<T>(p.softplus) * x);
    default: {  // SWISH_BWD
      const T s = sigmoid(static_cast<T>(p.swish) * x);
      return s + static_cast<T>(p.swish) * x * s * (1 - s);
    }
  }
}

bool isOfOne(cudnnPointwiseMode_t mode) {
  return mode == CUDNN_POINTWISE_SQRT || mode == CUDNN_POINTWISE_LOGICAL_NOT ||
         (mode >= CUDNN_POINTWISE_ABS && mode <= CUDNN_POINTWISE_RECIPROCAL) ||
         (mode >= CUDNN_POINTWISE_RELU_FWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
}
bool isOfTwo(cudnnPointwiseMode_t mode) {
  return (mode >= CUDNN_POINTWISE_ADD && mode <= CUDNN_POINTWISE_SUB && mode != CUDNN_POINTWISE_SQRT) ||
         mode == CUDNN_POINTWISE_ATAN2 || (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE) ||
         mode == CUDNN_POINTWISE_LOGICAL_AND || mode == CUDNN_POINTWISE_LOGICAL_OR;
}
bool isBackward(cudnnPointwiseMode_t mode) {
  return mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
}

struct Pointwise : OperationOf<Pointwise> {
  Parameters p;
  double alphaX = 1, alphaB = 1;
  int64_t axis = -1;              // of GEN_INDEX
  std::optional<Tensor> x, b, t;  // of a derivative: b is dy
  std::optional<Tensor> y;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    std::vector<T> result(static_cast<size_t>(y->count()));
    const std::vector<T> none(1);
    const auto dataOf = [&](const std::optional<Tensor>& tensor) {
      return tensor ? arrays[*tensor].data.data() : none.data();
    };
    const auto stepsOf = [&](const std::optional<Tensor>& tensor) {
      return tensor ? spreadSteps(tensor->size, y->size) : std::vector<int64_t>(y->size.size());
    };
    const T *xs = dataOf(x), *bs = dataOf(b), *ts = dataOf(t);
    const std::array<std::vector<int64_t>, 3> steps{stepsOf(x), stepsOf(b), stepsOf(t)};
    const int64_t length = y->size.back(), stepX = steps[0].back(), stepB = steps[1].back(), stepT = steps[2].back();
    const int64_t below = axis < 0 ? 1 : packedSteps(y->size)[static_cast<size_t>(axis)];
    const auto each = [&](const auto& value) {
      forRows<3>(y->size, steps, [&](int64_t first, const std::array<int64_t, 3>& at) {
        for (int64_t i = 0; i < length; ++i)
          result[static_cast<size_t>(first + i)] =
              value(static_cast<T>(alphaX) * xs[at[0] + i * stepX], static_cast<T>(alphaB) * bs[at[1] + i * stepB],
                    ts[at[2] + i * stepT], first + i);
      });
    };
    if (p.mode == CUDNN_POINTWISE_GEN_INDEX)
      each([&](T, T, T, int64_t i) { return static_cast<T>(i / below % y->size[static_cast<size_t>(axis)]); });
    else if (p.mode == CUDNN_POINTWISE_BINARY_SELECT)
      each([](T one, T other, T which, int64_t) { return which != T(0) ? one : other; });
    else if (p.mode == CUDNN_POINTWISE_ADD)
      each([](T one, T other, T, int64_t) { return one + other; });
    else if (p.mode == CUDNN_POINTWISE_MUL)
      each([](T one, T other, T, int64_t) { return one * other; });
    else if (p.mode == CUDNN_POINTWISE_RELU_BWD)
      each([&](T one, T other, T, int64_t) { return throughRelu(p, one, other); });
    else if (isBackward(p.mode))
      each([&](T one, T other, T, int64_t) { return other * slopeAt(p, one); });
    else if (isOfOne(p.mode))
      each([&](T one, T, T, int64_t) { return ofOne(p, one); });
    else
      each([&](T one, T other, T, int64_t) { return ofTwo(p, one, other); });
    arrays.put(*y, std::move(result));
  }

  bool fits() const {
    for (const auto* tensor : {&x, &b, &t})
      if (*tensor && !spreads((*tensor)->size, y->size)) return false;
    return true;
  }
};

Parameters parametersOf(const Descriptor& said) {
  Parameters p;
  p.mode = said.one(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
  p.lower = said.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, p.lower);
  p.upper = said.number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, p.upper);
  p.slope = said.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, p.slope);
  p.elu = said.number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, p.elu);
  p.softplus = said.number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, p.softplus);
  p.swish = said.number(CUDNN_ATTR_POINTWISE_SWISH_BETA, p.swish);
  return p;
}

}  // namespace

cudnnStatus_t makePointwise(const Descriptor& said, Made& made) {
  const Said how = said.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  CUDNN_CHECK(how && how->has(CUDNN_ATTR_POINTWISE_MODE));
  const auto operation = std::make_shared<Pointwise>();
  const Maker maker(said, *operation);
  operation->p = parametersOf(*how);
  const cudnnPointwiseMode_t mode = operation->p.mode;
  operation->alphaX = said.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
  operation->alphaB = said.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  operation->x = maker.read(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  if (isBackward(mode)) {
    operation->b = maker.read(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC);
    operation->y = maker.write(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC);
  } else {
    operation->b = maker.read(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    operation->t = maker.read(CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
    operation->y = maker.write(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  }
  CUDNN_CHECK(operation->x && operation->y && operation->fits());
  const bool isSelection = mode == CUDNN_POINTWISE_BINARY_SELECT, isIndex = mode == CUDNN_POINTWISE_GEN_INDEX;
  CUDNN_CHECK(isOfOne(mode) || isIndex || ((isOfTwo(mode) || isBackward(mode) || isSelection) && operation->b));
  CUDNN_CHECK(isSelection == operation->t.has_value());
  if (isIndex) {
    operation->axis = how->one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1);
    CUDNN_CHECK(operation->axis >= 0 && operation->axis < static_cast<int64_t>(operation->y->size.size()));
  }
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
