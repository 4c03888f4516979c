// cuDNN: batch normalisation (Ioffe and Szegedy, 2015) and local response normalisation across channels (Krizhevsky,
// Sutskever and Hinton, 2012).
#include <algorithm>
#include <cmath>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

namespace {

/// Numbers of 16 bits are normalised with parameters in single precision.
cudnnDataType_t typeOfParameters(const Shape& x) {
  return x.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

/// Which elements share a mean and a variance: those of a channel (spatial), or of a place of all images.
struct Statistics {
  Shape x;
  bool isSpatial;
  int64_t inner = 1;  // places of a channel

  Statistics(const Shape& shape, cudnnBatchNormMode_t mode)
      : x(shape), isSpatial(mode != CUDNN_BATCHNORM_PER_ACTIVATION) {
    for (size_t i = 2; i < static_cast<size_t>(x.rank); ++i) inner *= x.size[i];
  }
  int64_t groups() const { return isSpatial ? x.size[1] : x.count() / x.size[0]; }
  int64_t length() const { return x.count() / groups(); }
  /// The number of element k of a group in the tensor.
  int64_t element(int64_t group, int64_t k) const {
    if (!isSpatial) return k * groups() + group;
    return (k / inner * x.size[1] + group) * inner + k % inner;
  }
  /// Means, scales and the like are packed: one for each group.
  bool fits(const Shape& parameters) const {
    return parameters.rank == x.rank && parameters.count() == groups() && parameters.type == typeOfParameters(x);
  }
};

/// average = (1 - factor) * average + factor * value, which may be missing.
template <class E>
void average(void* to, int64_t at, double factor, double value) {
  if (to) Blend{factor, 1 - factor}.into(static_cast<E*>(to)[at], value);
}

/// Mean and variance of a group, in two passes.
template <class Value>
std::pair<double, double> moments(int64_t length, const Value& value) {
  double sum = 0, squares = 0;
  for (int64_t k = 0; k < length; ++k) sum += value(k);
  const double mean = sum / static_cast<double>(length);
  for (int64_t k = 0; k < length; ++k) squares += (value(k) - mean) * (value(k) - mean);
  return {mean, squares / static_cast<double>(length)};
}

cudnnStatus_t checkMode(cudnnBatchNormMode_t mode, double epsilon) {
  CUDNN_CHECK(mode >= CUDNN_BATCHNORM_PER_ACTIVATION && mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT &&
              epsilon >= CUDNN_BN_MIN_EPSILON);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derived, const cudnnTensorDescriptor_t x,
                                            cudnnBatchNormMode_t mode) {
  CUDNN_CHECK(derived && x && x->rank > 1);
  CUDNN_TRY(checkMode(mode, 0));
  Shape shape = *x;
  shape.type = typeOfParameters(*x);
  shape.size[0] = 1;
  if (mode != CUDNN_BATCHNORM_PER_ACTIVATION) std::fill(shape.size.begin() + 2, shape.size.begin() + shape.rank, 1);
  shape.pack(false);
  static_cast<Shape&>(*derived) = shape;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha,
                                                     const void* beta, const cudnnTensorDescriptor_t x,
                                                     const void* from, const cudnnTensorDescriptor_t y, void* to,
                                                     const cudnnTensorDescriptor_t parameters, const void* scale,
                                                     const void* bias, double factor, void* runningMean,
                                                     void* runningVariance, double epsilon, void* savedMean,
                                                     void* savedDeviation) {
  CUDNN_CHECK(handle && alpha && beta && x && y && parameters && from && to && scale && bias);
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*y) && x->type == y->type && !runningMean == !runningVariance);
  CUDNN_CHECK(!savedMean == !savedDeviation);
  CUDNN_TRY(checkMode(mode, epsilon));
  const Statistics s(*x, mode);
  CUDNN_CHECK(s.fits(*parameters));
  return submitTyped(handle, "cudnnBatchNormalizationForwardTraining", *x,
                     [=, y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       using P = Compute<E>;
                       parallelFor(static_cast<unsigned>(s.groups()), [&](unsigned g) {
                         const auto value = [&](int64_t k) { return get<E>(from, s.x.at(s.element(g, k))); };
                         const auto length = static_cast<double>(s.length());
                         const auto [mean, variance] = moments(s.length(), value);
                         const double inverse = 1 / std::sqrt(variance + epsilon);
                         for (int64_t k = 0; k < s.length(); ++k)
                           blend.into(static_cast<E*>(to)[y.at(s.element(g, k))],
                                      (value(k) - mean) * inverse * get<P>(scale, g) + get<P>(bias, g));
                         average<P>(runningMean, g, factor, mean);
                         average<P>(runningVariance, g, factor,
                                    length > 1 ? variance * length / (length - 1) : variance);
                         average<P>(savedMean, g, 1, mean);
                         average<P>(savedDeviation, g, 1, inverse);
                       });
                     });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                                                      const void* alpha, const void* beta,
                                                      const cudnnTensorDescriptor_t x, const void* from,
                                                      const cudnnTensorDescriptor_t y, void* to,
                                                      const cudnnTensorDescriptor_t parameters, const void* scale,
                                                      const void* bias, const void* mean, const void* variance,
                                                      double epsilon) {
  CUDNN_CHECK(handle && alpha && beta && x && y && parameters && from && to && scale && bias && mean && variance);
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*y) && x->type == y->type);
  CUDNN_TRY(checkMode(mode, epsilon));
  const Statistics s(*x, mode);
  CUDNN_CHECK(s.fits(*parameters));
  return submitTyped(handle, "cudnnBatchNormalizationForwardInference", *x,
                     [=, y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       using P = Compute<E>;
                       parallelFor(static_cast<unsigned>(s.groups()), [&](unsigned g) {
                         const double factor = get<P>(scale, g) / std::sqrt(get<P>(variance, g) + epsilon);
                         for (int64_t k = 0; k < s.length(); ++k) {
                           const int64_t at = s.element(g, k);
                           blend.into(static_cast<E*>(to)[y.at(at)],
                                      (get<E>(from, s.x.at(at)) - get<P>(mean, g)) * factor + get<P>(bias, g));
                         }
                       });
                     });
}

cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alphaData,
                                              const void* betaData, const void* alphaParameters,
                                              const void* betaParameters, const cudnnTensorDescriptor_t x,
                                              const void* from, const cudnnTensorDescriptor_t dy, const void* dys,
                                              const cudnnTensorDescriptor_t dx, void* to,
                                              const cudnnTensorDescriptor_t parameters, const void* scale,
                                              void* scaleChange, void* biasChange, double epsilon,
                                              const void* savedMean, const void* savedDeviation) {
  CUDNN_CHECK(handle && alphaData && betaData && alphaParameters && betaParameters && x && dy && dx && parameters);
  CUDNN_CHECK(from && dys && to && scale && scaleChange && biasChange && !savedMean == !savedDeviation);
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*dy) && x->sameSizes(*dx) && x->type == dy->type && x->type == dx->type);
  CUDNN_TRY(checkMode(mode, epsilon));
  const Statistics s(*x, mode);
  CUDNN_CHECK(s.fits(*parameters));
  return submitTyped(
      handle, "cudnnBatchNormalizationBackward", *x,
      [=, dy = Shape(*dy), dx = Shape(*dx), data = blend(*x, alphaData, betaData),
       change = blend(*x, alphaParameters, betaParameters)](auto zero) {
        using E = decltype(zero);
        using P = Compute<E>;
        parallelFor(static_cast<unsigned>(s.groups()), [&](unsigned g) {
          const auto value = [&](int64_t k) { return get<E>(from, s.x.at(s.element(g, k))); };
          const auto changed = [&](int64_t k) { return get<E>(dys, dy.at(s.element(g, k))); };
          auto [mean, variance] = savedMean ? std::pair(get<P>(savedMean, g), 0.0) : moments(s.length(), value);
          const double inverse = savedMean ? get<P>(savedDeviation, g) : 1 / std::sqrt(variance + epsilon);
          double sum = 0, product = 0;
          for (int64_t k = 0; k < s.length(); ++k) {
            sum += changed(k);
            product += changed(k) * (value(k) - mean) * inverse;
          }
          const auto length = static_cast<double>(s.length());
          for (int64_t k = 0; k < s.length(); ++k) {
            const double normal = (value(k) - mean) * inverse;
            data.into(static_cast<E*>(to)[dx.at(s.element(g, k))],
                      get<P>(scale, g) * inverse * (changed(k) - (sum + normal * product) / length));
          }
          change.into(static_cast<P*>(scaleChange)[g], product);
          change.into(static_cast<P*>(biasChange)[g], sum);
        });
      });
}

// --- local response normalisation

cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t d, unsigned n, double alpha, double beta, double k) {
  CUDNN_CHECK(d && n >= CUDNN_LRN_MIN_N && n <= CUDNN_LRN_MAX_N && beta >= CUDNN_LRN_MIN_BETA && k >= CUDNN_LRN_MIN_K);
  *d = {n, alpha, beta, k};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t d, unsigned* n, double* alpha, double* beta, double* k) {
  CUDNN_CHECK(d && n && alpha && beta && k);
  *n = d->n, *alpha = d->alpha, *beta = d->beta, *k = d->k;
  return CUDNN_STATUS_SUCCESS;
}

namespace {

/// k + alpha / n * the sum of squares of the channels around. The window of n channels reaches (n - 1) / 2 below.
struct Neighbours {
  cudnnLRNStruct d;
  int channels;

  int begin(int c) const { return std::max(0, c - (static_cast<int>(d.n) - 1) / 2); }
  int end(int c) const { return std::min(channels, c - (static_cast<int>(d.n) - 1) / 2 + static_cast<int>(d.n)); }
  template <class Value>
  double base(int c, const Value& value) const {
    double squares = 0;
    for (int i = begin(c); i < end(c); ++i) squares += value(i) * value(i);
    return d.k + d.alpha / d.n * squares;
  }
};

/// body(number of the place's first channel, steps between channels are `inner`) for each place of each image.
template <class Body>
void forPlaces(const Shape& x, const Body& body) {
  const int64_t inner = x.count() / x.size[0] / x.size[1];
  parallelFor(static_cast<unsigned>(x.size[0] * inner), [&](unsigned i) {
    body([=, channels = x.size[1]](int c) { return (i / inner * channels + c) * inner + i % inner; });
  });
}

}  // namespace

cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t d, cudnnLRNMode_t mode,
                                          const void* alpha, const cudnnTensorDescriptor_t x, const void* from,
                                          const void* beta, const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && d && mode == CUDNN_LRN_CROSS_CHANNEL_DIM1 && alpha && beta && x && y && from && to);
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*y) && x->type == y->type);
  return submitTyped(
      handle, "cudnnLRNCrossChannelForward", *x,
      [=, n = Neighbours{*d, x->size[1]}, x = Shape(*x), y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forPlaces(x, [&](const auto& element) {
          const auto value = [&](int c) { return get<E>(from, x.at(element(c))); };
          for (int c = 0; c < n.channels; ++c)
            blend.into(static_cast<E*>(to)[y.at(element(c))], value(c) * std::pow(n.base(c, value), -n.d.beta));
        });
      });
}

cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t d, cudnnLRNMode_t mode,
                                           const void* alpha, const cudnnTensorDescriptor_t y, const void* ys,
                                           const cudnnTensorDescriptor_t dy, const void* dys,
                                           const cudnnTensorDescriptor_t x, const void* xs, const void* beta,
                                           const cudnnTensorDescriptor_t dx, void* to) {
  CUDNN_CHECK(handle && d && mode == CUDNN_LRN_CROSS_CHANNEL_DIM1 && alpha && beta && y && dy && x && dx);
  CUDNN_CHECK(ys && dys && xs && to && x->rank > 1 && x->sameSizes(*y) && x->sameSizes(*dy) && x->sameSizes(*dx));
  CUDNN_CHECK(x->type == dy->type && x->type == dx->type);
  return submitTyped(handle, "cudnnLRNCrossChannelBackward", *x,
                     [=, n = Neighbours{*d, x->size[1]}, x = Shape(*x), dy = Shape(*dy), dx = Shape(*dx),
                      blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       forPlaces(x, [&](const auto& element) {
                         const auto value = [&](int c) { return get<E>(xs, x.at(element(c))); };
                         const auto changed = [&](int c) { return get<E>(dys, dy.at(element(c))); };
                         std::vector<double> sums(static_cast<size_t>(n.channels));
                         for (int c = 0; c < n.channels; ++c) {  // the derivative of y_c by each x_i of its window
                           const double base = n.base(c, value);
                           sums[static_cast<size_t>(c)] += changed(c) * std::pow(base, -n.d.beta);
                           const double common = changed(c) * value(c) * -2 * n.d.beta * n.d.alpha / n.d.n *
                                                 std::pow(base, -n.d.beta - 1);
                           for (int i = n.begin(c); i < n.end(c); ++i)
                             sums[static_cast<size_t>(i)] += common * value(i);
                         }
                         for (int c = 0; c < n.channels; ++c)
                           blend.into(static_cast<E*>(to)[dx.at(element(c))], sums[static_cast<size_t>(c)]);
                       });
                     });
}
