// What becomes of a product's columns before they are stored: bias, activation, and their gradients.
#pragma once

#include "libs/cublaslt/matmul.hpp"

namespace ordito::cublaslt {

/// For one matrix of a batch. `I` is float or double.
template <class I>
class Epilogue {
 public:
  Epilogue(const Product& product, int64_t matrix);

  /// Whether the call named the vector and the matrix that its epilogue needs.
  static bool isComplete(const MatmulDesc& desc, int64_t rows);

  /// Changes the column; the greatest magnitude of what was stored beside it is `largestAux` afterwards, if greater.
  void apply(int64_t column, I* values, float& largestAux) const;
  /// Whether the bias vector gets the sums of the result's rows.
  bool hasBiasGradient() const { return (kind_ & kBiasGradient) != 0; }
  /// One entry of the bias vector.
  void storeBias(int64_t i, I value) const;

 private:
  enum Kind : uint32_t {
    kRelu = 2,
    kBias = 4,
    kReluGradient = 8,
    kBiasGradient = 16,
    kGelu = 32,
    kGeluGradient = 64,
    kAux = 128
  };

  void activate(int64_t column, I* values, float& largestAux) const;
  void multiplyByGradient(int64_t column, I* values) const;
  /// The bits of a column: which values were greater than 0.
  uint8_t* mask(int64_t column) const;

  uint32_t kind_;
  int64_t rows_;
  Matrix bias_, aux_;
  const float* scaleAux_;
};

}  // namespace ordito::cublaslt
