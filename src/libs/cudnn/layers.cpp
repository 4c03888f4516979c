// cuDNN: activation, softmax, pooling, dropout.
#include <cmath>
#include <limits>
#include <vector>

#include "libs/cudnn/activation.hpp"
#include "libs/cudnn/convolution.hpp"
#include "libs/cudnn/dropout.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

// --- activation

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t d, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t nan, double coefficient) {
  CUDNN_CHECK(d && mode >= CUDNN_ACTIVATION_SIGMOID && mode <= CUDNN_ACTIVATION_SWISH);
  *d = {mode, nan, mode == CUDNN_ACTIVATION_SWISH && coefficient == 0 ? 1 : coefficient};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t d, cudnnActivationMode_t* mode,
                                           cudnnNanPropagation_t* nan, double* coefficient) {
  CUDNN_CHECK(d && mode && nan && coefficient);
  *mode = d->mode, *nan = d->nan, *coefficient = d->coefficient;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t d, const void* alpha,
                                     const cudnnTensorDescriptor_t x, const void* from, const void* beta,
                                     const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && d && alpha && beta && x && y && from && to && x->sameSizes(*y) && x->type == y->type);
  return submitTyped(handle, "cudnnActivationForward", *x,
                     [=, a = *d, x = Shape(*x), y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       forAll(x.count(), [&](int64_t i) {
                         blend.into(static_cast<E*>(to)[y.at(i)], activated(a, get<E>(from, x.at(i))));
                       });
                     });
}

cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle, cudnnActivationDescriptor_t d, const void* alpha,
                                      const cudnnTensorDescriptor_t y, const void* ys, const cudnnTensorDescriptor_t dy,
                                      const void* dys, const cudnnTensorDescriptor_t x, const void* xs,
                                      const void* beta, const cudnnTensorDescriptor_t dx, void* to) {
  CUDNN_CHECK(handle && d && alpha && beta && y && dy && x && dx && ys && dys && xs && to);
  CUDNN_CHECK(y->sameSizes(*dy) && y->sameSizes(*x) && y->sameSizes(*dx) && y->type == dx->type &&
              dy->type == dx->type);
  return submitTyped(handle, "cudnnActivationBackward", *y,
                     [=, a = *d, y = Shape(*y), dy = Shape(*dy), x = Shape(*x), dx = Shape(*dx),
                      blend = blend(*y, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       forAll(y.count(), [&](int64_t i) {
                         const double was = get<E>(xs, x.at(i)), became = get<E>(ys, y.at(i));
                         const double change = get<E>(dys, dy.at(i));
                         blend.into(static_cast<E*>(to)[dx.at(i)], change * slope(a, was, became));
                       });
                     });
}

/// y = activation(alpha1 * convolution + alpha2 * z + bias)
cudnnStatus_t cudnnConvolutionBiasActivationForward(cudnnHandle_t handle, const void* alpha1,
                                                    const cudnnTensorDescriptor_t x, const void* from,
                                                    const cudnnFilterDescriptor_t w, const void* filters,
                                                    const cudnnConvolutionDescriptor_t d, cudnnConvolutionFwdAlgo_t,
                                                    void*, size_t, const void* alpha2, const cudnnTensorDescriptor_t z,
                                                    const void* added, const cudnnTensorDescriptor_t b,
                                                    const void* bias, const cudnnActivationDescriptor_t activation,
                                                    const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && alpha1 && alpha2 && x && w && d && z && b && activation && y && from && filters && added &&
              bias && to);
  const Convolution c(*x, *w, *y, *d);
  CUDNN_TRY(c.check());
  CUDNN_CHECK(z->sameSizes(*y) && z->type == y->type && b->type == y->type && b->spreadsOver(*y));
  return submitTyped(
      handle, "cudnnConvolutionBiasActivationForward", c.x,
      [=, a = *activation, y = Shape(*y), z = Shape(*z), b = Shape(*b), first = scalar(*y, alpha1),
       second = scalar(*y, alpha2)](auto zero) {
        using E = decltype(zero);
        // Rounded once, at the end; z may be y.
        Convolution apart = c;
        apart.y.pack(false);
        std::vector<Compute<E>> products(static_cast<size_t>(c.y.count()));
        convolve(apart, Blend{1, 0}, static_cast<const E*>(from), static_cast<const E*>(filters), products.data());
        forAll(c.y.count(), [&](int64_t i) {
          double value = first * static_cast<double>(products[static_cast<size_t>(i)]) + get<E>(bias, b.spread(y, i));
          if (second != 0) value += second * get<E>(added, z.at(i));
          static_cast<E*>(to)[c.y.at(i)] = static_cast<E>(activated(a, value));
        });
      },
      c.work());
}

