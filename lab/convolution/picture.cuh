// Convolution of one channel of an image: y(r,c) = sum over i, j of h(i,j) x(r + R - i, c + R - j), divided by the
// mask's divisor and rounded, with a mask of (2R+1) x (2R+1) whole numbers. Whole numbers make every answer exact.
#pragma once

#include "border.hpp"

constexpr int kLargestPictureRadius = 12;
constexpr int kLargestSide = 2 * kLargestPictureRadius + 1;

__constant__ int constantPictureMask[kLargestSide * kLargestSide];

LAB_BOTH inline unsigned char toSample(int sum, int divisor) {
  const int value = sum < 0 ? 0 : (sum + divisor / 2) / divisor;
  return static_cast<unsigned char>(value > 255 ? 255 : value);
}

template <Border Policy>
LAB_BOTH inline int sampleOf(const unsigned char* x, int row, int column, int height, int width) {
  const int r = insideIndex<Policy>(row, height);
  const int c = insideIndex<Policy>(column, width);
  return r < 0 || c < 0 ? 0 : x[r * width + c];
}

/// Each thread reads all the neighbours of its pixel from global memory.
template <Border Policy>
__global__ void convolvePictureDirect(const unsigned char* x, unsigned char* y, int height, int width, int radius,
                                      int divisor) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  const int side = 2 * radius + 1;
  int sum = 0;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      sum +=
          constantPictureMask[i * side + j] * sampleOf<Policy>(x, row + radius - i, column + radius - j, height, width);
    }
  }
  y[row * width + column] = toSample(sum, divisor);
}

/// The block's pixels and their halo in shared memory: (blockDim.x + 2R) x (blockDim.y + 2R) integers. The threads are
/// put in a line, tid = ty * blockDim.x + tx, and take every blockDim.x*blockDim.y-th element of the region.
template <Border Policy>
__global__ void convolvePictureTiled(const unsigned char* x, unsigned char* y, int height, int width, int radius,
                                     int divisor) {
  extern __shared__ int samples[];
  const int regionWidth = blockDim.x + 2 * radius;
  const int regionHeight = blockDim.y + 2 * radius;
  const int firstRow = static_cast<int>(blockIdx.y * blockDim.y) - radius;
  const int firstColumn = static_cast<int>(blockIdx.x * blockDim.x) - radius;
  const int threads = blockDim.x * blockDim.y;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < regionWidth * regionHeight; i += threads) {
    samples[i] = sampleOf<Policy>(x, firstRow + i / regionWidth, firstColumn + i % regionWidth, height, width);
  }
  __syncthreads();
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  const int side = 2 * radius + 1;
  int sum = 0;
  for (int i = 0; i < side; ++i) {
    const int* line = samples + (threadIdx.y + 2 * radius - i) * regionWidth + threadIdx.x + 2 * radius;
    for (int j = 0; j < side; ++j) sum += constantPictureMask[i * side + j] * line[-j];
  }
  y[row * width + column] = toSample(sum, divisor);
}

/// The best form for masks that are the product of a column and a row, as blurs are: a pass over the rows into whole
/// numbers, and one over the columns, 2(2R+1) products for each pixel instead of (2R+1)^2. The row stands in
/// constantPictureMask; zero border. (After V. Podlozhnyuk, "Image Convolution with CUDA", NVIDIA, 2007.)
__global__ void convolvePictureRows(const unsigned char* x, int* sums, int height, int width, int radius) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  int sum = 0;
  for (int j = 0; j <= 2 * radius; ++j) {
    sum += constantPictureMask[j] * sampleOf<Border::zero>(x, row, column + radius - j, height, width);
  }
  sums[row * width + column] = sum;
}

__global__ void convolvePictureColumns(const int* sums, unsigned char* y, int height, int width, int radius,
                                       int divisor) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  int sum = 0;
  for (int i = 0; i <= 2 * radius; ++i) {
    const int from = row + radius - i;
    if (from >= 0 && from < height) sum += constantPictureMask[i] * sums[from * width + column];
  }
  y[row * width + column] = toSample(sum, divisor);
}
