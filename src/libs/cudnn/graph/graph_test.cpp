// Graphs of operations in double against the sums that define them.
#include <cmath>

#include "libs/cudnn/graph/test_graph.hpp"

namespace ordito::libs::cudnn::graph_test {
namespace {

/// y = mode(x, b), and of a selection with t.
class Pointwise {
 public:
  Pointwise(cudnnPointwiseMode_t mode, const GraphTensor& x, const GraphTensor* b, const GraphTensor& y,
            const GraphTensor* t = nullptr)
      : how_(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), said(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
    how_.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_DOUBLE).finalize();
    const bool isBackward = mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
    said.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how_).set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    said.set(isBackward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC : CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    if (b) said.set(isBackward ? CUDNN_ATTR_OPERATION_POINTWISE_DYDESC : CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    if (t) said.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *t);
    said.finalize();
  }

 private:
  Said how_;

 public:
  Said said;
};

struct ConvolutionSaid {
  ConvolutionSaid(const Sizes& before, const Sizes& behind, const Sizes& stride, const Sizes& dilation)
      : said(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) {
    said.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_DOUBLE)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<int64_t>(stride.size()))
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before)
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, behind)
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation)
        .finalize();
  }
  Said said;
};

/// The sum over a window at y[n, k, p, q], channels of a group.
double convolved(const GraphTensor& x, const GraphTensor& w, const Sizes& at, const Sizes& before, const Sizes& stride,
                 const Sizes& dilation) {
  const int64_t perGroup = w.size[1], group = at[1] / (w.size[0] / (x.size[1] / perGroup));
  double sum = 0;
  for (int64_t c = 0; c < perGroup; ++c)
    for (int64_t r = 0; r < w.size[2]; ++r)
      for (int64_t s = 0; s < w.size[3]; ++s) {
        const int64_t h = at[2] * stride[0] - before[0] + r * dilation[0];
        const int64_t v = at[3] * stride[1] - before[1] + s * dilation[1];
        if (h >= 0 && h < x.size[2] && v >= 0 && v < x.size[3])
          sum += x.at({at[0], group * perGroup + c, h, v}) * w.at({at[1], c, r, s});
      }
  return sum;
}

/// y = ReLU(convolution(x, w) + bias + z), all but the ends virtual; x by channels last, padding on one side.
TEST(Graph, AConvolutionWithBiasResidualAndRelu) {
  for (int round = 0; round < 20; ++round) {
    const int64_t groups = random(1, 2), channels = groups * random(1, 3), filters = groups * random(1, 3);
    const int64_t height = random(4, 8), width = random(4, 8);
    const Sizes before{random(0, 1), random(0, 1)}, behind{random(0, 2), random(0, 1)};
    const Sizes stride{random(1, 2), random(1, 2)}, dilation{1, random(1, 2)};
    const int64_t p = (height + before[0] + behind[0] - 3) / stride[0] + 1;
    const int64_t q = (width + before[1] + behind[1] - (dilation[1] + 1)) / stride[1] + 1;
    const GraphTensor x({2, channels, height, width}, false,
                        {height * width * channels, 1, width * channels, channels});
    const GraphTensor w({filters, channels / groups, 3, 2}), bias({1, filters, 1, 1}), z({2, filters, p, q});
    const GraphTensor y({2, filters, p, q}), convolution(y.size, true), biased(y.size, true), summed(y.size, true);
    const ConvolutionSaid how(before, behind, stride, dilation);
    Said operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, convolution)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how.said)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0)
        .finalize();
    const Pointwise addBias(CUDNN_POINTWISE_ADD, convolution, &bias, biased);
    const Pointwise addZ(CUDNN_POINTWISE_ADD, biased, &z, summed), relu(CUDNN_POINTWISE_RELU_FWD, summed, nullptr, y);
    run({&relu.said, &addZ.said, &operation, &addBias.said}, {&x, &w, &bias, &z, &y});
    y.expect([&](const Sizes& at) {
      return std::max(0.0, convolved(x, w, at, before, stride, dilation) + bias.at(at) + z.at(at));
    });
  }
}