// --- softmax

namespace {

/// The elements over which a softmax goes: all of an image, or the channels of a place.
struct Groups {
  int64_t count, length, places;  // groups, their elements, and how many groups an image has

  Groups(const Shape& x, cudnnSoftmaxMode_t mode) {
    const int64_t image = x.count() / x.size[0];
    places = mode == CUDNN_SOFTMAX_MODE_CHANNEL ? image / x.size[1] : 1;
    length = image / places;
    count = x.size[0] * places;
  }
  /// The number of element k of a group in the tensor.
  int64_t element(int64_t group, int64_t k) const {
    return group / places * places * length + k * places + group % places;
  }
};

bool isRight(cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode) {
  return algorithm >= CUDNN_SOFTMAX_FAST && algorithm <= CUDNN_SOFTMAX_LOG &&
         (mode == CUDNN_SOFTMAX_MODE_INSTANCE || mode == CUDNN_SOFTMAX_MODE_CHANNEL);
}

}  // namespace

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                  const void* alpha, const cudnnTensorDescriptor_t x, const void* from,
                                  const void* beta, const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && alpha && beta && x && y && from && to && isRight(algorithm, mode));
  CUDNN_CHECK(x->rank > 1 && x->sameSizes(*y) && x->type == y->type);
  return submitTyped(
      handle, "cudnnSoftmaxForward", *x, [=, x = Shape(*x), y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        const Groups groups(x, mode);
        parallelFor(static_cast<unsigned>(groups.count), [&](unsigned g) {
          const auto value = [&](int64_t k) { return get<E>(from, x.at(groups.element(g, k))); };
          double most = -std::numeric_limits<double>::infinity(), sum = 0;
          for (int64_t k = 0; k < groups.length; ++k) most = std::fmax(most, value(k));
          for (int64_t k = 0; k < groups.length; ++k) sum += std::exp(value(k) - most);
          for (int64_t k = 0; k < groups.length; ++k) {
            const double shifted = value(k) - most;
            blend.into(static_cast<E*>(to)[y.at(groups.element(g, k))],
                       algorithm == CUDNN_SOFTMAX_LOG ? shifted - std::log(sum) : std::exp(shifted) / sum);
          }
        });
      });
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                   const void* alpha, const cudnnTensorDescriptor_t y, const void* ys,
                                   const cudnnTensorDescriptor_t dy, const void* dys, const void* beta,
                                   const cudnnTensorDescriptor_t dx, void* to) {
  CUDNN_CHECK(handle && alpha && beta && y && dy && dx && ys && dys && to && isRight(algorithm, mode));
  CUDNN_CHECK(y->rank > 1 && y->sameSizes(*dy) && y->sameSizes(*dx) && y->type == dy->type && y->type == dx->type);
  return submitTyped(handle, "cudnnSoftmaxBackward", *y,
                     [=, y = Shape(*y), dy = Shape(*dy), dx = Shape(*dx), blend = blend(*y, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       const Groups groups(y, mode);
                       const bool isLog = algorithm == CUDNN_SOFTMAX_LOG;
                       parallelFor(static_cast<unsigned>(groups.count), [&](unsigned g) {
                         const auto at = [&](const void* data, const Shape& shape, int64_t k) {
                           return get<E>(data, shape.at(groups.element(g, k)));
                         };
                         double sum = 0;
                         for (int64_t k = 0; k < groups.length; ++k) sum += at(dys, dy, k) * (isLog ? 1 : at(ys, y, k));
                         for (int64_t k = 0; k < groups.length; ++k) {
                           const double p = at(ys, y, k), d = at(dys, dy, k);
                           blend.into(static_cast<E*>(to)[dx.at(groups.element(g, k))],
                                      isLog ? d - std::exp(p) * sum : p * (d - sum));
                         }
                       });
                     });
}

// --- dropout

cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t* bytes) {
  CUDNN_CHECK(handle && bytes);
  *bytes = sizeof(DropoutStates);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t x, size_t* bytes) {
  CUDNN_CHECK(x && bytes);
  *bytes = static_cast<size_t>(x->count());  // a byte for each element
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t handle, float rate, void* states,
                                            size_t bytes, unsigned long long seed) {
  CUDNN_CHECK(d && handle && rate >= 0 && rate <= 1 && states && bytes >= sizeof(DropoutStates));
  *d = {rate, states, seed};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t handle, float rate, void* states,
                                        size_t bytes, unsigned long long seed) {
  CUDNN_CHECK(d && handle && rate >= 0 && rate <= 1 && (!states || bytes >= sizeof(DropoutStates)));
  *d = {rate, states, seed};
  if (!states) return CUDNN_STATUS_SUCCESS;  // good for the backward pass
  return submit(handle, "cudnnSetDropoutDescriptor",
                [=] { *static_cast<DropoutStates*>(states) = DropoutStates{seed, 0}; });
}

