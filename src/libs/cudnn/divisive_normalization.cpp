// cuDNN: divisive normalisation, which divides each number by how far its neighbours are from a mean (the second half
// of local contrast normalisation; Jarrett, Kavukcuoglu, Ranzato and LeCun, 2009).
//
//     y_p = x_p * base_p ^ -beta,    base_p = k + alpha / n^d * the sum over p's window of (x_q - mean_p)^2
//
// The window has n places in each of d dimensions and reaches (n - 1) / 2 below; outside the image nothing is added.
// The manual leaves this form open; a GPU's numbers have it (tests/gpu/libraries/cudnn_losses.cu).
#include <algorithm>
#include <cmath>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

namespace {

/// One channel of an image or a volume: its numbers, and a mean for each (0 if there are none).
struct Channel {
  cudnnLRNStruct d;
  Shape x;  // as volumes
  int image, channel;
  bool isVolume;

  int64_t count() const { return int64_t{x.size[2]} * x.size[3] * x.size[4]; }
  Triple place(int64_t i) const {
    return {static_cast<int>(i / x.size[4] / x.size[3]), static_cast<int>(i / x.size[4] % x.size[3]),
            static_cast<int>(i % x.size[4])};
  }
  int64_t at(const Shape& shape, int64_t i) const {
    const Triple p = place(i);
    return shape.at(image, channel, p[0], p[1], p[2]);
  }
  /// visit(number of the place) for each in the window around place i.
  template <class Visit>
  void neighbours(int64_t i, const Visit& visit) const {
    const Triple p = place(i);
    const int n = static_cast<int>(d.n), below = (n - 1) / 2;
    const auto begin = [&](size_t k) { return std::max(0, p[k] - below); };
    const auto end = [&](size_t k) { return std::min(x.size[k + 2], p[k] - below + n); };
    for (int z = isVolume ? begin(0) : 0; z < (isVolume ? end(0) : 1); ++z)
      for (int y = begin(1); y < end(1); ++y)
        for (int w = begin(2); w < end(2); ++w) visit((int64_t{z} * x.size[3] + y) * x.size[4] + w);
  }
  double weight() const { return d.alpha / std::pow(d.n, isVolume ? 3 : 2); }
  double base(int64_t i, const std::vector<double>& value, double mean) const {
    double squares = 0;
    neighbours(i, [&](int64_t q) { squares += std::pow(value[static_cast<size_t>(q)] - mean, 2); });
    return d.k + weight() * squares;
  }
  /// The numbers that a tensor of this shape has in the channel; zeros if there is none.
  template <class E>
  std::vector<double> numbers(const Shape& shape, const void* from) const {
    std::vector<double> all(static_cast<size_t>(count()));
    for (int64_t i = 0; from && i < count(); ++i) all[static_cast<size_t>(i)] = get<E>(from, at(shape, i));
    return all;
  }
  template <class E>
  void write(const Shape& shape, void* to, const Blend& blend, const std::vector<double>& values) const {
    for (int64_t i = 0; to && i < count(); ++i)
      blend.into(static_cast<E*>(to)[at(shape, i)], values[static_cast<size_t>(i)]);
  }
};

/// body(channel) for each channel of each image.
template <class Body>
void forChannels(const cudnnLRNStruct& d, const Shape& x, const Body& body) {
  parallelFor(static_cast<unsigned>(x.size[0] * x.size[1]), [&](unsigned i) {
    const auto n = static_cast<int>(i);
    body(Channel{d, x.asVolumes(), n / x.size[1], n % x.size[1], x.rank == 5});
  });
}

cudnnStatus_t check(cudnnHandle_t handle, const cudnnLRNStruct* d, cudnnDivNormMode_t mode, const Shape* x,
                    const void* temporary, const void* other) {
  CUDNN_CHECK(handle && d && mode == CUDNN_DIVNORM_PRECOMPUTED_MEANS && x && temporary && other);
  CUDNN_CHECK(x->rank == 4 || x->rank == 5);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t cudnnDivisiveNormalizationForward(cudnnHandle_t handle, cudnnLRNDescriptor_t d, cudnnDivNormMode_t mode,
                                                const void* alpha, const cudnnTensorDescriptor_t x, const void* from,
                                                const void* means, void* temporary, void* other, const void* beta,
                                                const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_TRY(check(handle, d, mode, x, temporary, other));
  CUDNN_CHECK(alpha && beta && y && from && to && x->sameSizes(*y) && x->type == y->type);
  return submitTyped(handle, "cudnnDivisiveNormalizationForward", *x,
                     [=, d = *d, x = Shape(*x), y = y->asVolumes(), blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       forChannels(d, x, [&](const Channel& c) {
                         const auto value = c.numbers<E>(c.x, from), mean = c.numbers<E>(c.x, means);
                         std::vector<double> result(value.size());
                         for (size_t i = 0; i < value.size(); ++i)
                           result[i] = value[i] * std::pow(c.base(static_cast<int64_t>(i), value, mean[i]), -d.beta);
                         c.write<E>(y, to, blend, result);
                       });
                     });
}

cudnnStatus_t cudnnDivisiveNormalizationBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t d, cudnnDivNormMode_t mode,
                                                 const void* alpha, const cudnnTensorDescriptor_t x, const void* from,
                                                 const void* means, const void* dys, void* temporary, void* other,
                                                 const void* beta, const cudnnTensorDescriptor_t dx, void* to,
                                                 void* toMeans) {
  CUDNN_TRY(check(handle, d, mode, x, temporary, other));
  CUDNN_CHECK(alpha && beta && dx && from && dys && to && x->sameSizes(*dx) && x->type == dx->type);
  return submitTyped(
      handle, "cudnnDivisiveNormalizationBackward", *x,
      [=, d = *d, x = Shape(*x), dx = dx->asVolumes(), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forChannels(d, x, [&](const Channel& c) {
          const auto value = c.numbers<E>(c.x, from), mean = c.numbers<E>(c.x, means), change = c.numbers<E>(c.x, dys);
          std::vector<double> sum(value.size()), sumOfMeans(value.size());
          for (size_t i = 0; i < value.size(); ++i) {  // the derivative of y_i by all that it is made of
            const double base = c.base(static_cast<int64_t>(i), value, mean[i]);
            const double common = change[i] * value[i] * -2 * d.beta * c.weight() * std::pow(base, -d.beta - 1);
            sum[i] += change[i] * std::pow(base, -d.beta);
            c.neighbours(static_cast<int64_t>(i), [&](int64_t q) {
              const double part = common * (value[static_cast<size_t>(q)] - mean[i]);
              sum[static_cast<size_t>(q)] += part;
              sumOfMeans[i] -= part;
            });
          }
          c.write<E>(dx, to, blend, sum);
          c.write<E>(dx, toMeans, blend, sumOfMeans);
        });
      });
}
