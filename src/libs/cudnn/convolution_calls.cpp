// cuDNN: convolutions. All algorithms are one here (convolution.cpp): the queries name each that the manual has, and
// work areas are accepted and not needed.
#include <algorithm>
#include <chrono>
#include <vector>

#include "libs/cudnn/convolution.hpp"

using namespace ordito::libs;
using namespace ordito::libs::cudnn;

// --- descriptors

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int padH, int padW, int strideH,
                                              int strideW, int dilationH, int dilationW, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  CUDNN_CHECK(d && padH >= 0 && padW >= 0 && strideH > 0 && strideW > 0 && dilationH > 0 && dilationW > 0);
  CUDNN_CHECK(mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION);
  *d = {2, {0, padH, padW}, {1, strideH, strideW}, {1, dilationH, dilationW}, d->groups, mode, type, d->math};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t d, int* padH, int* padW, int* strideH,
                                              int* strideW, int* dilationH, int* dilationW,
                                              cudnnConvolutionMode_t* mode, cudnnDataType_t* type) {
  CUDNN_CHECK(d && d->rank == 2 && padH && padW && strideH && strideW && dilationH && dilationW && mode && type);
  *padH = d->pad[1], *padW = d->pad[2], *strideH = d->stride[1], *strideW = d->stride[2];
  *dilationH = d->dilation[1], *dilationW = d->dilation[2], *mode = d->mode, *type = d->type;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t d, int rank, const int* pad,
                                              const int* stride, const int* dilation, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  CUDNN_CHECK(d && rank > 0 && pad && stride && dilation);
  CUDNN_CHECK(mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION);
  if (rank != 2 && rank != 3) return refuse("a convolution of other than two or three dimensions");
  for (int i = 0; i < rank; ++i) CUDNN_CHECK(pad[i] >= 0 && stride[i] > 0 && dilation[i] > 0);
  *d = {rank,   tripleOf(rank, pad, 0), tripleOf(rank, stride, 1), tripleOf(rank, dilation, 1), d->groups, mode, type,
        d->math};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t d, int wanted, int* rank, int* pad,
                                              int* stride, int* dilation, cudnnConvolutionMode_t* mode,
                                              cudnnDataType_t* type) {
  CUDNN_CHECK(d && d->rank > 0 && rank && pad && stride && dilation && mode && type && wanted >= 0);
  *rank = d->rank, *mode = d->mode, *type = d->type;
  for (int i = 0; i < wanted && i < d->rank; ++i) {
    const auto from = static_cast<size_t>(i) + 3 - static_cast<size_t>(d->rank);
    pad[i] = d->pad[from], stride[i] = d->stride[from], dilation[i] = d->dilation[from];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups) {
  CUDNN_CHECK(d && groups > 0);
  d->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int* groups) {
  CUDNN_CHECK(d && groups);
  *groups = d->groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  CUDNN_CHECK(d);
  d->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t* math) {
  CUDNN_CHECK(d && math);
  *math = d->math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t d, cudnnReorderType_t) {
  CUDNN_CHECK(d);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t d,
                                                    const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
                                                    int* n, int* c, int* h, int* columns) {
  CUDNN_CHECK(n && c && h && columns);
  int sizes[4];
  CUDNN_TRY(cudnnGetConvolutionNdForwardOutputDim(d, x, w, 4, sizes));
  *n = sizes[0], *c = sizes[1], *h = sizes[2], *columns = sizes[3];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t d,
                                                    const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
                                                    int rank, int* sizes) {
  CUDNN_CHECK(d && d->rank > 0 && x && w && sizes && rank == d->rank + 2 && x->rank == rank && w->rank == rank);
  CUDNN_CHECK(x->size[1] == w->size[1] * d->groups);
  sizes[0] = x->size[0];
  sizes[1] = w->size[0];
  for (int i = 2; i < rank; ++i) {
    sizes[i] = outputSize(*d, static_cast<size_t>(5 - rank + i - 2), x->size[static_cast<size_t>(i)],
                          w->size[static_cast<size_t>(i)]);
    CUDNN_CHECK(sizes[i] > 0);
  }
  return CUDNN_STATUS_SUCCESS;
}

// --- algorithms

namespace {

constexpr size_t kWorkspace = 1;  // more than nothing: there are programs that insist on that

enum class Direction : uint8_t { Forward, BackwardData, BackwardFilter };

/// How long it takes, in milliseconds, on images of zeros.
template <class T>
float timed(const Convolution& c, Direction direction) {
  const auto zeros = [](const Shape& shape) {
    size_t last = 0;
    for (size_t i = 0; i < static_cast<size_t>(shape.rank); ++i)
      last += static_cast<size_t>(shape.size[i] - 1) * static_cast<size_t>(shape.step[i]);
    return std::vector<T>(last + 1);
  };
  std::vector<T> x = zeros(c.x), w = zeros(c.w), y = zeros(c.y);
  const auto begin = std::chrono::steady_clock::now();
  if (direction == Direction::Forward) convolve(c, {1, 0}, x.data(), w.data(), y.data());
  if (direction == Direction::BackwardData) convolveBackwardData(c, {1, 0}, w.data(), y.data(), x.data());
  if (direction == Direction::BackwardFilter) convolveBackwardFilter(c, {1, 0}, x.data(), y.data(), w.data());
  return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

float timeOf(cudnnHandle_t handle, const Convolution& c, Direction direction) {
  float time = -1;
  const auto task = [&] { withElement(c.x.type, [&](auto zero) { time = timed<decltype(zero)>(c, direction); }); };
  if (enqueue(handle->stream, "cudnnFindConvolutionAlgorithm", task) != CUDA_SUCCESS) return -1;
  return await(handle->stream) == CUDA_SUCCESS ? time : -1;
}

/// All that there are, each as good as the others.
template <class Performance>
cudnnStatus_t list(const Convolution& c, int count, int wanted, float time, int* given, Performance* results) {
  CUDNN_CHECK(wanted > 0 && given && results);
  CUDNN_TRY(c.check());
  *given = std::min(wanted, count);
  for (int i = 0; i < *given; ++i) {
    results[i] = {};
    results[i].algo = static_cast<decltype(results[i].algo)>(i);
    results[i].status = CUDNN_STATUS_SUCCESS;
    results[i].time = time;
    results[i].memory = kWorkspace;
    results[i].determinism = CUDNN_DETERMINISTIC;
    results[i].mathType = c.how.math;
  }
  return CUDNN_STATUS_SUCCESS;
}

template <class... Descriptor>
bool areThere(Descriptor*... descriptors) {
  return ((descriptors != nullptr) && ...);
}

}  // namespace

// FORWARD and the others: the descriptors in the order of each call, and the convolution that they mean.
#define FORWARD                                                                                           \
  const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t d, \
      const cudnnTensorDescriptor_t y
#define BACKWARD_FILTER                                                                                   \
  const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t y, const cudnnConvolutionDescriptor_t d, \
      const cudnnFilterDescriptor_t w
#define BACKWARD_DATA                                                                                     \
  const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t y, const cudnnConvolutionDescriptor_t d, \
      const cudnnTensorDescriptor_t x
#define MEANT Convolution(*x, *w, *y, *d)

#define ALGORITHMS(name, kind, count, descriptors)                                                                     \
  cudnnStatus_t cudnnGetConvolution##name##AlgorithmMaxCount(cudnnHandle_t handle, int* number) {                      \
    CUDNN_CHECK(handle&& number);                                                                                      \
    *number = count;                                                                                                   \
    return CUDNN_STATUS_SUCCESS;                                                                                       \
  }                                                                                                                    \
  cudnnStatus_t cudnnGetConvolution##name##Algorithm_v7(cudnnHandle_t handle, descriptors, const int wanted,           \
                                                        int* given, cudnnConvolution##kind##AlgoPerf_t* results) {     \
    CUDNN_CHECK(handle&& areThere(x, w, y, d));                                                                        \
    return list(MEANT, count, wanted, -1, given, results);                                                             \
  }                                                                                                                    \
  cudnnStatus_t cudnnGetConvolution##name##Algorithm(cudnnHandle_t handle, descriptors,                                \
                                                     cudnnConvolution##kind##Preference_t, size_t,                     \
                                                     cudnnConvolution##kind##Algo_t* algorithm) {                      \
    CUDNN_CHECK(handle&& algorithm&& areThere(x, w, y, d));                                                            \
    CUDNN_TRY((MEANT).check());                                                                                        \
    *algorithm = static_cast<cudnnConvolution##kind##Algo_t>(1);                                                       \
    return CUDNN_STATUS_SUCCESS;                                                                                       \
  }                                                                                                                    \
  cudnnStatus_t cudnnFindConvolution##name##Algorithm(cudnnHandle_t handle, descriptors, const int wanted, int* given, \
                                                      cudnnConvolution##kind##AlgoPerf_t* results) {                   \
    CUDNN_CHECK(handle&& areThere(x, w, y, d));                                                                        \
    CUDNN_TRY((MEANT).check());                                                                                        \
    return list(MEANT, count, wanted, timeOf(handle, MEANT, Direction::name), given, results);                         \
  }                                                                                                                    \
  cudnnStatus_t cudnnGetConvolution##name##WorkspaceSize(cudnnHandle_t handle, descriptors,                            \
                                                         cudnnConvolution##kind##Algo_t, size_t* bytes) {              \
    CUDNN_CHECK(handle&& bytes&& areThere(x, w, y, d));                                                                \
    CUDNN_TRY((MEANT).check());                                                                                        \
    *bytes = kWorkspace;                                                                                               \
    return CUDNN_STATUS_SUCCESS;                                                                                       \
  }
