// What cuDNN's descriptors say. They are plain objects that calls copy into their tasks, so that a program may change
// or destroy one right after the call.
#pragma once

#include <array>
#include <cstdint>

#include "libs/cudnn/status.hpp"

namespace ordito::libs::cudnn {

/// Depth, height and width.
using Triple = std::array<int, 3>;
/// What a program says of two or three dimensions; `flat` is said of the depth that images have not.
inline Triple tripleOf(int rank, const int* values, int flat) {
  return rank == 2 ? Triple{flat, values[0], values[1]} : Triple{values[0], values[1], values[2]};
}

/// Sizes and steps (in elements) of up to CUDNN_DIM_MAX dimensions: images, channels, then places.
struct Shape {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0;  // 0: not set
  std::array<int, CUDNN_DIM_MAX> size{};
  std::array<int, CUDNN_DIM_MAX> step{};

  int64_t count() const {
    int64_t all = rank > 0 ? 1 : 0;
    for (int i = 0; i < rank; ++i) all *= size[static_cast<size_t>(i)];
    return all;
  }
  bool sameSizes(const Shape& other) const { return rank == other.rank && size == other.size; }
  /// Where the element is whose number is `index` when the last dimension counts fastest.
  int64_t at(int64_t index) const {
    int64_t place = 0;
    for (size_t i = static_cast<size_t>(rank); i-- > 0; index /= size[i]) place += index % size[i] * step[i];
    return place;
  }
  /// Of an element of a 5-dimensional tensor.
  int64_t at(int n, int c, int d, int h, int w) const {
    return int64_t{n} * step[0] + int64_t{c} * step[1] + int64_t{d} * step[2] + int64_t{h} * step[3] +
           int64_t{w} * step[4];
  }
  /// Images as volumes that are one element deep; volumes as they are.
  Shape asVolumes() const;
  Triple places() const { return {size[2], size[3], size[4]}; }
  /// Where an element of `other` is in this one, whose dimensions of size 1 stand for any.
  int64_t spread(const Shape& other, int64_t index) const {
    int64_t place = 0;
    for (size_t i = static_cast<size_t>(other.rank); i-- > 0; index /= other.size[i])
      if (size[i] != 1) place += index % other.size[i] * step[i];
    return place;
  }
  bool spreadsOver(const Shape& other) const {
    bool fits = rank == other.rank;
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) fits &= size[i] == 1 || size[i] == other.size[i];
    return fits;
  }
  /// Steps of elements that follow each other without room between; by channels last if `isNhwc`.
  void pack(bool isNhwc);
};

size_t sizeOf(cudnnDataType_t type);
/// Floating-point numbers of 16, 32 and 64 bits are there; others are refused by name.
cudnnStatus_t checkType(const Shape& shape);

}  // namespace ordito::libs::cudnn

struct cudnnTensorStruct : ordito::libs::cudnn::Shape {};
struct cudnnFilterStruct : ordito::libs::cudnn::Shape {
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
};
struct cudnnConvolutionStruct {
  int rank = 0;  // of what filters move over, 2 or 3; 0: not set
  ordito::libs::cudnn::Triple pad{0, 0, 0}, stride{1, 1, 1}, dilation{1, 1, 1};
  int groups = 1;
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct cudnnPoolingStruct {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  int rank = 0;  // of what the window moves over, 2 or 3; 0: not set
  ordito::libs::cudnn::Triple window{1, 1, 1}, pad{0, 0, 0}, stride{1, 1, 1};
};
struct cudnnActivationStruct {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_RELU;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  double coefficient = 0;
};
struct cudnnLRNStruct {
  unsigned n = 5;
  double alpha = 1e-4, beta = 0.75, k = 2;
};
struct cudnnOpTensorStruct {
  cudnnOpTensorOp_t operation = CUDNN_OP_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
};
struct cudnnReduceTensorStruct {
  cudnnReduceTensorOp_t operation = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
  cudnnIndicesType_t indexType = CUDNN_32BIT_INDICES;
};
struct cudnnDropoutStruct {
  float rate = 0;
  void* states = nullptr;
  unsigned long long seed = 0;
};
