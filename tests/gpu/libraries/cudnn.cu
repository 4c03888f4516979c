// cuDNN, the interface without graphs: statuses of bad arguments, and NaN where the manual leaves it open (cases.hpp).
#include <cudnn.h>

#include "cases.hpp"

namespace {

const auto NCHW = CUDNN_TENSOR_NCHW;
const auto FLOAT = CUDNN_DATA_FLOAT;

cudnnTensorDescriptor_t tensor(int n, int c, int h, int w) {
  cudnnTensorDescriptor_t made = nullptr;
  cudnnCreateTensorDescriptor(&made);
  cudnnSetTensor4dDescriptor(made, NCHW, FLOAT, n, c, h, w);
  return made;
}

void descriptors(Cases& cases) {
  cudnnTensorDescriptor_t t = tensor(1, 1, 2, 2);
  cudnnFilterDescriptor_t f = nullptr;
  cudnnConvolutionDescriptor_t c = nullptr;
  cudnnPoolingDescriptor_t p = nullptr;
  cudnnActivationDescriptor_t a = nullptr;
  const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, steps[] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  int n = 0;
  CASE("create: null", cudnnCreate(nullptr));
  CASE("stream: no handle", cudnnSetStream(nullptr, nullptr));
  CASE("tensor: no place", cudnnCreateTensorDescriptor(nullptr));
  CASE("tensor: destroy none", cudnnDestroyTensorDescriptor(nullptr));
  CASE("tensor: none", cudnnSetTensor4dDescriptor(nullptr, NCHW, FLOAT, 1, 1, 1, 1));
  CASE("tensor: n 0", cudnnSetTensor4dDescriptor(t, NCHW, FLOAT, 0, 1, 1, 1));
  CASE("tensor: n -1", cudnnSetTensor4dDescriptor(t, NCHW, FLOAT, -1, 1, 1, 1));
  CASE("tensor: format 9", cudnnSetTensor4dDescriptor(t, cudnnTensorFormat_t(9), FLOAT, 1, 1, 1, 1));
  CASE("tensor: type 99", cudnnSetTensor4dDescriptor(t, NCHW, cudnnDataType_t(99), 1, 1, 1, 1));
  CASE("tensor: steps of 0", cudnnSetTensorNdDescriptor(t, FLOAT, 4, sizes, steps));
  CASE("tensor: 2 dimensions", cudnnSetTensorNdDescriptor(t, FLOAT, 2, sizes, sizes));
  CASE("tensor: 9 dimensions", cudnnSetTensorNdDescriptor(t, FLOAT, 9, sizes, sizes));
  CASE("filter: n 0", cudnnCreateFilterDescriptor(&f),
       std::to_string(cudnnSetFilter4dDescriptor(f, FLOAT, NCHW, 0, 1, 3, 3)));
  const auto cross = CUDNN_CROSS_CORRELATION;
  CASE("convolution: padding -1", cudnnCreateConvolutionDescriptor(&c),
       std::to_string(cudnnSetConvolution2dDescriptor(c, -1, 0, 1, 1, 1, 1, cross, FLOAT)));
  CASE("convolution: stride 0", cudnnSetConvolution2dDescriptor(c, 0, 0, 0, 1, 1, 1, cross, FLOAT));
  CASE("convolution: dilation 0", cudnnSetConvolution2dDescriptor(c, 0, 0, 1, 1, 0, 1, cross, FLOAT));
  CASE("convolution: mode 9", cudnnSetConvolution2dDescriptor(c, 0, 0, 1, 1, 1, 1, cudnnConvolutionMode_t(9), FLOAT));
  CASE("convolution: groups 0", cudnnSetConvolutionGroupCount(c, 0));
  CASE("convolution: groups 1", cudnnSetConvolutionGroupCount(c, 1));
  cudnnSetConvolution2dDescriptor(c, 0, 0, 1, 1, 1, 1, cross, FLOAT);
  cudnnSetFilter4dDescriptor(f, FLOAT, NCHW, 1, 1, 3, 3);
  int ch = 0, oh = 0, ow = 0;
  CASE("convolution: image less than the filter",
       cudnnGetConvolution2dForwardOutputDim(c, tensor(1, 1, 2, 2), f, &n, &ch, &oh, &ow));
  CASE("convolution: channels differ",
       cudnnGetConvolution2dForwardOutputDim(c, tensor(1, 2, 5, 5), f, &n, &ch, &oh, &ow));
  CASE("pooling: mode 9", cudnnCreatePoolingDescriptor(&p),
       std::to_string(cudnnSetPooling2dDescriptor(p, cudnnPoolingMode_t(9), CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2)));
  const auto pool = [&](int window, int padding, int stride) {
    return cudnnSetPooling2dDescriptor(p, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, window, window, padding, padding,
                                       stride, stride);
  };
  CASE("pooling: window 0", pool(0, 0, 1));
  CASE("pooling: stride 0", pool(2, 0, 0));
  CASE("pooling: padding -1", pool(2, -1, 1));
  CASE("pooling: padding of the window", pool(2, 2, 1));
  CASE("pooling: size", pool(2, 0, 2),
       std::to_string(cudnnGetPooling2dForwardOutputDim(p, tensor(1, 1, 5, 5), &n, &ch, &oh, &ow)), shown(oh));
  CASE("activation: mode 99", cudnnCreateActivationDescriptor(&a),
       std::to_string(cudnnSetActivationDescriptor(a, cudnnActivationMode_t(99), CUDNN_PROPAGATE_NAN, 0)));
}

void layers(Cases& cases, cudnnHandle_t h) {
  const float one = 1, zero = 0;
  const auto t = tensor(1, 1, 2, 2), small = tensor(1, 1, 1, 1);
  float *x = on<float>({NAN, -1, 0, 2}), *y = nullptr;
  const auto nans = [&] { return y = on<float>({NAN, NAN, NAN, NAN}); };
  for (const int propagate : {0, 1}) {
    const std::string end = propagate == 1 ? ", NaN passed on" : ", NaN not passed on";
    cudnnPoolingDescriptor_t p = nullptr;
    cudnnCreatePoolingDescriptor(&p);
    cudnnSetPooling2dDescriptor(p, CUDNN_POOLING_MAX, cudnnNanPropagation_t(propagate), 2, 2, 0, 0, 2, 2);
    CASE(("maximum" + end).c_str(), cudnnPoolingForward(h, p, &one, t, x, &zero, small, nans()), shown(y, 1));
    for (const int mode : {0, 1, 2, 3}) {
      cudnnActivationDescriptor_t a = nullptr;
      cudnnCreateActivationDescriptor(&a);
      cudnnSetActivationDescriptor(a, cudnnActivationMode_t(mode), cudnnNanPropagation_t(propagate), 6);
      // The values of relu (1) and clipped relu (3) alone are exact; of the others only what becomes of NaN.
      CASE(("activation " + std::to_string(mode) + end).c_str(),
           cudnnActivationForward(h, a, &one, t, x, &zero, t, nans()), shown(y, mode % 2 == 1 ? 4 : 1));
    }
  }
  const auto softmax = [&](int algorithm, cudnnTensorDescriptor_t out) {
    return cudnnSoftmaxForward(h, cudnnSoftmaxAlgorithm_t(algorithm), CUDNN_SOFTMAX_MODE_INSTANCE, &one, t, x, &zero,
                               out, nans());
  };
  CASE("softmax: algorithm 9", softmax(9, t));
  CASE("softmax: sizes differ", softmax(1, small));
  CASE("add: sizes differ", cudnnAddTensor(h, &one, tensor(1, 2, 2, 2), zeros<float>(8), &one, t, nans()));
  CASE("add: no handle", cudnnAddTensor(nullptr, &one, t, x, &one, t, nans()));
  CASE("transform: beta 0, y NaN", cudnnTransformTensor(h, &one, t, on<float>({1, 2, 3, 4}), &zero, t, nans()),
       shown(y, 4));
  CASE("set: no value", cudnnSetTensor(h, t, nans(), nullptr));
  CASE("scale: NaN by 0", cudnnScaleTensor(h, t, nans(), &zero), shown(y, 4));
}

}  // namespace

int main(int count, char** arguments) {
  Cases cases(count, arguments);
  cudnnHandle_t handle;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 2;
  descriptors(cases);
  layers(cases, handle);
}