ALGORITHMS(Forward, Fwd, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, FORWARD)
ALGORITHMS(BackwardFilter, BwdFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, BACKWARD_FILTER)
ALGORITHMS(BackwardData, BwdData, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, BACKWARD_DATA)

// With the program's own operands nothing else is measured, and those are left as they are.
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const void*,
                                                     const cudnnFilterDescriptor_t w, const void*,
                                                     const cudnnConvolutionDescriptor_t d,
                                                     const cudnnTensorDescriptor_t y, void*, const int wanted,
                                                     int* given, cudnnConvolutionFwdAlgoPerf_t* results, void*,
                                                     size_t) {
  return cudnnFindConvolutionForwardAlgorithm(handle, x, w, d, y, wanted, given, results);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                            const void*, const cudnnTensorDescriptor_t y, const void*,
                                                            const cudnnConvolutionDescriptor_t d,
                                                            const cudnnFilterDescriptor_t w, void*, const int wanted,
                                                            int* given, cudnnConvolutionBwdFilterAlgoPerf_t* results,
                                                            void*, size_t) {
  return cudnnFindConvolutionBackwardFilterAlgorithm(handle, x, y, d, w, wanted, given, results);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
                                                          const void*, const cudnnTensorDescriptor_t y, const void*,
                                                          const cudnnConvolutionDescriptor_t d,
                                                          const cudnnTensorDescriptor_t x, void*, const int wanted,
                                                          int* given, cudnnConvolutionBwdDataAlgoPerf_t* results, void*,
                                                          size_t) {
  return cudnnFindConvolutionBackwardDataAlgorithm(handle, w, y, d, x, wanted, given, results);
}

