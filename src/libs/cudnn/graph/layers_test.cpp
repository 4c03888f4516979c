// Normalisations, pooling and moves of graphs in double against the sums that define them.
#include <cmath>

#include "libs/cudnn/graph/test_graph.hpp"

namespace ordito::libs::cudnn::graph_test {
namespace {

/// A tensor that holds one number.
std::unique_ptr<GraphTensor> number(double value) {
  auto tensor = std::make_unique<GraphTensor>(Sizes{1, 1, 1, 1});
  tensor->data[0] = value;
  return tensor;
}

/// Elements of x that belong to the one at `at` of a tensor of these sizes, which are x's or 1.
template <class Visit>
void together(const GraphTensor& x, const Sizes& sizes, const Sizes& at, const Visit& visit) {
  for (int64_t i = 0; i < x.count(); ++i) {
    const Sizes where = x.indices(i);
    bool isSame = true;
    for (size_t d = 0; d < sizes.size(); ++d) isSame &= sizes[d] == 1 || where[d] == at[d];
    if (isSame) visit(where);
  }
}

struct NormCase {
  const char* name;
  cudnnBackendNormMode_t mode;
  Sizes parameters, statistics;
};
const Sizes kImage{3, 4, 2, 5};
const NormCase kNorms[] = {{"batch", CUDNN_BATCH_NORM, {1, 4, 1, 1}, {1, 4, 1, 1}},
                           {"layer", CUDNN_LAYER_NORM, {1, 4, 2, 5}, {3, 1, 1, 1}},
                           {"instance", CUDNN_INSTANCE_NORM, {1, 4, 1, 1}, {3, 4, 1, 1}},
                           {"RMS", CUDNN_RMS_NORM, {1, 4, 2, 5}, {3, 1, 1, 1}}};

class Norm : public testing::TestWithParam<NormCase> {
 protected:
  static double mean(const GraphTensor& x, const Sizes& at) {
    double sum = 0, count = 0;
    together(x, GetParam().statistics, at, [&](const Sizes& where) { sum += x.at(where), ++count; });
    return GetParam().mode == CUDNN_RMS_NORM ? 0 : sum / count;
  }
  static double variance(const GraphTensor& x, const Sizes& at) {
    double sum = 0, count = 0;
    const double middle = mean(x, at);
    together(x, GetParam().statistics, at,
             [&](const Sizes& where) { sum += (x.at(where) - middle) * (x.at(where) - middle), ++count; });
    return sum / count;
  }
  static double normal(const GraphTensor& x, const Sizes& at) {
    return (x.at(at) - mean(x, at)) / std::sqrt(variance(x, at) + kEpsilon);
  }
  static constexpr double kEpsilon = 0.01;
};

TEST_P(Norm, ForwardsInTraining) {
  const NormCase& norm = GetParam();
  const bool hasMean = norm.mode != CUDNN_RMS_NORM, isBatch = norm.mode == CUDNN_BATCH_NORM;
  const GraphTensor x(kImage), y(kImage), scale(norm.parameters), bias(norm.parameters), saved(norm.statistics);
  const GraphTensor inverse(norm.statistics), oldMean(norm.parameters), newMean(norm.parameters);
  const GraphTensor oldVariance(norm.parameters), newVariance(norm.parameters);
  const auto epsilon = number(kEpsilon), factor = number(0.25);
  Said said(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  said.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, norm.mode)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, scale)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, bias)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, *epsilon)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, inverse)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, y);
  if (hasMean) said.set(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, saved);
  if (isBatch)
    said.set(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, *factor)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, oldMean)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, oldVariance)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, newMean)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, newVariance);
  said.finalize();
  run({&said}, {&x, &y, &scale, &bias, &saved, &inverse, &oldMean, &newMean, &oldVariance, &newVariance, epsilon.get(),
                factor.get()});
  y.expect([&](const Sizes& at) { return normal(x, at) * scale.at(at) + bias.at(at); });
  inverse.expect([&](const Sizes& at) { return 1 / std::sqrt(variance(x, at) + kEpsilon); });
  if (hasMean) saved.expect([&](const Sizes& at) { return mean(x, at); });
  if (!isBatch) return;
  newMean.expect([&](const Sizes& at) { return 0.75 * oldMean.at(at) + 0.25 * mean(x, at); });
  newVariance.expect([&](const Sizes& at) { return 0.75 * oldVariance.at(at) + 0.25 * variance(x, at) * 30 / 29; });
}

