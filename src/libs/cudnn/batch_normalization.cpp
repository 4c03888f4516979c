// cuDNN: batch normalisation (Ioffe and Szegedy, 2015), also with what may come behind it: another tensor added, an
// activation.
#include <algorithm>
#include <cmath>

#include "libs/cudnn/activation.hpp"
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

/// What the forward calls want of their arguments.
cudnnStatus_t checkForward(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
                           const cudnnTensorStruct* x, const void* from, const cudnnTensorStruct* y, const void* to,
                           const cudnnTensorStruct* parameters, const void* scale, const void* bias, double epsilon) {
  CUDNN_CHECK(handle && alpha && beta && x && y && parameters && from && to && scale && bias);
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*y) && x->type == y->type);
  CUDNN_TRY(checkMode(mode, epsilon));
  CUDNN_CHECK(Statistics(*x, mode).fits(*parameters));
  return CUDNN_STATUS_SUCCESS;
}

/// What comes behind a normalisation: y = activation(normalised x + z).
struct Behind {
  cudnnActivationStruct activation{CUDNN_ACTIVATION_IDENTITY};
  Shape zShape;
  const void* z = nullptr;

  template <class E>
  double operator()(double value, int64_t element) const {
    return activated(activation, z ? value + get<E>(z, zShape.at(element)) : value);
  }
};

/// The same on the way back: the gradient of what is before it, which is also z's.
struct BehindBackward {
  cudnnActivationStruct activation{CUDNN_ACTIVATION_IDENTITY};
  Shape yShape, dzShape;
  const void* y = nullptr;
  void* dz = nullptr;

  template <class E>
  double operator()(double gradient, int64_t element) const {
    if (activation.mode == CUDNN_ACTIVATION_IDENTITY) return gradient;
    const double result = get<E>(y, yShape.at(element));  // of ReLU as good as its argument
    return gradient * slope(activation, result, result);
  }
};

cudnnStatus_t checkOperation(cudnnBatchNormOps_t operation, const cudnnActivationStruct* activation) {
  CUDNN_CHECK(operation >= CUDNN_BATCHNORM_OPS_BN && operation <= CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION);
  if (operation == CUDNN_BATCHNORM_OPS_BN) return CUDNN_STATUS_SUCCESS;
  CUDNN_CHECK(activation);
  const bool isThere = activation->mode == CUDNN_ACTIVATION_RELU || activation->mode == CUDNN_ACTIVATION_IDENTITY;
  return isThere ? CUDNN_STATUS_SUCCESS : notSupported();
}

