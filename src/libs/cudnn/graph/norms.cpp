// Normalisations in graphs, forwards and back. Which elements have a mean and a variance together is what the sizes of
// the statistics say: those of layer and RMS norms are where scale has the size 1.
#include <algorithm>
#include <cmath>

#include "libs/cudnn/graph/kinds.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

/// A tensor of the same sizes but 1 where `is1` says so.
template <class Is1>
Tensor reduced(const Tensor& x, const Is1& is1) {
  Tensor result;
  result.size = x.size;
  for (size_t i = 0; i < x.size.size(); ++i)
    if (is1(i)) result.size[i] = 1;
  return result;
}

/// The statistics' sizes: of a batch norm those of scale, of others 1 where scale spans several.
std::optional<Tensor> statisticsOf(cudnnBackendNormMode_t mode, const Tensor& x, const Tensor& scale) {
  const auto spansAt = [&](size_t i) { return scale.size[i] != 1; };
  switch (mode) {
    case CUDNN_BATCH_NORM: return reduced(x, [&](size_t i) { return scale.size[i] == 1; });
    case CUDNN_INSTANCE_NORM: return reduced(x, [](size_t i) { return i >= 2; });
    case CUDNN_LAYER_NORM:
    case CUDNN_RMS_NORM: return reduced(x, spansAt);
    default: return std::nullopt;
  }
}

/// What both directions have: x, the statistics' sizes, and loops over what shares them.
struct Norm {
  cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
  Tensor x, statistics;

  bool hasMean() const { return mode != CUDNN_RMS_NORM; }

  /// Sum of value(place in x) over each group.
  template <class Value>
  std::vector<double> sums(const Tensor& groups, const Value& value) const {
    const Inner inner(x, groups);
    std::vector<double> result(static_cast<size_t>(groups.count()));
    parallelFor(static_cast<unsigned>(groups.count()), [&](unsigned i) {
      const int64_t base = inner.base(i);
      double sum = 0;
      for (const int64_t offset : inner.offsets) sum += value(static_cast<size_t>(base + offset), i);
      result[i] = sum;
    });
    return result;
  }
  double perGroup() const { return static_cast<double>(x.count()) / static_cast<double>(statistics.count()); }

  /// body(place in x, place in `one`, place in `other`), which spread over x.
  template <class Body>
  void each(const std::vector<int64_t>& one, const std::vector<int64_t>& other, const Body& body) const {
    const std::array<std::vector<int64_t>, 2> steps{spreadSteps(one, x.size), spreadSteps(other, x.size)};
    forRows<2>(x.size, steps, [&](int64_t first, const std::array<int64_t, 2>& at) {
      for (int64_t i = 0; i < x.size.back(); ++i)
        body(static_cast<size_t>(first + i), static_cast<size_t>(at[0] + i * steps[0].back()),
             static_cast<size_t>(at[1] + i * steps[1].back()));
    });
  }
};

template <class T>
std::vector<T> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}
template <class T>
std::vector<double> widened(const Array<T>& values) {
  return {values.data.begin(), values.data.end()};
}

struct Statistics {
  std::vector<double> mean, variance;
};
template <class T>
Statistics statisticsOf(const Norm& norm, const std::vector<T>& x) {
  Statistics result;
  result.mean.assign(static_cast<size_t>(norm.statistics.count()), 0);
  if (norm.hasMean()) {
    result.mean = norm.sums(norm.statistics, [&](size_t at, unsigned) { return static_cast<double>(x[at]); });
    for (double& mean : result.mean) mean /= norm.perGroup();
  }
  result.variance = norm.sums(norm.statistics, [&](size_t at, unsigned group) {
    const double distance = static_cast<double>(x[at]) - result.mean[group];
    return distance * distance;
  });
  for (double& variance : result.variance) variance /= norm.perGroup();
  return result;
}
std::vector<double> inverses(std::vector<double> variances, double epsilon) {
  for (double& value : variances) value = 1 / std::sqrt(value + epsilon);
  return variances;
}

