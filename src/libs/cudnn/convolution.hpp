// A convolution of images: what it is made of, and its three products.
#pragma once

#include "libs/cudnn/call.hpp"

namespace ordito::libs::cudnn {

/// x: images N, C, H, W. w: K filters of C / groups channels, R rows, S columns. y: images N, K, P, Q.
struct Convolution {
  Shape x, w, y;
  cudnnConvolutionStruct how;

  /// Are the sizes such that y is what the others make? Only of images, in float and double.
  cudnnStatus_t check() const;
  Work work() const;

  int channels() const { return x.size[1] / how.groups; }  // of a group
  int filters() const { return w.size[0] / how.groups; }
  int places() const { return y.size[2] * y.size[3]; }
  int taps() const { return channels() * w.size[2] * w.size[3]; }
};

/// Rows or columns of the result.
int outputSize(int input, int padding, int filter, int stride, int dilation);

template <class T>
void convolve(const Convolution& c, Blend blend, const T* x, const T* w, T* y);
template <class T>
void convolveBackwardData(const Convolution& c, Blend blend, const T* w, const T* dy, T* dx);
template <class T>
void convolveBackwardFilter(const Convolution& c, Blend blend, const T* x, const T* dy, T* dw);

}  // namespace ordito::libs::cudnn
