// Activation functions and their derivatives, in terms of what cuDNN hands to the backward pass.
#pragma once

#include <algorithm>
#include <cmath>

#include "libs/cudnn/descriptors.hpp"

namespace ordito::libs::cudnn {

inline double activated(const cudnnActivationStruct& a, double x) {
  switch (a.mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + std::exp(-x));
    case CUDNN_ACTIVATION_RELU:
    case CUDNN_ACTIVATION_CLIPPED_RELU: {
      if (std::isnan(x)) return a.nan == CUDNN_PROPAGATE_NAN ? x : 0;
      const double positive = std::max(x, 0.0);
      return a.mode == CUDNN_ACTIVATION_RELU ? positive : std::min(positive, a.coefficient);
    }
    case CUDNN_ACTIVATION_TANH: return std::tanh(x);
    case CUDNN_ACTIVATION_ELU: return x >= 0 ? x : a.coefficient * std::expm1(x);
    case CUDNN_ACTIVATION_SWISH: return x / (1 + std::exp(-a.coefficient * x));
    default: return x;
  }
}

/// The derivative where x was and y became.
inline double slope(const cudnnActivationStruct& a, double x, double y) {
  switch (a.mode) {
    case CUDNN_ACTIVATION_SIGMOID: return y * (1 - y);
    case CUDNN_ACTIVATION_RELU: return x > 0 ? 1 : 0;
    case CUDNN_ACTIVATION_CLIPPED_RELU: return x > 0 && x <= a.coefficient ? 1 : 0;
    case CUDNN_ACTIVATION_TANH: return 1 - y * y;
    case CUDNN_ACTIVATION_ELU: return x >= 0 ? 1 : y + a.coefficient;
    case CUDNN_ACTIVATION_SWISH: {
      const double s = 1 / (1 + std::exp(-a.coefficient * x));
      return s + a.coefficient * y * (1 - s);
    }
    default: return 1;
  }
}

}  // namespace ordito::libs::cudnn