struct NormForward : OperationOf<NormForward>, Norm {
  bool takesStatistics = false;  // a batch norm in inference
  Tensor scale, y;
  std::optional<Tensor> mean, inverse, bias, epsilon, factor, oldMean, oldVariance, newMean, newVariance;

  template <class T>
  double scalar(Arrays<T>& arrays, const std::optional<Tensor>& tensor) const {
    return tensor ? static_cast<double>(arrays[*tensor].data[0]) : 0;
  }

  template <class T>
  void update(Arrays<T>& arrays, const std::vector<double>& of, const std::optional<Tensor>& from,
              const std::optional<Tensor>& to) const {
    if (!from || !to) return;
    const double share = factor ? scalar(arrays, factor) : 1;
    std::vector<double> all = widened(arrays[*from]);
    for (size_t i = 0; i < all.size(); ++i) all[i] = (1 - share) * all[i] + share * of[i];
    arrays.put(*to, narrowed<T>(all));
  }

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const std::vector<T>& from = arrays[x].data;
    Statistics of;
    std::vector<double> inverted;
    if (takesStatistics) {
      of.mean = mean ? widened(arrays[*mean]) : std::vector<double>(static_cast<size_t>(statistics.count()));
      inverted = widened(arrays[*inverse]);
    } else {
      of = statisticsOf(*this, from);
      inverted = inverses(of.variance, scalar(arrays, epsilon));
    }
    const std::vector<T>& scales = arrays[scale].data;
    const T* biases = bias ? arrays[*bias].data.data() : nullptr;
    std::vector<T> result(from.size());
    each(statistics.size, scale.size, [&](size_t at, size_t group, size_t parameter) {
      const double normal = (static_cast<double>(from[at]) - of.mean[group]) * inverted[group];
      result[at] = static_cast<T>(normal * static_cast<double>(scales[parameter]) +
                                  (biases ? static_cast<double>(biases[parameter]) : 0));
    });
    arrays.put(y, std::move(result));
    if (takesStatistics) return;
    if (mean) arrays.put(*mean, narrowed<T>(of.mean));
    if (inverse) arrays.put(*inverse, narrowed<T>(inverted));
    update(arrays, of.mean, oldMean, newMean);
    const double unbiased = perGroup() > 1 ? perGroup() / (perGroup() - 1) : 1;
    for (double& variance : of.variance) variance *= unbiased;
    update(arrays, of.variance, oldVariance, newVariance);
  }
};

/// dx = inverse (g - mean of g - normal * mean of (g * normal)), where g is dy * scale; of an RMS norm without the
/// second term.
struct NormBackward : OperationOf<NormBackward>, Norm {
  Tensor dy, scale;
  std::optional<Tensor> mean, inverse, epsilon, dscale, dbias, dx;

  template <class T>
  void compute(Arrays<T>& arrays) const {
    const std::vector<T>&from = arrays[x].data, &gradients = arrays[dy].data, &scales = arrays[scale].data;
    Statistics of;
    if (!inverse || (hasMean() && !mean)) of = statisticsOf(*this, from);
    const std::vector<double> means = mean        ? widened(arrays[*mean])
                                      : hasMean() ? of.mean
                                                  : std::vector<double>(static_cast<size_t>(statistics.count()));
    const std::vector<double> inverted =
        inverse ? widened(arrays[*inverse])
                : inverses(of.variance, epsilon ? static_cast<double>(arrays[*epsilon].data[0]) : 0);
    std::vector<double> normal(from.size()), g(from.size());
    each(statistics.size, scale.size, [&](size_t at, size_t group, size_t parameter) {
      normal[at] = (static_cast<double>(from[at]) - means[group]) * inverted[group];
      g[at] = static_cast<double>(gradients[at]) * static_cast<double>(scales[parameter]);
    });
    const auto putSums = [&](const std::optional<Tensor>& to, const auto& value) {
      if (to) arrays.put(*to, narrowed<T>(this->sums(*to, value)));
    };
    putSums(dscale, [&](size_t at, unsigned) { return static_cast<double>(gradients[at]) * normal[at]; });
    putSums(dbias, [&](size_t at, unsigned) { return static_cast<double>(gradients[at]); });
    if (!dx) return;
    const auto sumG = sums(statistics, [&](size_t at, unsigned) { return g[at]; });
    const auto sumGn = sums(statistics, [&](size_t at, unsigned) { return g[at] * normal[at]; });
    std::vector<T> result(from.size());
    each(statistics.size, statistics.size, [&](size_t at, size_t group, size_t) {
      const double middle = hasMean() ? sumG[group] / perGroup() : 0;
      result[at] = static_cast<T>(inverted[group] * (g[at] - middle - normal[at] * sumGn[group] / perGroup()));
    });
    arrays.put(*dx, std::move(result));
  }
};

