// A product as cublasLtMatmul is asked for it: D = epilogue(alpha scale op(A) op(B) + beta C), of one matrix or a
// batch.
#pragma once

#include <array>

#include "libs/cublaslt/matrices.hpp"

namespace ordito::cublaslt {

/// Copies of the caller's structures.
struct Product {
  MatmulDesc desc;
  Layout a, b, c, d;

  int64_t m() const { return static_cast<int64_t>(d.rows); }
  int64_t n() const { return static_cast<int64_t>(d.columns); }
  int64_t k() const { return static_cast<int64_t>(desc.opA == CUBLAS_OP_N ? a.columns : a.rows); }
  bool isEmpty() const { return m() == 0 || n() == 0; }
  /// Then the sizes are not known before the task.
  bool isGrouped() const { return d.batchMode == CUBLASLT_BATCH_MODE_GROUPED; }
};

/// Null structures are INVALID_VALUE; then what supportOf() says.
cublasStatus_t productOf(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                         cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, Product* product);

/// SUCCESS if the product can be computed; INVALID_VALUE where sizes contradict each other, NOT_SUPPORTED for types,
/// orders and epilogues that the manual's tables for cublasLtMatmul do not have, ARCH_MISMATCH for eight-bit floats on
/// a device without them.
cublasStatus_t supportOf(const Product& product);

/// Whether the matrices are as large as op(A) op(B) + C = D wants them, and the leading dimensions have room.
bool areSizesRight(const Product& p);

/// The combinations of the manual's table of types.
bool areTypesSupported(int compute, int scale, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/// The matrices' elements. Alpha and beta are numbers of the scale type: copied at the call if they are the host's,
/// else read in the task.
class Scalar {
 public:
  Scalar() = default;
  /// `step`: 1 for a vector of the device, with one number for each row of D.
  Scalar(cudaDataType type, const void* place, bool isHost, int64_t step, int64_t stride)
      : type_(type), step_(step), stride_(stride) {
    if (isHost)
      std::memcpy(value_.data(), place, cublas::sizeOf(type));
    else
      place_ = place;
  }
  /// One for each group, by an array of pointers.
  Scalar(cudaDataType type, const void* const* places) : type_(type), places_(places) {}
  Scalar ofGroup(int64_t group) const { return places_ ? Scalar(type_, places_[group], false, 0, 0) : *this; }
  bool isVector() const { return step_ != 0; }
  template <class I>
  I at(int64_t row, int64_t matrix) const {
    if (!place_) return cublas::readAs<I>(type_, value_.data());
    const auto size = static_cast<int64_t>(cublas::sizeOf(type_));
    return cublas::readAs<I>(type_, static_cast<const char*>(place_) + (row * step_ + matrix * stride_) * size);
  }
  /// Certainly 0, already at the call.
  bool isHostZero() const { return !place_ && !places_ && at<cublas::ComplexDouble>(0, 0) == 0.0; }

 private:
  cudaDataType type_ = CUDA_R_32F;
  const void* place_ = nullptr;
  const void* const* places_ = nullptr;
  int64_t step_ = 0, stride_ = 0;
  std::array<std::byte, 16> value_{};
};

struct Operands {
  Scalar alpha, beta;
  const void *a, *b, *c;
  void* d;
};

}  // namespace ordito::cublaslt
