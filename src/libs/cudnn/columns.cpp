// cuDNN: the matrix that makes a convolution a product. It has a row for each channel and tap of a filter, which holds
// what the tap sees at each place of each image; outside the image it sees 0.
#include "libs/cudnn/convolution.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

namespace {

/// The place that has the number `i` in a box.
Triple placeOf(int64_t i, const Triple& size) {
  return {static_cast<int>(i / size[2] / size[1]), static_cast<int>(i / size[2] % size[1]),
          static_cast<int>(i % size[2])};
}

/// Where in x the tap of a filter is that stands at a place of y; -1 outside.
int64_t seen(const Convolution& c, int image, int channel, Triple tap, const Triple& place) {
  for (size_t i = 0; i < 3; ++i) {
    if (c.how.mode == CUDNN_CONVOLUTION) tap[i] = c.w.size[i + 2] - 1 - tap[i];
    tap[i] = place[i] * c.how.stride[i] - c.how.pad[i] + tap[i] * c.how.dilation[i];
    if (tap[i] < 0 || tap[i] >= c.x.size[i + 2]) return -1;
  }
  return c.x.at(image, channel, tap[0], tap[1], tap[2]);
}

template <class E>
void fill(const Convolution& c, const E* from, E* to) {
  const Triple window = c.w.places(), places = c.y.places();
  const int64_t taps = int64_t{window[0]} * window[1] * window[2], count = c.places(), all = count * c.x.size[0];
  parallelFor(static_cast<unsigned>(c.x.size[1] * taps), [&](unsigned row) {
    for (int64_t i = 0; i < all; ++i) {
      const int64_t at = seen(c, static_cast<int>(i / count), static_cast<int>(row / taps), placeOf(row % taps, window),
                              placeOf(i % count, places));
      to[row * all + i] = at < 0 ? E(0) : from[at];
    }
  });
}

}  // namespace

cudnnStatus_t cudnnIm2Col(cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const void* from,
                          const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t d, void* to) {
  CUDNN_CHECK(handle && x && from && w && d && to && w->type == x->type);
  Shape y = *x;
  CUDNN_TRY(cudnnGetConvolutionNdForwardOutputDim(d, x, w, x->rank, y.size.data()));
  return submitTyped(handle, "cudnnIm2Col", *x, [=, c = Convolution(*x, *w, y, *d)](auto zero) {
    using E = decltype(zero);
    fill(c, static_cast<const E*>(from), static_cast<E*>(to));
  });
}
