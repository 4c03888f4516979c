// A convolution of images or of volumes: what it is made of, and its three products.
#pragma once

#include "libs/cudnn/call.hpp"

namespace ordito::libs::cudnn {

/// x: volumes N, C, D, H, W. w: K filters of C / groups channels and a window. y: volumes N, K and what is left of the
/// places. Images are volumes one element deep.
struct Convolution {
  Shape x, w, y;
  cudnnConvolutionStruct how;

  Convolution(const Shape& input, const Shape& filters, const Shape& output, const cudnnConvolutionStruct& said);
  /// Are the sizes such that y is what the others make?
  cudnnStatus_t check() const;
  Work work() const;

  int channels() const { return x.size[1] / how.groups; }  // of a group
  int filters() const { return w.size[0] / how.groups; }
  int places() const { return y.size[2] * y.size[3] * y.size[4]; }
  int taps() const { return channels() * w.size[2] * w.size[3] * w.size[4]; }
};

/// How many places a filter has along dimension i of the three.
int outputSize(const cudnnConvolutionStruct& how, size_t i, int input, int filter);

/// Numbers of 16 bits are widened and multiplied in single precision; the result may be of another type.
template <class T, class Result>
void convolve(const Convolution& c, Blend blend, const T* x, const T* w, Result* y);
template <class T>
void convolveBackwardData(const Convolution& c, Blend blend, const T* w, const T* dy, T* dx);
template <class T>
void convolveBackwardFilter(const Convolution& c, Blend blend, const T* x, const T* dy, T* dw);

}  // namespace ordito::libs::cudnn
