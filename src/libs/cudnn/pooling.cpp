// cuDNN: pooling of images and volumes. An image is a volume one element deep, with a window one element deep.
#include <cmath>
#include <limits>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t d, const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t nan, int rank, const int* window, const int* pad,
                                          const int* stride) {
  CUDNN_CHECK(d && mode >= CUDNN_POOLING_MAX && mode <= CUDNN_POOLING_MAX_DETERMINISTIC);
  CUDNN_CHECK(window && pad && stride && rank > 0);
  if (rank != 2 && rank != 3) return refuse("pooling in other than two or three dimensions");
  for (int i = 0; i < rank; ++i) CUDNN_CHECK(window[i] > 0 && pad[i] >= 0 && pad[i] < window[i] && stride[i] > 0);
  *d = {mode, nan, rank, tripleOf(rank, window, 1), tripleOf(rank, pad, 0), tripleOf(rank, stride, 1)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t d, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t nan, int height, int width, int padH, int padW,
                                          int strideH, int strideW) {
  const int window[] = {height, width}, pad[] = {padH, padW}, stride[] = {strideH, strideW};
  return cudnnSetPoolingNdDescriptor(d, mode, nan, 2, window, pad, stride);
}

cudnnStatus_t cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t d, int wanted, cudnnPoolingMode_t* mode,
                                          cudnnNanPropagation_t* nan, int* rank, int* window, int* pad, int* stride) {
  CUDNN_CHECK(d && d->rank > 0 && mode && nan && rank && window && pad && stride && wanted >= 0);
  *mode = d->mode, *nan = d->nan, *rank = d->rank;
  for (int i = 0; i < wanted && i < d->rank; ++i) {
    const auto from = static_cast<size_t>(i) + 3 - static_cast<size_t>(d->rank);
    window[i] = d->window[from], pad[i] = d->pad[from], stride[i] = d->stride[from];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t d, cudnnPoolingMode_t* mode,
                                          cudnnNanPropagation_t* nan, int* height, int* width, int* padH, int* padW,
                                          int* strideH, int* strideW) {
  CUDNN_CHECK(d && d->rank == 2 && mode && nan && height && width && padH && padW && strideH && strideW);
  *mode = d->mode, *nan = d->nan, *height = d->window[1], *width = d->window[2];
  *padH = d->pad[1], *padW = d->pad[2], *strideH = d->stride[1], *strideW = d->stride[2];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t d, const cudnnTensorDescriptor_t x,
                                                int rank, int* sizes) {
  CUDNN_CHECK(d && d->rank > 0 && x && sizes && rank == x->rank && rank == d->rank + 2);
  for (int i = 0; i < rank; ++i) {
    const auto dimension = static_cast<size_t>(i);
    sizes[i] = x->size[dimension];
    if (i < 2) continue;
    const size_t along = dimension + 3 - static_cast<size_t>(rank);
    sizes[i] = 1 + (sizes[i] + 2 * d->pad[along] - d->window[along]) / d->stride[along];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t d, const cudnnTensorDescriptor_t x,
                                                int* n, int* c, int* h, int* w) {
  CUDNN_CHECK(n && c && h && w);
  int sizes[4];
  CUDNN_TRY(cudnnGetPoolingNdForwardOutputDim(d, x, 4, sizes));
  *n = sizes[0], *c = sizes[1], *h = sizes[2], *w = sizes[3];
  return CUDNN_STATUS_SUCCESS;
}

namespace {

/// The part of a volume that a window covers: from `begin` to before `end`.
struct Box {
  Triple begin, end;

  Box(const cudnnPoolingStruct& d, const Triple& at, const Triple& size) : begin(), end() {
    for (size_t i = 0; i < 3; ++i) {
      const int first = at[i] * d.stride[i] - d.pad[i];
      begin[i] = std::max(first, 0);
      end[i] = std::min(first + d.window[i], size[i]);
    }
  }
  int count() const { return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]); }
  template <class Visit>
  void each(const Visit& visit) const {
    for (int d = begin[0]; d < end[0]; ++d)
      for (int h = begin[1]; h < end[1]; ++h)
        for (int w = begin[2]; w < end[2]; ++w) visit(Triple{d, h, w});
  }
};

bool isMaximum(const cudnnPoolingStruct& d) {
  return d.mode == CUDNN_POOLING_MAX || d.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
}

cudnnStatus_t check(const cudnnPoolingDescriptor_t d, const cudnnTensorDescriptor_t x,
                    const cudnnTensorDescriptor_t y) {
  CUDNN_CHECK(d && x && y && x->rank == d->rank + 2 && x->rank == y->rank && x->type == y->type);
  int sizes[CUDNN_DIM_MAX];
  CUDNN_TRY(cudnnGetPoolingNdForwardOutputDim(d, x, x->rank, sizes));
  for (int i = 0; i < x->rank; ++i) CUDNN_CHECK(y->size[static_cast<size_t>(i)] == sizes[i]);
  return CUDNN_STATUS_SUCCESS;
}

int64_t placeOf(const Shape& shape, int n, int c, const Triple& at) { return shape.at(n, c, at[0], at[1], at[2]); }

/// body(place of the result, what its window covers, how many elements an average counts)
template <class Body>
void forWindows(const cudnnPoolingStruct& d, const Shape& x, const Shape& y, const Body& body) {
  const bool isWhole = d.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
  const Triple size = y.places();
  for (int o = 0; o < size[0]; ++o)
    for (int p = 0; p < size[1]; ++p)
      for (int q = 0; q < size[2]; ++q) {
        const Triple at{o, p, q};
        const Box box(d, at, x.places());
        body(at, box, isWhole ? d.window[0] * d.window[1] * d.window[2] : box.count());
      }
}

/// body(n, c) for each channel of each volume, side by side.
template <class Body>
void forChannels(const Shape& x, const Body& body) {
  parallelFor(static_cast<unsigned>(x.size[0] * x.size[1]),
              [&](unsigned i) { body(static_cast<int>(i) / x.size[1], static_cast<int>(i) % x.size[1]); });
}

}  // namespace

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t d, const void* alpha,
                                  const cudnnTensorDescriptor_t x, const void* from, const void* beta,
                                  const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && alpha && beta && from && to);
  CUDNN_TRY(check(d, x, y));
  return submitTyped(
      handle, "cudnnPoolingForward", *x,
      [=, d = *d, x = x->asVolumes(), y = y->asVolumes(), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forChannels(x, [&](int n, int c) {
          forWindows(d, x, y, [&](const Triple& at, const Box& box, int count) {
            double sum = 0, most = -std::numeric_limits<double>::infinity();
            box.each([&](const Triple& in) {
              const double value = get<E>(from, placeOf(x, n, c, in));
              sum += value;
              most = std::isnan(value) && d.nan == CUDNN_PROPAGATE_NAN ? value : value > most ? value : most;
            });
            blend.into(static_cast<E*>(to)[placeOf(y, n, c, at)], isMaximum(d) ? most : sum / count);
          });
        });
      });
}