cudnnStatus_t cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t handle, float* rate, void** states,
                                        unsigned long long* seed) {
  CUDNN_CHECK(d && handle && rate && states && seed);
  *rate = d->rate, *states = d->states, *seed = d->seed;
  return CUDNN_STATUS_SUCCESS;
}

namespace {

cudnnStatus_t dropout(cudnnHandle_t handle, const char* name, const cudnnDropoutStruct& d, const Shape& x,
                      const void* from, const Shape& y, void* to, void* reserve, bool isForward) {
  return submitTyped(handle, name, x, [=](auto zero) {
    using E = decltype(zero);
    auto* const kept = static_cast<unsigned char*>(reserve);
    auto* const states = static_cast<DropoutStates*>(d.states);
    const double scale = d.rate < 1 ? 1 / (1 - static_cast<double>(d.rate)) : 0;
    forAll(x.count(), [&](int64_t i) {
      if (isForward) kept[i] = states->uniform(static_cast<uint64_t>(i)) >= static_cast<double>(d.rate);
      static_cast<E*>(to)[y.at(i)] = static_cast<E>(kept[i] ? scale * get<E>(from, x.at(i)) : 0.0);
    });
    if (isForward) ++states->calls;
  });
}

}  // namespace

cudnnStatus_t cudnnDropoutForward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t d,
                                  const cudnnTensorDescriptor_t x, const void* from, const cudnnTensorDescriptor_t y,
                                  void* to, void* reserve, size_t bytes) {
  CUDNN_CHECK(handle && d && d->states && x && y && from && to && reserve && x->sameSizes(*y) && x->type == y->type);
  CUDNN_CHECK(bytes >= static_cast<size_t>(x->count()));
  return dropout(handle, "cudnnDropoutForward", *d, *x, from, *y, to, reserve, true);
}

cudnnStatus_t cudnnDropoutBackward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t d,
                                   const cudnnTensorDescriptor_t dy, const void* from, const cudnnTensorDescriptor_t dx,
                                   void* to, void* reserve, size_t bytes) {
  CUDNN_CHECK(handle && d && dy && dx && from && to && reserve && dy->sameSizes(*dx) && dy->type == dx->type);
  CUDNN_CHECK(bytes >= static_cast<size_t>(dy->count()));
  return dropout(handle, "cudnnDropoutBackward", *d, *dy, from, *dx, to, reserve, false);
}
