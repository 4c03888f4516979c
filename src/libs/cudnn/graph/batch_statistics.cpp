// The parts of a batch normalisation in graphs that take it apart: sums of the batch, what follows from them, and the
// gradients of its parameters.
#include <cmath>

#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

using Doubles = std::vector<double>;

template <class T>
void putNarrowed(Arrays<T>& arrays, const std::optional<Tensor>& to, const Doubles& values) {
  if (to) arrays.put(*to, std::vector<T>(values.begin(), values.end()));
}

/// Sums over all but what `groups` has: value(place in x, group).
template <class Value>
Doubles sums(const Tensor& x, const Tensor& groups, const Value& value) {
  const Inner inner(x, groups);
  Doubles result(static_cast<size_t>(groups.count()));
  parallelFor(static_cast<unsigned>(groups.count()), [&](unsigned i) {
    const int64_t base = inner.base(i);
    for (const int64_t offset : inner.offsets) result[i] += value(static_cast<size_t>(base + offset), i);
  });
  return result;
}

struct GenStats : OperationOf<GenStats> {
  Tensor x;
  std::optional<Tensor> sum, squares;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const std::vector<T>& from = arrays[x].data;
    const auto put = [&](const std::optional<Tensor>& to, const auto& of) {
      if (to)
        putNarrowed(arrays, to, sums(x, *to, [&](size_t at, unsigned) { return of(static_cast<double>(from[at])); }));
    };
    put(sum, [](double value) { return value; });
    put(squares, [](double value) { return value * value; });
  }
};

struct BnFinalize : OperationOf<BnFinalize> {
  bool isTraining = true;
  std::optional<Tensor> sum, squares, scale, bias, oldMean, oldVariance, newMean, newVariance, mean, inverse;
  std::optional<Tensor> equalScale, equalBias, count, epsilon, factor;

  template <class T>
  Doubles in(Arrays<T>& arrays, const std::optional<Tensor>& tensor, double otherwise, size_t size) const {
    if (!tensor) return Doubles(size, otherwise);
    const auto& data = arrays[*tensor].data;
    return {data.begin(), data.end()};
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const auto size = static_cast<size_t>(scale->count());
    const auto read = [&](const std::optional<Tensor>& tensor, double otherwise) {
      return in(arrays, tensor, otherwise, size);
    };
    const double number = read(count, 1)[0], eps = read(epsilon, 0)[0], share = read(factor, 0)[0];
    const Doubles scales = read(scale, 1), biases = read(bias, 0);
    Doubles means = read(oldMean, 0), variances = read(oldVariance, 1);
    if (isTraining) {
      const Doubles total = read(sum, 0), totalSquares = read(squares, 0), meansBefore = means, before = variances;
      Doubles runningMeans = means, running = variances;
      for (size_t i = 0; i < size; ++i) {
        means[i] = total[i] / number;
        variances[i] = totalSquares[i] / number - means[i] * means[i];
        runningMeans[i] = (1 - share) * meansBefore[i] + share * means[i];
        running[i] = (1 - share) * before[i] + share * variances[i] * (number > 1 ? number / (number - 1) : 1);
      }
      putNarrowed(arrays, newMean, runningMeans);
      putNarrowed(arrays, newVariance, running);
    }
    Doubles inverses(size), equal(size), shift(size);
    for (size_t i = 0; i < size; ++i) {
      inverses[i] = 1 / std::sqrt(variances[i] + eps);
      equal[i] = scales[i] * inverses[i];
      shift[i] = biases[i] - means[i] * equal[i];
    }
    putNarrowed(arrays, mean, means);
    putNarrowed(arrays, inverse, inverses);
    putNarrowed(arrays, equalScale, equal);
    putNarrowed(arrays, equalBias, shift);
  }
};