/// Gradients of sum(dy * y) by differences, y computed as above.
TEST_P(Norm, Backwards) {
  const NormCase& norm = GetParam();
  const GraphTensor x(kImage), dy(kImage), scale(norm.parameters), dx(kImage), dscale(norm.parameters);
  const GraphTensor dbias(norm.parameters), saved(norm.statistics), inverse(norm.statistics);
  for (int64_t i = 0; i < saved.count(); ++i) {
    const Sizes at = saved.indices(i);
    saved.at(at) = mean(x, at);
    inverse.at(at) = 1 / std::sqrt(variance(x, at) + kEpsilon);
  }
  Said said(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
  said.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, norm.mode)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, dy)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, scale)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, inverse)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, dx)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, dscale)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, dbias);
  if (norm.mode != CUDNN_RMS_NORM) said.set(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, saved);
  said.finalize();
  run({&said}, {&x, &dy, &scale, &dx, &dscale, &dbias, &saved, &inverse});
  const auto sum = [&](const GraphTensor& to, const Sizes& at, const auto& term) {
    double all = 0;
    together(x, to.size, at, [&](const Sizes& where) { all += term(where); });
    return all;
  };
  dbias.expect([&](const Sizes& at) { return sum(dbias, at, [&](const Sizes& where) { return dy.at(where); }); });
  dscale.expect([&](const Sizes& at) {
    return sum(dscale, at, [&](const Sizes& where) { return dy.at(where) * normal(x, where); });
  });
  const auto loss = [&] {
    double all = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
      const Sizes at = x.indices(i);
      all += dy.at(at) * scale.at(at) * normal(x, at);
    }
    return all;
  };
  for (int64_t i = 0; i < x.count(); i += 7) {
    const double was = x.data[i];
    x.data[i] = was + 1e-5;
    const double above = loss();
    x.data[i] = was - 1e-5;
    const double below = loss();
    x.data[i] = was;
    ASSERT_NEAR(dx.data[i], (above - below) / 2e-5, 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Graph, Norm, testing::ValuesIn(kNorms), [](const auto& info) { return info.param.name; });

/// A batch normalisation taken apart: sums, what follows of them, and its gradients as factors of dy and x.
TEST(Graph, ABatchNormalisationInParts) {
  const Sizes channels{1, 4, 1, 1};
  const GraphTensor x(kImage), dy(kImage), sum(channels, true), squares(channels, true), scale(channels),
      bias(channels);
  const GraphTensor mean(channels), inverse(channels), equalScale(channels), equalBias(channels);
  const GraphTensor dscale(channels), dbias(channels), ofDy(channels), ofX(channels), shift(channels);
  const auto count = number(30), epsilon = number(0.01);
  Said stats(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR),
      finish(CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR);
  stats.set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum)
      .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares)
      .finalize();
  finish.set(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, sum)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, squares)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, scale)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, bias)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, mean)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, inverse)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, equalScale)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, equalBias)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC, *count)
      .set(CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, *epsilon)
      .finalize();
  Said weights(CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR);
  weights.set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, mean)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, inverse)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, scale)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, x)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, dy)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, dscale)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, dbias)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, ofDy)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, ofX)
      .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, shift)
      .finalize();
  run({&weights, &stats, &finish}, {&x, &dy, &scale, &bias, &mean, &inverse, &equalScale, &equalBias, &dscale, &dbias,
                                    &ofDy, &ofX, &shift, count.get(), epsilon.get()});
  // The whole operation backwards says the same.
  const GraphTensor dx(kImage), otherScale(channels), otherBias(channels);
  Said whole(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
  whole.set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_BATCH_NORM)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, x)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, dy)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, scale)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, *epsilon)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, dx)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, otherScale)
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, otherBias)
      .finalize();
  run({&whole}, {&x, &dy, &scale, &dx, &otherScale, &otherBias, epsilon.get()});
  dscale.expect([&](const Sizes& at) { return otherScale.at(at); });
  dbias.expect([&](const Sizes& at) { return otherBias.at(at); });
  dx.expect([&](const Sizes& at) { return ofDy.at(at) * dy.at(at) + ofX.at(at) * x.at(at) + shift.at(at); });
  equalBias.expect([&](const Sizes& at) { return bias.at(at) - mean.at(at) * scale.at(at) * inverse.at(at); });
  equalScale.expect([&](const Sizes& at) { return scale.at(at) * inverse.at(at); });
}

