// Bias, ReLU, GELU and their gradients.
//
// cuBLAS API, cublasLtEpilogue_t. GELU is the approximation by tanh (Hendrycks and Gimpel, 2016), which is what
// cuBLASLt computes.
#include "libs/cublaslt/epilogue.hpp"

#include <cmath>
#include <vector>

namespace ordito::cublaslt {
namespace {

constexpr double kGeluScale = 0.7978845608028654, kGeluCube = 0.044715;  // sqrt(2 / pi)

template <class I>
I gelu(I x) {
  const I inner = static_cast<I>(kGeluScale) * (x + static_cast<I>(kGeluCube) * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}
template <class I>
I geluGradient(I x) {
  const I inner = static_cast<I>(kGeluScale) * (x + static_cast<I>(kGeluCube) * x * x * x);
  const I slope = static_cast<I>(kGeluScale) * (1 + 3 * static_cast<I>(kGeluCube) * x * x);
  const I bend = std::tanh(inner);
  return (1 + bend) / 2 + x / 2 * (1 - bend * bend) * slope;
}

/// The type of the bias where the description has none: that of D, but the scale's for int8 and C's for eight-bit
/// floats.
cudaDataType biasTypeOf(const Product& p) {
  if (p.desc.biasType >= 0) return static_cast<cudaDataType>(p.desc.biasType);
  if (p.d.type == CUDA_R_8I) return static_cast<cudaDataType>(p.desc.scaleType);
  return static_cast<cudaDataType>(p.d.type == CUDA_R_8F_E4M3 || p.d.type == CUDA_R_8F_E5M2 ? p.c.type : p.d.type);
}

char* moved(void* place, int64_t bytes) { return place ? static_cast<char*>(place) + bytes : nullptr; }

}  // namespace

template <class I>
Epilogue<I>::Epilogue(const Product& p, int64_t matrix)
    : kind_(p.desc.epilogue), rows_(p.m()), scaleAux_(static_cast<const float*>(p.desc.scaleAux)) {
  const auto biasType = biasTypeOf(p);
  const auto auxType = static_cast<cudaDataType>(p.desc.auxType >= 0 ? p.desc.auxType : static_cast<int>(p.d.type));
  const auto biasSize = static_cast<int64_t>(cublas::sizeOf(biasType));
  // A mask has bits.
  const bool isMask = (kind_ & (kRelu | kReluGradient)) != 0;
  const int64_t auxBits = isMask ? 1 : static_cast<int64_t>(cublas::sizeOf(auxType)) * 8;
  const int64_t length = kind_ == CUBLASLT_EPILOGUE_BGRADB ? p.n() : rows_;
  bias_ = {moved(p.desc.bias, matrix * p.desc.biasStride * biasSize), biasType, CUBLASLT_ORDER_COL, length, 1, length};
  aux_ = {moved(p.desc.aux, matrix * p.desc.auxStride * auxBits / 8),
          auxType,
          CUBLASLT_ORDER_COL,
          rows_,
          p.n(),
          p.desc.auxLeading};
}

template <class I>
bool Epilogue<I>::isComplete(const MatmulDesc& desc, int64_t rows) {
  constexpr uint32_t kNeedsBias =
      kBias | kBiasGradient | uint32_t{CUBLASLT_EPILOGUE_BGRADA} | uint32_t{CUBLASLT_EPILOGUE_BGRADB};
  if ((desc.epilogue & kNeedsBias) != 0 && !desc.bias) return false;
  if ((desc.epilogue & kAux) == 0) return true;
  const bool isMask = (desc.epilogue & (kRelu | kReluGradient)) != 0;
  return desc.aux && desc.auxLeading >= rows && (!isMask || desc.auxLeading % 128 == 0);
}

template <class I>
void Epilogue<I>::apply(int64_t column, I* values, float& largestAux) const {
  if ((kind_ & kBias) != 0) {
    std::vector<I> bias(static_cast<size_t>(rows_));
    loadColumn(bias_, 0, bias.data());
    for (int64_t i = 0; i < rows_; ++i) values[i] += bias[static_cast<size_t>(i)];
  }
  if ((kind_ & (kRelu | kGelu)) != 0) activate(column, values, largestAux);
  if ((kind_ & (kReluGradient | kGeluGradient)) != 0) multiplyByGradient(column, values);
}

template <class I>
void Epilogue<I>::activate(int64_t column, I* values, float& largestAux) const {
  if ((kind_ & kAux) != 0 && (kind_ & kRelu) != 0) {
    uint8_t* bits = mask(column);
    std::memset(bits, 0, static_cast<size_t>(rows_ + 7) / 8);
    for (int64_t i = 0; i < rows_; ++i) bits[i / 8] |= static_cast<uint8_t>((values[i] > 0 ? 1 : 0) << i % 8);
  } else if ((kind_ & kAux) != 0) {
    std::vector<I> before(values, values + rows_);
    for (I& value : before) {
      largestAux = std::max(largestAux, std::abs(static_cast<float>(value)));
      if (scaleAux_) value *= static_cast<I>(*scaleAux_);
    }
    storeColumn(aux_, column, before.data());
  }
  for (int64_t i = 0; i < rows_; ++i) values[i] = (kind_ & kRelu) != 0 ? std::max(values[i], I(0)) : gelu(values[i]);
}

template <class I>
void Epilogue<I>::multiplyByGradient(int64_t column, I* values) const {
  if ((kind_ & kReluGradient) != 0) {
    const uint8_t* bits = mask(column);
    for (int64_t i = 0; i < rows_; ++i)
      if ((bits[i / 8] >> i % 8 & 1) == 0) values[i] = 0;
    return;
  }
  std::vector<I> before(static_cast<size_t>(rows_));
  loadColumn(aux_, column, before.data());
  for (int64_t i = 0; i < rows_; ++i) values[i] *= geluGradient(before[static_cast<size_t>(i)]);
}

template <class I>
void Epilogue<I>::storeBias(int64_t i, I value) const {
  Matrix entry = bias_;
  entry.data = bias_.at(i, 0);
  entry.rows = 1;
  storeColumn(entry, 0, &value);
}

template <class I>
uint8_t* Epilogue<I>::mask(int64_t column) const {
  return static_cast<uint8_t*>(aux_.data) + column * aux_.leading / 8;
}

template class Epilogue<float>;
template class Epilogue<double>;

}  // namespace ordito::cublaslt