/// A maximum's gradient goes to the first element of the window that is the maximum.
cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t d, const void* alpha,
                                   const cudnnTensorDescriptor_t y, const void* ys, const cudnnTensorDescriptor_t dy,
                                   const void* dys, const cudnnTensorDescriptor_t x, const void* xs, const void* beta,
                                   const cudnnTensorDescriptor_t dx, void* to) {
  CUDNN_CHECK(handle && alpha && beta && ys && dys && xs && to && dy && dx);
  CUDNN_TRY(check(d, x, y));
  CUDNN_CHECK(dy->sameSizes(*y) && dx->sameSizes(*x) && dy->type == y->type && dx->type == x->type);
  return submitTyped(handle, "cudnnPoolingBackward", *x,
                     [=, d = *d, x = x->asVolumes(), dy = dy->asVolumes(), dx = dx->asVolumes(),
                      blend = blend(*x, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       forChannels(x, [&](int n, int c) {
                         Shape alone = x;  // the sums of this channel
                         alone.size[0] = alone.size[1] = 1;
                         alone.pack(false);
                         std::vector<double> sums(static_cast<size_t>(alone.count()));
                         const auto sum = [&](const Triple& at) -> double& {
                           return sums[static_cast<size_t>(placeOf(alone, 0, 0, at))];
                         };
                         forWindows(d, x, dy, [&](const Triple& at, const Box& box, int count) {
                           const double change = get<E>(dys, placeOf(dy, n, c, at));
                           Triple best = box.begin;
                           box.each([&](const Triple& in) {
                             if (!isMaximum(d)) sum(in) += change / count;
                             if (get<E>(xs, placeOf(x, n, c, in)) > get<E>(xs, placeOf(x, n, c, best))) best = in;
                           });
                           if (isMaximum(d)) sum(best) += change;
                         });
                         for (int64_t i = 0; i < alone.count(); ++i) {
                           const int64_t channel = (int64_t{n} * x.size[1] + c) * alone.count();
                           blend.into(static_cast<E*>(to)[dx.at(channel + i)], sums[static_cast<size_t>(i)]);
                         }
                       });
                     });
}