/// The gradients of sum(dy * y) by x and w are sums of the same products.
TEST(Graph, GradientsOfAConvolution) {
  const Sizes before{1, 0}, behind{0, 1}, stride{2, 1}, dilation{1, 1};
  const GraphTensor x({2, 3, 5, 6}), w({4, 3, 2, 2}), dy({2, 4, 3, 6}), dx(x.size), dw(w.size);
  const ConvolutionSaid how(before, behind, stride, dilation);
  Said data(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
  data.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dx)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, dy)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, how.said)
      .finalize();
  Said filter(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  filter.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, dw)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, dy)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, how.said)
      .finalize();
  run({&data, &filter}, {&x, &w, &dy, &dx, &dw});
  const auto loss = [&] {
    double sum = 0;
    for (int64_t i = 0; i < dy.count(); ++i) {
      const Sizes at = dy.indices(i);
      sum += dy.at(at) * convolved(x, w, at, before, stride, dilation);
    }
    return sum;
  };
  const auto slope = [&](double& value) {  // a sum of products is straight in each factor
    const double was = value, here = loss();
    value = was + 1;
    const double there = loss();
    value = was;
    return there - here;
  };
  dx.expect([&](const Sizes& at) { return slope(x.at(at)); });
  dw.expect([&](const Sizes& at) { return slope(w.at(at)); });
}

/// Attention without masks: softmax(scale Q K') V, K turned by its steps, K and V shared by two heads each.
TEST(Graph, ProductsReductionsAndPointwiseOperationsMakeAttention) {
  const int64_t batch = 2, heads = 4, shared = 2, queries = 5, keys = 6, width = 3;
  const GraphTensor q({batch, heads, queries, width});
  const GraphTensor k({batch, shared, width, keys}, false, {shared * width * keys, width * keys, 1, width});
  const GraphTensor v({batch, shared, keys, width}), o({batch, heads, queries, width});
  const Sizes square{batch, heads, queries, keys}, column{batch, heads, queries, 1};
  const GraphTensor s(square, true), scaled(square, true), shifted(square, true), e(square, true),
      weights(square, true);
  const GraphTensor most(column, true), sum(column, true), scale({1, 1, 1, 1});
  Said product(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_DOUBLE).finalize();
  const auto multiply = [&](Said& said, const GraphTensor& a, const GraphTensor& b, const GraphTensor& c) {
    said.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a)
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b)
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c)
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product)
        .finalize();
  };
  Said first(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR), second(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  multiply(first, q, k, s);
  multiply(second, weights, v, o);
  Said maximum(CUDNN_BACKEND_REDUCTION_DESCRIPTOR), total(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  maximum.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_REDUCE_TENSOR_MAX).finalize();
  total.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_REDUCE_TENSOR_ADD).finalize();
  const auto reduce = [&](Said& said, const Said& how, const GraphTensor& x, const GraphTensor& y) {
    said.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how)
        .finalize();
  };
  Said findMost(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR), addUp(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  reduce(findMost, maximum, scaled, most);
  reduce(addUp, total, e, sum);
  const Pointwise times(CUDNN_POINTWISE_MUL, s, &scale, scaled), minus(CUDNN_POINTWISE_SUB, scaled, &most, shifted);
  const Pointwise raise(CUDNN_POINTWISE_EXP, shifted, nullptr, e), divide(CUDNN_POINTWISE_DIV, e, &sum, weights);
  run({&first, &times.said, &findMost, &minus.said, &raise.said, &addUp, &divide.said, &second},
      {&q, &k, &v, &o, &scale});
  o.expect([&](const Sizes& at) {
    double above = 0, below = 0;
    for (int64_t key = 0; key < keys; ++key) {
      double dot = 0;
      for (int64_t i = 0; i < width; ++i) dot += q.at({at[0], at[1], at[2], i}) * k.at({at[0], at[1] / 2, i, key});
      const double weight = std::exp(scale.data[0] * dot);
      above += weight * v.at({at[0], at[1] / 2, key, at[3]});
      below += weight;
    }
    return above / below;
  });
}

