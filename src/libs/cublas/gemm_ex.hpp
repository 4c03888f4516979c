// Products whose types are arguments (gemm_ex.cpp): which combinations there are, and one such product in a task.
#pragma once

#include <array>
#include <cstring>

#include "libs/cublas/elements.hpp"
#include "libs/cublas/gemm.hpp"

namespace ordito::cublas {

/// alpha or beta, of a type that is known at run time.
class AnyScalar {
 public:
  AnyScalar(cublasHandle_t handle, const void* place, cudaDataType type) : type_(type) {
    if (handle->pointerMode == CUBLAS_POINTER_MODE_DEVICE)
      place_ = place;
    else if (place)
      std::memcpy(value_.data(), place, sizeOf(type));
  }
  template <class T>
  T as() const {
    return readAs<T>(type_, place_ ? place_ : value_.data());
  }

 private:
  cudaDataType type_;
  const void* place_ = nullptr;
  std::array<std::byte, 16> value_{};
};

struct TypedProduct {
  Product p;
  cudaDataType typeA, typeB, typeC;
  cublasComputeType_t compute;
  cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;

  bool isComputeType() const {
    switch (compute) {
      case CUBLAS_COMPUTE_16F:
      case CUBLAS_COMPUTE_16F_PEDANTIC:
      case CUBLAS_COMPUTE_32F:
      case CUBLAS_COMPUTE_32F_PEDANTIC:
      case CUBLAS_COMPUTE_32F_FAST_16F:
      case CUBLAS_COMPUTE_32F_FAST_16BF:
      case CUBLAS_COMPUTE_32F_FAST_TF32:
      case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      case CUBLAS_COMPUTE_64F:
      case CUBLAS_COMPUTE_64F_PEDANTIC:
      case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      case CUBLAS_COMPUTE_32I:
      case CUBLAS_COMPUTE_32I_PEDANTIC: return true;
      default: return false;
    }
  }

  bool isComplex() const { return typeC == CUDA_C_32F || typeC == CUDA_C_64F; }

  libs::Work work(int64_t count) const { return p.work(isComplex(), sizeOf(typeA), sizeOf(typeC), count); }

  cudaDataType scaleType() const {
    switch (compute) {
      case CUBLAS_COMPUTE_16F:
      case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
      case CUBLAS_COMPUTE_32I:
      case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
      case CUBLAS_COMPUTE_64F:
      case CUBLAS_COMPUTE_64F_PEDANTIC:
      case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return isComplex() ? CUDA_C_64F : CUDA_R_64F;
      default: return isComplex() ? CUDA_C_32F : CUDA_R_32F;
    }
  }

  /// The combinations of the manual's table for cublasGemmEx.
  bool isSupported() const {
    if (typeA != typeB || !isComputeType()) return false;
    switch (scaleType()) {
      case CUDA_R_16F: return typeA == CUDA_R_16F && typeC == CUDA_R_16F;
      case CUDA_R_32I: return typeA == CUDA_R_8I && typeC == CUDA_R_32I;
      case CUDA_R_64F: return typeA == CUDA_R_64F && typeC == CUDA_R_64F;
      case CUDA_C_64F: return typeA == CUDA_C_64F && typeC == CUDA_C_64F;
      case CUDA_C_32F: return (typeA == CUDA_C_32F || typeA == CUDA_C_8I) && typeC == CUDA_C_32F;
      default: break;
    }
    const bool isSmall = typeA == CUDA_R_16F || typeA == CUDA_R_16BF;
    if (typeC == CUDA_R_32F) return isSmall || typeA == CUDA_R_32F || typeA == CUDA_R_8I;
    return isSmall && typeC == typeA;
  }
};

/// body(column) for each column of a matrix, on all threads if there is much to do.
template <class Body>
void forColumns(int64_t rows, int64_t columns, const Body& body) {
  const auto parts = static_cast<unsigned>(std::clamp<int64_t>(rows * columns >> 16, 1, libs::parallelThreads()));
  libs::parallelFor(parts, [&](unsigned part) {
    for (int64_t j = columns * part / parts; j < columns * (part + 1) / parts; ++j) body(j);
  });
}

/// A copy of a matrix with its elements widened, column behind column.
template <class I, class E>
void widenMatrix(const E* from, int64_t rows, int64_t columns, int64_t leading, I* to) {
  forColumns(rows, columns, [=](int64_t j) {
    for (int64_t i = 0; i < rows; ++i) to[i + j * rows] = static_cast<I>(widen(from[i + j * leading]));
  });
}

/// The product, on all threads if it is large. The matrices are of the product's types.
void multiplyTyped(const TypedProduct& t, const AnyScalar& alpha, const void* a, const void* b, const AnyScalar& beta,
                   void* c);

}  // namespace ordito::cublas