/// What comes behind, of tensors like x.
cudnnStatus_t setBehind(Behind& behind, cudnnBatchNormOps_t operation, const cudnnActivationStruct* activation,
                        const cudnnTensorStruct* x, const cudnnTensorStruct* z, const void* added) {
  CUDNN_TRY(checkOperation(operation, activation));
  if (operation != CUDNN_BATCHNORM_OPS_BN) behind.activation = *activation;
  if (operation == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION) {
    CUDNN_CHECK(x && z && added && z->sameSizes(*x) && z->type == x->type);
    behind.zShape = *z, behind.z = added;
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t setBehind(BehindBackward& behind, cudnnBatchNormOps_t operation, const cudnnActivationStruct* activation,
                        const cudnnTensorStruct* x, const cudnnTensorStruct* y, const void* ys,
                        const cudnnTensorStruct* dz, void* dzs) {
  CUDNN_TRY(checkOperation(operation, activation));
  if (operation != CUDNN_BATCHNORM_OPS_BN) {
    CUDNN_CHECK(x && y && ys && y->sameSizes(*x) && y->type == x->type);
    behind.activation = *activation, behind.yShape = *y, behind.y = ys;
  }
  if (operation == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION) {
    CUDNN_CHECK(dz && dzs && dz->sameSizes(*x) && dz->type == x->type);
    behind.dzShape = *dz, behind.dz = dzs;
  }
  return CUDNN_STATUS_SUCCESS;
}

/// What these calls have in common: a size of 0, for all is done in the result.
cudnnStatus_t tellNothing(cudnnHandle_t handle, cudnnBatchNormOps_t operation, const cudnnActivationStruct* activation,
                          size_t* size) {
  CUDNN_CHECK(handle && size);
  CUDNN_TRY(checkOperation(operation, activation));
  *size = 0;
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

namespace {

cudnnStatus_t forwardTraining(const char* name, const Behind& behind, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                              const void* alpha, const void* beta, const cudnnTensorDescriptor_t x, const void* from,
                              const cudnnTensorDescriptor_t y, void* to, const cudnnTensorDescriptor_t parameters,
                              const void* scale, const void* bias, double factor, void* runningMean,
                              void* runningVariance, double epsilon, void* savedMean, void* savedDeviation) {
  CUDNN_TRY(checkForward(handle, mode, alpha, beta, x, from, y, to, parameters, scale, bias, epsilon));
  CUDNN_CHECK(!runningMean == !runningVariance && !savedMean == !savedDeviation);
  const Statistics s(*x, mode);
  return submitTyped(handle, name, *x, [=, y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
    using E = decltype(zero);
    using P = Compute<E>;
    parallelFor(static_cast<unsigned>(s.groups()), [&](unsigned g) {
      const auto value = [&](int64_t k) { return get<E>(from, s.x.at(s.element(g, k))); };
      const auto length = static_cast<double>(s.length());
      const auto [mean, variance] = moments(s.length(), value);
      const double inverse = 1 / std::sqrt(variance + epsilon);
      for (int64_t k = 0; k < s.length(); ++k)
        blend.into(
            static_cast<E*>(to)[y.at(s.element(g, k))],
            behind.operator()<E>((value(k) - mean) * inverse * get<P>(scale, g) + get<P>(bias, g), s.element(g, k)));
      average<P>(runningMean, g, factor, mean);
      average<P>(runningVariance, g, factor, length > 1 ? variance * length / (length - 1) : variance);
      average<P>(savedMean, g, 1, mean);
      average<P>(savedDeviation, g, 1, inverse);
    });
  });
}

}  // namespace

cudnnStatus_t cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha,
                                                     const void* beta, const cudnnTensorDescriptor_t x,
                                                     const void* from, const cudnnTensorDescriptor_t y, void* to,
                                                     const cudnnTensorDescriptor_t parameters, const void* scale,
                                                     const void* bias, double factor, void* runningMean,
                                                     void* runningVariance, double epsilon, void* savedMean,
                                                     void* savedDeviation) {
  return forwardTraining("cudnnBatchNormalizationForwardTraining", {}, handle, mode, alpha, beta, x, from, y, to,
                         parameters, scale, bias, factor, runningMean, runningVariance, epsilon, savedMean,
                         savedDeviation);
}

cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t operation, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t x, const void* from, const cudnnTensorDescriptor_t z, const void* added,
    const cudnnTensorDescriptor_t y, void* to, const cudnnTensorDescriptor_t parameters, const void* scale,
    const void* bias, double factor, void* runningMean, void* runningVariance, double epsilon, void* savedMean,
    void* savedDeviation, cudnnActivationDescriptor_t activation, void*, size_t, void*, size_t) {
  Behind behind;
  CUDNN_TRY(setBehind(behind, operation, activation, x, z, added));
  return forwardTraining("cudnnBatchNormalizationForwardTrainingEx", behind, handle, mode, alpha, beta, x, from, y, to,
                         parameters, scale, bias, factor, runningMean, runningVariance, epsilon, savedMean,
                         savedDeviation);
}

namespace {

cudnnStatus_t forwardInference(const char* name, cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha,
                               const void* beta, const cudnnTensorDescriptor_t x, const void* from,
                               const cudnnTensorDescriptor_t y, void* to, const cudnnTensorDescriptor_t parameters,
                               const void* scale, const void* bias, const void* mean, const void* variance,
                               double epsilon) {
  CUDNN_TRY(checkForward(handle, mode, alpha, beta, x, from, y, to, parameters, scale, bias, epsilon));
  CUDNN_CHECK(mean && variance);
  const Statistics s(*x, mode);
  return submitTyped(handle, name, *x, [=, y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
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

}  // namespace

cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                                                      const void* alpha, const void* beta,
                                                      const cudnnTensorDescriptor_t x, const void* from,
                                                      const cudnnTensorDescriptor_t y, void* to,
                                                      const cudnnTensorDescriptor_t parameters, const void* scale,
                                                      const void* bias, const void* mean, const void* variance,
                                                      double epsilon) {
  return forwardInference("cudnnBatchNormalizationForwardInference", handle, mode, alpha, beta, x, from, y, to,
                          parameters, scale, bias, mean, variance, epsilon);
}

namespace {

cudnnStatus_t backward(const char* name, const BehindBackward& behind, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                       const void* alphaData, const void* betaData, const void* alphaParameters,
                       const void* betaParameters, const cudnnTensorDescriptor_t x, const void* from,
                       const cudnnTensorDescriptor_t dy, const void* dys, const cudnnTensorDescriptor_t dx, void* to,
                       const cudnnTensorDescriptor_t parameters, const void* scale, void* scaleChange, void* biasChange,
                       double epsilon, const void* savedMean, const void* savedDeviation) {
  CUDNN_CHECK(handle && alphaData && betaData && alphaParameters && betaParameters && x && dy && dx && parameters);
  CUDNN_CHECK(from && dys && to && scale && scaleChange && biasChange && !savedMean == !savedDeviation);
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*dy) && x->sameSizes(*dx) && x->type == dy->type && x->type == dx->type);
  CUDNN_TRY(checkMode(mode, epsilon));
  const Statistics s(*x, mode);
  CUDNN_CHECK(s.fits(*parameters));
  return submitTyped(
      handle, name, *x,
      [=, dy = Shape(*dy), dx = Shape(*dx), data = blend(*x, alphaData, betaData),
       change = blend(*x, alphaParameters, betaParameters)](auto zero) {
        using E = decltype(zero);
        using P = Compute<E>;
        parallelFor(static_cast<unsigned>(s.groups()), [&](unsigned g) {
          const auto value = [&](int64_t k) { return get<E>(from, s.x.at(s.element(g, k))); };
          const auto changed = [&](int64_t k) {
            return behind.operator()<E>(get<E>(dys, dy.at(s.element(g, k))), s.element(g, k));
          };
          auto [mean, variance] = savedMean ? std::pair(get<P>(savedMean, g), 0.0) : moments(s.length(), value);
          const double inverse = savedMean ? get<P>(savedDeviation, g) : 1 / std::sqrt(variance + epsilon);
          double sum = 0, product = 0;
          for (int64_t k = 0; k < s.length(); ++k) {
            sum += changed(k);
            product += changed(k) * (value(k) - mean) * inverse;
          }
          const auto length = static_cast<double>(s.length());
          for (int64_t k = 0; k < s.length(); ++k) {
            const double normal = (value(k) - mean) * inverse, gradient = changed(k);
            if (behind.dz) static_cast<E*>(behind.dz)[behind.dzShape.at(s.element(g, k))] = static_cast<E>(gradient);
            data.into(static_cast<E*>(to)[dx.at(s.element(g, k))],
                      get<P>(scale, g) * inverse * (gradient - (sum + normal * product) / length));
          }
          change.into(static_cast<P*>(scaleChange)[g], product);
          change.into(static_cast<P*>(biasChange)[g], sum);
        });
      });
}

}  // namespace

cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alphaData,
                                              const void* betaData, const void* alphaParameters,
                                              const void* betaParameters, const cudnnTensorDescriptor_t x,
                                              const void* from, const cudnnTensorDescriptor_t dy, const void* dys,
                                              const cudnnTensorDescriptor_t dx, void* to,
                                              const cudnnTensorDescriptor_t parameters, const void* scale,
                                              void* scaleChange, void* biasChange, double epsilon,
                                              const void* savedMean, const void* savedDeviation) {
  return backward("cudnnBatchNormalizationBackward", {}, handle, mode, alphaData, betaData, alphaParameters,
                  betaParameters, x, from, dy, dys, dx, to, parameters, scale, scaleChange, biasChange, epsilon,
                  savedMean, savedDeviation);
}

cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t operation, const void* alphaData,
    const void* betaData, const void* alphaParameters, const void* betaParameters, const cudnnTensorDescriptor_t x,
    const void* from, const cudnnTensorDescriptor_t y, const void* ys, const cudnnTensorDescriptor_t dy,
    const void* dys, const cudnnTensorDescriptor_t dz, void* dzs, const cudnnTensorDescriptor_t dx, void* to,
    const cudnnTensorDescriptor_t parameters, const void* scale, const void*, void* scaleChange, void* biasChange,
    double epsilon, const void* savedMean, const void* savedDeviation, cudnnActivationDescriptor_t activation, void*,
    size_t, void*, size_t) {
  BehindBackward behind;
  CUDNN_TRY(setBehind(behind, operation, activation, x, y, ys, dz, dzs));
  return backward("cudnnBatchNormalizationBackwardEx", behind, handle, mode, alphaData, betaData, alphaParameters,
                  betaParameters, x, from, dy, dys, dx, to, parameters, scale, scaleChange, biasChange, epsilon,
                  savedMean, savedDeviation);
}

cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t operation, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t activation, size_t* size) {
  return tellNothing(handle, operation, activation, size);
}
cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t operation, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t activation,
    size_t* size) {
  return tellNothing(handle, operation, activation, size);
}
cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle, cudnnBatchNormMode_t,
                                                                   cudnnBatchNormOps_t operation,
                                                                   const cudnnActivationDescriptor_t activation,
                                                                   const cudnnTensorDescriptor_t, size_t* size) {
  return tellNothing(handle, operation, activation, size);
}

