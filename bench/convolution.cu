// What a convolution of cuDNN costs: 8 images of 64 channels of 56 by 56 with 64 filters of 3 by 3, forwards, back to
// data and to filters; the least time of seven.
//
//     ordito nvcc -O2 bench/convolution.cu -lcudnn -o convolution && ordito run ./convolution
#include <cudnn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

constexpr int kImages = 8, kChannels = 64, kSide = 56, kFilter = 3;
constexpr double kOperations = 2.0 * kImages * kChannels * kChannels * kSide * kSide * kFilter * kFilter;

template <class Call>
void measure(const char* name, Call call) {
  double least = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    if (call() != CUDNN_STATUS_SUCCESS) return (void)std::printf("%s failed\n", name);
    cudaDeviceSynchronize();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%-8s %6.1f ms %6.1f GFLOP/s\n", name, least * 1e3, kOperations / least / 1e9);
}

int main() {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t images;
  cudnnFilterDescriptor_t filters;
  cudnnConvolutionDescriptor_t d;
  cudnnCreate(&handle);
  cudnnCreateTensorDescriptor(&images);
  cudnnCreateFilterDescriptor(&filters);
  cudnnCreateConvolutionDescriptor(&d);
  cudnnSetTensor4dDescriptor(images, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, kImages, kChannels, kSide, kSide);
  cudnnSetFilter4dDescriptor(filters, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, kChannels, kChannels, kFilter, kFilter);
  cudnnSetConvolution2dDescriptor(d, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  const size_t bytes = sizeof(float) * kImages * kChannels * kSide * kSide;
  float *x = nullptr, *y = nullptr, *w = nullptr;
  for (float** memory : {&x, &y, &w}) {
    cudaMalloc(memory, bytes);
    cudaMemset(*memory, 0, bytes);
  }
  const float one = 1, zero = 0;
  measure("forward", [&] {
    return cudnnConvolutionForward(handle, &one, images, x, filters, w, d, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, nullptr, 0,
                                   &zero, images, y);
  });
  measure("data", [&] {
    return cudnnConvolutionBackwardData(handle, &one, filters, w, images, y, d, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
                                        nullptr, 0, &zero, images, x);
  });
  measure("filter", [&] {
    return cudnnConvolutionBackwardFilter(handle, &one, images, x, images, y, d, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
                                          nullptr, 0, &zero, filters, w);
  });
}
