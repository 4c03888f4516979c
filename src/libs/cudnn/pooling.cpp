// cuDNN: pooling of images.
#include <cmath>
#include <limits>
#include <vector>

#include "libs/cudnn/call.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t d, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t nan, int height, int width, int padH, int padW,
                                          int strideH, int strideW) {
  CUDNN_CHECK(d && mode >= CUDNN_POOLING_MAX && mode <= CUDNN_POOLING_MAX_DETERMINISTIC);
  CUDNN_CHECK(height > 0 && width > 0 && padH >= 0 && padW >= 0 && strideH > 0 && strideW > 0);
  CUDNN_CHECK(padH < height && padW < width);
  *d = {mode, nan, height, width, padH, padW, strideH, strideW};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t d, cudnnPoolingMode_t* mode,
                                          cudnnNanPropagation_t* nan, int* height, int* width, int* padH, int* padW,
                                          int* strideH, int* strideW) {
  CUDNN_CHECK(d && mode && nan && height && width && padH && padW && strideH && strideW);
  *mode = d->mode, *nan = d->nan, *height = d->height, *width = d->width;
  *padH = d->padH, *padW = d->padW, *strideH = d->strideH, *strideW = d->strideW;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t d, const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t nan, int rank, const int* window, const int* pad,
                                          const int* stride) {
  CUDNN_CHECK(d && window && pad && stride && rank > 0);
  if (rank != 2) return refuse("pooling in other than two dimensions");
  return cudnnSetPooling2dDescriptor(d, mode, nan, window[0], window[1], pad[0], pad[1], stride[0], stride[1]);
}

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t d, const cudnnTensorDescriptor_t x,
                                                int* n, int* c, int* h, int* w) {
  CUDNN_CHECK(d && d->height > 0 && x && x->rank == 4 && n && c && h && w);
  *n = x->size[0];
  *c = x->size[1];
  *h = 1 + (x->size[2] + 2 * d->padH - d->height) / d->strideH;
  *w = 1 + (x->size[3] + 2 * d->padW - d->width) / d->strideW;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t d, const cudnnTensorDescriptor_t x,
                                                int rank, int* sizes) {
  CUDNN_CHECK(d && x && sizes && rank == x->rank);
  if (rank != 4) return refuse("pooling of other than 4-dimensional tensors");
  return cudnnGetPooling2dForwardOutputDim(d, x, &sizes[0], &sizes[1], &sizes[2], &sizes[3]);
}

namespace {

/// What of a row or a column a window covers.
struct Span {
  int begin, end;
  Span(int at, int stride, int pad, int window, int size)
      : begin(at * stride - pad), end(std::min(begin + window, size)) {
    begin = std::max(begin, 0);
  }
};

bool isMaximum(const cudnnPoolingStruct& d) {
  return d.mode == CUDNN_POOLING_MAX || d.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
}

cudnnStatus_t check(const cudnnPoolingDescriptor_t d, const cudnnTensorDescriptor_t x,
                    const cudnnTensorDescriptor_t y) {
  CUDNN_CHECK(d && x && y && x->rank > 0 && x->rank == y->rank && x->type == y->type);
  if (x->rank != 4) return refuse("pooling of other than 4-dimensional tensors");
  int n = 0, c = 0, h = 0, w = 0;
  CUDNN_TRY(cudnnGetPooling2dForwardOutputDim(d, x, &n, &c, &h, &w));
  CUDNN_CHECK(y->size[0] == n && y->size[1] == c && y->size[2] == h && y->size[3] == w);
  return CUDNN_STATUS_SUCCESS;
}

/// body(n, c, p, q, rows, columns, how many elements an average counts) for each window of a channel of an image.
template <class Body>
void forWindows(const cudnnPoolingStruct& d, const Shape& x, const Shape& y, int n, int c, const Body& body) {
  for (int p = 0; p < y.size[2]; ++p)
    for (int q = 0; q < y.size[3]; ++q) {
      const Span rows(p, d.strideH, d.padH, d.height, x.size[2]), columns(q, d.strideW, d.padW, d.width, x.size[3]);
      const bool isWhole = d.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
      const int covered = (rows.end - rows.begin) * (columns.end - columns.begin);
      body(n, c, p, q, rows, columns, isWhole ? d.height * d.width : covered);
    }
}

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
      [=, d = *d, x = Shape(*x), y = Shape(*y), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forChannels(x, [&](int image, int channel) {
          forWindows(d, x, y, image, channel, [&](int n, int c, int p, int q, Span rows, Span columns, int count) {
            double sum = 0, most = -std::numeric_limits<double>::infinity();
            for (int h = rows.begin; h < rows.end; ++h)
              for (int w = columns.begin; w < columns.end; ++w) {
                const auto value = static_cast<double>(static_cast<const E*>(from)[x.at(n, c, h, w)]);
                sum += value;
                most = std::isnan(value) && d.nan == CUDNN_PROPAGATE_NAN ? value : value > most ? value : most;
              }
            blend.into(static_cast<E*>(to)[y.at(n, c, p, q)], isMaximum(d) ? most : sum / count);
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
  return submitTyped(
      handle, "cudnnPoolingBackward", *x,
      [=, d = *d, x = Shape(*x), dy = Shape(*dy), dx = Shape(*dx), blend = blend(*x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        forChannels(x, [&](int image, int channel) {
          const int width = x.size[3];
          std::vector<double> sums(static_cast<size_t>(x.size[2]) * static_cast<size_t>(width));
          const auto sum = [&](int h, int w) -> double& {
            return sums[static_cast<size_t>(h) * static_cast<size_t>(width) + static_cast<size_t>(w)];
          };
          forWindows(d, x, dy, image, channel, [&](int n, int c, int p, int q, Span rows, Span columns, int count) {
            const auto change = static_cast<double>(static_cast<const E*>(dys)[dy.at(n, c, p, q)]);
            int bestH = rows.begin, bestW = columns.begin;
            const auto value = [&](int h, int w) { return static_cast<const E*>(xs)[x.at(n, c, h, w)]; };
            for (int h = rows.begin; h < rows.end; ++h)
              for (int w = columns.begin; w < columns.end; ++w) {
                if (!isMaximum(d)) sum(h, w) += change / count;
                if (value(h, w) > value(bestH, bestW)) bestH = h, bestW = w;
              }
            if (isMaximum(d)) sum(bestH, bestW) += change;
          });
          for (int h = 0; h < x.size[2]; ++h)
            for (int w = 0; w < width; ++w) blend.into(static_cast<E*>(to)[dx.at(image, channel, h, w)], sum(h, w));
        });
      });
}
