// The product of matrices: C = alpha op(A) op(B) + beta C, on all threads.
#pragma once

#include <algorithm>

#include "libs/cublas/handle.hpp"

namespace ordito::cublas {

/// The sizes of one product.
struct Product {
  cublasOperation_t opA, opB;
  int64_t m, n, k, lda, ldb, ldc;

  bool isRight() const {
    const int64_t rowsA = opA == CUBLAS_OP_N ? m : k, rowsB = opB == CUBLAS_OP_N ? k : n;
    return isOperation(opA) && isOperation(opB) && m >= 0 && n >= 0 && k >= 0 && lda >= std::max<int64_t>(1, rowsA) &&
           ldb >= std::max<int64_t>(1, rowsB) && ldc >= std::max<int64_t>(1, m) && areCountable(m, n, k, lda, ldb, ldc);
  }
  bool isEmpty() const { return m == 0 || n == 0; }
  double operations() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  /// For the profiler: four products and sums for a complex one, and each matrix moved once.
  libs::Work work(bool isComplex, size_t sizeAB, size_t sizeC, int64_t count) const {
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), inner = static_cast<double>(k);
    const double bytes =
        (rows + columns) * inner * static_cast<double>(sizeAB) + rows * columns * static_cast<double>(sizeC);
    return {static_cast<double>(count) * operations() * (isComplex ? 4 : 1), static_cast<double>(count) * bytes};
  }
};

/// The place where a product of doubles tells how many bits of its factors an emulation kept: -1, for none was
/// emulated.
class EmulatedBits {
 public:
  EmulatedBits(cublasHandle_t handle, cudaDataType type)
      : place_(type == CUDA_R_64F || type == CUDA_C_64F ? handle->emulation.mantissaBitCount : nullptr) {}
  void tell() const {
    if (place_) *place_ = -1;
  }

 private:
  int* place_;
};

/// On the calling thread.
template <class T>
void multiplyHere(const Product& p, T alpha, const T* a, const T* b, T beta, T* c);

/// In tiles on all threads, if it is large.
template <class T>
void multiplyInTiles(const Product& p, T alpha, const T* a, const T* b, T beta, T* c);

/// Many products: the i-th one on operands(i), small ones side by side, large ones one after another.
template <class Multiply>
void multiplyMany(const Product& p, int64_t count, const Multiply& one) {
  constexpr double kLarge = 64e6;
  if (p.operations() > kLarge || count == 1) {
    for (int64_t i = 0; i < count; ++i) one(i, true);
    return;
  }
  const int64_t parts = std::min<int64_t>(count, 16 * libs::parallelThreads());
  libs::parallelFor(static_cast<unsigned>(parts), [&](unsigned part) {
    for (int64_t i = count * part / parts, end = count * (part + 1) / parts; i < end; ++i) one(i, false);
  });
}

/// C = beta C, which is not read if beta is 0.
template <class T>
void scaleMatrix(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  if (beta == T(1)) return;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) c[i + j * ldc] = beta == T(0) ? T(0) : beta * c[i + j * ldc];
}

}  // namespace ordito::cublas