/// f by its mode, and its derivative by differences.
TEST(Graph, ActivationsAndTheirDerivatives) {
  struct Pair {
    cudnnPointwiseMode_t forward, backward;
    double (*value)(double);
  };
  const Pair pairs[] = {
      {CUDNN_POINTWISE_RELU_FWD, CUDNN_POINTWISE_RELU_BWD, [](double x) { return x > 0 ? x : 0; }},
      {CUDNN_POINTWISE_TANH_FWD, CUDNN_POINTWISE_TANH_BWD, [](double x) { return std::tanh(x); }},
      {CUDNN_POINTWISE_SIGMOID_FWD, CUDNN_POINTWISE_SIGMOID_BWD, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {CUDNN_POINTWISE_ELU_FWD, CUDNN_POINTWISE_ELU_BWD, [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
      {CUDNN_POINTWISE_GELU_FWD, CUDNN_POINTWISE_GELU_BWD,
       [](double x) { return x * std::erfc(-x / std::sqrt(2)) / 2; }},
      {CUDNN_POINTWISE_SOFTPLUS_FWD, CUDNN_POINTWISE_SOFTPLUS_BWD, [](double x) { return std::log(1 + std::exp(x)); }},
      {CUDNN_POINTWISE_SWISH_FWD, CUDNN_POINTWISE_SWISH_BWD, [](double x) { return x / (1 + std::exp(-x)); }},
      {CUDNN_POINTWISE_GELU_APPROX_TANH_FWD, CUDNN_POINTWISE_GELU_APPROX_TANH_BWD,
       [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
  };
  const GraphTensor x({3, 4, 5}), dy(x.size), y(x.size), dx(x.size);
  for (const Pair& pair : pairs) {
    const Pointwise forward(pair.forward, x, nullptr, y), backward(pair.backward, x, &dy, dx);
    run({&forward.said, &backward.said}, {&x, &dy, &y, &dx});
    y.expect([&](const Sizes& at) { return pair.value(x.at(at)); });
    for (int64_t i = 0; i < x.count(); ++i) {
      const double here = x.data[i], slope = (pair.value(here + 1e-6) - pair.value(here - 1e-6)) / 2e-6;
      ASSERT_NEAR(dx.data[i], dy.data[i] * slope, 1e-8) << pair.forward;
    }
  }
}

TEST(Graph, OperationsOnTwoTensorsAndASelection) {
  const std::pair<cudnnPointwiseMode_t, double (*)(double, double)> modes[] = {
      {CUDNN_POINTWISE_ADD, [](double x, double b) { return x + b; }},
      {CUDNN_POINTWISE_MUL, [](double x, double b) { return x * b; }},
      {CUDNN_POINTWISE_MIN, [](double x, double b) { return std::min(x, b); }},
      {CUDNN_POINTWISE_MAX, [](double x, double b) { return std::max(x, b); }},
      {CUDNN_POINTWISE_ADD_SQUARE, [](double x, double b) { return x + b * b; }},
      {CUDNN_POINTWISE_DIV, [](double x, double b) { return x / b; }},
      {CUDNN_POINTWISE_SUB, [](double x, double b) { return x - b; }},
      {CUDNN_POINTWISE_MOD, [](double x, double b) { return std::fmod(x, b); }},
      {CUDNN_POINTWISE_ATAN2, [](double x, double b) { return std::atan2(x, b); }},
      {CUDNN_POINTWISE_CMP_GT, [](double x, double b) { return x > b ? 1.0 : 0.0; }},
      {CUDNN_POINTWISE_CMP_LE, [](double x, double b) { return x <= b ? 1.0 : 0.0; }},
  };
  const GraphTensor x({2, 3, 4}), b({1, 3, 1}), y(x.size), mask(x.size, true), chosen(x.size);
  for (const auto& [mode, value] : modes) {
    const Pointwise operation(mode, x, &b, y), compare(CUDNN_POINTWISE_CMP_LT, x, &b, mask);
    const Pointwise select(CUDNN_POINTWISE_BINARY_SELECT, y, &x, chosen, &mask);
    run({&operation.said, &compare.said, &select.said}, {&x, &b, &y, &chosen});
    y.expect([&, value = value](const Sizes& at) { return value(x.at(at), b.at(at)); });
    chosen.expect([&](const Sizes& at) { return x.at(at) < b.at(at) ? y.at(at) : x.at(at); });
  }
}

TEST(Graph, BadDescriptorsAndPacksAreRefused) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  EXPECT_EQ(cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, nullptr), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnBackendCreateDescriptor(static_cast<cudnnBackendDescriptorType_t>(999), &descriptor),
            CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  EXPECT_EQ(cudnnBackendFinalize(nullptr), CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  Said tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR), how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  tensor.finalize(CUDNN_STATUS_BAD_PARAM);  // it has no sizes
  const int64_t size = 3;
  EXPECT_EQ(cudnnBackendSetAttribute(tensor.descriptor, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_INT64, 1, &size),
            CUDNN_STATUS_BAD_PARAM);
  Said operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  EXPECT_EQ(cudnnBackendSetAttribute(operation.descriptor, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &tensor.descriptor),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  const GraphTensor x({2, 3}), narrow({2, 2}), y({2, 3});
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD).finalize();
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, narrow)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y)
      .finalize(CUDNN_STATUS_BAD_PARAM);  // sizes that do not go together
  const Pointwise relu(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y);
  Said planned(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  plan({&relu.said}, planned);
  int64_t count = 7;
  EXPECT_EQ(cudnnBackendGetAttribute(planned.descriptor, CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS,
                                     CUDNN_TYPE_INT64, 0, &count, nullptr),
            kGood);
  EXPECT_EQ(count, 0);  // nobody said it
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, x.uid)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 1, &x.data)
      .finalize();
  EXPECT_EQ(cudnnBackendExecute(handle(), planned.descriptor, pack.descriptor),
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);  // without y
}

}  // namespace
}  // namespace ordito::libs::cudnn::graph_test
