// cuDNN: local response normalisation across channels (Krizhevsky, Sutskever and Hinton, 2012).
#include <algorithm>
#include <cmath>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

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