// --- the products

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x,
                                      const void* from, const cudnnFilterDescriptor_t w, const void* filters,
                                      const cudnnConvolutionDescriptor_t d, cudnnConvolutionFwdAlgo_t, void*, size_t,
                                      const void* beta, const cudnnTensorDescriptor_t y, void* to) {
  CUDNN_CHECK(handle && alpha && beta && areThere(x, w, y, d) && from && filters && to);
  const Convolution c = MEANT;
  CUDNN_TRY(c.check());
  return submitTyped(
      handle, "cudnnConvolutionForward", c.x,
      [=, blend = blend(c.x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        convolve(c, blend, static_cast<const E*>(from), static_cast<const E*>(filters), static_cast<E*>(to));
      },
      c.work());
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t x,
                                             const void* from, const cudnnTensorDescriptor_t y, const void* dy,
                                             const cudnnConvolutionDescriptor_t d, cudnnConvolutionBwdFilterAlgo_t,
                                             void*, size_t, const void* beta, const cudnnFilterDescriptor_t w,
                                             void* to) {
  CUDNN_CHECK(handle && alpha && beta && areThere(x, w, y, d) && from && dy && to);
  const Convolution c = MEANT;
  CUDNN_TRY(c.check());
  return submitTyped(
      handle, "cudnnConvolutionBackwardFilter", c.x,
      [=, blend = blend(c.x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        convolveBackwardFilter(c, blend, static_cast<const E*>(from), static_cast<const E*>(dy), static_cast<E*>(to));
      },
      c.work());
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, const cudnnFilterDescriptor_t w,
                                           const void* filters, const cudnnTensorDescriptor_t y, const void* dy,
                                           const cudnnConvolutionDescriptor_t d, cudnnConvolutionBwdDataAlgo_t, void*,
                                           size_t, const void* beta, const cudnnTensorDescriptor_t x, void* to) {
  CUDNN_CHECK(handle && alpha && beta && areThere(x, w, y, d) && filters && dy && to);
  const Convolution c = MEANT;
  CUDNN_TRY(c.check());
  return submitTyped(
      handle, "cudnnConvolutionBackwardData", c.x,
      [=, blend = blend(c.x, alpha, beta)](auto zero) {
        using E = decltype(zero);
        convolveBackwardData(c, blend, static_cast<const E*>(filters), static_cast<const E*>(dy), static_cast<E*>(to));
      },
      c.work());
}

/// db[c] = the sum of dy over all images and places.
cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha, const cudnnTensorDescriptor_t y,
                                           const void* dy, const void* beta, const cudnnTensorDescriptor_t b,
                                           void* to) {
  CUDNN_CHECK(handle && alpha && beta && areThere(y, b) && dy && to && y->rank > 1);
  CUDNN_CHECK(b->rank == y->rank && b->type == y->type && b->count() == y->size[1] && b->size[1] == y->size[1]);
  return submitTyped(handle, "cudnnConvolutionBackwardBias", *y,
                     [=, from = Shape(*y), into = Shape(*b), blend = blend(*y, alpha, beta)](auto zero) {
                       using E = decltype(zero);
                       std::vector<double> sums(static_cast<size_t>(from.size[1]));
                       int64_t inner = 1;
                       for (size_t i = 2; i < static_cast<size_t>(from.rank); ++i) inner *= from.size[i];
                       for (int64_t i = 0; i < from.count(); ++i)
                         sums[static_cast<size_t>(i / inner % from.size[1])] += get<E>(dy, from.at(i));
                       for (size_t c = 0; c < sums.size(); ++c)
                         blend.into(static_cast<E*>(to)[static_cast<int64_t>(c) * into.step[1]], sums[c]);
                     });
}