// --- the same by other names, with groups of channels, of which there has ever been one

namespace {

/// Mode, operation and algorithm in the numbers of batch normalisation, whose they are but for the name.
cudnnStatus_t checkNormalization(cudnnNormMode_t mode, cudnnNormOps_t operation, cudnnNormAlgo_t algorithm,
                                 int groups) {
  CUDNN_CHECK(mode == CUDNN_NORM_PER_ACTIVATION || mode == CUDNN_NORM_PER_CHANNEL);
  const bool isThere = groups == 1 && operation >= CUDNN_NORM_OPS_NORM &&
                       operation <= CUDNN_NORM_OPS_NORM_ADD_ACTIVATION && algorithm >= CUDNN_NORM_ALGO_STANDARD &&
                       algorithm <= CUDNN_NORM_ALGO_PERSIST;
  return isThere ? CUDNN_STATUS_SUCCESS : notSupported();
}
cudnnBatchNormMode_t plain(cudnnNormMode_t mode) { return static_cast<cudnnBatchNormMode_t>(mode); }
cudnnBatchNormOps_t plain(cudnnNormOps_t operation) { return static_cast<cudnnBatchNormOps_t>(operation); }

}  // namespace

cudnnStatus_t cudnnDeriveNormTensorDescriptor(cudnnTensorDescriptor_t derived, cudnnTensorDescriptor_t derivedMeans,
                                              const cudnnTensorDescriptor_t x, cudnnNormMode_t mode, int groups) {
  CUDNN_CHECK(derivedMeans);
  CUDNN_TRY(checkNormalization(mode, CUDNN_NORM_OPS_NORM, CUDNN_NORM_ALGO_STANDARD, groups));
  CUDNN_TRY(cudnnDeriveBNTensorDescriptor(derived, x, plain(mode)));
  *derivedMeans = *derived;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnNormalizationForwardInference(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t operation, cudnnNormAlgo_t algorithm, const void* alpha,
    const void* beta, const cudnnTensorDescriptor_t x, const void* from, const cudnnTensorDescriptor_t parameters,
    const void* scale, const void* bias, const cudnnTensorDescriptor_t meansShape, const void* mean,
    const void* variance, const cudnnTensorDescriptor_t, const void*, cudnnActivationDescriptor_t,
    const cudnnTensorDescriptor_t y, void* to, double epsilon, int groups) {
  CUDNN_TRY(checkNormalization(mode, operation, algorithm, groups));
  CUDNN_CHECK(parameters && meansShape && parameters->sameSizes(*meansShape));
  if (operation != CUDNN_NORM_OPS_NORM) return notSupported();  // as on a GPU
  return forwardInference("cudnnNormalizationForwardInference", handle, plain(mode), alpha, beta, x, from, y, to,
                          parameters, scale, bias, mean, variance, epsilon);
}

cudnnStatus_t cudnnNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t operation, cudnnNormAlgo_t algorithm, const void* alpha,
    const void* beta, const cudnnTensorDescriptor_t x, const void* from, const cudnnTensorDescriptor_t parameters,
    const void* scale, const void* bias, double factor, const cudnnTensorDescriptor_t meansShape, void* runningMean,
    void* runningVariance, double epsilon, void* savedMean, void* savedDeviation,
    cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t z, const void* added,
    const cudnnTensorDescriptor_t y, void* to, void*, size_t, void*, size_t, int groups) {
  CUDNN_TRY(checkNormalization(mode, operation, algorithm, groups));
  CUDNN_CHECK(parameters && meansShape && parameters->sameSizes(*meansShape));
  Behind behind;
  CUDNN_TRY(setBehind(behind, plain(operation), activation, x, z, added));
  return forwardTraining("cudnnNormalizationForwardTraining", behind, handle, plain(mode), alpha, beta, x, from, y, to,
                         parameters, scale, bias, factor, runningMean, runningVariance, epsilon, savedMean,
                         savedDeviation);
}