/// Pooling with windows of 3 by 2, steps of 2 by 1 and padding above and to the right.
struct Pool {
  static constexpr int64_t kHeight = 3, kWidth = 2;
  explicit Pool(cudnnResampleMode_t mode) : said(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR) {
    said.set(CUDNN_ATTR_RESAMPLE_MODE, mode)
        .set(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_DATA_DOUBLE)
        .set(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_NEG_INF_PAD)
        .set(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, int64_t{2});
    const auto fractions = [&](cudnnBackendAttributeName_t name, int64_t a, int64_t b) {
      const cudnnFraction_t two[] = {{a, 1}, {b, 1}};
      said.set(name, CUDNN_TYPE_FRACTION, 2, two);
    };
    fractions(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, kHeight, kWidth);
    fractions(CUDNN_ATTR_RESAMPLE_STRIDES, 2, 1);
    fractions(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, 1, 0);
    fractions(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, 0, 1);
    said.finalize();
  }
  /// visit(place in x, number in the window), without the padding.
  template <class Visit>
  static void each(const GraphTensor& x, const Sizes& at, const Visit& visit) {
    for (int64_t r = 0; r < kHeight; ++r)
      for (int64_t s = 0; s < kWidth; ++s) {
        const int64_t h = at[2] * 2 - 1 + r, w = at[3] + s;
        if (h >= 0 && h < x.size[2] && w < x.size[3]) visit(Sizes{at[0], at[1], h, w}, r * kWidth + s);
      }
  }
  Said said;
};

TEST(Graph, PoolingAndItsGradient) {
  const GraphTensor x({2, 3, 6, 5}), y({2, 3, 3, 5}), index(y.size), dy(y.size), dx(x.size);
  for (const auto mode :
       {CUDNN_RESAMPLE_MAXPOOL, CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING, CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING}) {
    const bool isMaximum = mode == CUDNN_RESAMPLE_MAXPOOL;
    const Pool pool(mode);
    Said forward(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR),
        backward(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
    forward.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, x)
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, y)
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, pool.said);
    if (isMaximum) forward.set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, index);
    backward.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, dx)
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, dy)
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, pool.said);
    if (isMaximum) backward.set(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, index);
    forward.finalize(), backward.finalize();
    run({&backward, &forward}, {&x, &y, &index, &dy, &dx});
    std::map<Sizes, double> gradient;
    y.expect([&](const Sizes& at) {
      double most = -INFINITY, sum = 0;
      int64_t inside = 0, tap = 0;
      Sizes place;
      Pool::each(x, at, [&](const Sizes& where, int64_t number) {
        if (x.at(where) > most) most = x.at(where), tap = number, place = where;
        sum += x.at(where), ++inside;
      });
      const double count = mode == CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING ? static_cast<double>(inside) : 6;
      if (isMaximum) {
        EXPECT_EQ(index.at(at), static_cast<double>(tap));
        gradient[place] += dy.at(at);
      } else {
        Pool::each(x, at, [&](const Sizes& where, int64_t) { gradient[where] += dy.at(at) / count; });
      }
      return isMaximum ? most : sum / count;
    });
    dx.expect([&](const Sizes& at) { return gradient[at]; });
  }
}

TEST(Graph, MemoryReadWithOtherSteps) {
  const GraphTensor x({2, 3, 4}), y({2, 4, 3}, false, {12, 1, 4}), z({2, 4, 3});
  Said view(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  view.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x).set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y).finalize();
  Said how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), negate(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_NEG).finalize();
  negate.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, y)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, z)
      .finalize();
  run({&view, &negate}, {&x, &y, &z});
  z.expect([&](const Sizes& at) { return -x.at({at[0], at[2], at[1]}); });
}

TEST(Graph, TensorsOneBehindTheOther) {
  const GraphTensor a({2, 3, 4}), b({2, 2, 4}), y({2, 5, 4});
  Said concat(CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR);
  const cudnnBackendDescriptor_t inputs[] = {static_cast<const Said&>(a).descriptor,
                                             static_cast<const Said&>(b).descriptor};
  concat.set(CUDNN_ATTR_OPERATION_CONCAT_AXIS, int64_t{1})
      .set(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, inputs)
      .set(CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, y)
      .finalize();
  run({&concat}, {&a, &b, &y});
  y.expect([&](const Sizes& at) { return at[1] < 3 ? a.at(at) : b.at({at[0], at[1] - 3, at[2]}); });
}

}  // namespace
}  // namespace ordito::libs::cudnn::graph_test