bool isShaped(const std::optional<Tensor>& tensor, const Tensor& as) {
  return !tensor || tensor->count() == as.count();
}

}  // namespace

cudnnStatus_t makeNormForward(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<NormForward>();
  const Maker maker(said, *operation);
  operation->mode = said.one(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_BATCH_NORM);
  const auto phase = said.one(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
  operation->takesStatistics = phase == CUDNN_NORM_FWD_INFERENCE && operation->mode == CUDNN_BATCH_NORM;
  if (!said.descriptors(CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS).empty())
    return refuse("a normalisation over several GPUs");
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, operation->x},
                          {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, operation->scale},
                          {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, operation->bias},
                          {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, operation->epsilon},
                          {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, operation->factor},
                          {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, operation->oldMean},
                          {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, operation->oldVariance}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, operation->y},
                           {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, operation->newMean},
                           {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, operation->newVariance}}));
  const Maker::Slots given{{CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, operation->mean},
                           {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, operation->inverse}};
  CUDNN_CHECK(operation->takesStatistics ? maker.read(given) && operation->inverse : maker.write(given));
  CUDNN_CHECK(operation->x.size == operation->y.size && spreads(operation->scale, operation->x));
  const auto statistics = statisticsOf(operation->mode, operation->x, operation->scale);
  if (!statistics) return refuse("a normalisation of this mode");
  operation->statistics = *statistics;
  CUDNN_CHECK(isShaped(operation->bias, operation->scale));
  for (const auto* each : {&operation->mean, &operation->inverse, &operation->oldMean, &operation->oldVariance,
                           &operation->newMean, &operation->newVariance})
    CUDNN_CHECK(isShaped(*each, *statistics));
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t makeNormBackward(const Descriptor& said, Made& made) {
  const auto operation = std::make_shared<NormBackward>();
  const Maker maker(said, *operation);
  operation->mode = said.one(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_BATCH_NORM);
  if (!said.descriptors(CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS).empty())
    return refuse("a normalisation over several GPUs");
  CUDNN_CHECK(maker.read({{CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, operation->x},
                          {CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, operation->dy},
                          {CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, operation->scale},
                          {CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, operation->mean},
                          {CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, operation->inverse},
                          {CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, operation->epsilon}}));
  CUDNN_CHECK(maker.write({{CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, operation->dscale},
                           {CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, operation->dbias},
                           {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, operation->dx}}));
  CUDNN_CHECK(operation->x.size == operation->dy.size && spreads(operation->scale, operation->x));
  const auto statistics = statisticsOf(operation->mode, operation->x, operation->scale);
  if (!statistics) return refuse("a normalisation of this mode");
  operation->statistics = *statistics;
  CUDNN_CHECK(isShaped(operation->mean, *statistics) && isShaped(operation->inverse, *statistics));
  for (const auto* each : {&operation->dscale, &operation->dbias}) CUDNN_CHECK(!*each || spreads(**each, operation->x));
  CUDNN_CHECK(!operation->dx || operation->dx->size == operation->x.size);
  made = operation;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace ordito::libs::cudnn::graph