cudnnStatus_t cudnnNormalizationBackward(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t operation, cudnnNormAlgo_t algorithm,
    const void* alphaData, const void* betaData, const void* alphaParameters, const void* betaParameters,
    const cudnnTensorDescriptor_t x, const void* from, const cudnnTensorDescriptor_t y, const void* ys,
    const cudnnTensorDescriptor_t dy, const void* dys, const cudnnTensorDescriptor_t dz, void* dzs,
    const cudnnTensorDescriptor_t dx, void* to, const cudnnTensorDescriptor_t parameters, const void* scale,
    const void*, void* scaleChange, void* biasChange, double epsilon, const cudnnTensorDescriptor_t meansShape,
    const void* savedMean, const void* savedDeviation, cudnnActivationDescriptor_t activation, void*, size_t, void*,
    size_t, int groups) {
  CUDNN_TRY(checkNormalization(mode, operation, algorithm, groups));
  CUDNN_CHECK(parameters && meansShape && parameters->sameSizes(*meansShape));
  BehindBackward behind;
  CUDNN_TRY(setBehind(behind, plain(operation), activation, x, y, ys, dz, dzs));
  return backward("cudnnNormalizationBackward", behind, handle, plain(mode), alphaData, betaData, alphaParameters,
                  betaParameters, x, from, dy, dys, dx, to, parameters, scale, scaleChange, biasChange, epsilon,
                  savedMean, savedDeviation);
}

cudnnStatus_t cudnnGetNormalizationForwardTrainingWorkspaceSize(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t operation, cudnnNormAlgo_t algorithm,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t,
    size_t* size, int groups) {
  CUDNN_TRY(checkNormalization(mode, operation, algorithm, groups));
  return tellNothing(handle, plain(operation), activation, size);
}
cudnnStatus_t cudnnGetNormalizationBackwardWorkspaceSize(cudnnHandle_t handle, cudnnNormMode_t mode,
                                                         cudnnNormOps_t operation, cudnnNormAlgo_t algorithm,
                                                         const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
                                                         const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
                                                         const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
                                                         const cudnnActivationDescriptor_t activation,
                                                         const cudnnTensorDescriptor_t, size_t* size, int groups) {
  CUDNN_TRY(checkNormalization(mode, operation, algorithm, groups));
  return tellNothing(handle, plain(operation), activation, size);
}
cudnnStatus_t cudnnGetNormalizationTrainingReserveSpaceSize(cudnnHandle_t handle, cudnnNormMode_t mode,
                                                            cudnnNormOps_t operation, cudnnNormAlgo_t algorithm,
                                                            const cudnnActivationDescriptor_t activation,
                                                            const cudnnTensorDescriptor_t, size_t* size, int groups) {
  CUDNN_TRY(checkNormalization(mode, operation, algorithm, groups));
  return tellNothing(handle, plain(operation), activation, size);
}