/// The gradients of scale and bias, and dx as equalDy * dy + equalX * x + equalBias.
struct BnBackwardWeights : OperationOf<BnBackwardWeights> {
  Tensor mean, inverse, scale, x, dy;
  std::optional<Tensor> dscale, dbias, equalDy, equalX, equalBias;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const std::vector<T>&from = arrays[x].data, &gradients = arrays[dy].data;
    const std::vector<T>&means = arrays[mean].data, &inverses = arrays[inverse].data, &scales = arrays[scale].data;
    const auto gradient = [&](size_t at) { return static_cast<double>(gradients[at]); };
    const Doubles sum = sums(x, scale, [&](size_t at, unsigned) { return gradient(at); });
    const Doubles weighted = sums(x, scale, [&](size_t at, unsigned group) {
      return gradient(at) * (static_cast<double>(from[at]) - static_cast<double>(means[group])) *
             static_cast<double>(inverses[group]);
    });
    const double count = static_cast<double>(x.count()) / static_cast<double>(scale.count());
    Doubles ofDy(sum.size()), ofX(sum.size()), shift(sum.size());
    for (size_t i = 0; i < sum.size(); ++i) {
      const auto inverted = static_cast<double>(inverses[i]);
      ofDy[i] = static_cast<double>(scales[i]) * inverted;
      ofX[i] = -ofDy[i] * inverted * weighted[i] / count;
      shift[i] = -ofDy[i] * sum[i] / count - ofX[i] * static_cast<double>(means[i]);
    }
    putNarrowed(arrays, dscale, weighted);
    putNarrowed(arrays, dbias, sum);
    putNarrowed(arrays, equalDy, ofDy);
    putNarrowed(arrays, equalX, ofX);
    putNarrowed(arrays, equalBias, shift);
  }
};

bool areParameters(std::initializer_list<const std::optional<Tensor>*> tensors, const Tensor& scale) {
  for (const auto* tensor : tensors)
    if (*tensor && (*tensor)->count() != scale.count()) return false;
  return true;
}

}  // namespace

cudnnStatus_t makeGenStats(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<GenStats>();
  const Maker maker(said, *operation);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_GENSTATS_XDESC, operation->x}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, operation->sum},
                           {CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, operation->squares}}));
  CUDNN_CHECK(operation->sum && operation->squares);
  for (const auto* to : {&operation->sum, &operation->squares}) CUDNN_CHECK(spreads(**to, operation->x));
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeBnFinalize(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<BnFinalize>();
  BnFinalize& o = *operation;
  const Maker maker(said, o);
  o.isTraining = said.one(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, CUDNN_BN_FINALIZE_STATISTICS_TRAINING) ==
                 CUDNN_BN_FINALIZE_STATISTICS_TRAINING;
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, o.sum},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, o.squares},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, o.scale},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, o.bias},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC, o.oldMean},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC, o.oldVariance},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC, o.count},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, o.epsilon},
                          {CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC, o.factor}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC, o.newMean},
                           {CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC, o.newVariance},
                           {CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, o.mean},
                           {CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, o.inverse},
                           {CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, o.equalScale},
                           {CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, o.equalBias}}));
  CUDNN_CHECK(o.scale && (!o.isTraining || (o.sum && o.squares && o.count)));
  CUDNN_CHECK(areParameters({&o.sum, &o.squares, &o.bias, &o.oldMean, &o.oldVariance, &o.newMean, &o.newVariance,
                             &o.mean, &o.inverse, &o.equalScale, &o.equalBias},
                            *o.scale));
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeBnBackwardWeights(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<BnBackwardWeights>();
  BnBackwardWeights& o = *operation;
  const Maker maker(said, o);
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, o.mean},
                          {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, o.inverse},
                          {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, o.scale},
                          {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, o.x},
                          {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, o.dy}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, o.dscale},
                           {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, o.dbias},
                           {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, o.equalDy},
                           {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, o.equalX},
                           {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, o.equalBias}}));
  CUDNN_CHECK(o.x.size == o.dy.size && spreads(o.scale, o.x));
  CUDNN_CHECK(o.mean.count() == o.scale.count() && o.inverse.count() == o.scale.count());
  CUDNN_CHECK(areParameters({&o.dscale, &o.dbias, &o.equalDy, &o.equalX, &o.equalBias}, o.scale));
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
