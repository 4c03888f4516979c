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
  const auto x = maker.read(CUDNN_ATTR_OPERATION_GENSTATS_XDESC);
  operation->sum = maker.write(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC);
  operation->squares = maker.write(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC);
  CUDNN_CHECK(x && operation->sum && operation->squares);
  for (const auto* to : {&operation->sum, &operation->squares})
    CUDNN_CHECK((*to)->size.size() == x->size.size() && spreads((*to)->size, x->size));
  operation->x = *x;
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeBnFinalize(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<BnFinalize>();
  BnFinalize& o = *operation;
  const Maker maker(said, o);
  o.isTraining = said.one(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, CUDNN_BN_FINALIZE_STATISTICS_TRAINING) ==
                 CUDNN_BN_FINALIZE_STATISTICS_TRAINING;
  o.sum = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC);
  o.squares = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC);
  o.scale = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC);
  o.bias = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC);
  o.oldMean = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC);
  o.oldVariance = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC);
  o.newMean = maker.write(CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC);
  o.newVariance = maker.write(CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC);
  o.mean = maker.write(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC);
  o.inverse = maker.write(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC);
  o.equalScale = maker.write(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC);
  o.equalBias = maker.write(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC);
  o.count = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC);
  o.epsilon = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC);
  o.factor = maker.read(CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC);
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
  const auto mean = maker.read(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC);
  const auto inverse = maker.read(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC);
  const auto scale = maker.read(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC);
  const auto x = maker.read(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC);
  const auto dy = maker.read(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC);
  CUDNN_CHECK(mean && inverse && scale && x && dy && x->size == dy->size);
  o.dscale = maker.write(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC);
  o.dbias = maker.write(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC);
  o.equalDy = maker.write(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC);
  o.equalX = maker.write(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC);
  o.equalBias = maker.write(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS);
  CUDNN_CHECK(scale->size.size() == x->size.size() && spreads(scale->size, x->size));
  CUDNN_CHECK(mean->count() == scale->count() && inverse->count() == scale->count());
  CUDNN_CHECK(areParameters({&o.dscale, &o.dbias, &o.equalDy, &o.equalX, &o.equalBias}, *scale));
  o.mean = *mean, o.inverse = *inverse, o.scale = *scale, o.x = *x, o.dy = *dy;
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
